"""The lowering means what Python means: generated programs, run by CPython and by their graphs, agree.

Seen to fail with ``break`` not masking the rest of its block, with ``//`` rounding towards zero, and with the operands
of a select exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sharp.emit import predicates
from engine.sharp.program import CompiledProgram, parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import graph_truths, namespace, python_runner
from tests.engine.sharp.generator import PRODUCTIONS, Generator
from tests.engine.sharp.invented import SCHEMA, inner_views, stacked

PAIRS = 5


def count_near(state: Any, tile: Any) -> int:
    """The world's helper in plain numpy, for CPython."""
    row, column = state.walker_position
    around = np.asarray(state.field)[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    return int((around == int(tile)).sum())


def check(seed: int, views: Sequence[Any]) -> Counter[str]:
    """Generate one program and compare; returns the productions used.

    A condition that folds to a constant is refused; CPython must then find it constant, too.
    """
    generator = Generator(Random(seed))
    source = generator.program()
    program = parse_program(source, SCHEMA)
    run = python_runner(source, SCHEMA, {"count_near": count_near})
    pairs = [(views[(seed * 7 + k) % len(views)], views[(seed * 11 + k + 3) % len(views)]) for k in range(PAIRS)]
    if isinstance(program, Refusal):
        assert program.kind == "output", (seed, program, source)
        what, always = program.reason.split(" is always ")[0], "True" in program.reason
        place = {"success": 0, "first": 1, "lambda[2]": 3}[what]
        for view, previous in pairs:
            success, conditions = run(namespace(view), namespace(previous))
            assert (success, *conditions)[place] is always, (seed, source)
        return generator.used
    for view, previous in pairs:
        expected = run(namespace(view), namespace(previous))
        assert graph_truths(program, view, previous, SCHEMA) == expected, (seed, source)
    return generator.used


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1))
def test_generated_programs_agree_with_cpython(seed: int) -> None:
    check(seed, inner_views())


def test_every_production_is_generated() -> None:
    used: Counter[str] = Counter()
    for seed in range(300):
        generator = Generator(Random(seed))
        generator.program()
        used += generator.used
    assert not [name for name in PRODUCTIONS if used[name] < 5]


@pytest.mark.slow
def test_ten_thousand_programs_agree_with_cpython() -> None:
    used: Counter[str] = Counter()
    for seed in range(10_000):
        used += check(seed, inner_views())
    fewest = min(PRODUCTIONS, key=lambda name: used[name])
    print(f"10,000 programs, {PAIRS} pairs of states each; rarest production: {fewest}, {used[fewest]} times")
    assert used[fewest] >= 100


def test_jax_agrees_with_numpy_on_generated_programs() -> None:
    """One compilation of thirty programs: the kernels mean the same under both array modules."""
    programs: list[CompiledProgram] = []
    seed = 0
    while len(programs) < 30:
        program = parse_program(Generator(Random(seed)).program(), SCHEMA)
        if isinstance(program, CompiledProgram):
            programs.append(program)
        seed += 1
    current, before = inner_views()[:24], inner_views()[24:48]
    success, conditions = jax.jit(jax.vmap(predicates(programs, SCHEMA)))(stacked(current), stacked(before))
    for row, (view, previous) in enumerate(zip(current, before, strict=True)):
        for column, program in enumerate(programs):
            expected = graph_truths(program, view, previous, SCHEMA)
            count = len(program.conditions)
            assert (bool(success[row, column]), tuple(np.asarray(conditions)[row, column, :count].tolist())) == expected
            assert np.asarray(conditions)[row, column, count:].all()
