"""``log``: filters, lines that a terminal cannot obey, JSON lines, and damage at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledger.codec import canonical
from ledger.lines import Record
from replay.cli import main
from replay.commands.log import SUMMARY_CHARACTERS, line
from replay.exit_codes import ExitCode
from replay.summaries import kind, kinds, skills_of, summary, under
from tests.ledger.examples import some_events
from tests.replay.story import EVENTS, write


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("log") / "run")


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["log", *arguments]) == ExitCode.OK
    return capsys.readouterr().out.splitlines()


def test_every_event_has_one_printable_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(capsys, str(run))
    assert len(shown) == len(EVENTS)
    assert all(each.isprintable() for each in shown)
    assert [int(each.split()[0]) for each in shown] == list(range(1, len(EVENTS) + 1))


def test_lines_by_hand(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(capsys, str(run))
    assert "Started" in shown[0]
    assert shown[0].endswith("code_sharp (code_sharp@1) in corridor, seed 0, model undeclared")
    assert shown[3].endswith("category: 1, 0 of 2")
    assert "refused at line 3, column 9: unknown name: no \\x1b[2J" in shown[5]
    assert "TakeKey (tools): 0/40 to 36/40, by chance 0.01" in shown[6]
    assert shown[-1].endswith("13 iterations, 4 skills, last agent iteration=12/train/epoch=0")


def test_filters_combine(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(lines(capsys, str(run), "--kind", "admitted")) == 4
    assert len(lines(capsys, str(run), "--kind", "Admitted", "--kind", "Adopted")) == 5
    assert len(lines(capsys, str(run), "--kind", "Admitted", "--path", "iteration=1")) == 1
    assert len(lines(capsys, str(run), "--path", "iteration=1")) == 5
    wave = lines(capsys, str(run), "--skill", "Wave", "--kind", "Adopted")
    assert len(wave) == 1
    assert "Wave replaced by add a requirement: 9/40 to 25/40" in wave[0]
    assert lines(capsys, str(run), "--kind", "Train") == ["no event fits"]


def test_a_reproduction_folder_shows_its_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "recording")
    assert len(lines(capsys, str(tmp_path))) == len(EVENTS)


def test_json_lines_are_the_stored_events(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(capsys, str(run), "--json")
    assert all(each.isascii() and each.isprintable() for each in shown)
    assert [json.loads(each)["event"] for each in shown] == [json.loads(canonical(event)) for event in EVENTS]


def test_damage_shows_the_events_before_it_and_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", EVENTS[:4], status="open")
    from ledger.writer import Writer

    with Writer.open(run) as writer:
        writer.append(EVENTS[5])
    with Writer.open(run) as writer:
        writer.append(EVENTS[6])
    segment = run / "events" / "00000000.zst"
    data = bytearray(segment.read_bytes())
    data[len(data) - 60] ^= 1
    segment.write_bytes(bytes(data))
    code = main(["log", str(run)])
    captured = capsys.readouterr()
    assert code == ExitCode.DAMAGED
    assert len(captured.out.splitlines()) == 5
    assert captured.err.startswith("error: ")
    assert len(captured.err.splitlines()) == 1


def test_no_run_is_an_error_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", str(tmp_path / "nowhere")]) == ExitCode.NOT_A_RUN
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "Traceback" not in error


def test_a_prefix_is_of_whole_segments() -> None:
    assert under("iteration=1", "iteration=1")
    assert under("iteration=1/vet[0]", "iteration=1/")
    assert not under("iteration=12", "iteration=1")


def test_every_example_event_has_a_kind_a_summary_and_a_line() -> None:
    for number, event in enumerate((*EVENTS, *some_events()[:-1]), start=1):
        assert kind(event) in kinds(event)
        assert summary(event)
        shown = line(Record(number, "2026-01-02T03:04:05.000000Z", "edited", None, event))
        assert "[edited]" in shown
        assert shown.isprintable()
        assert len(shown) < 300 + SUMMARY_CHARACTERS


def test_skills_of_a_decision() -> None:
    found = {name for event in EVENTS for name in skills_of(event)}
    assert {"TakeKey", "OpenDoor", "LightLamp", "Wave"} <= found
    assert skills_of(EVENTS[0]) == frozenset()
