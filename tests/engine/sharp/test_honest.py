"""Honest programs pass at once, and mean what CPython says they mean."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.scope import field_paths
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from engine.worlds.schema import Group, Schema
from tests.engine.sharp import honest_classic, honest_invented
from tests.engine.sharp.concrete import graph_truths, namespace, python_runner
from tests.engine.sharp.invented import SCHEMA, random_view

INVENTED_STATES = 60
CLASSIC_STATES = 12
ARRAY_SCALARS = ("RecoverHealth", "OreHunter")
"""Programs that call array methods on scalars, which JAX's have and CPython's do not: compiled, not compared."""


def name_of(source: str) -> str:
    """The class name of a program."""
    return source.split("class ", 1)[1].split("(", 1)[0]


def view_of(schema: Schema, generator: np.random.Generator) -> dict[str, Any]:
    """A random view of any schema, walkers and players well inside the map, numbers in a lifelike range."""

    def of(group: Group, path: tuple[str, ...]) -> dict[str, Any]:
        leaves: dict[str, Any] = {}
        for name, member in group.members.items():
            if isinstance(member, Group):
                leaves[name] = of(member, (*path, name))
            elif member.dtype == "bool":
                leaves[name] = np.asarray(generator.random(member.shape) < 0.5)
            else:
                low = 0 if member.minimum is None else max(member.minimum, -3)
                high = 9 if member.maximum is None else min(member.maximum, low + 16)
                if "position" in name:
                    low, high = 6, 12
                numbers = generator.integers(int(low), int(high) + 1, member.shape)
                leaves[name] = np.asarray(numbers, np.int32 if member.dtype == "int32" else np.float32)
        return leaves

    return of(schema.state, ())


def helpers_for(schema: Schema) -> dict[str, Any]:
    """The world's helpers for CPython: the view behind the namespace goes back to the JAX function."""

    def wrap(helper: Any) -> Any:
        def call(*arguments: Any, **keywords: Any) -> Any:
            names = [parameter.name for parameter in helper.parameters]
            given = {**dict(zip(names, arguments, strict=False)), **keywords}
            values = [
                given[parameter.name].view_ if parameter.is_state else np.asarray(given[parameter.name], np.int32)
                for parameter in helper.parameters
            ]
            result = np.asarray(helper.function(*values))
            return result.item() if result.shape == () else result

        return call

    return {name: wrap(helper) for name, helper in schema.helpers.items()}


def spaced(view: dict[str, Any]) -> SimpleNamespace:
    """A view for CPython that remembers its arrays."""
    space: SimpleNamespace = namespace(view)
    space.view_ = view
    return space


def compiled(source: str, schema: Schema) -> CompiledProgram:
    """The program, or a failure that shows the refusal."""
    program = parse_program(source, schema)
    assert isinstance(program, CompiledProgram), program
    return program


def agrees(source: str, schema: Schema, pairs: list[tuple[Any, Any]]) -> set[bool]:
    """CPython and the graph agree on every pair of states; returns the truths of success that occurred."""
    program = compiled(source, schema)
    run = python_runner(source, schema, helpers_for(schema))
    seen = set()
    for view, previous in pairs:
        expected = run(spaced(view), spaced(previous))
        assert graph_truths(program, view, previous, schema) == expected
        seen.add(expected[0])
    return seen


@pytest.mark.parametrize("source", honest_invented.PROGRAMS, ids=name_of)
def test_invented_programs_agree_with_cpython(source: str) -> None:
    generator = np.random.default_rng(7)
    views = [random_view(generator) for _ in range(400)]
    inner = [view for view in views if 2 <= view["walker_position"][0] <= 6 and 2 <= view["walker_position"][1] <= 8]
    pairs = list(pairwise(inner[: INVENTED_STATES + 1]))
    assert agrees(source, SCHEMA, pairs) == {True, False}


@pytest.mark.parametrize("source", honest_classic.PROGRAMS, ids=name_of)
def test_classic_programs_agree_with_cpython(source: str) -> None:
    generator = np.random.default_rng(11)
    views = [view_of(CLASSIC, generator) for _ in range(CLASSIC_STATES + 1)]
    text = source.replace("from craftax.craftax_classic.constants import BlockType\n", "").replace(
        "import jax.numpy as jnp\n", ""
    )
    compiled(source, CLASSIC)
    if name_of(source) not in ARRAY_SCALARS:
        agrees(text.replace(": EnvState", ""), CLASSIC, list(pairwise(views)))


def test_corpora_are_large_enough_and_distinct() -> None:
    assert len(honest_classic.PROGRAMS) + len(honest_invented.PROGRAMS) >= 60
    meanings = {compiled(source, CLASSIC).meaning for source in honest_classic.PROGRAMS}
    assert len(meanings) == len(honest_classic.PROGRAMS)


def test_the_classic_schema_names_nothing_forbidden() -> None:
    names = {name for path in field_paths(CLASSIC.state) for name in path}
    assert not {name for name in names if "achievement" in name or "rng" in name or "timestep" in name}
