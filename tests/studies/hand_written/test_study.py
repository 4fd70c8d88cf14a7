"""The study from end to end in the corridor: recorded, stopped and resumed, driven again, counted, drawn."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from matplotlib.collections import PathCollection

from ledger import reader
from ledger.verify import verify
from ledger.vocabulary.config import Agent, Config, Discovery, Evaluation, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import Fact, Progress, Session, Step
from ledger.vocabulary.train import Train, Trained
from replay.progress import NullDisplay
from replay.runner.interrupt import Interrupted, Interrupts
from replay.runner.recording import load
from replay.runner.use import DECIDE, STRICT
from tests.studies.hand_written import figures, record, report
from tests.studies.hand_written.__main__ import main
from tests.studies.hand_written.counts import Incomplete, arms, finished, folder, rates, read
from tests.studies.hand_written.material import Material
from tests.studies.hand_written.pace import Pace
from tests.tiny_worlds import Corridor

SMALL = Config(
    world="corridor",
    discovery=Discovery(iterations=2, training_epochs=2, epoch_steps=2_048),
    evaluation=Evaluation(episodes=32, horizon=40),
    routing=Routing(patience=20),
    ppo=Ppo(
        environments=16, rollout_steps=32, update_epochs=2, minibatches=4, learning_rate=3e-3, end_learning_rate=3e-3
    ),
    agent=Agent(kind="mlp", hidden_size=32),
)
ARMS = ("routed", "flat_trained")
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def cores() -> record.Cores:
    return record.Cores()


def carry_on(run: record.Run, cores: record.Cores, interrupts: Interrupts | None = None) -> Any:
    return record.carry_on(
        run.directory,
        display=NullDisplay(),
        interrupts=interrupts or Interrupts(),
        facts=(Fact("machine", "a test"),),
        cores=cores,
        pace=Pace(0, 0),
    )


@pytest.fixture(scope="module")
def out(
    tmp_path_factory: pytest.TempPathFactory, named_corridor: Corridor, material: Material, cores: record.Cores
) -> Path:
    """Two arms, two seeds."""
    where = tmp_path_factory.mktemp("study")
    for seed in SEEDS:
        for arm in ARMS:
            run = record.Run(arm, evolve(SMALL, seed=seed), folder(where, arm, seed))
            record.create(run, material)
            assert record.work_left(run) == run.planned
            assert carry_on(run, cores) is not None
            assert record.work_left(run) == (0, 0)
            assert carry_on(run, cores) is None
    return where


def steps(run: Path) -> list[Step]:
    return [each.event for each in reader.read(run) if isinstance(each.event, Step)]


# --- recordings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ARMS)
def test_each_run_is_an_ordinary_run_with_its_last_agent(out: Path, arm: str) -> None:
    found = verify(folder(out, arm, 0))
    assert found.ok
    assert found.status == "finished"
    assert len(list((folder(out, arm, 0) / "checkpoints").iterdir())) == 1
    assert len(found.not_shipped) == 3


def test_arms_differ_in_prerequisites_and_in_nothing_else(out: Path) -> None:
    routed, flat = ([s.effect for s in steps(folder(out, arm, 0))] for arm in ARMS)
    first, second = (next(each for each in effects if isinstance(each, Train)) for effects in (routed, flat))
    assert [skill.requires for skill in first.skills] == [(), ("TakeKey",), ("OpenDoor",)]
    assert [skill.requires for skill in second.skills] == [(), (), ()]
    assert evolve(first, skills=()) == evolve(second, skills=())
    assert [skill.vector for skill in first.skills] == [skill.vector for skill in second.skills]
    last = {each.path.text: each for each in routed if isinstance(each, Evaluate) and "final" in each.path.text}
    assert list(last) == ["final/routed", "final/flat_evaluated", "final/name_only"]
    chains = [target.skill.requires for target in last["final/flat_evaluated"].targets]
    assert chains == [(), ("TakeKey",), ("TakeKey", "OpenDoor")]
    assert len({(each.agent, each.keys, each.seed, each.episodes, each.horizon) for each in last.values()}) == 1
    (alone,) = (each for each in flat if isinstance(each, Evaluate) and "final" in each.path.text)
    assert (alone.keys, alone.seed, alone.episodes) == (last["final/routed"].keys, 0, 32)


def test_success_rates_follow_the_agent(out: Path) -> None:
    trained = [
        (step.effect, step.outcome)
        for step in steps(folder(out, "routed", 1))
        if isinstance(step.effect, Train) and isinstance(step.outcome, Trained)
    ]
    assert len(trained) == 4
    for (before, outcome), (after, _) in pairwise(trained):
        counted = {row.name: (row.successes, row.attempts) for row in outcome.attempts if row.attempts}
        told = {skill.name: (skill.successes, skill.attempts) for skill in after.skills}
        assert counted.items() <= told.items()
        assert after.agent == before.path


class Impatient(Interrupts):
    """Asks to stop after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def requested(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_a_stopped_run_goes_on_to_the_same_bits(
    tmp_path: Path, out: Path, named_corridor: Corridor, material: Material, cores: record.Cores
) -> None:
    run = record.Run("routed", evolve(SMALL, seed=0), tmp_path / "run")
    record.create(run, material)
    record.create(run, material)  # what is there already stays
    for looks in (12, 8):
        with pytest.raises(Interrupted):
            carry_on(run, cores, Impatient(looks))
        assert load(run.directory).finished is None
    assert carry_on(run, cores) is not None
    events = [each.event for each in reader.read(run.directory)]
    assert [event.purpose for event in events if isinstance(event, Session)] == ["run", "resume", "resume"]
    assert any(isinstance(event, Progress) for event in events), "no training was stopped in the middle"
    again, whole = read(run.directory), read(folder(out, "routed", 0))
    assert again is not None
    assert whole is not None
    assert evolve(again, head="") == evolve(whole, head="")
    assert [s.effect for s in steps(run.directory)] == [s.effect for s in steps(folder(out, "routed", 0))]


def test_another_experiment_in_the_folder_is_refused(out: Path, material: Material) -> None:
    run = record.Run("routed", evolve(SMALL, seed=0, evaluation=Evaluation(episodes=8)), folder(out, "routed", 0))
    with pytest.raises(record.Unsuitable, match="other settings"):
        record.create(run, material)


@pytest.mark.parametrize("use", [DECIDE, STRICT], ids=lambda use: use.name)
def test_recordings_replay(out: Path, named_corridor: Corridor, cores: record.Cores, use: Any) -> None:
    for arm in ARMS:
        again = record.again(folder(out, arm, 1), use, display=NullDisplay(), interrupts=Interrupts(), cores=cores)
        assert again.finished is not None
        assert again.report.divergences == ()
        assert bool([path for path in again.recomputed if path.startswith("final")]) == (use is STRICT)


# --- counts and estimates --------------------------------------------------------------------------------------------


def recorded(out: Path, arm: str, seed: int, path: str) -> list[int]:
    (step,) = (s for s in steps(folder(out, arm, seed)) if s.effect.path.text == path)
    return [row.successes for row in step.outcome.rows]


def test_rates_are_the_counts_of_the_ledgers(out: Path) -> None:
    found = finished(out)
    assert arms(found) == ("routed", "flat_evaluated", "name_only", "flat_trained")
    for arm in arms(found):
        where = "flat_trained" if arm == "flat_trained" else "routed"
        expected = [[count / 32 for count in recorded(out, where, seed, f"final/{arm}")] for seed in SEEDS]
        assert rates(found, arm).tolist() == expected
    assert rates(found, "routed").sum() > 0, "nothing was learnt: the comparison shows nothing"


def test_the_report_says_what_the_ledgers_say(
    out: Path, tmp_path: Path, named_corridor: Corridor, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(out), "--to", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert (tmp_path / "results.md").read_text() in printed
    data = json.loads((tmp_path / "results.json").read_text())
    assert [(run["trained"], run["seed"]) for run in data["runs"]] == [(arm, seed) for arm in ARMS for seed in SEEDS]
    assert [machine["machine"] for machine in data["machines"]] == ["a test"]
    for run in data["runs"]:
        assert run["machine"] == 0
        for each in run["evaluations"]:
            path = f"final/{each['arm']}" if each["steps"] == 8_192 else f"part=0/{each['arm']}"
            assert list(each["successes"].values()) == recorded(out, run["trained"], run["seed"], path)
        assert [epoch["steps"] for epoch in run["epochs"]] == [2_048, 4_096, 6_144, 8_192]
        assert run["ledger_head"] == json.loads((folder(out, run["trained"], run["seed"]) / "HEAD").read_text())["hash"]
    # with two seeds nothing is trimmed: the interquartile mean is the mean
    both = [recorded(out, "routed", seed, "final/routed") for seed in SEEDS]
    mean = sum(counts[0] for counts in both) / 64
    assert data["interquartile_means"]["by_skill"]["routed"]["TakeKey"][0] == pytest.approx(mean, abs=1e-6)
    assert data["groups"]["all skills"] == ["TakeKey", "OpenDoor", "LightLamp"]
    assert data["groups"]["skills with prerequisites"] == ["OpenDoor", "LightLamp"]
    assert f"| TakeKey | {mean:.2f} (" in printed
    for name in ("skills", "curves"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()


def test_figures_show_every_seed(out: Path) -> None:
    done = report.result(finished(out), {"TakeKey": (), "OpenDoor": ("TakeKey",), "LightLamp": ("OpenDoor",)})
    axes = figures.by_skill(done).axes[0]
    clouds = [np.asarray(each.get_offsets()) for each in axes.collections if isinstance(each, PathCollection)]
    dots = np.concatenate([cloud[:, 0] for cloud in clouds if len(cloud) == len(SEEDS)])
    shown = np.concatenate([rates(done.found, arm).ravel() for arm in done.arms])
    assert set(shown.tolist()) <= set(dots.tolist())
    assert len(dots) >= len(shown)
    panels = [axes for axes in figures.over_training(done).axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == ["IQM over skills with prerequisites", *done.names]
    thin = [line for line in panels[1].lines if len(line.get_xdata()) == 2]
    assert len(thin) == 2 * (len(SEEDS) + 1)


def test_half_a_study_is_not_reported(tmp_path: Path, out: Path, named_corridor: Corridor, material: Material) -> None:
    with pytest.raises(Incomplete, match="no finished run"):
        finished(tmp_path)
    for arm, seed in (("routed", 0), ("routed", 1), ("flat_trained", 0)):
        where = folder(tmp_path, arm, seed)
        where.parent.mkdir(exist_ok=True)
        where.symlink_to(folder(out, arm, seed))
    with pytest.raises(Incomplete, match="different finished seeds"):
        finished(tmp_path)
    record.create(record.Run("flat_trained", evolve(SMALL, seed=1), folder(tmp_path, "flat_trained", 1)), material)
    with pytest.raises(Incomplete, match="different finished seeds"):
        finished(tmp_path)


# --- the study itself ------------------------------------------------------------------------------------------------


def test_the_settings_of_the_study() -> None:
    config = record.config_of(3)
    assert (config.world, config.seed, config.grammar) == ("craftax_classic", 3, "sharp@2")
    assert (config.agent.kind, config.agent.hidden_size) == ("mlp", 256)
    assert (config.ppo.environments, config.ppo.rollout_steps) == (256, 32)
    assert (config.ppo.update_epochs, config.ppo.minibatches) == (2, 4)
    assert record.Run("routed", config, Path("x")).planned == (record.STEPS, 3 * 32 + 3 * 128)
    assert config.evaluation.episodes >= 100
    assert evolve(record.config_of(4), seed=3) == config
    assert record.config_of(0, 1).discovery.epoch_steps == 8_192
    assert record.Run("routed", record.config_of(0, 300_000), Path("x")).planned[0] == 294_912


def test_pace() -> None:
    said: list[str] = []
    pace = Pace(3_000, 20, said.append)
    assert pace.seconds_left() is None
    train, evaluate = (object.__new__(kind) for kind in (Train, Evaluate))
    object.__setattr__(train, "steps", 1_000)
    object.__setattr__(evaluate, "episodes", 10)
    pace.done(train, Trained(1_000, 0, (), "", "", 0.0, seconds=5.0))
    assert said == ["2,000 training steps, 20 episodes per skill left"]
    pace.done(evaluate, Evaluated((), 0, seconds=30.0))
    assert pace.seconds_left() == 2 * 5.0 + 30.0
    assert said[-1] == "2,000 training steps, 10 episodes per skill left: about 40 s"
