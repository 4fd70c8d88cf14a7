"""Reproducing a recording: integrity, decisions, programs, training — and which level was reached, in words."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable
from enum import StrEnum

from attrs import evolve, field, frozen

from engine.archive.archive import View
from ledger.verify import Verification, verify
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Fact
from ledger.vocabulary.note import Matched, Note, Rate
from ledger.vocabulary.train import Train
from replay import fingerprint
from replay.exit_codes import ExitCode
from replay.overall import Overall, training_steps
from replay.progress import Display
from replay.runner.agents import Agents
from replay.runner.divergence import Divergence, DivergenceClass, DivergenceReport, Stopped
from replay.runner.drive import Driver, Replayed
from replay.runner.experiments import factory_of
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.recording import Recording, load
from replay.runner.use import DECIDE, FORCED, PROGRAMS, STRICT, Use
from replay.statistics import Expected, Interval, read_expected

FINAL = "final/evaluate"
MATCHED = "final/matched"


class MissingRecording(FileNotFoundError):
    """A reproduction folder without a recording."""


class Level(StrEnum):
    """How far a reproduction came; each level includes the ones before it. What each does not show is in the docs."""

    NONE = "none"
    INTEGRITY = "integrity"
    DECISIONS = "decisions"
    PROGRAMS = "programs"
    PHASE_BITWISE = "first training phase, bitwise"
    STATISTICAL = "training, statistical"
    BITWISE = "training, bitwise"


@frozen
class SkillRow:
    """One skill: success rate recorded and reproduced, with the prediction interval if one is known."""

    name: str
    recorded: Rate
    reproduced: Rate | None
    interval: Interval | None


@frozen
class AchievementRow:
    """One achievement of the world: own-flag rate while pursuing the matched skill, and the paper's number as text."""

    name: str
    skill: str
    recorded: Rate
    reproduced: Rate | None
    paper: str


@frozen
class Reproduction:
    """Everything a reproduction found; ``report.json`` and the printed table are two renderings of it."""

    folder: pathlib.Path
    profile: str
    level: Level
    explanation: str
    exit_code: ExitCode
    verification: Verification
    report: DivergenceReport
    changes: tuple[str, ...]
    same_fingerprint: bool
    skills: tuple[SkillRow, ...] = ()
    achievements: tuple[AchievementRow, ...] = ()
    adopted: tuple[str, ...] = ()
    seconds: float = 0.0
    view: View = field(factory=View, repr=False)
    recording: Recording | None = field(default=None, repr=False)


@frozen
class Folder:
    """A reproduction folder: the recording, and what is committed beside it."""

    root: pathlib.Path

    @property
    def run(self) -> pathlib.Path:
        """The recorded run, or the folder itself if it is one."""
        inner = self.root / "recording"
        run = inner if inner.is_dir() else self.root
        if not (run / "events").is_dir():
            raise MissingRecording(
                f"{self.root} holds no recording: expected {inner} with events/; "
                "check out the whole repository or record one with `python -m replay run`"
            )
        return run

    @property
    def head(self) -> pathlib.Path | None:
        """The HEAD committed beside the recording, against which a shortened recording shows."""
        file = self.root / "HEAD"
        return file if file.is_file() and self.run != self.root else None

    @property
    def expected(self) -> Expected | None:
        """Rates over training seeds, if they were measured."""
        file = self.root / "expected.toml"
        return read_expected(file) if file.is_file() else None


def reproduce(
    root: pathlib.Path,
    *,
    profile: str,
    display: Display,
    interrupts: Interrupts,
    upto: str = "training",
    localise: bool = False,
    paper: Callable[[str, str], str] = lambda world, achievement: "not public",
) -> Reproduction:
    """Verify, re-decide, re-vet and retrain a recording, as far as ``upto`` asks.

    Args:
        profile: ``cpu`` retrains everything from the recorded decisions (``forced``); ``smoke`` replays the first
            training phase and stops at any difference (``strict``).
        upto: ``integrity``, ``decisions``, ``programs`` or ``training``.
        localise: start every phase from the recorded checkpoint where one is shipped, to find where drift arises.
        paper: the paper's number for (world, achievement), or "not public".

    Raises:
        MissingRecording: if there is no recording.
        ledger.errors.LedgerError: if it cannot be read at all.
        replay.runner.interrupt.Interrupted: if the user asked to stop.
    """
    began = time.monotonic()
    folder = Folder(root)
    display.say(f"integrity: verifying {folder.run}")
    verification = verify(folder.run, folder.head)
    start = Reproduction(
        folder=root,
        profile=profile,
        level=Level.NONE,
        explanation="",
        exit_code=ExitCode.INTEGRITY,
        verification=verification,
        report=DivergenceReport(),
        changes=(),
        same_fingerprint=False,
    )
    if not verification.ok:
        why = "; ".join(map(str, verification.problems)) or "the ledger is damaged"
        return evolve(start, explanation=f"the recording is not what was published: {why}")
    recording = load(folder.run)
    present = fingerprint.facts()
    start = evolve(
        start,
        level=Level.INTEGRITY,
        exit_code=ExitCode.OK,
        explanation="every byte is what the HEAD committed beside the recording says",
        changes=fingerprint.changes(_of_the_machine(recording.facts), present),
        same_fingerprint=_same(recording.facts, present),
        recording=recording,
    )
    if upto == "integrity":
        return evolve(start, seconds=time.monotonic() - began)
    agents = Agents()
    try:
        performers = Performers(recording.started.config, agents, display, interrupts)
        static = _static(start, recording, performers, upto, display)
        if upto != "training" or static.level is not Level.PROGRAMS:
            return evolve(static, seconds=time.monotonic() - began)
        if profile == "smoke":
            done = _smoke(static, recording, performers, folder, display)
        else:
            done = _retrained(static, recording, performers, folder, display, localise=localise)
        return evolve(with_paper(done, recording, paper), seconds=time.monotonic() - began)
    finally:
        agents.close()


def _of_the_machine(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Facts about software and machine; a session also records its transport, which a replay has none of."""
    plain = ("python", "system", *fingerprint.DECIDES_BITS)
    return tuple(fact for fact in facts if fact.name in plain or "/" in fact.name)


def _same(recorded: tuple[Fact, ...], present: tuple[Fact, ...]) -> bool:
    return bool(recorded) and fingerprint.fingerprint(recorded) == fingerprint.fingerprint(present)


def _drive(
    recording: Recording, performers: Performers, use: Use, until: Callable[[AnyEffect], bool], *, adopt: bool = False
) -> Replayed:
    return Driver(recording, performers, use, until=until, adopt=adopt).drive(factory_of(recording.started))


def _never(effect: AnyEffect) -> bool:
    return False


def _static(
    start: Reproduction, recording: Recording, performers: Performers, upto: str, display: Display
) -> Reproduction:
    """Every host result recomputed: effects and draws, then programs."""
    display.say("decisions and programs: recomputing every request, draw, verdict and decision")
    use = DECIDE if upto == "decisions" else PROGRAMS
    try:
        replayed = _drive(recording, performers, use, _never)
        report, view = replayed.report, replayed.view
    except Stopped as stopped:
        report, view = DivergenceReport(stopped.divergences), View()
    start = evolve(start, report=report, view=view)
    blocking = report.of(DivergenceClass.STRUCTURE, DivergenceClass.PROMPT, DivergenceClass.DECISION)
    if not view.steps:
        blocking = blocking or report.divergences
    if blocking:
        return evolve(start, explanation=_first(blocking, "decisions differ"), exit_code=_code(blocking[0]))
    if not view.steps:
        return evolve(start, explanation="the recording holds no completed step: there is nothing to recompute")
    programs = report.of(DivergenceClass.ENVIRONMENT, DivergenceClass.PROGRAM)
    if programs:
        what = "the installed world or a program differs"
        return evolve(start, level=Level.DECISIONS, explanation=_first(programs, what), exit_code=_code(programs[0]))
    if upto == "decisions":
        return evolve(start, level=Level.DECISIONS, explanation="every request, draw and decision came out the same")
    sampled = report.of(DivergenceClass.NUMERIC)
    if sampled and start.same_fingerprint:
        what = "statistics on sampled states differ although machine and software are the recording's"
        return evolve(start, level=Level.DECISIONS, explanation=_first(sampled, what), exit_code=_code(sampled[0]))
    why = "every program was vetted again with the same verdict"
    if sampled:
        why += f"; {len(sampled)} statistics on sampled states differ, as they may on another machine"
    return evolve(start, level=Level.PROGRAMS, explanation=why)


def _first(found: tuple[Divergence, ...], what: str) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{what}: {found[0].line()}{more}"


def _code(found: Divergence) -> ExitCode:
    return ExitCode[found.kind.name]


def _smoke(
    start: Reproduction, recording: Recording, performers: Performers, folder: Folder, display: Display
) -> Reproduction:
    """The first training phase, strictly: up to the first decision that rests on it."""
    display.say("training: replaying the first phase, stopping at any difference")
    trained = [False]

    def beyond(effect: AnyEffect) -> bool:
        trained[0] = trained[0] or isinstance(effect, Train)
        return trained[0] and isinstance(effect, Note)

    use = evolve(STRICT, recompute=frozenset({Train, Evaluate}))
    try:
        replayed = _drive(recording, performers, use, beyond)
    except Stopped as stopped:
        report = DivergenceReport((*start.report.divergences, *stopped.divergences))
        return evolve(
            start,
            report=report,
            explanation=_first(stopped.divergences, "the first training phase differs"),
            exit_code=_code(stopped.divergences[0]),
        )
    if not replayed.recomputed:
        return evolve(start, explanation="the recording holds no training and no evaluation to repeat")
    rows = tuple(
        SkillRow(old.label, Rate(old.successes, old.episodes), Rate(new.successes, new.episodes), None)
        for recorded, again in replayed.recomputed.values()
        if isinstance(recorded, Evaluated) and isinstance(again, Evaluated)
        for old, new in zip(recorded.rows, again.rows, strict=True)
    )
    return evolve(
        start,
        level=Level.PHASE_BITWISE,
        explanation=f"{len(replayed.recomputed)} training and evaluation steps came out bit for bit the same",
        skills=rows,
    )


def _retrained(
    start: Reproduction,
    recording: Recording,
    performers: Performers,
    folder: Folder,
    display: Display,
    *,
    localise: bool,
) -> Reproduction:
    """All training and evaluation from the recorded decisions, carrying on at differences.

    The agents are this machine's own, so that the final rates are of an agent that was trained here. ``localise``
    starts each phase from the recorded checkpoint where one is shipped: differences then stay in the phases where they
    arise, but final rates are of the recorded agent, and no statistical level can be reached with them.
    """
    display.say("training: repeating every phase from the recorded decisions")
    performers.display = Overall(display, training_steps(each.step.effect for each in recording.steps))
    use = evolve(FORCED, recompute=frozenset({Train, Evaluate}))
    replayed = _drive(recording, performers, use, _never, adopt=localise)
    report = DivergenceReport((*start.report.divergences, *replayed.report.divergences))
    expected = folder.expected
    rows = skill_rows(replayed, recording, expected)
    level, explanation, code = _judge(replayed, rows, expected)
    return evolve(
        start,
        report=report,
        level=level,
        explanation=explanation,
        exit_code=code,
        skills=rows,
        adopted=replayed.adopted,
        achievements=achievement_rows(replayed, recording),
    )


def _judge(replayed: Replayed, rows: tuple[SkillRow, ...], expected: Expected | None) -> tuple[Level, str, ExitCode]:
    count = len(replayed.recomputed)
    if not count:
        return Level.PROGRAMS, "the recording holds no training and no evaluation to repeat", ExitCode.OK
    if not replayed.report.of(DivergenceClass.NUMERIC):
        return Level.BITWISE, f"{count} training and evaluation steps came out bit for bit the same", ExitCode.OK
    first = replayed.report.earliest_numeric
    assert first is not None
    where = f"first difference at {first.path}"
    if not rows:
        why = f"training differs ({where}) and the recording has no final evaluation to judge it by"
        return Level.PROGRAMS, why, ExitCode.NUMERIC
    if replayed.adopted:
        phases = sorted({each.path for each in replayed.report.of(DivergenceClass.NUMERIC)})
        why = f"starting from {len(replayed.adopted)} recorded checkpoints, these steps differ: {', '.join(phases)}"
        return Level.PROGRAMS, why, ExitCode.NUMERIC
    if expected is None:
        why = f"training differs ({where}) and no expected.toml says what a faithful run may give"
        return Level.PROGRAMS, why, ExitCode.NUMERIC
    missed = [
        row.name for row in rows if row.interval is None or not (row.reproduced and row.interval.holds(row.reproduced))
    ]
    if missed:
        why = f"outside its prediction interval: {', '.join(missed)} ({where})"
        return Level.PROGRAMS, why, ExitCode.NUMERIC
    why = (
        f"bits differ ({where}); all {len(rows)} skills lie inside prediction intervals from {len(expected.seeds)} "
        f"training seeds (a faithful run misses any of them with probability {expected.family_error:g})"
    )
    return Level.STATISTICAL, why, ExitCode.OK


def skill_rows(replayed: Replayed, recording: Recording, expected: Expected | None) -> tuple[SkillRow, ...]:
    """Rates of the final evaluation, recorded and reproduced; empty if the recording never came to it."""
    recorded, again = _pair(FINAL, replayed, recording)
    intervals = expected.intervals if expected is not None else {}
    rows = []
    for index, row in enumerate(recorded.rows if recorded is not None else ()):
        new = again.rows[index] if again is not None else None
        rows.append(
            SkillRow(
                row.label,
                Rate(row.successes, row.episodes),
                Rate(new.successes, new.episodes) if new is not None else None,
                intervals.get(row.label),
            )
        )
    return tuple(rows)


def _pair(path: str, replayed: Replayed, recording: Recording) -> tuple[Evaluated | None, Evaluated | None]:
    def evaluated(outcome: AnyOutcome | None) -> Evaluated | None:
        return outcome if isinstance(outcome, Evaluated) else None

    both = replayed.recomputed.get(path)
    return evaluated(recording.outcome(path)), evaluated(both[1] if both is not None else None)


def achievement_rows(replayed: Replayed, recording: Recording) -> tuple[AchievementRow, ...]:
    """The world's achievements in the final evaluation, pursued as their matched skills; ``paper`` is still empty."""
    matched = next(
        (
            each.step.effect.decision
            for each in recording.steps
            if isinstance(each.step.effect, Note) and isinstance(each.step.effect.decision, Matched)
        ),
        None,
    )
    recorded, again = _pair(FINAL, replayed, recording)
    if matched is None or recorded is None:
        return ()
    index = {row.label: i for i, row in enumerate(recorded.rows)}
    rows = []
    for number, (name, skill) in enumerate(zip(matched.achievements, matched.skills, strict=True)):
        new = again.rows[index[skill]] if again is not None else None
        reproduced = Rate(new.achievements[number], new.episodes) if new is not None else None
        rows.append(AchievementRow(name, skill, matched.rates[number], reproduced, ""))
    return tuple(rows)


def with_paper(done: Reproduction, recording: Recording, paper: Callable[[str, str], str]) -> Reproduction:
    """The same reproduction with the paper's number beside each achievement."""
    world = recording.started.config.world
    return evolve(done, achievements=tuple(evolve(row, paper=paper(world, row.name)) for row in done.achievements))
