"""Reproduction from the command line: levels, tables, report.json, figures, retraining and expectations."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from engine.archive.archive import View
from ledger.vocabulary.config import Agent, Config, Evaluation
from ledger.vocabulary.evaluate import Evaluate
from ledger.vocabulary.note import Rate
from ledger.vocabulary.path import Path as StepPath
from ledger.vocabulary.train import UNTRAINED, Train
from replay import expect as expect_module
from replay import report, reproduce, retrain
from replay.cli import main
from replay.commands import environment
from replay.commands.reproduce import paper
from replay.exit_codes import ExitCode
from replay.output import console
from replay.progress import NullDisplay
from replay.reproduce import AchievementRow, Level, SkillRow
from replay.retrain import Rescaled, rescaled
from replay.runner.divergence import Divergence, DivergenceClass, DivergenceReport
from replay.runner.interrupt import Interrupts
from replay.statistics import Interval, read_expected
from tests.replay.scripted import CONFIG, QuickPerformers
from tests.replay.scripted import run as scripted_run
from tests.replay.story import HOSTILE, STEPS
from tests.replay.test_cli import config_file, one_error


class Drifting(QuickPerformers):
    """Every training phase comes out otherwise than recorded."""

    perturb = staticmethod(lambda effect: 1)


class QuickRescaled(Rescaled, QuickPerformers):
    """Retraining on the corridor of integers."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "corridor"
    scripted_run(folder / "recording")
    (folder / "HEAD").write_bytes((folder / "recording" / "HEAD").read_bytes())
    config_file(folder)
    (folder / "profiles").mkdir()
    (folder / "profiles" / "large.toml").write_text("[evaluation]\nepisodes = 50\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "Performers", QuickPerformers)
    monkeypatch.setattr(expect_module, "Performers", QuickPerformers)
    monkeypatch.setattr(retrain, "Rescaled", QuickRescaled)
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    monkeypatch.setattr("replay.fingerprint.facts", lambda: ())


def reproduced(folder: Path, out: Path, *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["reproduce", str(folder), "--out", str(out), "--quiet", *more])
    data: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="ascii"))
    assert data["exit_code"]["value"] == code
    return code, data


def without_checkpoints(recording: Path, target: Path) -> Path:
    """A copy that ships no checkpoints, as a published recording may."""
    shutil.copytree(recording, target, ignore=shutil.ignore_patterns("*.safetensors"))
    return target


def test_a_faithful_machine_reaches_the_last_level(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, data = reproduced(recording, tmp_path / "out")
    assert code == ExitCode.OK
    assert data["level"] == Level.BITWISE
    assert data["divergences"]["totals"] == {}
    assert [row["recorded"] for row in data["skills"]] == [row["reproduced"] for row in data["skills"]]
    assert {row["paper"] for row in data["achievements"]} == {"not public"}
    assert [entry["name"] for entry in data["archive"]][:2] == ["TakeKey", "OpenDoor"]
    assert data["history"]["proposals"][0]["iteration"] == 0
    files = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert files == ["achievements.png", "archive.png", "proposals.png", "rates.png", "report.json", "skills.png"]
    shown = capsys.readouterr().out
    assert "level reached: training, bitwise" in shown
    assert "it shows not:" in shown
    assert "TakeKey" in shown


@pytest.mark.parametrize("level", ["integrity", "decisions", "programs"])
def test_a_level_can_be_asked_for(level: str, recording: Path, tmp_path: Path) -> None:
    code, data = reproduced(recording, tmp_path, "--level", level)
    assert code == ExitCode.OK
    assert data["level"] == level
    assert data["shows"] == report.SHOWS[Level(level)]
    assert data["does_not_show"] == report.SHOWS_NOT[Level(level)]
    assert data["skills"] == []


def test_smoke_replays_the_first_phase(recording: Path, tmp_path: Path) -> None:
    code, data = reproduced(recording, tmp_path, "--profile", "smoke")
    assert code == ExitCode.OK
    assert data["level"] == Level.PHASE_BITWISE


def test_drift_is_no_level_without_expectations_and_judged_with_them(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = without_checkpoints(recording, tmp_path / "corridor")
    monkeypatch.setattr(reproduce, "Performers", Drifting)
    code, data = reproduced(folder, tmp_path / "a")
    assert code == ExitCode.NUMERIC
    assert data["level"] == Level.PROGRAMS
    assert data["divergences"]["earliest_numeric"]["class"] == "numeric"
    assert data["divergences"]["totals"] == {"numeric": len(data["divergences"]["listed"])}
    assert "earliest numeric difference" in capsys.readouterr().out
    names = [row["name"] for row in data["skills"]]
    lines = [f"{name} = [2, 18, 10]" for name in names]
    text = "seeds = [1, 2, 3]\nfamily_error = 0.05\nepisodes = 20\n[successes]\n" + "\n".join(lines)
    (folder / "expected.toml").write_text(text, encoding="utf-8")
    code, data = reproduced(folder, tmp_path / "b")
    assert code == ExitCode.OK
    assert data["level"] == Level.STATISTICAL
    assert all(row["inside"] for row in data["skills"])
    assert all(row["interval"]["low"] <= row["interval"]["high"] for row in data["skills"])
    narrow = text.replace("[2, 18, 10]", "[0, 0, 0]").replace("episodes = 20", "episodes = 2000")
    (folder / "expected.toml").write_text(narrow, encoding="utf-8")
    code, data = reproduced(folder, tmp_path / "c")
    assert code == ExitCode.NUMERIC
    assert not all(row["inside"] for row in data["skills"])


def test_final_rates_are_of_the_agent_trained_here_unless_drift_is_localised(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that ships every checkpoint must not lend its own agent to the statistical level."""
    folder = tmp_path / "corridor"
    shutil.copytree(recording, folder)
    assert list(folder.rglob("*.safetensors"))
    monkeypatch.setattr(reproduce, "Performers", Drifting)
    names = [row["name"] for row in reproduced(folder, tmp_path / "a")[1]["skills"]]
    lines = [f"{name} = [2, 18, 10]" for name in names]
    text = "seeds = [1, 2, 3]\nfamily_error = 0.05\nepisodes = 20\n[successes]\n" + "\n".join(lines)
    (folder / "expected.toml").write_text(text, encoding="utf-8")
    own = reproduced(folder, tmp_path / "b")[1]
    assert own["level"] == Level.STATISTICAL
    assert own["adopted_checkpoints"] == []
    code, adopted = reproduced(folder, tmp_path / "c", "--localise")
    assert code == ExitCode.NUMERIC
    assert adopted["level"] == Level.PROGRAMS
    assert adopted["adopted_checkpoints"]
    assert adopted["divergences"]["totals"]["numeric"] < own["divergences"]["totals"]["numeric"]


def test_an_altered_recording_reaches_nothing(recording: Path, tmp_path: Path) -> None:
    folder = without_checkpoints(recording, tmp_path / "corridor")
    segment = folder / "recording" / "events" / "00000000.zst"
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 4
    segment.write_bytes(bytes(data))
    code, found = reproduced(folder, tmp_path / "out")
    assert code == ExitCode.INTEGRITY
    assert found["level"] == Level.NONE
    assert found["problems"]
    assert found["archive"] == []


def test_a_run_without_a_head_beside_it_says_what_that_hides(recording: Path, tmp_path: Path) -> None:
    _, data = reproduced(recording / "recording", tmp_path, "--level", "integrity")
    assert any("no HEAD is kept beside this run" in each for each in data["caveats"])


def test_the_banner_is_everywhere(recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = without_checkpoints(recording, tmp_path / "corridor")
    (folder / "BANNER.txt").write_text("PROVISIONAL:\n  a stand-in \x1b[2J answered\n", encoding="utf-8")
    _, data = reproduced(folder, tmp_path / "out", "--level", "programs")
    assert data["banner"] == "PROVISIONAL: a stand-in \x1b[2J answered"
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == shown.splitlines()[-1] == "PROVISIONAL: a stand-in \\x1b[2J answered"


def test_another_profile_is_retraining_and_no_level(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, data = reproduced(recording, tmp_path, "--profile", "large")
    assert code == ExitCode.OK
    assert data["level"] == Level.PROGRAMS
    assert data["retraining"] is True
    assert {row["reproduced"]["episodes"] for row in data["skills"]} == {50}
    assert {row["recorded"]["episodes"] for row in data["skills"]} == {20}
    assert report.RETRAINING in data["caveats"]
    assert "the numbers above are a retraining" in capsys.readouterr().out
    assert main(["reproduce", str(recording), "--profile", "large", "--level", "programs"]) == ExitCode.USAGE
    capsys.readouterr()
    assert main(["reproduce", str(recording), "--profile", "larg", "--out", str(tmp_path)]) == ExitCode.CONFIG
    assert "did you mean large?" in one_error(capsys)


def test_an_interrupt_leaves_the_recording_alone(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(effect: Train) -> int:
        raise KeyboardInterrupt

    class Interrupting(QuickPerformers):
        perturb = staticmethod(stop)

    monkeypatch.setattr(reproduce, "Performers", Interrupting)
    assert main(["reproduce", str(recording), "--out", str(tmp_path)]) == ExitCode.INTERRUPTED
    assert "run the same command again" in one_error(capsys)


def test_expect_writes_what_reproduce_reads(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = without_checkpoints(recording, tmp_path / "corridor")
    assert main(["expect", str(folder), "--seeds", "3", "--quiet"]) == ExitCode.OK
    expected = read_expected(folder / "expected.toml")
    assert expected.seeds == (4, 5, 6)
    assert set(expected.rates) >= {"TakeKey"}
    assert main(["expect", str(folder), "--quiet"]) == ExitCode.USAGE
    assert "--force" in one_error(capsys)
    assert main(["expect", str(folder), "--seeds", "1", "--force"]) == ExitCode.USAGE


# --- retraining ------------------------------------------------------------------------------------------------------


def train(path: str) -> Train:
    return Train(StepPath(path), UNTRAINED, "corridor", (), 64, 0, CONFIG.agent, CONFIG.ppo, CONFIG.routing)


def test_phases_keep_their_epochs_and_get_the_scales_steps() -> None:
    """Recorded: one training epoch, two evaluation epochs. With 4 and 4 epochs of 1,000 steps at another scale, a
    phase has 4,000 steps: in one epoch for training, in two for a copy."""
    scale = Config(discovery=evolve(CONFIG.discovery, training_epochs=4, evaluation_epochs=4, epoch_steps=1000))
    training = rescaled(train("iteration=0/train/epoch=0"), CONFIG, scale)
    copy = rescaled(train("iteration=0/learnability/train/epoch=1"), CONFIG, scale)
    assert isinstance(training, Train)
    assert isinstance(copy, Train)
    assert (training.steps, copy.steps) == (4000, 2000)
    assert training.network == scale.agent
    assert training.path == StepPath("iteration=0/train/epoch=0")


def test_evaluations_take_episodes_horizon_and_network() -> None:
    scale = Config(agent=Agent(kind="mlp", layers=1), evaluation=Evaluation(episodes=7, horizon=9))
    at = StepPath("final/evaluate")
    effect = Evaluate(at, UNTRAINED, "corridor", (), (), 20, 30, 5, at, CONFIG.agent, CONFIG.routing)
    found = rescaled(effect, CONFIG, scale)
    assert isinstance(found, Evaluate)
    assert (found.episodes, found.horizon, found.network.kind, found.seed) == (7, 9, "mlp", 5)


def test_retraining_an_altered_recording_trains_nothing(recording: Path, tmp_path: Path) -> None:
    folder = without_checkpoints(recording, tmp_path / "corridor")
    (folder / "recording" / "HEAD").write_bytes(b"{}")
    found = retrain.retrain(
        folder, "large", Config(), display=NullDisplay(), interrupts=Interrupts(), paper=lambda world, name: ""
    )
    assert found.level is Level.NONE
    assert found.skills == ()
    assert not report.is_retraining(found)


# --- words and tables ------------------------------------------------------------------------------------------------


def rendered(table: Any) -> str:
    import io

    stream = io.StringIO()
    console(stream).print(table)
    return stream.getvalue()


def test_every_level_says_what_it_shows_and_what_not() -> None:
    assert set(report.SHOWS) == set(report.SHOWS_NOT) == set(Level)
    assert all("\n" not in text for text in (*report.SHOWS.values(), *report.SHOWS_NOT.values()))


def test_tables_show_hostile_names_as_text() -> None:
    skills = (
        SkillRow(HOSTILE, Rate(1, 4), Rate(4, 4), Interval(0.1, 0.6)),
        SkillRow("TakeKey", Rate(3, 4), None, None),
    )
    flags = (AchievementRow(HOSTILE, HOSTILE, Rate(1, 4), None, HOSTILE),)
    view = View()
    for step in STEPS:
        view = view.fold(step)
    shown = [rendered(report.skill_table(skills)), rendered(report.achievement_table(flags))]
    shown += [rendered(report.archive_table(view)), rendered(report.proposal_table({0: {"admitted": 1}}))]
    for text in shown:
        assert all(line.isprintable() for line in text.splitlines())
    assert "[bold]" in shown[0]
    assert "25% (1/4)" in shown[0]
    assert "10% to 60%" in shown[0]
    assert "NO" in shown[0]
    assert "OpenDoor, TakeKey" in shown[2]


def test_divergences_are_told_in_bounded_safe_lines() -> None:
    one = Divergence(DivergenceClass.PROMPT, 7, "iteration=0/propose[0]", "effect", "parts[0]", HOSTILE, "b", HOSTILE)
    lines = report.divergence_lines(DivergenceReport((one,) * 50))
    assert all(line.isprintable() for line in lines)
    assert lines[0] == "50 differences: 50 prompt"
    assert "30 more" in lines[-1]
    data = report.divergence_data(DivergenceReport((one,) * (report.MOST_DIVERGENCES + 5)))
    assert data["totals"] == {"prompt": report.MOST_DIVERGENCES + 5}
    assert len(data["listed"]) == report.MOST_DIVERGENCES
    assert report.divergence_lines(DivergenceReport()) == ["no difference"]


def test_the_papers_numbers_are_of_its_own_world() -> None:
    assert paper("craftax_classic", "collect_diamond").startswith("16%")
    assert paper("craftax_classic", "eat_cow") == "not public"
    assert paper("corridor", "collect_diamond") == "not public"


def test_percentages() -> None:
    assert report.percent(Rate(2, 3)) == "67% (2/3)"
    assert report.percent(Rate(0, 0)) == report.percent(None) == "–"


def test_an_unfinished_recording_without_training_is_no_training_level(recording: Path, tmp_path: Path) -> None:
    """A run that stopped before its first phase must not count as trained bit for bit."""
    from ledger import reader
    from ledger.vocabulary.events import Step
    from ledger.writer import Writer

    with Writer.create(tmp_path / "run") as writer:
        for record in reader.read(recording / "recording"):
            if isinstance(record.event, Step) and isinstance(record.event.effect, Evaluate):
                break
            writer.append(record.event)
    for profile in ("cpu", "smoke"):
        code, data = reproduced(tmp_path / "run", tmp_path / profile, "--profile", profile)
        assert code == ExitCode.OK
        assert data["level"] == Level.PROGRAMS
        assert "no training" in data["explanation"]
        assert any("not finished" in each for each in data["caveats"])


def test_the_transport_of_a_recording_is_no_change_of_the_machine() -> None:
    from ledger.vocabulary.events import Fact

    facts = (Fact("transport", "mailbox"), Fact("base_url", "x"), Fact("package/jax", "1"), Fact("device", "cpu"))
    assert [fact.name for fact in reproduce._of_the_machine(facts)] == ["package/jax", "device"]
