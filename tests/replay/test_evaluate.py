"""Evaluating an agent from its checkpoint and the ledger alone: the numbers, and what is refused."""

from __future__ import annotations

import hashlib
import json
import pathlib
import shutil

import pytest
from attrs import evolve

from engine.train.core import TrainingCore
from engine.worlds import registry
from ledger.vocabulary.config import Agent, Evaluation, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Evaluated, Target
from ledger.vocabulary.note import Rate
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Train, Trained
from replay.cli import main
from replay.commands import environment
from replay.evaluate import KEYS, Request, Unknown, evaluate
from replay.exit_codes import ExitCode
from replay.progress import NullDisplay
from replay.runner import live
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.recording import Recording, load
from replay.statistics import success_interval
from tests.replay.scripted import CONFIG, QuickPerformers, ScriptedModel
from tests.tiny_worlds import Corridor

SMALL = evolve(
    CONFIG,
    discovery=evolve(CONFIG.discovery, iterations=1, training_epochs=2, epoch_steps=64),
    agent=Agent(kind="mlp", hidden_size=8, layers=1),
    ppo=Ppo(environments=8, rollout_steps=8, minibatches=2),
    routing=Routing(patience=10),
    evaluation=Evaluation(episodes=6, horizon=12),
)


class Trains(QuickPerformers):
    """Real training, so that checkpoints are real; decisions rest on quick evaluations, so that a skill is admitted."""

    def _train(self, effect: Train) -> Trained:
        return Performers._train(self, effect)


@pytest.fixture(scope="module", autouse=True)
def corridor_is_a_world() -> object:
    patch = pytest.MonkeyPatch()
    known = registry.entry("craftax_classic")
    patch.setattr(registry, "WORLDS", {**registry.WORLDS, "corridor": evolve(known, build=Corridor)})
    patch.setattr(environment, "prepare", lambda *given: None)
    yield None
    patch.undo()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    from fm.budget import Budget

    directory = tmp_path_factory.mktemp("evaluated") / "run"
    live.create(directory, "code_sharp", SMALL)
    live.resume(
        directory,
        transport=ScriptedModel(),
        display=NullDisplay(),
        interrupts=Interrupts(),
        facts=(),
        budget=Budget(),
        concurrency=1,
        checkpoint_seconds=60.0,
        performers_type=Trains,
    )
    return directory


def last(recording: Recording) -> tuple[Train, Trained]:
    steps = [each.step for each in recording.steps if isinstance(each.step.effect, Train)]
    effect, outcome = steps[-1].effect, steps[-1].outcome
    assert isinstance(effect, Train)
    assert isinstance(outcome, Trained)
    return effect, outcome


def asked(recorded: pathlib.Path, **request: object) -> dict[str, object]:
    return evaluate(load(recorded), Request(**request), NullDisplay(), Interrupts()).data()  # type: ignore[arg-type]


def test_it_is_the_evaluation_of_the_engine(recorded: pathlib.Path) -> None:
    """The same numbers as the effect performed by hand with the checkpoint's bytes."""
    recording = load(recorded)
    effect, outcome = last(recording)
    by_hand = Evaluate(
        KEYS,
        effect.path,
        "corridor",
        effect.skills,
        tuple(Target(skill.name, skill) for skill in effect.skills),
        9,
        12,
        SMALL.seed,
        KEYS,
        SMALL.agent,
        SMALL.routing,
    )
    file = recorded / "checkpoints" / f"{outcome.checkpoint}.safetensors"
    found = TrainingCore(Corridor()).evaluate(by_hand, file.read_bytes(), progress=lambda *_: None, stop=lambda: False)
    assert isinstance(found, Evaluated)
    done = evaluate(recording, Request(episodes=9), NullDisplay(), Interrupts())
    assert done.agent == effect.path
    assert (done.steps, done.horizon, done.seed) == (found.steps, 12, SMALL.seed)
    assert [(row.skill, row.rate) for row in done.rows] == [
        (row.label, Rate(row.successes, row.episodes)) for row in found.rows
    ]
    assert [tuple(count for _, count in row.achievements) for row in done.rows] == [
        row.achievements for row in found.rows
    ]
    assert [name for name, _ in done.rows[0].achievements] == ["take_key", "open_door", "light_lamp"]


def test_the_run_is_not_touched(recorded: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> dict[str, str]:
        files = (file for file in recorded.rglob("*") if file.is_file())
        return {
            str(file): f"{file.stat().st_mtime_ns} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files
        }

    before = state()
    assert main(["--quiet", "evaluate", str(recorded), "--episodes", "3"]) == 0
    assert state() == before
    out = capsys.readouterr().out
    assert "TakeKey" in out
    assert "of 3" in out
    assert "agent iteration=0/train/epoch=1; seed 3; at most 12 steps per episode" in out


def test_as_data_for_scripts(recorded: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", str(recorded), "--json", "--agent", "untrained", "--horizon", "5", "--seed", "11"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["agent"], told["horizon"], told["seed"]) == ("untrained", 5, 11)
    (skill,) = told["skills"]
    assert skill["episodes"] == 6
    assert 0 <= skill["interval"]["low"] <= skill["successes"] / 6 <= skill["interval"]["high"] <= 1
    assert told == asked(recorded, agent=UNTRAINED, horizon=5, seed=11)


def test_a_checkpoint_from_elsewhere_names_its_agent(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The run ships no checkpoint; its file was kept in another place."""
    _, outcome = last(load(recorded))
    bare = tmp_path / "bare"
    shutil.copytree(recorded, bare)
    elsewhere = tmp_path / "kept"
    shutil.move(bare / "checkpoints" / f"{outcome.checkpoint}.safetensors", elsewhere)
    assert asked(bare, checkpoint=elsewhere) == asked(recorded)
    with pytest.raises(Unknown, match="the agent trained at iteration=0/train/epoch=1, not iteration=0/train/epoch=0"):
        asked(bare, checkpoint=elsewhere, agent=Path("iteration=0/train/epoch=0"))
    elsewhere.write_bytes(elsewhere.read_bytes() + b"!")
    with pytest.raises(Unknown, match="checkpoint of no agent of this run"):
        asked(bare, checkpoint=elsewhere)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--skill", "TakeKeys"], ExitCode.USAGE, "no skill 'TakeKeys'; did you mean TakeKey?"),
        (["--agent", "iteration=0/train/epoch=7"], ExitCode.USAGE, "did you mean iteration=0/train/epoch="),
        (["--agent", "no path!"], ExitCode.USAGE, "is no step path"),
        (["--episodes", "0"], ExitCode.USAGE, "'episodes' must be >= 1: 0"),
        (["--seed", "-1"], ExitCode.USAGE, "'seed' must be >= 0: -1"),
        (["--checkpoint", "nowhere"], ExitCode.FILE, "nowhere"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    recorded: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: ExitCode, told: str
) -> None:
    assert main(["evaluate", str(recorded), *arguments]) == code
    assert told in capsys.readouterr().err


def test_a_checkpoint_that_is_not_there_is_told_with_those_that_are(
    recorded: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, outcome = last(load(recorded))
    shutil.copytree(recorded, tmp_path / "bare")
    (tmp_path / "bare" / "checkpoints" / f"{outcome.checkpoint}.safetensors").unlink()
    assert main(["evaluate", str(tmp_path / "bare")]) == ExitCode.MISSING_RECORDING
    told = capsys.readouterr().err
    assert "trained at iteration=0/train/epoch=1 is not here" in told
    assert "iteration=0/train/epoch=0" in told
    assert f"{outcome.checkpoint}.safetensors" in told


def test_a_damaged_checkpoint_is_not_used(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    _, outcome = last(load(recorded))
    shutil.copytree(recorded, tmp_path / "bad")
    file = tmp_path / "bad" / "checkpoints" / f"{outcome.checkpoint}.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert main(["--quiet", "evaluate", str(tmp_path / "bad")]) == ExitCode.DAMAGED


def test_the_interval_by_hand() -> None:
    """0 of 10: the upper end is 1 - 0.025^(1/10). 10 of 10 is its mirror. 5 of 10: the table's 18.7 % to 81.3 %."""
    none, every, half = (success_interval(Rate(done, 10)) for done in (0, 10, 5))
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert (every.low, every.high) == (pytest.approx(0.025**0.1), 1.0)
    assert (round(half.low, 3), round(half.high, 3)) == (0.187, 0.813)
    with pytest.raises(ValueError, match="needs episodes"):
        success_interval(Rate(0, 0))
