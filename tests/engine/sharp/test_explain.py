"""What people read: refusals under their line, programs with their operations. Texts are golden."""

from __future__ import annotations

import pytest

from engine.sharp.explain import explain_program, explain_refusal
from engine.sharp.program import parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.invented import SCHEMA
from tests.engine.sharp.programs import compiled, source_of

GOLDEN = {
    "return state.field[0, 0] == Tile.LADDER_DOWN": """\
line 6, column 37: Tile has no member LADDER_DOWN  [attribute]
   6 |         return state.field[0, 0] == Tile.LADDER_DOWN
                                           ^
  hint: its members are MEADOW, REED, CLAY, KILN, BROOK, THICKET""",
    "return state.field[0, 0] == Tile.KLIN": """\
line 6, column 37: Tile has no member KLIN  [attribute]
   6 |         return state.field[0, 0] == Tile.KLIN
                                           ^
  hint: did you mean Tile.KILN?""",
    "return state.bricks > 1": """\
line 6, column 16: state has no field bricks  [attribute]
   6 |         return state.bricks > 1
                      ^
  hint: did you mean state.basket.bricks?""",
    "while state.resting:\n    pass\nreturn True": """\
line 6, column 9: while loops are not part of the language  [grammar]
   6 |         while state.resting:
               ^
  hint: use for over a static range, with break""",
    "if state.flooded:\n    return True\nreturn False": """\
line 6, column 9: an array of truth values of shape [9, 11] has no single truth value  [shape]
   6 |         if state.flooded:
               ^
  hint: add .any() or .all(), and use & and | between arrays""",
    "return state.stamina": """\
line 5, column 5: success returns a traced integer, not a truth value  [output]
   5 |     def success(self, state, previous):
           ^
  hint: return a comparison, such as state.x >= 1""",
    "return state.achievements.any()": """\
line 6, column 16: state has no field achievements  [attribute]
   6 |         return state.achievements.any()
                      ^
  hint: programs read the game's state, and none of achievements, rewards, random keys or counters of steps""",
    "for i in range(state.stamina):\n    pass\nreturn state.resting": """\
line 6, column 18: a bound of range must be known before the program runs; this depends on the state  [static]
   6 |         for i in range(state.stamina):
                        ^
  hint: loop over a fixed range and test inside: for i in range(9): if i < n: ...""",
    "return eval('1')": """\
line 6, column 16: there is no name eval  [name]
   6 |         return eval('1')
                      ^""",
    "for i in range(70):\n    for j in range(70):\n        pass\nreturn state.resting": """\
line 7, column 1: over the budget of 4,096 loop iterations in total; the costliest line is 7  [budget]
   7 |             for j in range(70):
       ^
  hint: use whole-array functions, or fewer and shorter loops""",
}


@pytest.mark.parametrize("text", GOLDEN)
def test_refusals_read_like_this(text: str) -> None:
    source = source_of(text)
    verdict = parse_program(source, SCHEMA)
    assert isinstance(verdict, Refusal)
    assert explain_refusal(verdict, source) == GOLDEN[text]


def test_columns_count_characters() -> None:
    """A comment or string in another script before the place must not shift the mark."""
    verdict = parse_program(source_of('x = ("ü" if False else 1) + state.nothing\nreturn x > 1'), SCHEMA)
    assert isinstance(verdict, Refusal)
    line = source_of('x = ("ü" if False else 1) + state.nothing').split("\n")[verdict.line - 1]
    assert line[verdict.column - 1 :].startswith("state.nothing")


def test_a_refusal_without_a_place() -> None:
    verdict = parse_program("", SCHEMA)
    assert isinstance(verdict, Refusal)
    assert explain_refusal(verdict, "").startswith("the program: the text is empty  [syntax]")


def test_lines_are_those_of_the_normalised_source() -> None:
    fenced = "Here:\n\n```python\n" + source_of("return state.bricks > 1") + "```\n"
    verdict = parse_program(fenced, SCHEMA)
    assert isinstance(verdict, Refusal)
    assert "6 |         return state.bricks > 1" in explain_refusal(verdict, fenced)


def test_a_program_reads_like_this() -> None:
    program = compiled("return state.stamina > previous.stamina", requires='(lambda s: s.resting, "Rest")')
    text = explain_program(program)
    assert text.startswith("Probe: A probe.\n\nclass Probe(Sharp):")
    operations = text.split("operations\n")[1].split("\n\n")[0].split("\n")
    assert operations == [
        "  %0 = input(previous.stamina) : int32",
        "  %1 = input(state.stamina) : int32",
        "  %2 = lt(%0, %1) : bool",
        "  %3 = input(state.resting) : bool",
    ]
    assert "  success = %2\n  requires[0] = %3 (lambda[0]), else Rest" in text
    assert program.meaning in text
    assert "elements × ops            1 of 1,000,000" in text
    assert "normalised: lambda[0] without self" in text
