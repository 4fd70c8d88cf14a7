"""What people read: refusals under their line, programs with their operations. Texts are golden."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from engine.sharp.editions import LATEST
from engine.sharp.explaining.excerpt import MOST_CELLS, Piece, excerpt, plain, visible
from engine.sharp.explaining.explain import budgets, explain_program, explain_refusal, refusal_lines
from engine.sharp.explaining.origins import lines_of
from engine.sharp.explaining.places import locate
from engine.sharp.program import parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.invented import SCHEMA
from tests.engine.sharp.mistakes import MISTAKES, Mistake, is_pythons, rendered
from tests.engine.sharp.programs import compiled, refused, source_of

GOLDEN = Path(__file__).parents[2] / "golden" / "refusals.txt"
BRICKS = source_of("return state.bricks > 1")


def refusal_of(text: str) -> Refusal:
    verdict = parse_program(text, SCHEMA)
    assert isinstance(verdict, Refusal), verdict
    return verdict


def marked(text: str, refusal: Refusal | None = None) -> tuple[str, str]:
    """What stands over the marks of a refusal: all that is marked, and its heart."""
    lines = explain_refusal(refusal or refusal_of(text), text).split("\n")
    at = next(index for index, line in enumerate(lines) if line.strip(" |~^") == "" and set(line) & set("~^"))
    shown, marks = lines[at - 1], lines[at]
    cells = "".join(character + "\0" * (cell_len(character) - 1) for character in shown)
    return (
        "".join(c for c, mark in zip(cells, marks, strict=False) if mark in "~^").replace("\0", ""),
        "".join(c for c, mark in zip(cells, marks, strict=False) if mark == "^").replace("\0", ""),
    )


# --- golden ----------------------------------------------------------------------------------------------------------


def test_refusals_read_like_this() -> None:
    """``python -m tests.engine.sharp.mistakes > tests/golden/refusals.txt`` after a change that is meant."""
    assert "\n".join(rendered()) == GOLDEN.read_text("utf-8")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.what)
def test_every_mistake_is_refused_with_a_reason(mistake: Mistake) -> None:
    shown = explain_refusal(refusal_of(mistake.text), mistake.text, "skill.py")
    assert shown.startswith("skill.py:")
    assert "refused (" in shown
    assert all(line.isprintable() for line in shown.split("\n"))


def test_what_python_cannot_read_is_shown_where_it_stumbled() -> None:
    shown = {each.what: each.text for each in MISTAKES if is_pythons(refusal_of(each.text))}
    assert len(shown) >= 6
    assert marked(shown["a wrong indentation"]) == ("y", "y")
    assert marked(shown["typographic quotes"]) == ("“", "“")
    assert marked(shown["a missing bracket"])[0].startswith("(")


def test_a_program_reads_like_this() -> None:
    program = compiled("return state.stamina > previous.stamina", requires='(lambda s: s.resting, "Rest")')
    text = explain_program(program)
    assert text.startswith("Probe: A probe.\n\nprogram\n   1 | class Probe(Sharp):")
    operations = text.split("operations\n")[1].split("\n\n")[0].split("\n")
    assert operations == [
        "  %0 = input(previous.stamina) : int32",
        "  %1 = input(state.stamina) : int32",
        "  %2 = lt(%0, %1) : bool",
        "  %3 = input(state.resting) : bool",
    ]
    assert "  success = %2\n  requires[0] = %3 (lambda[0]), else Rest" in text
    assert program.meaning in text
    assert "elements × operations               1 of 1,000,000" in text
    assert "normalised: lambda[0] without self" in text


def test_operations_know_their_lines() -> None:
    program = compiled("n = state.stamina\nif n > 3:\n    return state.resting\nreturn n > previous.stamina")
    lines = lines_of(program, SCHEMA)
    source = program.source.split("\n")
    assert source[lines[program.success.digest] - 1].strip() == "return n > previous.stamina"
    test, yes, _ = program.success.operands
    assert source[lines[test.digest] - 1].strip() == "if n > 3:"
    assert source[lines[yes.digest] - 1].strip() == "return state.resting"


def test_budgets_are_those_of_the_edition() -> None:
    used = {each.name: (each.used, each.allowed) for each in budgets(compiled("return state.resting"))}
    assert used["work"] == (0, LATEST.limits.work)
    assert used["bytes"] == (len(source_of("return state.resting")), LATEST.limits.source_bytes)


# --- what is marked --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "whole", "heart"),
    [
        ("return state.bricks > 1", "state.bricks", "bricks"),
        ("return state.basket.brik > 1", "state.basket.brik", "brik"),
        ("return stat.bricks > 1", "stat", "stat"),
        ("return state.warmth & 3 > 1", "state.warmth & 3", "&"),
        ("x = 1\nreturn state.resting and state.flooded", "state.resting and state.flooded", "s"),
        ("return jnp.sum(state.field, 7) > 2", "jnp.sum(state.field, 7)", "j"),
        ("if state.flooded:\n    return True\nreturn False", "state.flooded", "s"),
        ("while state.resting:\n    pass\nreturn True", "while", "while"),
        ("import os\nreturn state.resting", "import os", "i"),
        ("return state.stamina", "state.stamina", "s"),
        ("if state.resting:\n    return 3\nreturn 4", "def success", "success"),
        ("for i in range(70):\n    for j in range(70):\n        pass\nreturn True", "for j in range(70):", "f"),
        ("return (state.stamina\n        + state.bricks) > 3", "state.bricks", "bricks"),
        ("return any(\n    state.flooded[0]\n) + state.basket", "any(", "a"),
    ],
)
def test_marks_stand_under_what_is_meant(text: str, whole: str, heart: str) -> None:
    assert marked(source_of(text)) == (whole, heart)


def test_a_refusal_by_the_archive_is_shown_where_it_can_be_repaired() -> None:
    text = source_of("return state.resting", requires='(lambda s: s.stamina > 1, "Dig Clay")')
    unknown = Refusal("archive", 0, 0, "the prerequisite Dig Clay is no skill of the archive")
    assert marked(text, unknown) == ('"Dig Clay"', '"')
    assert marked(text, Refusal("archive", 0, 0, "the archive has a skill called Probe already")) == (
        "class Probe",
        "Probe",
    )
    assert marked(text, Refusal("sampled", 0, 0, "success holds at 256 of 256 resets")) == ("def success", "success")


def test_a_refusal_without_a_place() -> None:
    assert explain_refusal(refusal_of(""), "", "a.py") == (
        "a.py: refused (syntax): the text is empty\nhelp: write one class with a success method"
    )
    assert explain_refusal(Refusal("budget", 0, 0, "why"), BRICKS) == "the program: refused (budget): why"


# --- the author's own lines ------------------------------------------------------------------------------------------


def fenced(source: str) -> str:
    return f"Here it is:\n\n```python\n{source}```\n\nIt works.\n"


@pytest.mark.parametrize(
    ("change", "line", "column"),
    [
        (lambda text: text, 6, 22),
        (lambda text: "\ufeff" + text, 6, 22),
        (lambda text: text.replace("\n", "\r\n"), 6, 22),
        (lambda text: "\n\n" + text, 8, 22),
        (fenced, 9, 22),
        (lambda text: text.replace("    ", "\t"), 6, 16),
        (lambda text: "".join(f"  {each}\n" for each in text.split("\n")), 6, 24),
        (lambda text: fenced("".join(f"   {each}\n" for each in text.split("\n"))), 9, 25),
        (lambda text: f"'''\n{text}'''", 7, 22),
    ],
    ids=["plain", "mark", "crlf", "blank", "fence", "tabs", "indented", "fence and indent", "quotes"],
)
def test_places_are_those_of_the_authors_text(change: object, line: int, column: int) -> None:
    assert callable(change)
    text = change(BRICKS)
    place = locate(refusal_of(text), text)
    assert place is not None
    assert (place.line, place.column, place.own) == (line, column, True)
    assert place.lines[line - 1][slice(*place.focus)] == "bricks"
    assert marked(text) == ("state.bricks", "bricks")
    assert explain_refusal(refusal_of(text), text, "a.py").startswith(f"a.py:{line}:{column}: ")


def test_a_quoted_program_is_shown_as_it_is_read() -> None:
    text = json.dumps(BRICKS)
    shown = explain_refusal(refusal_of(text), text, "a.py").split("\n")
    assert shown[:2] == [
        "a.py: refused (attribute): state has no field bricks",
        "at line 6, column 22 of the program inside the quotes, as it is read:",
    ]
    assert marked(text) == ("state.bricks", "bricks")


def test_lines_that_stand_twice_are_not_taken_for_each_other() -> None:
    """No class anywhere: the same line is prose and block, so nobody can say where the block's own line is."""
    text = "x = 1\n```\nx = 1\n```\n"
    place = locate(refusal_of(text), text)
    assert place is not None
    assert not place.own


def test_a_character_that_no_source_can_hold_is_shown_as_an_escape() -> None:
    text = fenced(source_of("x = 1\nreturn state.bricks \x00\x1b[2J> 1"))
    shown = explain_refusal(refusal_of(text), text, "a\x1b.py")
    assert shown.startswith("a\\x1b.py:10:29: refused (syntax)")
    assert "return state.bricks \\x00\\x1b[2J> 1" in shown
    assert marked(text) == ("\\x00", "\\x00")


# --- the excerpt -----------------------------------------------------------------------------------------------------

ODD = st.text(st.sampled_from("a(ü語\u0301\t\x1b\u202e🙂 \ud800"), max_size=30)


@given(before=ODD, after=ODD, name=st.sampled_from(["x", "name", "語語", "é"]))
def test_marks_stay_under_the_characters_whatever_their_widths(before: str, after: str, name: str) -> None:
    source = f"{before}{name}{after}"
    span = (len(before), len(before) + len(name))
    shown, marks = ("".join(piece.text for piece in each) for each in excerpt([source], 1, span, span))
    cells = "".join(character + "\0" * (cell_len(character) - 1) for character in shown if cell_len(character))
    under = "".join(cell for cell, mark in zip(cells, marks, strict=False) if mark == "^").replace("\0", "")
    bare = "".join(character for character in name if cell_len(character))
    assert under == bare
    assert shown.isprintable()


@given(length=st.integers(0, 600), at=st.integers(0, 600), width=st.integers(1, 300))
def test_a_long_line_is_cut_around_the_mark(length: int, at: int, width: int) -> None:
    source = "".join(str(index % 10) for index in range(max(length, at + width)))
    rows = excerpt(["first", source], 2, (at, at + width), (at, at + width))
    shown, marks = rows[-2][1].text, rows[-1][1].text
    assert cell_len(shown) <= MOST_CELLS
    assert len(marks) <= MOST_CELLS
    first = marks.index("^")
    assert shown[first] in (source[at], "…")
    if len(source) <= MOST_CELLS:
        assert shown == source
    elif width < MOST_CELLS // 2 - 2:
        assert shown[first : first + width].strip("…") in source[at : at + width]
        assert marks.count("^") == width


@given(st.text(st.characters(codec="utf-8") | st.characters(categories=["Cs", "Cc", "Cf"]), max_size=300))
def test_whatever_is_refused_can_be_shown(text: str) -> None:
    verdict = parse_program(text, SCHEMA)
    assert isinstance(verdict, Refusal)
    lines = refusal_lines(verdict, text, "a.py")
    assert all(isinstance(piece, Piece) and piece.text.isprintable() for line in lines for piece in line)


@given(st.data())
def test_whatever_is_broken_can_be_shown(data: st.DataObject) -> None:
    """A character taken out of, or put into, an honest program: the mark is on a line of the text."""
    text = source_of("row, column = state.walker_position\nreturn state.field[row, column] == Tile.KILN")
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from(["", "(", "]", "'", "\n", ":", "x", "\t", "ü"])) + text[at + 1 :]
    verdict = parse_program(broken, SCHEMA)
    if isinstance(verdict, Refusal):
        place = locate(verdict, broken)
        shown = explain_refusal(verdict, broken, "a.py")
        assert verdict.reason in shown
        if place is not None:
            assert 1 <= place.line <= len(place.lines)
            assert place.span[0] <= place.focus[0] < place.focus[1]
            assert place.focus[0] <= len(place.lines[place.line - 1])


def test_columns_count_characters() -> None:
    """A comment or string in another script before the place must not shift the mark."""
    verdict = refused('x = ("ü" if False else 1) + state.nothing\nreturn x > 1')
    text = source_of('x = ("ü" if False else 1) + state.nothing\nreturn x > 1')
    assert marked(text, verdict) == ("state.nothing", "nothing")


@given(st.text())
def test_visible_text_is_one_printable_line(text: str) -> None:
    assert visible(text).isprintable()
    if text.isprintable():
        assert visible(text) == text


def test_lines_are_text_without_trailing_blanks() -> None:
    assert plain(excerpt(["a", "b  ", ""], 2, (0, 1), (0, 1))) == "   1 | a\n   2 | b\n     | ^"
