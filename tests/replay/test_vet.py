"""``vet``: verdicts, explanations and pictures as people see them, and as data."""

from __future__ import annotations

import io
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest
from attrs import evolve, frozen

from engine.sharp.program import CompiledProgram, parse_program
from engine.worlds import registry
from engine.worlds.protocol import View
from ledger.vocabulary.vet import Refusal
from replay.cli import main, parser
from replay.commands import environment
from replay.commands import vet as vet_command
from replay.exit_codes import ExitCode
from replay.vet_files import turns
from tests.replay.scripted import run as scripted_run
from tests.replay.story import HOSTILE
from tests.tiny_worlds import PROGRAMS, SCHEMA, TILES, Corridor

GOLDEN = Path(__file__).parents[1] / "golden" / "explained.txt"


@frozen
class DrawnCorridor(Corridor):
    """A corridor that is a strip of shades."""

    random_start: bool = True

    name = "drawn"
    schema = evolve(SCHEMA, world="drawn")

    def draw(self, view: View) -> np.ndarray:
        shades = 40 * np.asarray(view["cells"], np.uint8)
        shades[int(view["position"])] = 255
        return np.repeat(shades[None, :, None], 3, axis=2)


@pytest.fixture(autouse=True)
def worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corridor is a world, and one that draws is another."""
    known = registry.entry("craftax_classic")
    corridors = {"corridor": evolve(known, build=Corridor), "drawn": evolve(known, build=DrawnCorridor)}
    monkeypatch.setattr(registry, "WORLDS", {**registry.WORLDS, **corridors})
    monkeypatch.setattr(environment, "prepare", lambda *given: None)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("vet") / "run"
    scripted_run(directory)
    return directory


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file for each program of the corridor; commands run in it."""
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def vet(*arguments: str) -> int:
    return main(["vet", *arguments, *([] if "--world" in arguments or "--archive" in arguments else WORLD)])


WORLD = ["--world", "corridor"]


# --- one verdict -----------------------------------------------------------------------------------------------------


def test_an_accepted_program_in_a_few_lines(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vet("TakeKey.py") == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    program = parse_program(PROGRAMS["TakeKey"], SCHEMA)
    assert isinstance(program, CompiledProgram)
    assert lines[:2] == ["TakeKey.py: accepted: TakeKey", "Pick up the key."]
    assert lines[2].startswith(f"hashes   source {program.source_hash[:12]}, meaning {program.meaning[:12]}, ")
    assert lines[3].startswith(f"budgets  bytes {len(PROGRAMS['TakeKey'])}/32,768, iterations 0/4,096, ")
    assert re.fullmatch(r"sampled  success on \d+ of 1,024 visited states, 0 of 256 resets", lines[-1])


def test_a_refusal_names_file_line_and_column(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "broken.py").write_text(PROGRAMS["TakeKey"].replace("keys", "keyz", 1), encoding="utf-8")
    assert vet("broken.py") == ExitCode.NO
    assert capsys.readouterr().out == (
        "broken.py:5:26: refused (attribute): state.bag has no field keyz\n"
        "   4 |     def success(self, state, previous):\n"
        "   5 |         return state.bag.keyz > previous.bag.keys\n"
        "     |                ~~~~~~~~~~^^^^\n"
        "help: did you mean state.bag.keys?\n"
    )


def test_success_at_resets_is_refused_and_still_explained(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROGRAMS["TakeKey"].replace("> previous.bag.keys", "< 1")
    (files / "always.py").write_text(text, encoding="utf-8")
    assert vet("always.py", "--explain") == ExitCode.NO
    shown = capsys.readouterr().out
    assert shown.startswith("always.py:4:9: refused (sampled): success holds at 256 of 256 resets")
    assert "truth on sampled states\n  success  [" in shown
    assert "success is true at transition 0\n" in shown


def test_warnings_of_sampled_states_are_shown_once(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warm = "    def warm(self, state):\n        return state.warmth > 0.1\n"
    text = PROGRAMS["LightLamp"].split("    def door_is_open")[0] + warm + '    requires = [(warm, "TakeKey")]\n'
    (files / "warm.py").write_text(text, encoding="utf-8")
    for more in ([], ["--explain"]):
        assert vet("warm.py", "TakeKey.py", *more) == ExitCode.OK
        shown = capsys.readouterr().out
        assert shown.count("warning: ") == 1
        assert "warning: the condition warm never fails on " in shown


def test_an_archive_counts(files: Path, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vet("OpenDoor.py") == ExitCode.NO
    shown = capsys.readouterr().out
    assert "refused (archive): the prerequisite TakeKey is no skill of the archive" in shown
    assert shown.splitlines()[0].startswith("OpenDoor.py:10:27: ")
    archive = ["--archive", str(recorded)]
    assert vet("OpenDoor.py", *archive) == ExitCode.NO
    shown = capsys.readouterr().out
    assert shown.startswith("OpenDoor.py:1:7: refused (archive): the archive has a skill called OpenDoor already\n")
    assert vet("OpenDoor.py", *archive, "--replaces", "OpenDoor") == ExitCode.NO
    assert "means the same" in capsys.readouterr().out
    assert vet("OpenDoor.py", *archive, "--replaces", "Nothing") == ExitCode.USAGE
    assert vet("OpenDoor.py", "--replaces", "OpenDoor") == ExitCode.USAGE
    assert vet("OpenDoor.py", *archive, "--world", "drawn") == ExitCode.USAGE
    assert "leave --world out" in capsys.readouterr().err


# --- files -----------------------------------------------------------------------------------------------------------


def test_only_texts_are_read(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "bytes.py").write_bytes(b"\xff\xfe")
    assert vet("bytes.py") == ExitCode.USAGE
    assert "UTF-8" in capsys.readouterr().err
    (files / "long.py").write_bytes(b"#" * (vet_command.MOST_FILE_BYTES + 1))
    assert vet("long.py") == ExitCode.USAGE
    assert vet("none.py") == ExitCode.FILE
    assert vet("TakeKey.py", "none.py") == ExitCode.FILE
    assert "accepted" not in capsys.readouterr().out


def test_nothing_that_is_printed_can_be_obeyed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = HOSTILE.replace("\ud800", "").replace("\n", "").replace('"', "")
    text = PROGRAMS["TakeKey"].replace("Pick up the key.", hostile.replace("\x00", "").replace("\\", ""))
    (files / "named.py").write_text(text, encoding="utf-8")
    (files / "refused.py").write_text(f"class A(Sharp):\n    x = '{hostile}'\n", encoding="utf-8")
    needs = PROGRAMS["OpenDoor"].replace('"TakeKey"', '"\\x1b[2J"')
    (files / "needs.py").write_text(needs, encoding="utf-8")
    assert vet("named.py", "refused.py", "needs.py", "--explain") == ExitCode.NO
    shown = capsys.readouterr().out
    assert all(line.isprintable() for line in shown.splitlines())
    assert "a prerequisite is the name of a skill" in shown
    assert "\\x1b[2J" in shown


def test_standard_input(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Input:
        buffer = io.BytesIO(PROGRAMS["TakeKey"].replace("keys", "keyz", 1).encode())

    monkeypatch.setattr(sys, "stdin", Input())
    assert vet("-") == ExitCode.NO
    assert capsys.readouterr().out.startswith("<stdin>:5:26: refused")
    assert vet("-", "-") == ExitCode.USAGE


def test_several_files_may_require_one_another(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vet("LightLamp.py", "OpenDoor.py", "TakeKey.py") == ExitCode.OK
    shown = capsys.readouterr().out
    assert [line.split(":")[0] for line in shown.splitlines() if ": accepted: " in line] == [
        "LightLamp.py", "OpenDoor.py", "TakeKey.py"
    ]  # fmt: skip
    assert shown.endswith("\n\n3 accepted, 0 refused\n")
    (files / "again.py").write_text(PROGRAMS["TakeKey"], encoding="utf-8")
    assert vet("TakeKey.py", "again.py") == ExitCode.NO
    assert "again.py:1:7: refused (archive)" in capsys.readouterr().out
    assert vet("TakeKey.py", "OpenDoor.py", "--replaces", "X", "--archive", "run") == ExitCode.USAGE
    assert vet("TakeKey.py", "OpenDoor.py", "--condition", "has_key") == ExitCode.USAGE


def test_turns_put_prerequisites_first() -> None:
    def program(name: str, *needs: str) -> CompiledProgram:
        pairs = ", ".join(f'(lambda state: state.warmth > 0.{index + 1}, "{need}")' for index, need in enumerate(needs))
        text = PROGRAMS["TakeKey"].replace("TakeKey", name) + f"    requires = [{pairs}]\n"
        compiled = parse_program(text, SCHEMA)
        assert isinstance(compiled, CompiledProgram), compiled
        return compiled

    chain = [program("C", "B"), program("B", "A"), None, program("A")]
    assert turns(chain) == [2, 3, 1, 0]
    assert turns([program("A", "B"), program("B", "A"), program("C", "A")]) == [0, 1, 2]
    assert turns([program("A", "A"), program("B", "Elsewhere")]) == [0, 1]
    assert turns([]) == []


# --- explanations ----------------------------------------------------------------------------------------------------


def test_an_explanation_reads_like_this(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a change that is meant, write what this prints to the golden file."""
    assert vet("TakeKey.py", "OpenDoor.py", "--explain") == ExitCode.OK
    assert capsys.readouterr().out == GOLDEN.read_text("utf-8")


def test_conditions_are_shown_on_request(files: Path, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROGRAMS["LightLamp"].replace("LightLamp", "Shine").replace("lamp_lit and not", "warmth < 1 and not")
    (files / "shine.py").write_text(text, encoding="utf-8")
    archive = ["--archive", str(recorded)]
    assert vet("shine.py", "--explain", *archive) in (ExitCode.OK, ExitCode.NO)
    assert "door_is_open is " not in capsys.readouterr().out
    assert vet("shine.py", "--condition", "door_is_open", *archive) in (ExitCode.OK, ExitCode.NO)
    shown = capsys.readouterr().out
    assert "door_is_open is never true on 1,024 visited states and 256 resets\n  That is no fault in itself" in shown
    assert "door_is_open is false at " in shown
    assert vet("shine.py", "--condition", "door_open", *archive) == ExitCode.USAGE
    assert "no such condition in Shine; its conditions: door_is_open" in capsys.readouterr().err


def test_data_holds_what_the_text_says(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vet("TakeKey.py", "--explain", "--json") == ExitCode.OK
    data = json.loads(capsys.readouterr().out)
    assert (data["file"], data["accepted"], data["refusal"]) == ("TakeKey.py", True, None)
    assert data["vetted"]["program"]["name"] == data["program"]["name"] == "TakeKey"
    assert data["program"]["operations"][0] == "%0 = input(previous.bag.keys) : int32  line 5"
    assert {each["name"] for each in data["program"]["budgets"]} == {
        "bytes", "iterations", "evaluations", "operations", "work"
    }  # fmt: skip
    (truth,) = data["truths"]
    assert truth["visited"] == 1024
    assert truth["visited_true"] == data["vetted"]["sampled"]["success_visited"] > 0
    (keys,) = truth["when_true"]["reads"]
    assert keys == {
        "field": "bag.keys", "of": ["previous", "state"], "previous": 0, "state": 1,
        "changes": [{"at": [], "previous": 0, "state": 1}],
    }  # fmt: skip
    assert truth["when_true"]["state_picture"]["legend"]["@"] == "position"
    assert truth["when_false"]["differs_from_true_in"] == ["state.bag.keys"]
    assert data["explanation"].startswith("TakeKey.py: accepted")
    (files / "broken.py").write_text("\n" + PROGRAMS["TakeKey"].replace("keys", "keyz", 1), encoding="utf-8")
    assert vet("broken.py", "TakeKey.py", "--json") == ExitCode.NO
    broken, fine = json.loads(capsys.readouterr().out)
    assert (broken["accepted"], fine["accepted"], fine["truths"]) == (False, True, [])
    assert broken["refusal"] == {
        "kind": "attribute", "reason": "state.bag has no field keyz", "suggestion": "did you mean state.bag.keys?",
        "line": 6, "column": 26, "end_column": 30, "in": "file",
    }  # fmt: skip
    assert broken["program"] is None


def test_pictures_are_drawn_of_previous_state_and_state(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert vet("TakeKey.py", "--world", "drawn", "--pictures", "shown", "--json") == ExitCode.OK
    data = json.loads(capsys.readouterr().out)
    assert data["pictures"] == ["shown/TakeKey-success-true.png", "shown/TakeKey-success-false.png"]
    picture = imageio.imread("shown/TakeKey-success-true.png")
    assert picture.shape == (2, 2 * (8 + 16 + 8), 3)
    cells = data["truths"][0]["when_true"]["state_picture"]["rows"][0]
    shades = {"k": 40 * TILES["KEY"], "d": 40 * TILES["DOOR"], "l": 40 * TILES["LAMP"], "f": 0, "@": 255}
    assert picture[0, 2 * 24 :: 2, 0].tolist() == [shades[cell] for cell in cells]
    assert vet("TakeKey.py", "OpenDoor.py", "--world", "drawn", "--pictures", "both") == ExitCode.OK
    assert "picture: both/2-OpenDoor-success-false.png" in capsys.readouterr().out
    assert vet("TakeKey.py", "--pictures", "none") == ExitCode.OK
    assert "draws no pictures" in capsys.readouterr().err
    assert not Path("none").exists()


# --- colours and help ------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_that_want_it(
    files: Path, monkeypatch: pytest.MonkeyPatch, no_colour: str, coloured: bool
) -> None:
    (files / "broken.py").write_text(
        PROGRAMS["TakeKey"].replace("keys", "keyz " + "+ 100000 " * 20, 1), encoding="utf-8"
    )
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert vet("broken.py") == ExitCode.NO
    shown = terminal.getvalue()
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]m", shown)) is coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\x1b" not in plain
    assert plain.splitlines()[3].startswith("     |                ~~~~~~~~~~^^^^"), "a long line is never wrapped"


def test_the_help_is_true(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example of the help is refused as it says, and accepted once it is repaired as it says."""
    with pytest.raises(SystemExit):
        parser().parse_args(["vet", "--help"])
    assert "CollectWood" in capsys.readouterr().out
    blocks = [block for block in vet_command.DESCRIPTION.split("\n\n") if block.startswith("    ")]
    program, command, answer, explained = (textwrap.dedent(block) for block in blocks)
    (files / "wood.py").write_text(program + "\n", encoding="utf-8")
    prefix = "python -m replay "
    assert main(command.removeprefix(prefix).split()) == ExitCode.NO
    assert capsys.readouterr().out == answer + "\n"
    assert parser().parse_args(explained.removeprefix(prefix).split()).explain
    repaired = program.replace("previous.wood", "previous.inventory.wood")
    classic = registry.world("craftax_classic").schema
    assert not isinstance(parse_program(repaired, classic), Refusal)


def test_classic_states_are_shown_in_letters_and_images(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "wood.py").write_text(CLASSIC, encoding="utf-8")
    assert main(["vet", "wood.py", "--condition", "faces_tree", "--pictures", "."]) == ExitCode.NO
    assert "no skill of the archive" in capsys.readouterr().out
    (files / "wood.py").write_text(CLASSIC.replace('(faces_tree, "FindTree")', ""), encoding="utf-8")
    assert main(["vet", "wood.py", "--pictures", ".", "--json"]) == ExitCode.OK
    data = json.loads(capsys.readouterr().out)
    witness: dict[str, Any] = data["truths"][0]["when_true"]
    assert [each["field"] for each in witness["reads"]] == [
        "map",
        "player_position",
        "player_direction",
        "inventory.wood",
    ]
    assert len(witness["state_picture"]["rows"]) == 7
    assert all(len(row) == 9 for row in witness["state_picture"]["rows"])
    legend = witness["state_picture"]["legend"]
    assert any(glyph.startswith("@") and meaning.startswith("the player, facing ") for glyph, meaning in legend.items())
    assert imageio.imread("CollectWood-success-true.png").shape == (288, 608, 3)


CLASSIC = '''class CollectWood(Sharp):
    """Collect wood from a tree."""

    def success(self, state, previous):
        return state.inventory.wood > previous.inventory.wood and facing_block(previous) == BlockType.TREE

    def faces_tree(self, state):
        return facing_block(state) == BlockType.TREE

    requires = [(faces_tree, "FindTree")]
'''
