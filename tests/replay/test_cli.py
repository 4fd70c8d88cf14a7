"""The command line: exit codes, one line per error, no JAX where none is needed, the reference in the docs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from engine.archive.archive import ArchiveError
from engine.worlds import registry
from ledger.vocabulary.events import Event, Step
from ledger.vocabulary.note import Admitted, Note
from replay.cli import COMMANDS, main, parser
from replay.commands import connect, environment
from replay.commands import doctor as doctor_command
from replay.commands.reference import markdown
from replay.exit_codes import ExitCode, explain
from replay.operational import Operational
from replay.reproduce import Level
from replay.runner import live
from replay.runner.interrupt import Interrupted
from replay.runner.recording import load
from tests.replay.scripted import CONFIG, QuickPerformers, ScriptedModel, rewritten
from tests.replay.scripted import run as scripted_run
from tests.replay.story import HOSTILE, write
from tests.tiny_worlds import Corridor

ROOT = Path(__file__).resolve().parents[2]
CONFIG_TOML = """\
world = "corridor"
seed = 3
[discovery]
iterations = 3
proposals = 3
mutation_start = 1
mutations = 2
training_epochs = 1
evaluation_epochs = 2
epoch_steps = 64
[evaluation]
episodes = 20
horizon = 30
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cli") / "run"
    scripted_run(directory)
    return directory


@pytest.fixture(autouse=True)
def corridor_is_a_world(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.entry("craftax_classic")
    monkeypatch.setattr(registry, "WORLDS", {**registry.WORLDS, "corridor": evolve(known, build=Corridor)})


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Runs of this test ask a scripted model and train on a corridor of integers."""
    model = ScriptedModel()
    monkeypatch.setattr(live, "resume", partial(live.resume, performers_type=QuickPerformers))
    monkeypatch.setattr(connect, "transport_of", lambda *given: model)
    monkeypatch.setattr("replay.fingerprint.facts", lambda: ())
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    return model


def config_file(folder: Path, more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "experiment.toml"
    file.write_text(CONFIG_TOML + more, encoding="utf-8")
    return file


def one_error(capsys: pytest.CaptureFixture[str]) -> str:
    """The error that was told: a single line, and nothing else beside progress."""
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    return lines[0]


# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_teaches(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"] if name else ["--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert "usage: python -m replay" in text
    if not name:
        assert all(command in text for command in COMMANDS)
        assert "exit codes:" in text


@pytest.mark.parametrize("arguments", [[], ["bogus"], ["log"], ["run", "x"], ["verify"], ["log", "x", "--bogus"]])
def test_usage_errors_are_one_line_with_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == ExitCode.USAGE
    assert "--help" in one_error(capsys)


def test_quiet_and_debug_are_understood_before_and_after_the_command() -> None:
    for arguments in (["--quiet", "log", "x"], ["log", "x", "--quiet"]):
        given = parser().parse_args(arguments)
        assert given.quiet
        assert not given.debug


def test_the_reference_in_the_docs_is_what_the_parser_says() -> None:
    file = ROOT / "docs" / "commands.md"
    made_by = "make it anew with `python -m replay.commands.reference > docs/commands.md`"
    assert file.read_text(encoding="utf-8") == markdown(), made_by


def test_the_reference_has_every_option() -> None:
    text = markdown()
    for name in COMMANDS:
        assert f"\n## {name}\n" in text
    for code in ExitCode:
        assert f"| {int(code)} | {code.name.lower().replace('_', '-')} | {code.meaning} |" in text
    assert "--steps-per-second N" in text
    assert "SUPPRESS" not in text
    for level in Level:
        assert f"| {level.value} | " in text


# --- errors ----------------------------------------------------------------------------------------------------------


def test_an_error_is_a_line_and_debug_adds_the_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decide", str(tmp_path / "none")]) == ExitCode.MISSING_RECORDING
    assert "holds no recording" in one_error(capsys)
    assert main(["decide", str(tmp_path / "none"), "--debug"]) == ExitCode.MISSING_RECORDING
    assert "Traceback" in capsys.readouterr().err


def test_a_defect_shows_its_traceback_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(folder: Path, head: Path | None) -> None:
        raise ZeroDivisionError(HOSTILE)

    monkeypatch.setattr("replay.commands.verify._verdict", broken)
    assert main(["verify", str(tmp_path)]) == ExitCode.INTERNAL
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "\x1b" not in error.splitlines()[-1]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interrupted("stopped on request")])
def test_an_interrupt_says_how_to_go_on(
    error: BaseException, tmp_path: Path, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(ask: object) -> None:
        raise error

    scripted.before = interrupt
    file = config_file(tmp_path / "experiment")
    run = tmp_path / "run"
    assert main(["run", str(run), "--config", str(file)]) == ExitCode.INTERRUPTED
    assert f"python -m replay resume {run}" in one_error(capsys)
    scripted.before = lambda ask: None
    assert main(["resume", str(run)]) == ExitCode.OK
    assert load(run).finished is not None


def test_a_reader_that_leaves_is_no_error(recorded: Path) -> None:
    command = [sys.executable, "-m", "replay", "log", str(recorded), "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == ExitCode.OK
    assert error == b""


# --- without JAX, network or writing ---------------------------------------------------------------------------------

GUARDED = """
import json, sys
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.remove", "os.rename", "os.mkdir", "shutil.")
seen = []
def hook(event, arguments):
    if event.startswith(FORBIDDEN):
        seen.append(event)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append(f"open {arguments[0]} {arguments[1]}")
from replay.cli import main
sys.addaudithook(hook)
code = main(json.loads(sys.argv[1]))
heavy = [name for name in ("jax", "openai", "matplotlib", "craftax", "flax") if name in sys.modules]
print(json.dumps({"code": code, "heavy": heavy, "seen": seen}))
"""


def guarded(*arguments: str) -> dict[str, object]:
    """Run a command in a process that cannot print anything but ASCII, and tell what it imported and touched."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", GUARDED, json.dumps(arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("command", ["verify", "log", "decide"])
def test_reading_commands_need_no_jax_and_touch_nothing(command: str, recorded: Path) -> None:
    temporary = {
        "decide": ["os.mkdir", "os.remove", "shutil.rmtree"]
    }  # a scratch folder for checkpoints, made and removed
    found = guarded(command, str(recorded))
    assert found["code"] == 0
    assert found["heavy"] == []
    assert set(found["seen"]) <= set(temporary.get(command, []))  # type: ignore[call-overload]


def test_hostile_ledgers_are_only_read(tmp_path: Path) -> None:
    run = write(tmp_path / "run")
    assert guarded("log", str(run)) == {"code": 0, "heavy": [], "seen": []}
    assert guarded("verify", str(run)) == {"code": 0, "heavy": [], "seen": []}


def test_help_needs_no_jax() -> None:
    script = "import sys; from replay.cli import parser; parser(); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


# --- verify ----------------------------------------------------------------------------------------------------------


def test_one_bad_run_does_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write(tmp_path / f"run{index}") for index in range(4)]
    segment = runs[1] / "events" / "00000000.zst"
    data = bytearray(segment.read_bytes())
    data[40] ^= 1
    segment.write_bytes(bytes(data))
    missing = tmp_path / "missing"
    code = main(["verify", *map(str, runs), str(missing)])
    shown = capsys.readouterr().out
    assert code == ExitCode.INTEGRITY
    assert sum(": whole: " in line for line in shown.splitlines()) == 3
    assert f"{runs[1]}: ALTERED" in shown
    assert f"{missing}: not readable" in shown
    assert "3 of 5 runs are whole" in shown
    code = main(["verify", *map(str, runs), str(missing), "--json"])
    results = [each["result"] for each in json.loads(capsys.readouterr().out)]
    assert results == ["ok", "integrity", "ok", "ok", "not_a_run"]


def test_a_torn_tail_has_its_own_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", status="open")
    with (run / "events" / "00000000.zst").open("ab") as file:
        file.write(b"half a batch")
    assert main(["verify", str(run)]) == ExitCode.TORN_TAIL
    assert "torn tail" in capsys.readouterr().out


def test_only_a_head_from_outside_sees_a_shortened_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.replay.story import EVENTS

    folder = tmp_path / "reproduction"
    folder.mkdir()
    whole = write(tmp_path / "whole")
    write(folder / "recording", EVENTS[:-3])
    assert main(["verify", str(folder)]) == ExitCode.OK
    assert "its own HEAD only" in capsys.readouterr().out
    (folder / "HEAD").write_bytes((whole / "HEAD").read_bytes())
    assert main(["verify", str(folder)]) == ExitCode.INTEGRITY
    assert main(["verify", str(whole), "--head", str(folder / "HEAD")]) == ExitCode.OK
    assert main(["verify", str(whole), str(whole), "--head", str(folder / "HEAD")]) == ExitCode.USAGE


# --- decide ----------------------------------------------------------------------------------------------------------


def test_decide_finds_nothing_in_an_honest_recording(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decide", str(recorded)]) == ExitCode.OK
    assert "no difference" in capsys.readouterr().out
    assert main(["decide", str(recorded), "--json"]) == ExitCode.OK
    data = json.loads(capsys.readouterr().out)
    assert data["divergences"] == {"totals": {}, "earliest_numeric": None, "listed": []}
    assert data["steps"] > 20


def forged(recorded: Path, target: Path) -> Path:
    """A valid ledger in which a skill was admitted with better numbers than its evaluation gave."""
    from attrs import evolve

    def better(event: Event) -> Event:
        if isinstance(event, Step) and isinstance(event.effect, Note) and isinstance(event.effect.decision, Admitted):
            decision = evolve(event.effect.decision, after=evolve(event.effect.decision.after, successes=20))
            return evolve(event, effect=evolve(event.effect, decision=decision))
        return event

    rewritten(recorded, target, better)  # type: ignore[arg-type]
    return target


def test_decide_names_a_forged_decision(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = forged(recorded, tmp_path / "forged")
    assert main(["decide", str(run)]) == ExitCode.DECISION
    shown = capsys.readouterr().out
    assert "decision: iteration=0/fate-candidate[0]" in shown
    assert main(["decide", str(run), "--json"]) == ExitCode.DECISION
    first = json.loads(capsys.readouterr().out)["divergences"]["listed"][0]
    assert first["class"] == "decision"
    assert first["path"] == "iteration=0/fate-candidate[0]"
    assert first["field"] == "decision.after.successes"
    assert first["recorded"] == "20"


def test_a_run_of_another_logic_is_told_as_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from attrs import evolve

    from ledger.vocabulary.events import Started
    from tests.replay.story import EVENTS

    started = EVENTS[0]
    assert isinstance(started, Started)
    run = write(tmp_path / "run", (evolve(started, logic="code_sharp@99"), *EVENTS[1:]))
    assert main(["decide", str(run)]) == ExitCode.ENVIRONMENT
    assert "code_sharp@99" in capsys.readouterr().out


# --- run and resume --------------------------------------------------------------------------------------------------


def test_a_dry_run_touches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = config_file(tmp_path / "experiment")
    run = tmp_path / "run"
    assert main(["run", str(run), "--config", str(file), "--dry-run", "--set", "discovery.iterations=2"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert "calls" in shown
    assert "training steps" in shown
    assert "384" in shown, "2 iterations x 3 epochs x 64 steps"
    assert not run.exists()
    assert main(["run", str(run), "--config", str(file), "--dry-run", "--steps-per-second=-1"]) == ExitCode.USAGE


def test_a_run_is_recorded_summarised_and_not_started_twice(
    tmp_path: Path, scripted: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    file = config_file(tmp_path / "experiment")
    assert main(["run", str(run), "--config", str(file), "--set", "foundation_model.model=some-model"]) == ExitCode.OK
    captured = capsys.readouterr()
    assert "TakeKey" in captured.out
    assert "Proposals by fate" in captured.out
    assert f"python -m replay reproduce {run}" in captured.out
    assert "undeclared" not in captured.err
    assert load(run).started.config.foundation_model.model == "some-model"
    asked = len(scripted.asked)
    assert main(["resume", str(run)]) == ExitCode.OK
    assert "finished" in capsys.readouterr().out
    assert len(scripted.asked) == asked
    assert main(["run", str(run), "--config", str(file)]) == ExitCode.NOT_A_RUN
    assert "resume" in one_error(capsys)


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("world=nowhere", ExitCode.UNKNOWN_WORLD),
        ("grammar=sharp@9", ExitCode.CONFIG),
        ("prompts=code_sharp@9", ExitCode.CONFIG),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_what_this_code_lacks_is_told_before_anything_is_made_or_asked(
    setting: str,
    code: ExitCode,
    more: tuple[str, ...],
    scripted: ScriptedModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = config_file(tmp_path / "experiment")
    assert main(["run", str(tmp_path / "run"), "--config", str(file), "--set", setting, *more]) == code
    assert setting.partition("=")[2] in one_error(capsys)
    assert not (tmp_path / "run").exists()
    assert scripted.asked == []


def test_a_folder_that_is_in_use_is_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    file = config_file(tmp_path / "experiment")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    assert main(["run", str(tmp_path / "run"), "--config", str(file)]) == ExitCode.NOT_A_RUN
    assert "not empty" in one_error(capsys)


def test_a_missing_key_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    run = tmp_path / "run"
    assert main(["run", str(run), "--config", str(config_file(tmp_path / "experiment"))]) == ExitCode.NO_KEY
    assert "OPENAI_API_KEY" in one_error(capsys)
    assert not run.exists()


def test_a_spent_budget_stops_a_mailbox_run_that_resumes_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live, "resume", partial(live.resume, performers_type=QuickPerformers))
    monkeypatch.setattr("replay.fingerprint.facts", lambda: ())
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    run, file = tmp_path / "run", config_file(tmp_path / "experiment", "[operational.budget]\ncalls = 0\n")
    assert main(["run", str(run), "--config", str(file), "--transport", "mailbox"]) == ExitCode.BUDGET
    captured = capsys.readouterr().err
    assert f"requests wait in {run / 'mailbox' / 'requests'}" in captured
    assert "undeclared" in captured
    assert (run / "mailbox" / "requests").is_dir()
    assert main(["resume", str(run), "--config", str(file), "--transport", "mailbox", "--quiet"]) == ExitCode.BUDGET
    assert capsys.readouterr().err.startswith("error: ")
    assert main(["resume", str(run), "--set", "operational.budget.calls=5"]) == ExitCode.USAGE
    assert main(["resume", str(run), "--config", str(file), "--set", "seed=5"]) == ExitCode.USAGE
    assert "recorded" in capsys.readouterr().err


def test_resume_takes_the_last_sessions_transport(tmp_path: Path) -> None:
    from replay.commands.resume import operational_of

    recording = load(write(tmp_path / "run"))
    given = parser().parse_args(["resume", str(tmp_path / "run")])
    assert operational_of(given, recording) == Operational(transport="mailbox")
    given = parser().parse_args(["resume", str(tmp_path / "run"), "--transport", "http", "--mailbox", "box"])
    assert operational_of(given, recording) == Operational(transport="http", mailbox="box")


def test_a_wrong_setting_is_told_with_its_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = config_file(tmp_path / "experiment")
    code = main(["run", str(tmp_path / "run"), "--config", str(file), "--set", "discovery.iteration=3"])
    assert code == ExitCode.CONFIG
    assert "did you mean discovery.iterations?" in one_error(capsys)


def test_documents_and_templates_of_the_users_own(tmp_path: Path) -> None:
    good, bad = tmp_path / "notes.md", tmp_path / "bad.md"
    good.write_text("Bells ring.", encoding="utf-8")
    bad.write_bytes(b"\xff")
    (part,) = connect.documents_of(Operational(documents=(str(good),)))
    assert (part.name, part.text.text) == ("notes.md", "Bells ring.")
    for documents in ((str(bad),), (str(tmp_path / "none.md"),), (str(good), str(good))):
        with pytest.raises(connect.ConfigError, match=r"operational\.documents"):
            connect.documents_of(Operational(documents=documents))
    assert connect.templates_of(CONFIG, Operational()) == ()


def test_money_is_exact() -> None:
    from decimal import Decimal

    from replay.operational import Spending

    budget = connect.budget_of(Operational(budget=Spending(money=0.1, prompt_price=0.3)))
    assert budget.money == Decimal("0.1")
    assert budget.prices.prompt == Decimal("0.3")


# --- worlds, doctor, environment --------------------------------------------------------------------------------------


def test_an_unknown_world_has_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    file = tmp_path / "program.py"
    file.write_text("x", encoding="utf-8")
    assert main(["vet", str(file), "--world", "craftax_clasic"]) == ExitCode.UNKNOWN_WORLD
    assert "craftax_classic" in one_error(capsys)


def test_doctor_prints_its_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from replay.doctor import Check, Report

    found = Report((Check("disk", "failed", HOSTILE.split("\n", maxsplit=1)[0], "make room"),))
    monkeypatch.setattr("replay.doctor.doctor", lambda *given, **named: found)
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    assert doctor_command.DESCRIPTION
    assert main(["doctor"]) == ExitCode.NO
    shown = capsys.readouterr().out
    assert "make room" in shown
    assert "\x1b" not in shown
    assert main(["doctor", "--json"]) == ExitCode.NO
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1


def test_the_environment_is_set_only_where_it_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.util, "find_spec", lambda name: None)
    variables = {"JAX_ENABLE_X64": "true", "HOME": "/home/somebody", "XDG_CACHE_HOME": "/cache"}
    environment.prepare(environ=variables)
    assert variables["JAX_ENABLE_X64"] == "true"
    assert variables["JAX_DEFAULT_PRNG_IMPL"] == "threefry2x32"
    assert "JAX_COMPILATION_CACHE_DIR" not in variables
    assert "xla_gpu" not in variables.get("XLA_FLAGS", "")


def test_compiled_functions_are_kept_unless_jax_is_told_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept: list[Path] = []
    monkeypatch.setattr("engine.compile_cache.keep_compiled", lambda folder, *rest: kept.append(folder))
    plain = {"XDG_CACHE_HOME": str(tmp_path)}
    monkeypatch.setattr(environment.os, "environ", plain)
    environment.prepare()
    assert [folder.parent for folder in kept] == [tmp_path / "code-sharp-replay" / "jax"]
    assert "JAX_COMPILATION_CACHE_DIR" not in plain
    monkeypatch.setattr(environment.os, "environ", {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)})
    environment.prepare()
    assert len(kept) == 1
    environment.prepare(Operational(compile_cache_dir=str(tmp_path / "own")))
    monkeypatch.undo()
    assert kept[1].parent == tmp_path / "own"


def test_a_jax_without_a_place_for_our_store_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment.os, "environ", {"XDG_CACHE_HOME": str(tmp_path)})
    monkeypatch.setitem(sys.modules, "engine.compile_cache", None)
    environment.prepare()
    told = capsys.readouterr().err
    assert "not kept between processes" in told
    assert "JAX_COMPILATION_CACHE_DIR" in told


def test_gpu_sums_are_made_repeatable_where_there_can_be_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.util, "find_spec", lambda name: name == "jax_cuda13_plugin")
    variables = {"XLA_FLAGS": "--xla_dump_to=x"}
    environment.prepare(environ=variables)
    assert variables["XLA_FLAGS"].startswith("--xla_dump_to=x ")
    assert variables["XLA_FLAGS"].endswith(" --xla_gpu_deterministic_ops=true")
    chosen = {"XLA_FLAGS": "--xla_gpu_deterministic_ops=false"}
    environment.prepare(environ=chosen)
    assert chosen["XLA_FLAGS"].count("xla_gpu_deterministic_ops") == 1


def test_damage_to_the_archive_has_a_code() -> None:
    assert explain(ArchiveError("admitted twice")) == (ExitCode.DAMAGED, "admitted twice")
