"""Which checkpoints stay on disk: a resume finds what it needs after every moment, and nothing else piles up."""

from __future__ import annotations

import hashlib
import pathlib
import random
import shutil
from collections.abc import Iterator, Sequence

import pytest
from attrs import evolve

from ledger import reader
from ledger.digest import semantic_digest
from ledger.errors import CheckpointMissing
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.config import Agent, Config, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate
from ledger.vocabulary.events import Progress, Started, Step
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill, Train, Trained
from ledger.writer import Writer
from replay.cli import main
from replay.config_file import ConfigError, load_all
from replay.loops.lineage import carried, needed
from replay.operational import KEPT_CHECKPOINTS
from replay.runner.experiments import EXPERIMENTS
from replay.runner.keeper import Keeper
from replay.runner.recording import Recording, load
from replay.runner.retention import CODE_SHARP, FACT, Retention, inventory
from tests.replay.scripted import CONFIG, resume, run

LONG = evolve(
    CONFIG,
    discovery=evolve(
        CONFIG.discovery,
        iterations=3,
        training_epochs=3,
        evaluation_epochs=2,
        mutated_skills=2,
        keep_trained_copy=False,
    ),
)


def there(directory: pathlib.Path) -> set[str]:
    return {file.stem for file in (directory / "checkpoints").iterdir()}


def agents(recording: Recording) -> dict[Path, str]:
    outcomes = {each.step.effect.path: each.step.outcome for each in recording.steps}
    return {path: outcome.checkpoint for path, outcome in outcomes.items() if isinstance(outcome, Trained)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    directory = tmp_path_factory.mktemp("recorded") / "run"
    run(directory, config=LONG)
    return directory


# --- what a later step may name --------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep_copy", [False, True])
@pytest.mark.parametrize("epochs", [1, 3])
def test_no_step_names_an_agent_that_was_not_needed_before(
    tmp_path: pathlib.Path, keep_copy: bool, epochs: int
) -> None:
    """After every prefix of a run: whatever agent a later step names was needed, or is made later."""
    discovery = evolve(LONG.discovery, keep_trained_copy=keep_copy, training_epochs=epochs, evaluation_epochs=epochs)
    run(tmp_path / "run", config=evolve(LONG, discovery=discovery))
    recording = load(tmp_path / "run")
    steps = [each.step for each in recording.steps]
    assert recording.finished is not None
    for count in range(len(steps) + 1):
        made = [step.effect.path for step in steps[:count] if isinstance(step.effect, Train)]
        kept = needed(made, steps[count - 1].effect.path if count else None)
        assert kept <= set(made)
        assert len(kept) <= 3
        named = {step.effect.agent for step in steps[count:] if isinstance(step.effect, Train | Evaluate)}
        if count == len(steps):
            named = {recording.finished.agent}
        assert named & set(made) <= kept, f"after {steps[count - 1].effect.path}"


def test_what_is_carried_and_needed_by_hand() -> None:
    def paths(*texts: str) -> list[Path]:
        return [Path(text) for text in texts]

    copy = paths("iteration=0/learnability/train/epoch=0", "iteration=0/learnability/train/epoch=1")
    first = paths("iteration=0/train/epoch=0", "iteration=0/train/epoch=1")
    second = paths("iteration=2/train/epoch=0")
    inside = Path("iteration=2/evaluate")
    assert needed([], None) == frozenset()
    assert needed(copy[:1], copy[0]) == {copy[0]}
    assert needed([*copy, *first[:1]], first[0]) == {copy[1], first[0]}
    # Iteration 1 trained nothing: the agent of iteration 0 is the one that iteration 2 begins with.
    assert needed([*copy, *first, *second], inside) == {first[1], second[0]}
    assert needed([*copy, *first, *second], Path("iteration=3/settings")) == {second[0]}
    assert needed([*copy, *first, *second], Path("final/evaluate")) == {second[0]}
    assert carried([*copy, *first, *second]) == (first[1], second[0])
    assert needed(paths("baseline/train"), Path("iteration=3/settings")) == {Path("baseline/train")}


# --- whole runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", KEPT_CHECKPOINTS)
def test_what_is_left_of_a_finished_run(recorded: pathlib.Path, tmp_path: pathlib.Path, policy: str) -> None:
    run(tmp_path / "run", config=LONG, keep_checkpoints=policy)
    assert semantic_digest(tmp_path / "run") == semantic_digest(recorded)
    recording = load(tmp_path / "run")
    made = agents(recording)
    assert recording.finished is not None
    archived = {path for path in made if path.text.endswith("/train/epoch=2")}
    assert len(archived) == LONG.discovery.iterations
    wanted = {"all": set(made), "archive": archived, "last": {recording.finished.agent}}[policy]
    assert there(tmp_path / "run") == {made[path] for path in wanted}


def moments(directory: pathlib.Path, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, policy: str) -> int:
    """Run under a policy; before every event and every removal, a copy of what a kill would leave on disk then."""
    taken = 0
    append, unlink = Writer.append, pathlib.Path.unlink

    def copy() -> None:
        nonlocal taken
        shutil.copytree(directory, folder / f"{taken}")
        taken += 1

    def appending(self: Writer, *arguments: object, **options: object) -> int:
        if load_or_none(directory) is not None:
            copy()
        return append(self, *arguments, **options)  # type: ignore[arg-type]

    def unlinking(self: pathlib.Path, missing_ok: bool = False) -> None:
        if self.parent.name == "checkpoints":
            copy()
        unlink(self, missing_ok)

    monkeypatch.setattr(Writer, "append", appending)
    monkeypatch.setattr(pathlib.Path, "unlink", unlinking)
    run(directory, config=LONG, keep_checkpoints=policy)
    monkeypatch.undo()
    return taken


def load_or_none(directory: pathlib.Path) -> Started | None:
    first = next(iter(reader.read(directory)), None)
    return first.event if first is not None and isinstance(first.event, Started) else None


def check_moments(
    which: Sequence[int], folder: pathlib.Path, recorded: pathlib.Path, finished: pathlib.Path, policy: str
) -> None:
    for moment in which:
        resume(folder / f"{moment}", keep_checkpoints=policy)
        assert semantic_digest(folder / f"{moment}") == semantic_digest(recorded), f"killed at moment {moment}"
        assert there(folder / f"{moment}") == there(finished), f"killed at moment {moment}"


@pytest.mark.parametrize("policy", ["archive", "last"])
def test_a_kill_at_some_moments_loses_nothing(
    recorded: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    taken = moments(tmp_path / "run", tmp_path / "killed", monkeypatch, policy)
    assert taken > 150
    which = sorted({0, taken - 1, *random.Random(policy).sample(range(taken), 14)})
    check_moments(which, tmp_path / "killed", recorded, tmp_path / "run", policy)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["all", "archive", "last"])
def test_a_kill_at_every_moment_loses_nothing(
    recorded: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    taken = moments(tmp_path / "run", tmp_path / "killed", monkeypatch, policy)
    check_moments(range(taken), tmp_path / "killed", recorded, tmp_path / "run", policy)


def test_a_policy_that_removes_too_much_is_seen(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard of the tests above: without the agent that the iteration began with, a run cannot go on."""
    greedy = evolve(CODE_SHARP, needed=lambda made, at: frozenset(made[-1:]))
    monkeypatch.setitem(EXPERIMENTS, "code_sharp", evolve(EXPERIMENTS["code_sharp"], lineage=greedy))
    with pytest.raises(CheckpointMissing):
        run(tmp_path / "run", config=LONG, keep_checkpoints="last")


# --- states of a phase on its way ------------------------------------------------------------------------------------

PHASE = Path("iteration=0/train/epoch=0")
SKILL = Skill("A", Body("class A(Sharp): ..."), (), Data(b"\0\0\0\0"))
TRAIN = Train(PHASE, UNTRAINED, "corridor", (SKILL,), 64, 0, Agent(kind="mlp"), Ppo(), Routing())


@pytest.fixture
def writer(tmp_path: pathlib.Path) -> Iterator[Writer]:
    with Writer.create(tmp_path / "run") as made:
        made.append(Started("code_sharp", "code_sharp@1", Config(world="corridor")))
        made.commit()
        yield made


def trained(data: bytes) -> Trained:
    name = hashlib.sha256(data).hexdigest()
    return Trained(64, 1, (), name, name, 0.0)


def name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_phase_keeps_its_latest_state_only_and_none_at_its_end(writer: Writer) -> None:
    keeper, directory = Keeper(writer), writer.directory
    for done in (1, 2, 3):
        keeper.progress(PHASE, done, 4, b"state %d" % done, ())
        assert there(directory) == {name(b"state %d" % done)}
        latest = [record.event for record in reader.read(directory)][-1]
        assert isinstance(latest, Progress)
        assert latest.checkpoint == name(b"state %d" % done), "removed only what a durable event replaces"
    keeper.progress(PHASE, 3, 4, None, ())
    assert there(directory) == {name(b"state 3")}
    keeper.checkpoint(b"agent")
    assert there(directory) == {name(b"state 3"), name(b"agent")}
    keeper.step(TRAIN, trained(b"agent"), None, durable=True)
    assert there(directory) == {name(b"agent")}


def test_an_equal_state_is_not_removed(writer: Writer) -> None:
    keeper = Keeper(writer)
    keeper.progress(PHASE, 1, 4, b"state", ())
    keeper.progress(PHASE, 1, 4, b"state", ())
    assert there(writer.directory) == {name(b"state")}


def test_what_a_killed_process_left_behind_goes_at_the_next_opening(writer: Writer) -> None:
    """Killed before a removal, while a file was written, and before an event told of one: the last stays."""
    directory = writer.directory
    for done in (1, 2):
        stored = writer.save_checkpoint(b"state %d" % done)
        writer.append(Progress(PHASE, done, 4, stored, ()))
    writer.save_checkpoint(b"nobody's")
    (directory / "checkpoints" / f"{name(b'half')}.safetensors.tmp").write_bytes(b"ha")
    writer.commit()
    writer.close()
    with Writer.open(directory) as again:
        Keeper(again).inherit(load(directory))
    assert there(directory) == {name(b"state 2"), name(b"nobody's")}


def test_a_name_that_leads_elsewhere_removes_nothing(writer: Writer, tmp_path: pathlib.Path) -> None:
    (tmp_path / "precious.safetensors").write_bytes(b"precious")
    writer.append(Progress(PHASE, 1, 4, "../../precious", ()))
    writer.append(Progress(PHASE, 2, 4, name(b"state 2"), ()))
    writer.commit()
    Keeper(writer).inherit(load(writer.directory))
    assert (tmp_path / "precious.safetensors").exists()


# --- settings and reports --------------------------------------------------------------------------------------------


def test_the_policy_is_a_setting(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text('[operational]\nkeep_checkpoints = "archive"\n', encoding="utf-8")
    assert load_all(file).operational.keep_checkpoints == "archive"
    with pytest.raises(ConfigError, match="keep_checkpoints"):
        load_all(file, None, ["operational.keep_checkpoints=none"])
    with pytest.raises(ValueError, match="there is no policy 'none': choose one of all, archive, last"):
        Retention("none")


def test_verify_tells_what_is_kept_and_by_which_policy(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "run", config=LONG, keep_checkpoints="archive")
    counted = inventory(load(tmp_path / "run"))
    made = len(agents(load(tmp_path / "run")))
    assert (counted.agents_there, counted.agents, counted.policy) == (3, made, "archive")
    assert main(["verify", str(tmp_path / "run")]) == 0
    assert f"checkpoints of 3 of {made} agents, kept: archive; of 0 of 0 states on the way" in capsys.readouterr().out


def test_sessions_record_the_policy(tmp_path: pathlib.Path) -> None:
    run(tmp_path / "run", keep_checkpoints="last")
    facts = [fact for session in load(tmp_path / "run").sessions for fact in session.facts]
    assert [fact.value for fact in facts if fact.name == FACT] == ["last"]


def test_intermediate_states_are_counted_apart(writer: Writer) -> None:
    keeper = Keeper(writer)
    keeper.inherit(load(writer.directory))
    for done in (1, 2, 3):
        keeper.progress(PHASE, done, 4, b"state %d" % done, ())
    counted = inventory(load(writer.directory))
    assert (counted.intermediate_there, counted.intermediate, counted.policy) == (1, 3, None)
    writer.append(Step(TRAIN, trained(b"elsewhere")))
    writer.commit()
    assert "of 0 of 1 agents;" in inventory(load(writer.directory)).text()
