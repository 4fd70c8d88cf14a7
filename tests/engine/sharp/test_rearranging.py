"""The functions of the second edition: what they compute, over an edge too, and that the first lacks them."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from engine.sharp.callables.functions import available
from engine.sharp.callables.tables import BUILTINS, JNP, LAX
from engine.sharp.editions import EDITIONS, FIRST, LATEST, VETTED, UnknownEdition, edition_of
from engine.sharp.emit import predicates
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.reference import language_core
from ledger.vocabulary.config import Config
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import graph_truths, namespace, python_runner
from tests.engine.sharp.invented import SCHEMA, inner_views, random_view, stacked
from tests.engine.sharp.programs import compiled, refused, source_of

EXPRESSIONS = (
    "sorted([state.stamina, state.heading, 4])[1] > 3",
    "sorted([state.stamina, state.heading, 4], reverse=True)[0] > 4",
    "sorted((3, 1, 2))[0] < state.stamina",
    "list(reversed([state.stamina, state.heading]))[0] > 2",
    "any(k == state.stamina for k in reversed(range(4)))",
    "divmod(state.stamina, 3) == (1, 2)",
    "pow(state.stamina, 3) > 60",
    "bool(jnp.sort(state.field, axis=0)[4, 2] == 2)",
    "bool(jnp.sort(state.field, axis=None)[50] == 3)",
    "bool(jnp.sort(state.herons.calm)[0] < 0.5)",
    "bool(jnp.cumsum(state.field)[-1] > 240)",
    "bool(state.field.cumsum(axis=1)[3, 4] > 12)",
    "bool(jnp.cumsum(state.herons.mask)[1] == 2)",
    "bool((jnp.roll(state.field, 3) == state.field).sum() > 20)",
    "bool((jnp.roll(state.field, -14, axis=1) == state.field).sum() > 20)",
    "bool(jnp.flip(state.field)[0, 1] == state.field[8, 8])",
    "bool((jnp.flip(state.field, axis=(0, 1)) == state.field).sum() > 20)",
    "bool((jnp.diff(state.flooded, axis=0)).sum() > 40)",
    "bool((jnp.diff(state.herons.calm) > 0).all())",
    "bool(jnp.pad(state.field, 2, constant_values=7).sum() > 920)",
    "bool(jnp.tile(state.field, (2, 3)).sum() > 1480)",
    "bool(jnp.repeat(state.field, 3, axis=0)[4, 2] == state.field[1, 3])",
    "bool(jnp.repeat(state.walker_position, 2).sum() > 18)",
    "bool((jnp.meshgrid(jnp.arange(11), jnp.arange(9))[0] * state.field).sum() > 1200)",
    "bool((jnp.indices((9, 11))[0] * state.field).sum() > 990)",
    "jnp.unravel_index(jnp.argmax(state.field), (9, 11)) == (0, 1)",
    "bool((jnp.eye(3, dtype=jnp.int32) * state.herons.position[:, :1]).sum() > 12)",
    "bool(jnp.outer(state.walker_position, state.walker_position)[0, 1] > 20)",
    "bool(jnp.dot(state.walker_position, state.walker_position) > 40)",
    "bool(jnp.hypot(state.walker_position[0], state.walker_position[1]) > 6.5)",
    "bool(jnp.isclose(state.warmth, 0.5) or jnp.isclose(state.warmth, 0.5, atol=0.2))",
    "bool(jnp.allclose(state.herons.calm, 0.5, atol=0.3))",
    "bool(jnp.select([state.herons.mask, state.herons.calm > 0.4], [1, state.herons.position[:, 0]], 9).sum() > 9)",
    "bool(jnp.sum(state.field, where=state.flooded) > 70)",
    "bool(jnp.sum(state.field, axis=0, where=state.flooded, initial=5)[2] > 12)",
    "bool(jnp.max(state.field[2], where=state.flooded[2], initial=0) > 4)",
    "bool(jnp.min(state.herons.position[:, 1], where=state.herons.mask, initial=99) < 3)",
    "bool(jnp.all(state.field[2] > 0, where=state.flooded[2]))",
    "bool((state.field[2] > 4).any(where=state.flooded[2]))",
    "bool(jax.lax.dynamic_slice_in_dim(state.field, state.walker_position[0], 4).sum() > 110)",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_each_means_what_numpy_means(expression: str) -> None:
    source = source_of(f"return {expression}")
    program, run = compiled(f"return {expression}"), python_runner(source, SCHEMA)
    views = [random_view(np.random.default_rng(seed)) for seed in range(60)]
    seen = set()
    for view in views:
        expected = run(namespace(view), namespace(view))
        assert graph_truths(program, view, view, SCHEMA) == expected
        seen.add(expected[0])
    assert seen == {True, False}
    assert isinstance(parse_program(source, SCHEMA, FIRST), Refusal)


def test_jax_computes_them_as_numpy_does() -> None:
    programs = [compiled(f"return {expression}") for expression in EXPRESSIONS]
    views = inner_views()[:32]
    success, _ = jax.jit(jax.vmap(predicates(programs, SCHEMA)))(stacked(views), stacked(views))
    for row, view in enumerate(views):
        for column, program in enumerate(programs):
            assert bool(success[row, column]) == graph_truths(program, view, view, SCHEMA)[0], EXPRESSIONS[column]


WINDOW = "w = state.field[state.walker_position[0] - 1 : state.walker_position[0] + 2, 0:3]\n"
"""Three rows around the walker, of which the first or last is off the field where the walker stands at an edge."""


@pytest.mark.parametrize(
    ("text", "top_row"),
    [
        ("return (jnp.flip(w, 0) == Tile.MEADOW).sum() == 6", True),
        ("return (jnp.roll(w, 1, axis=0) == Tile.MEADOW).sum() == 6", True),
        ("return (jnp.tile(w, 2) == Tile.MEADOW).sum() == 12", True),
        ("return (jnp.repeat(w, 2, axis=0) == Tile.MEADOW).sum() == 12", True),
        ("return (jnp.pad(w, 1) == Tile.MEADOW).sum() == 6 + 16", True),
        ("return jnp.sort(w, axis=None)[5] == 0 and jnp.sort(w, axis=None)[6] > 5", True),
        ("return jnp.cumsum(w + 1)[-1] == 6", True),
        ("return (jnp.diff(w, axis=0) == 0).sum() == 3", True),
        ("return jnp.sum(w == 0, where=jnp.ones((3, 3), jnp.bool_)) == 6", True),
    ],
)
def test_cells_outside_the_grid_stay_outside(text: str, top_row: bool) -> None:
    view = random_view(np.random.default_rng(0))
    view["field"] = np.zeros_like(view["field"])
    view["walker_position"] = np.array([0, 4], np.int32)
    inside = {**view, "walker_position": np.array([4, 4], np.int32)}
    program = compiled(WINDOW + text)
    assert graph_truths(program, view, view, SCHEMA)[0] is top_row
    assert graph_truths(program, inside, inside, SCHEMA)[0] is not top_row


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("return jnp.roll(state.field, state.stamina).any()", "a shift must be known"),
        ("return jnp.tile(state.field, (100, 100)).any()", "over the budget"),
        ("return jnp.repeat(state.field, 10_000).any()", "over the budget"),
        ("return jnp.pad(state.field, 1_000).any()", "over the budget"),
        ("return jnp.tile(state.field, 0).any()", "at least one copy"),
        ("return jnp.pad(state.field, (1, 2, 3)).any()", "a pair of them"),
        ("return jnp.dot(state.field, state.field).any()", "two vectors"),
        ("return jnp.max(state.field, where=state.flooded) > 1", "needs initial="),
        ('return jnp.meshgrid(jnp.arange(3), jnp.arange(3), indexing="zz")[0].any()', "indexing is"),
        ("return sorted([state.walker_position, state.walker_position])[0].any()", "not arrays"),
        ("return jnp.select([state.resting], [1, 2], 3) > 1", "as many choices"),
        ("return jnp.indices((3_000, 3_000))[0].any()", "over the budget"),
        ("return jnp.eye(70_000)[0, 0] > state.stamina", "over the budget"),
        ("xs = [1]\nreturn xs.extend([2]) is None", "stands on a line of its own"),
        (
            "xs = [1]\nif state.resting:\n    xs.extend([2])\nreturn len(xs) > state.stamina",
            "cannot depend on the state",
        ),
    ],
)
def test_what_they_refuse(text: str, part: str) -> None:
    assert part in refused(text).reason + str(refused(text).suggestion)


# --- editions --------------------------------------------------------------------------------------------------------


def test_editions_by_their_labels() -> None:
    assert list(EDITIONS) == ["sharp@1", "sharp@2"]
    assert edition_of("sharp@1") is FIRST
    assert edition_of(Config().grammar) is LATEST
    with pytest.raises(UnknownEdition, match="sharp@1, sharp@2"):
        edition_of("sharp@3")


def test_the_page_of_an_edition_shows_its_own_names() -> None:
    first, latest = language_core(FIRST), language_core(LATEST)
    assert "jnp.roll" not in first
    for table, name in ((JNP, "roll"), (BUILTINS, "sorted"), (LAX, "dynamic_slice_in_dim")):
        assert name not in available(table, FIRST)
        assert f"`{name}(" in latest
    assert "`sum(a, axis=None, dtype=None, keepdims=False)`" in first
    assert "`sum(a, axis=None, dtype=None, keepdims=False, initial=None, where=None)`" in latest


def test_long_names_are_refused_from_the_second_edition_on() -> None:
    source = source_of("return state.resting", name="A" * 81)
    refusal = parse_program(source, SCHEMA)
    assert isinstance(refusal, Refusal)
    assert (refusal.kind, refusal.line) == ("budget", 1)
    assert isinstance(parse_program(source, SCHEMA, FIRST), CompiledProgram)
    assert isinstance(parse_program(source.replace("A" * 81, "A" * 80), SCHEMA), CompiledProgram)


def test_class_constants_may_be_unpacked_from_the_second_edition_on() -> None:
    source = source_of("return self.LOW < state.stamina < self.HIGH").replace(
        "    def ", "    LOW, HIGH = 2, 7\n\n    def ", 1
    )
    assert isinstance(parse_program(source, SCHEMA), CompiledProgram)
    assert isinstance(parse_program(source, SCHEMA, FIRST), Refusal)


def test_what_the_first_edition_accepted_can_still_be_trained_on() -> None:
    """Training compiles archived skills of any edition: what a later one refuses must not stop an older run."""
    many = ", ".join(f'(lambda s: s.stamina > {index % 9}, "A b{index}")' for index in range(40))
    source = source_of("return state.resting\nimport subprocess", name="A" * 90, requires=many)
    assert isinstance(parse_program(source, SCHEMA), Refusal)
    first = parse_program(source, SCHEMA, FIRST)
    vetted = parse_program(source, SCHEMA, VETTED)
    assert isinstance(first, CompiledProgram)
    assert isinstance(vetted, CompiledProgram)
    assert (vetted.success, vetted.conditions) == (first.success, first.conditions)


def test_a_refusal_of_the_whole_text_stands_at_its_beginning() -> None:
    refusal = parse_program("", SCHEMA)
    assert isinstance(refusal, Refusal)
    assert (refusal.line, refusal.column) == (1, 1)
    first = parse_program("", SCHEMA, FIRST)
    assert isinstance(first, Refusal)
    assert (first.line, first.column) == (0, 0)
