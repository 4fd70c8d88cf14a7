# ruff: noqa: E501 - programs on one line
"""What authors are told to write instead, and what the judge is warned of before any state is seen."""

from __future__ import annotations

import ast
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sharp.callables.instead import instead_of_function, instead_of_member, instead_of_name
from engine.sharp.editions import FIRST
from engine.sharp.hints import shown
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.syntax_hints import syntax_hint
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.invented import SCHEMA
from tests.engine.sharp.programs import compiled, holds, refused, source_of


def warned(text: str, **keywords: str) -> list[str]:
    """The warnings of a program, without those of indices that may leave the grid."""
    return [each.partition(": ")[2] for each in compiled(text, **keywords).warnings if "may leave its axis" not in each]


# --- a position as one index -----------------------------------------------------------------------------------------

CELL = "two numbers index two rows, not one cell: write "


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("(state.field[state.walker_position] == 3).any()", "row, column = state.walker_position; state.field[row, column]"),
        ("state.flooded[state.walker_position].any()", "row, column = state.walker_position; state.flooded[row, column]"),
        ("state.flooded[state.herons.position[0]].any()", "row, column = state.herons.position[0]; state.flooded[row, column]"),
        ("(HEADINGS[state.walker_position] == state.stamina).any()", "row, column = state.walker_position; HEADINGS[row, column]"),
        ("state.flooded[[state.stamina, 3]].any()", "state.flooded[state.stamina, 3]"),
        ("jnp.stack([state.flooded] * 2)[1, state.walker_position].any()", "row, column = state.walker_position; jnp.stack([state.flooded] * 2)[1, row, column]"),
    ],
)  # fmt: skip
def test_a_position_as_one_index_is_warned_of(text: str, advice: str) -> None:
    assert warned(f"return {text}") == [CELL + advice]


@pytest.mark.parametrize(
    "text",
    [
        "row, column = state.walker_position\nreturn state.flooded[row, column]",
        "return state.flooded[tuple(state.walker_position)]",
        "return state.flooded[state.herons.position[:, 0], state.herons.position[:, 1]].any()",
        "return state.flooded[state.herons.position[:, 0]].any()",
        "return state.flooded[[0, 8]].any()",
        "return state.flooded[state.walker_position, 3].any()",
        "return state.flooded[state.walker_position, :3].any()",
        "return state.herons.calm[state.walker_position].sum() > 1",
        "place = (0, state.walker_position)\nreturn jnp.stack([state.flooded] * 2)[place].any()",
        "return state.flooded[state.stamina].any()",
    ],
)
def test_other_indices_are_not(text: str) -> None:
    assert warned(text) == []


def test_what_is_advised_picks_the_cell(views: list[Any]) -> None:
    for view in views[:10]:
        row, column = view["walker_position"]
        advised = "row, column = state.walker_position\nreturn state.flooded[row, column]"
        assert holds(advised, view) == view["flooded"][row, column]


def test_refusals_tell_it_too() -> None:
    rows = "state.field[state.walker_position]"
    for text in (f"return {rows} == 3", f"if {rows} == 3:\n    return True\nreturn False", f"return ({rows} == state.herons.calm).any()",
                 f"return state.resting and {rows} == 3", f"cells = {rows}\nreturn not cells"):  # fmt: skip
        assert (refused(text).suggestion or "").startswith(CELL), text
    assert "cell" not in (refused("return state.flooded").suggestion or "")


# --- what declared bounds tell ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("state.stamina > 20", "never"),
        ("20 < state.stamina", "never"),
        ("state.stamina > 9", "never"),
        ("state.stamina < 0", "never"),
        ("state.stamina == -1", "never"),
        ("state.stamina >= 9.5", "never"),
        ("state.basket.tool == Tile.THICKET", "never"),
        ("previous.basket.tool == Tile.THICKET.value", "never"),
        ("state.stamina > self.MOST", "never"),
        ("state.stamina >= 0", "always"),
        ("state.stamina <= MAX_STAMINA", "always"),
        ("state.stamina != 10", "always"),
        ("0 <= state.stamina < 0", "never"),
    ],
)
def test_a_comparison_that_bounds_decide_is_warned_of(text: str, how: str, views: list[Any]) -> None:
    field = next(
        each
        for each in ast.walk(ast.parse(text))
        if isinstance(each, ast.Attribute) and not each.attr.isupper() and each.attr != "value"
    )
    most = 2 if field.attr == "tool" else 9
    program = f"return {text} or state.resting"
    assert warned(program, extra="MOST = 12") == [f"{shown(field)} is 0 to {most}: {text} is {how} true"]
    assert {
        holds(f"return ({text}) ^ (state.resting & ~state.resting)", view, extra="MOST = 12") for view in views[:5]
    } == {how == "always"}


@pytest.mark.parametrize(
    "text",
    [
        "state.stamina > 8",
        "state.stamina >= 9",
        "state.stamina == 0",
        "state.stamina != 9",
        "0 <= state.stamina <= 9 and state.resting",
        "0 <= state.stamina < 5",
        "any(state.stamina == i for i in range(20))",
        "state.stamina > state.heading",
        "state.stamina + 1 > 20",
        "state.herons.position[0, 0] > 2000",
        "state.warmth > 2",
        "state.resting == 1",
        "count_near(state, Tile.KILN) > 3",
    ],
)
def test_other_comparisons_are_not(text: str) -> None:
    assert warned(f"return {text}") == []


@given(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.integers(-3, 12), st.booleans())
def test_warnings_are_right_for_every_number(op: str, number: int, left: bool) -> None:
    text = f"{number} {op} state.stamina" if left else f"state.stamina {op} {number}"
    results = {eval(text.replace("state.stamina", str(value))) for value in range(10)}
    how = {frozenset({True}): ["always"], frozenset({False}): ["never"]}.get(frozenset(results), [])
    assert [each.split(" ")[-2] for each in warned(f"return state.resting or {text}")] == how


def test_the_first_edition_warns_of_neither() -> None:
    text = source_of("return state.stamina > 20 or state.flooded[state.walker_position].any()")
    program = parse_program(text, SCHEMA, FIRST)
    assert isinstance(program, CompiledProgram)
    assert [each for each in program.warnings if "may leave" not in each] == []


# --- names that the language lacks -----------------------------------------------------------------------------------


def suggestion(expression: str) -> str:
    """What is said of an expression in both editions, the latest first."""
    texts = []
    for edition in ({}, {"edition": FIRST}):
        verdict = parse_program(source_of(f"return {expression}"), SCHEMA, **edition)
        assert isinstance(verdict, Refusal), expression
        assert verdict.suggestion is not None, expression
        texts.append(verdict.suggestion)
    return texts[0]


PYTHON = (
    "isinstance issubclass type callable print getattr setattr hasattr vars dir str repr format chr ord bytes dict set frozenset "
    "map filter next iter slice hash id eval exec open input super object property staticmethod classmethod complex ascii bin hex"
)  # fmt: skip


@pytest.mark.parametrize("name", PYTHON.split())
def test_functions_of_python_have_advice(name: str) -> None:
    assert "did you mean" not in suggestion(f"{name}(state.field)")
    assert instead_of_name(name) is not None


def test_no_function_of_jnp_is_taken_for_another() -> None:
    """A name that jnp has was not misspelt, so it gets advice; what is no function at all may be mistaken."""
    for name in dir(jnp):
        member = getattr(jnp, name)
        if name.startswith("_") or isinstance(member, type(jax)) or not callable(member) or isinstance(member, type):
            continue
        verdict = parse_program(source_of(f"return jnp.{name}(state.field) > 3"), SCHEMA, FIRST)
        if isinstance(verdict, Refusal) and "is not in the table of functions" in verdict.reason:
            assert verdict.suggestion is not None, name
            assert "did you mean" not in verdict.suggestion, name


def test_no_method_of_an_array_is_taken_for_another() -> None:
    for name in dir(np.ndarray):
        if not name.startswith("_"):
            verdict = parse_program(source_of(f"return state.field.{name}(3) > 3"), SCHEMA, FIRST)
            if isinstance(verdict, Refusal) and verdict.reason.endswith(f" has no {name}"):
                assert verdict.suggestion is not None, name
                assert "did you mean" not in verdict.suggestion, name


def test_advice_names_what_every_edition_has() -> None:
    """Every function of ``jnp`` and every method that advice speaks of can be called in the first edition."""
    names = [*dir(jnp), *dir(jax.lax), *dir(np.ndarray), *PYTHON.split()]
    advice = {
        text
        for name in names
        for text in (instead_of_name(name), instead_of_function(name), instead_of_member(name))
        if text
    }
    assert len(advice) > 60
    for text in sorted(advice):
        for part in (
            text.replace("(", " ").replace(")", " ").replace("[", " ").replace(",", " ").replace(":", " ").split()
        ):
            if part.startswith("jnp.") and part.count(".") == 1:
                verdict = parse_program(source_of(f"return {part}(state.field) > 3"), SCHEMA, FIRST)
                assert not isinstance(verdict, Refusal) or "is not in the table" not in verdict.reason, text


# --- texts that are no Python ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("return (state.stamina > 3 and (state.resting)", "close this bracket"),
        ("return (state.stamina > 3]", "close ( with )"),
        ("return state.stamina > 3)", "open this bracket, or leave it out"),
        ("return state.basket.tool == “SICKLE”", "use plain quotes \" or '"),
        ("return state.basket.tool == ‘SICKLE’", "use plain quotes \" or '"),
        ("return state.stamina ≥ 3", "write >="),
        ("return state.stamina − 3 > 1", "write -"),
        ("return state.resting && state.stamina > 3", "write and"),
        ("return state.resting || state.stamina > 3", "write or"),
        ("return !state.resting", "write not"),
        ("return state.resting ? True : False", "write x if test else y"),
        ("if state.resting:\n    return True\nelse if state.stamina > 3:\n    return True\nreturn False", "write elif"),
        ("n = 0\nn++\nreturn state.stamina > n", "write += 1 or -= 1 on a line of its own"),
        ("if state.stamina = 3:\n    return True\nreturn False", "write == to compare"),
        ("if state.resting\n    return True\nreturn False", "put a colon here"),
        ("x = 1\n  y = 2\nreturn state.stamina > x", "indent the lines of a block alike"),
        ("if state.resting:\nreturn True\nreturn False", "indent what belongs to it; an empty block holds pass"),
        ("tool = 'SPADE\nreturn state.resting", "close the text with a quote on its line"),
        ("return state.stamina >", "the text seems to end in the middle of the program"),
        ("if state.resting:", "the text seems to end in the middle of the program"),
    ],
)
def test_what_python_cannot_read_has_advice(text: str, advice: str) -> None:
    found = refused(text)
    assert (found.kind, found.suggestion) == ("syntax", advice)


def test_python_that_stumbles_in_the_middle_is_not_taken_for_cut() -> None:
    assert refused("return state.stamina > > 3").suggestion is None


@given(st.text(max_size=60), st.text(max_size=30), st.integers(0, 9), st.integers(0, 60))
def test_advice_never_fails(source: str, message: str, line: int, column: int) -> None:
    lines = f"class A:\n{source}\n"
    line = min(line, lines.count("\n") + 1)
    found = syntax_hint(f"invalid character '{message[:1]}' {message}", lines, line, column)
    assert found is None or found.isprintable()


# --- words of the author ---------------------------------------------------------------------------------------------


def test_long_expressions_are_not_repeated() -> None:
    assert shown(ast.parse("state.stamina  >  3", mode="eval").body) == "state.stamina > 3"
    assert shown(ast.parse(" + ".join(["state.stamina"] * 9), mode="eval").body) is None
