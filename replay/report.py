"""The report of a reproduction: plain data for ``report.json``, and tables of the same numbers for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.archive.archive import View
from ledger.vocabulary.note import Rate
from replay.history import FATES, fates, mutations, rate_history
from replay.output import json_text, safe
from replay.reproduce import AchievementRow, Folder, Level, Reproduction, SkillRow
from replay.runner.divergence import Divergence, DivergenceReport

if TYPE_CHECKING:
    from rich.table import Table

    from replay.evaluate import Evaluation

REPORT_VERSION = 1
MOST_DIVERGENCES = 1000
"""Divergences listed in ``report.json``; totals by class always count all."""

SHOWS: dict[Level, str] = {
    Level.NONE: "nothing: the recording is not what was published, or cannot be read to its end",
    Level.INTEGRITY: "no byte of the recording was changed since its HEAD was published",
    Level.DECISIONS: "with the recorded answers and outcomes, this code asks the same questions, draws the "
    "same numbers and takes the same decisions",
    Level.PROGRAMS: "beyond the decisions, every program was parsed and lowered again, with the same verdict, hashes "
    "and meaning",
    Level.PHASE_BITWISE: "beyond programs, the first training phase and its evaluations gave the recorded bits",
    Level.STATISTICAL: "beyond programs, training from the recorded decisions gave every skill a success rate "
    "inside its prediction interval",
    Level.BITWISE: "beyond programs, every training phase and evaluation gave the recorded bits",
}

SHOWS_NOT: dict[Level, str] = {
    Level.NONE: "anything about what the recording says",
    Level.INTEGRITY: "that the recording is true: its author could have written every byte anew before publishing "
    "HEAD; nor that decisions follow from answers, nor that training gives these numbers",
    Level.DECISIONS: "that programs are judged as recorded, that training gives the recorded numbers, or that a "
    "foundation model would answer the same again",
    Level.PROGRAMS: "that training and evaluation give the recorded numbers, or that a foundation model would answer "
    "the same again",
    Level.PHASE_BITWISE: "anything about later training phases, other seeds, or other machines",
    Level.STATISTICAL: "equal bits; differences smaller than the intervals, which rest on few training seeds, stay "
    "unseen; nor that a foundation model would answer the same again",
    Level.BITWISE: "that other seeds give similar rates, that another machine gives these bits, or that a foundation "
    "model would answer the same again",
}

RETRAINING = (
    "retraining: recorded answers, admissions and rates are forced, training and evaluation use another profile; "
    "its numbers confirm no level of replay"
)

REPLAY_PROFILES = ("cpu", "smoke")
"""Profiles that replay the recorded scale; any other one is a retraining."""


def is_retraining(done: Reproduction) -> bool:
    """Whether training was repeated, with another profile than the recorded one."""
    return done.profile not in REPLAY_PROFILES and done.level is Level.PROGRAMS


def caveats(done: Reproduction) -> tuple[str, ...]:
    """What a reader of the level must also know, one sentence each."""
    found = []
    if done.recording is not None and done.recording.finished is None:
        found.append("the recording is not finished: the level holds for what there is of it")
    if Folder(done.folder).head is None:
        found.append(
            "no HEAD is kept beside this run: it was compared with its own HEAD, so a recording that was shortened or "
            "written anew cannot be told"
        )
    if is_retraining(done):
        found.append(RETRAINING)
    if done.adopted:
        found.append(
            f"after {len(done.adopted)} training phases the recorded checkpoint was used to go on, so that differences "
            "do not add up"
        )
    if done.changes:
        bits = "the same" if done.same_fingerprint else "another"
        found.append(
            f"software or machine differ from the recording's, with {bits} fingerprint (see the list of changes)"
        )
    return tuple(found)


# --- plain data ------------------------------------------------------------------------------------------------------


def as_data(done: Reproduction, banner: str = "") -> dict[str, Any]:
    """The reproduction as dictionaries, lists, numbers and texts."""
    recording = done.recording
    return {
        "version": REPORT_VERSION,
        "banner": banner,
        "folder": done.folder.name,
        "profile": done.profile,
        "retraining": is_retraining(done),
        "level": done.level.value,
        "shows": SHOWS[done.level],
        "does_not_show": SHOWS_NOT[done.level],
        "explanation": done.explanation,
        "caveats": list(caveats(done)),
        "exit_code": {"value": int(done.exit_code), "name": done.exit_code.name.lower()},
        "problems": [str(problem) for problem in done.verification.problems],
        "same_fingerprint": done.same_fingerprint,
        "changes": list(done.changes),
        "divergences": divergence_data(done.report),
        "skills": [_skill_data(row) for row in done.skills],
        "achievements": [_achievement_data(row) for row in done.achievements],
        "adopted_checkpoints": list(done.adopted),
        "archive": archive_data(done.view),
        "history": history_data(done) if recording is not None else None,
        "seconds": round(done.seconds, 1),
    }


def as_json(done: Reproduction, banner: str = "") -> str:
    """The text of ``report.json``: ASCII, indented, ends with a newline."""
    return json_text(as_data(done, banner)) + "\n"


def divergence_data(report: DivergenceReport) -> dict[str, Any]:
    """Totals by class, the earliest numeric difference, and the differences themselves in order."""
    earliest = report.earliest_numeric
    return {
        "totals": report.totals,
        "earliest_numeric": None if earliest is None else one_divergence(earliest),
        "listed": [one_divergence(each) for each in report.divergences[:MOST_DIVERGENCES]],
    }


def one_divergence(each: Divergence) -> dict[str, Any]:
    """One difference as plain data."""
    return {
        "class": each.kind.value,
        "sequence": each.sequence,
        "path": each.path,
        "side": each.side,
        "field": each.field,
        "recorded": each.recorded,
        "recomputed": each.recomputed,
        "diff": each.diff,
    }


def archive_data(view: View) -> list[dict[str, Any]]:
    """The archive as the recording's decisions give it, in the order of admission."""
    return [
        {
            "name": entry.name,
            "description": entry.program.description,
            "category": entry.category,
            "requires": list(entry.requires),
            "admitted_at": entry.admitted_at.text,
            "versions": len(entry.versions),
            "evaluated": _rate_data(entry.evaluated),
            "practised": _rate_data(entry.practised),
        }
        for entry in view.entries
    ]


def history_data(done: Reproduction) -> dict[str, Any]:
    """Fates of proposals, outcomes of mutations and rates of skills by iteration, as recorded."""
    assert done.recording is not None
    steps = [each.step for each in done.recording.steps]
    return {
        "proposals": [{"iteration": at, **counts} for at, counts in fates(steps).items()],
        "mutations": [
            {"iteration": at, "adopted": each.adopted, "kept": each.kept} for at, each in mutations(steps).items()
        ],
        "rates": {
            name: [{"iteration": point.iteration, **_rate_data(point.rate)} for point in points]
            for name, points in rate_history(steps).items()
        },
    }


def _rate_data(rate: Rate) -> dict[str, int]:
    return {"successes": rate.successes, "episodes": rate.episodes}


def _skill_data(row: SkillRow) -> dict[str, Any]:
    inside = None
    if row.interval is not None and row.reproduced is not None:
        inside = row.interval.holds(row.reproduced)
    return {
        "name": row.name,
        "recorded": _rate_data(row.recorded),
        "reproduced": None if row.reproduced is None else _rate_data(row.reproduced),
        "interval": None if row.interval is None else {"low": row.interval.low, "high": row.interval.high},
        "inside": inside,
    }


def _achievement_data(row: AchievementRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "matched_skill": row.skill,
        "recorded": _rate_data(row.recorded),
        "reproduced": None if row.reproduced is None else _rate_data(row.reproduced),
        "paper": row.paper,
    }


# --- tables ----------------------------------------------------------------------------------------------------------


def percent(rate: Rate | None) -> str:
    """``67% (32/48)``; a dash where there is nothing."""
    if rate is None or not rate.episodes:
        return "–"
    return f"{100 * rate.successes / rate.episodes:.0f}% ({rate.successes}/{rate.episodes})"


def _table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return table


def skill_table(rows: tuple[SkillRow, ...], reproduced: str = "reproduced") -> Table:
    """Success rate per skill: recorded, reproduced, prediction interval and whether it holds."""
    headings = ("recorded", reproduced, "95 % interval")
    table = _table("Success rate of skills", "skill", *headings, "inside", numbers=headings)
    for row in rows:
        data = _skill_data(row)
        low_high = "–" if row.interval is None else f"{row.interval.low:.0%} to {row.interval.high:.0%}"
        inside = {None: "–", True: "yes", False: "NO"}[data["inside"]]
        table.add_row(safe(row.name, 48), percent(row.recorded), percent(row.reproduced), low_high, inside)
    return table


def evaluation_table(done: Evaluation) -> Table:
    """Success rate per skill in a fresh evaluation, its interval, and the rate that was recorded last."""
    headings = ("successes", "rate", "95 % interval", "recorded")
    table = _table("Success rate of skills", "skill", *headings, numbers=headings)
    for row in done.rows:
        counts = f"{row.rate.successes} of {row.rate.episodes}"
        low_high = f"{row.interval.low:.1%} to {row.interval.high:.1%}"
        table.add_row(safe(row.skill, 48), counts, percent(row.rate), low_high, percent(row.recorded))
    return table


def achievement_table(rows: tuple[AchievementRow, ...], reproduced: str = "reproduced") -> Table:
    """The world's own achievements, each pursued as its matched skill, beside the paper's numbers."""
    headings = ("recorded", reproduced)
    table = _table("Achievements of the world", "achievement", "matched skill", *headings, "paper", numbers=headings)
    for row in rows:
        name, skill = safe(row.name, 40), safe(row.skill, 40)
        table.add_row(name, skill, percent(row.recorded), percent(row.reproduced), safe(row.paper, 60))
    return table


def archive_table(view: View) -> Table:
    """The archive: rates of the last evaluation, prerequisites, versions."""
    table = _table(
        "Skill archive",
        "skill",
        "category",
        "requires",
        "versions",
        "success rate",
        numbers=("versions", "success rate"),
    )
    for entry in view.entries:
        requires = ", ".join(dict.fromkeys(entry.requires)) or "–"
        table.add_row(
            safe(entry.name, 48),
            safe(entry.category, 24),
            safe(requires, 80),
            str(len(entry.versions)),
            percent(entry.evaluated),
        )
    return table


def proposal_table(counts: dict[int, Any]) -> Table:
    """Proposals by fate, one row per iteration."""
    known = [fate for fate in FATES if any(fate in each for each in counts.values())]
    table = _table("Proposals by fate", "iteration", *known, numbers=("iteration", *known))
    for iteration, each in counts.items():
        table.add_row(str(iteration), *(str(each.get(fate, 0)) for fate in known))
    return table


def divergence_lines(report: DivergenceReport, most: int = 20) -> list[str]:
    """Totals by class, then the first differences with their diffs, safe for a terminal."""
    if not report.divergences:
        return ["no difference"]
    totals = ", ".join(f"{count} {kind}" for kind, count in report.totals.items())
    count = len(report.divergences)
    lines = [f"{count} difference{'s' if count > 1 else ''}: {totals}"]
    for each in report.divergences[:most]:
        lines.append("  " + safe(each.line(), 400))
        lines += [f"      {safe(line, 200)}" for line in each.diff.splitlines()[:12]]
    if len(report.divergences) > most:
        lines.append(f"  … and {len(report.divergences) - most} more (all of them with --json)")
    if report.earliest_numeric is not None:
        lines.append("earliest numeric difference, from which later ones may follow:")
        lines.append("  " + safe(report.earliest_numeric.line(), 400))
    return lines
