# ruff: noqa: E501 - programs on one line
"""Where a compiler of Python goes wrong quietly: what it accepts agrees with CPython, and what cannot is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.engine.sharp.concrete import graph_truths, namespace, python_runner
from tests.engine.sharp.invented import SCHEMA, random_view
from tests.engine.sharp.programs import compiled, refused, source_of

AGREED = {
    "a list that a helper made": (
        "xs = self.path(state)\nreturn xs[0] + xs[-1] > 5",
        "def path(self, state):\n    xs = [state.heading]\n    for k in range(3):\n        xs.append(k)\n    return xs\n",
    ),
    "a list of the class keeps its kind": ("return self.XS == [state.stamina, 2]", "XS = [4, 2]\n"),
    "a tuple of the class": ("return self.XS == (state.stamina, 2)", "XS = (4, 2)\n"),
    "the sum of casts": ("return jnp.sum(state.herons.calm, dtype=jnp.int32) >= 1", ""),
    "found is None on no path": ("found = False\nif state.resting:\n    found = state.stamina > 3\nreturn not found", ""),
    "a missing return is false": ("return self.low(state) or state.resting", "def low(self, state):\n    if state.stamina > 6:\n        return True\n"),
    "None as a truth": ("found = None\nif state.resting:\n    found = state.stamina > 3\nreturn not found", ""),
}  # fmt: skip

REFUSED = {
    "min of tuples": ("return min([(p[0], p[1]) for p in state.herons.position])[1] > 2", "compares numbers, not tuples"),
    "max of pairs": ("return max((state.stamina, 3), (state.heading, 0))[1] > 2", "compares numbers, not tuples"),
    "None or a truth is asked for None": (
        "found = None\nif state.resting:\n    found = state.stamina > 3\nreturn found is not None and not found",
        "counts as False here and equals nothing",
    ),
    "a choice with None": ("x = True if state.resting else None\nreturn x is None", "counts as False here"),
    "None compared": ("x = True if state.resting else None\nreturn x == 0", "counts as False here"),
    "a traced order": ("return sorted([state.stamina, state.heading], reverse=state.resting)[0] > 3", "reverse must be known"),
    "traced keepdims": ("return state.field.sum(axis=0, keepdims=state.resting).any()", "keepdims must be known"),
    "a repetition": ("return len([1] * state.stamina) > 3", "how often a list is repeated"),
    "a repetition the other way": ("return sum(state.heading * [1, 2]) > 3", "how often a list is repeated"),
    "joined lists": ("return len(sum([[x] for x in range(3) if x > state.stamina], [])) > 1", "which lists are joined"),
    "a list and a tuple": ("return [state.stamina, 2] == (state.stamina, 2)", "a list never equals a tuple"),
    "a tuple in lists": ("return (state.stamina, 2) in [[1, 2], [6, 2]]", "a list never equals a tuple"),
    "a number and a tuple": ("return bool(state.stamina == (3,))", "a number never equals a tuple"),
    "the norm of a matrix": ("return jnp.linalg.norm(state.herons.position, ord=1) > 5", "of vectors"),
    "a set as a sequence": ("return jnp.array({1, 2})[0] < state.stamina", "a set has no order"),
    "the length of a set": ("return len({state.stamina, 1}) > 1", "how many different items"),
    "an axis that is a truth": ("return state.field.sum(axis=True).any()", "an axis is a number"),
    "in a number": ("return 3 in state.stamina", "no elements to look among"),
    "an annotation that computes": ("x: exec('1') = state.stamina\nreturn x > 1", "an annotation names a type"),
    "many ranges": ("x = (0,)\nreturn sum(state.stamina " + "for a in x " * 40 + ") > 3", "is over the budget of 16"),
    "a name in disguise": ("return state.walker﹏position.sum() > 3", "is not ASCII"),
    "a dot in a name": ("sta·te = state\nreturn state.resting", "is not ASCII"),
    "half a character": ('"""A \\ud800"""\nreturn state.resting', "half a character"),
    "an import after the end": ("return state.resting\nimport subprocess", "import of subprocess"),
}  # fmt: skip


@pytest.mark.parametrize("name", AGREED)
def test_agrees_with_cpython(name: str) -> None:
    text, extra = AGREED[name]
    program = compiled(text, extra=extra)
    run = python_runner(source_of(text, extra=extra), SCHEMA)
    views = [random_view(np.random.default_rng(seed)) for seed in range(80)]
    seen = set()
    for view, previous in pairwise(views):
        expected = run(namespace(view), namespace(previous))
        assert graph_truths(program, view, previous, SCHEMA) == expected
        seen.add(expected[0])
    assert seen == {True, False}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    text, part = REFUSED[name]
    refusal = refused(text)
    assert part in refusal.reason
    assert refusal.line >= 1


def test_a_list_is_returned_as_it_is_at_that_moment() -> None:
    """What another path appends later is not in it, so that the two paths give lists of two lengths."""
    path = "def path(self, state):\n    xs = [state.heading]\n    if state.resting:\n        return xs\n    xs.append(1)\n    return xs"
    assert "a list of 1 items or a list of 2 items" in refused("return sum(self.path(state)) > 4", extra=path).reason


def test_a_requirement_is_named_in_plain_letters_and_few() -> None:
    assert (
        "the name of a skill" in refused("return state.resting", requires='(lambda s: s.stamina > 2, "A\\nB")').reason
    )
    many = ", ".join(f'(lambda s: s.stamina > {index % 9}, "A{index}")' for index in range(33))
    assert "33 requirements are over the budget of 32" in refused("return state.resting", requires=many).reason
