"""Hashes: equal meaning in other words is equal, and every difference that can show is a difference."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sharp.editions import FIRST
from engine.sharp.program import CompiledProgram, parse_program
from tests.engine.sharp.invented import SCHEMA

PROGRAM = '''
class Probe(Sharp):
    """A probe."""

    LIMIT = 3

    def success(self, state, previous):
        {body}

    def helper(self, state, amount=2):
        return state.basket.clay >= amount
'''

EQUAL = (
    ("return state.stamina > 3", "return 3 < state.stamina"),
    ("return state.stamina > 3", "return state.stamina >= 4"),
    ("return state.stamina > 3", "return not state.stamina <= 3"),
    ("return state.stamina > 3", "return state.stamina > self.LIMIT"),
    ("return state.stamina > 3", "return state.stamina > 1 + 2"),
    ("return state.stamina > 3", "x = state.stamina\ny = x\nreturn y > 3"),
    ("return state.stamina > 3", "unused = state.field.sum()\nreturn state.stamina > 3"),
    ("return state.stamina > 3", "if state.stamina > 3:\n    return True\nreturn False"),
    ("return state.stamina > 3", "if state.stamina > 3:\n    return True\nelse:\n    return False"),
    ("return state.stamina > 3", "if state.stamina <= 3:\n    return False\nreturn True"),
    ("return state.stamina > 3", "return True if state.stamina > 3 else False"),
    ("return state.stamina > 3", "return bool(state.stamina > 3)"),
    ("return state.stamina > 3", "return int(state.stamina > 3) == 1"),
    ("return state.stamina > 3", "return jnp.greater(state.stamina, 3)"),
    ("return state.stamina > 3", "return (state.stamina > 3) == True"),
    ("return state.stamina > 3", "return jnp.where(state.stamina > 3, 1, 0)"),
    ("return state.stamina > previous.stamina", "return state.stamina - previous.stamina > 0"),
    ("return state.stamina > previous.stamina", "return state.stamina - previous.stamina >= 1"),
    ("return state.stamina == previous.stamina + 1", "return state.stamina - 1 == previous.stamina"),
    ("return state.stamina == previous.stamina + 1", "return 1 == state.stamina - previous.stamina"),
    ("return state.resting and state.stamina > 3", "return state.stamina > 3 and state.resting"),
    ("return state.resting and state.stamina > 3", "return (state.stamina > 3) & state.resting"),
    ("return state.resting and state.stamina > 3", "return jnp.logical_and(state.resting, state.stamina > 3)"),
    ("return state.resting and state.stamina > 3", "return all([state.resting, state.stamina > 3])"),
    ("return state.resting and state.stamina > 3", "if not state.resting:\n    return False\nreturn state.stamina > 3"),
    (
        "return state.resting or state.stamina > 3 or previous.resting",
        "return previous.resting or (state.resting or state.stamina > 3)",
    ),
    ("return self.helper(state)", "return state.basket.clay >= 2"),
    ("return self.helper(state, amount=4)", "return 4 <= state.basket.clay"),
    ("return state.basket.clay + state.basket.reeds > 4", "return state.basket.reeds + state.basket.clay > 4"),
    ("return state.basket.clay + state.basket.clay > 4", "return 2 * state.basket.clay > 4"),
    ("return state.basket.clay in (1, 2)", "return state.basket.clay == 2 or state.basket.clay == 1"),
    ("return state.basket.clay in (1, 2)", "return any(state.basket.clay == k for k in range(1, 3))"),
    ("return state.field[0, 1] == Tile.CLAY", "return state.field[0][1] == 2"),
    ("return state.field[0, 1] == Tile.CLAY.value", "row = state.field[0]\nreturn Tile.CLAY == row[1]"),
    (
        "return state.field[state.walker_position[0], state.walker_position[1]] == 1",
        "i, j = state.walker_position\nreturn state.field[i][j] == 1",
    ),
    ("return abs(state.stamina - previous.stamina) > 2", "return abs(previous.stamina - state.stamina) > 2"),
    ("return state.stamina ** 2 > 9", "return state.stamina * state.stamina > 9"),
    ("return (state.field == 1).any()", "return jnp.any(1 == state.field)"),
    ("return min(state.stamina, previous.stamina) > 2", "return min(previous.stamina, state.stamina) > 2"),
    ("return state.warmth > 0.5", "return 0.5 < state.warmth"),
    ("return -state.stamina < -3", "return state.stamina > 3"),
    (
        "for d in NEARBY:\n    if state.stamina + d[0] > 3:\n        return True\nreturn False",
        "return any(state.stamina + d[0] > 3 for d in NEARBY)",
    ),
)

DIFFERENT = (
    "return state.stamina > 3",
    "return state.stamina > 4",
    "return previous.stamina > 3",
    "return state.stamina < 3",
    "return state.stamina != 3",
    "return state.basket.clay > 3",
    "return state.resting",
    "return not state.resting",
    "return state.resting and previous.resting",
    "return state.resting or previous.resting",
    "return state.resting != previous.resting",
    "return state.stamina > previous.stamina",
    "return previous.stamina > state.stamina",
    "return state.stamina - previous.stamina > 1",
    "return state.warmth > 0.5",
    "return state.warmth >= 0.5",
    "return not state.warmth < 0.5 and state.warmth > 0.25",
    "return state.field[0, 1] == 2",
    "return state.field[1, 0] == 2",
    "return (state.field == 2).any()",
    "return (state.field == 2).all()",
    "return state.stamina // 2 > 3",
    "return state.stamina / 2 > 3",
    "return state.stamina % 2 > 0",
    "return count_near(state, 2) > 3",
    "return count_near(previous, 2) > 3",
    "return count_near(state, 3) > 3",
    "return state.herons.mask[0]",
    "return state.herons.mask[1]",
    "return state.herons.calm.sum() > 1",
    "return state.herons.calm.max() > 1",
)


def compiled(text: str) -> CompiledProgram:
    """The program whose success method is ``text``."""
    program = parse_program(PROGRAM.replace("{body}", text.replace("\n", "\n        ")), SCHEMA)
    assert isinstance(program, CompiledProgram), program
    return program


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal_meaning(first: str, second: str) -> None:
    assert compiled(first).meaning == compiled(second).meaning


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_other_words_are_another_source(first: str, second: str) -> None:
    assert compiled(first).source_hash != compiled(second).source_hash


def test_different_meanings_are_all_different() -> None:
    meanings = {text: compiled(text).meaning for text in DIFFERENT}
    for one, other in itertools.combinations(DIFFERENT, 2):
        assert meanings[one] != meanings[other], (one, other)


def test_name_and_description_are_no_part_of_the_meaning() -> None:
    first = compiled("return state.resting")
    text = PROGRAM.replace("Probe", "Other").replace("A probe.", "Another.").replace("{body}", "return state.resting")
    second = parse_program(text, SCHEMA)
    assert isinstance(second, CompiledProgram)
    assert (first.meaning, first.requires_meaning) == (second.meaning, second.requires_meaning)
    assert first.source_hash != second.source_hash


def test_layout_and_annotations_are_no_part_of_the_source_hash() -> None:
    plain = compiled("return state.resting")
    spaced = compiled("return (state.resting)  # a comment")
    annotated = parse_program(
        PROGRAM.replace("{body}", "return state.resting").replace("previous)", "previous: State) -> bool"), SCHEMA
    )
    assert isinstance(annotated, CompiledProgram)
    assert plain.source_hash == spaced.source_hash == annotated.source_hash


def requiring(pairs: str) -> CompiledProgram:
    """A program with these requirements."""
    text = PROGRAM.replace("{body}", "return state.resting") + f"    requires = [{pairs}]\n"
    program = parse_program(text, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    return program


def test_requirements_are_ordered_pairs() -> None:
    clay, tired = '("helper", "Dig")', '(lambda self, state: state.stamina > 2, "Rest")'
    both = requiring(f"{clay}, {tired}")
    assert both.requires_meaning == requiring('[helper, Dig], (lambda s: 2 < s.stamina, "Rest")').requires_meaning
    assert both.requires_meaning != requiring(f"{tired}, {clay}").requires_meaning
    assert both.requires_meaning != requiring(clay).requires_meaning
    assert both.requires_meaning != requiring(f"{clay.replace('Dig', 'Cut')}, {tired}").requires_meaning
    assert both.meaning == requiring("").meaning


def test_hashes_are_the_same_in_every_process() -> None:
    """Another process with another hash seed finds the same hashes: sets and object ids play no part."""
    script = (
        "from tests.engine.sharp.test_meaning import DIFFERENT, compiled\n"
        "for text in DIFFERENT: print(compiled(text).meaning, compiled(text).source_hash)\n"
    )
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": "12345"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{compiled(text).meaning} {compiled(text).source_hash}" for text in DIFFERENT]


GOLDEN = {
    "return state.stamina > 3": "bfa3145633e27fcbd83160b75eff36e770c370b80ee87d892eb373014fcaeb32",
    "return (state.field == 2).any()": "554b94d92db4baf390f6ba5b31c4141a28d9fbfd3409d7e173a872c277ea18bc",
    "return state.warmth >= 0.5 or state.resting": "5262392681e89ee241454b62ca084f15173f757db43be0852dbb1d60b928ad43",
}
"""Meanings of the first edition: they may never change, recorded runs depend on them."""


@pytest.mark.parametrize("text", GOLDEN)
def test_released_meanings_do_not_change(text: str) -> None:
    program = parse_program(PROGRAM.replace("{body}", text), SCHEMA, FIRST)
    assert isinstance(program, CompiledProgram)
    assert program.meaning == GOLDEN[text]
    assert compiled(text).success == program.success
