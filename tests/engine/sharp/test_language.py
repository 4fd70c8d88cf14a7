# ruff: noqa: E501 - programs on one line
"""Semantics that honest programs rely on, one by one, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.sharp.programs import compiled, holds, refused

TRUE = (
    "True + True == 2",
    "state.resting + state.resting == 2",
    "(state.herons.mask.astype(jnp.int32) + state.herons.mask).max() == 2",
    "(state.herons.mask + state.herons.mask).max() == 2",
    "state.stamina / 2 == 3.5",
    "state.stamina // 2 == 3",
    "-state.stamina // 2 == -4",
    "-state.stamina % 3 == 2",
    "state.stamina % -3 == -2",
    "int(-state.stamina / 2) == -3",
    "round(state.stamina / 2) == 4",
    "round(state.stamina / 2 - 1) == 2",
    "state.stamina ** 2 == 49",
    "state.stamina // (state.stamina - 7) == 0",
    "state.stamina % (state.stamina - 7) == 0",
    "~state.resting == False",
    "not ~state.resting",
    "state.stamina & 3 == 3",
    "(state.stamina | 8) == 15",
    "state.stamina ^ 2 == 5",
    "1 < 3 < state.stamina < 9",
    "state.stamina in (1, 7) and state.stamina not in [2, 3]",
    "state.stamina in {7}",
    "state.stamina in range(8)",
    "len([x for x in range(20) if x < state.stamina]) == 7",
    "sum(x for x in range(20) if x < state.stamina) == 21",
    "max((x for x in range(20) if x < state.stamina), default=-1) == 6",
    "max((x for x in range(20) if x > state.stamina + 90), default=-1) == -1",
    "min(x for x in (3, state.stamina, 9)) == 3",
    "any(x == state.stamina for x in range(9)) and not all(x == state.stamina for x in range(9))",
    "all([]) and not any([])",
    "state is not None and previous is not None",
    "Tile.KILN == 3 and Tile.KILN.value == 3 and Tile['KILN'] == 3",
    "sum(1 for tile in Tile if tile > 2) == 3 and len(Tile) == 6",
    "state.stamina > Tile.KILN",
    "NEARBY[0][1] == -1 and len(NEARBY) == 8 and HEADINGS.shape == (5, 2)",
    "MAX_STAMINA - state.stamina == 2",
    "abs(state.stamina - 9) == 2 and abs(-2) == 2",
    "bool(state.stamina) and float(state.stamina) == 7.0",
    "(state.stamina or 3) == 7",
    "(state.resting and 5) == 5",
    "(3 if state.stamina > 6 else 4.5) == 3",
    "(state.stamina, 1) == (7, 1) and (state.stamina, 1) != (7, 2)",
    "tuple(state.walker_position) == (3, 4)",
    "(state.walker_position == (3, 4)).all()",
    "jnp.array_equal(state.walker_position, jnp.array([3, 4]))",
    "state.walker_position.sum() == 7 and sum(state.walker_position) == 7",
    "max(state.walker_position) == 4",
    "bool([i for i, x in enumerate(state.walker_position, start=1) if x == 4])",
    "jnp.linalg.norm(state.walker_position) == 5.0",
    "jnp.linalg.norm(state.walker_position, ord=1) == 7",
    "jnp.sqrt(state.stamina + 2) == 3",
    "jnp.mean(state.walker_position) == 3.5 and state.walker_position.mean() > 3",
    "jnp.sign(-state.stamina) == -1",
    "jnp.argmax(jnp.array([1, state.stamina, 3])) == 1",
    "jnp.clip(state.stamina, 0, 5) == 5 and state.walker_position.clip(0, 3).sum() == 6",
    "jnp.int32(3.9) == 3 and jnp.float32(state.stamina) == 7",
    "float('inf') > state.stamina > -jnp.inf",
    "jnp.ones((2, 2), dtype=jnp.int32).sum() == 4 and jnp.full(3, 2).sum() == 6",
    "jnp.zeros_like(state.field).sum() == 0",
    "jnp.arange(4).sum() == 6 and jnp.prod(jnp.arange(1, 4)) == 6",
    "state.field.shape[0] == 9 and state.field.ndim == 2 and state.field.size == 99",
    "jnp.where(state.resting, state.stamina, 0.5) == 7",
    "[1, 2] + [3] == [1, 2, 3] and (1,) * 3 == (1, 1, 1)",
    "zip((1, 2), (3, 4)) == ((1, 3), (2, 4))",
    "state.stamina << 1 == 14 and state.stamina >> 1 == 3",
    "jnp.power(state.stamina, 2) == 49 and jnp.square(state.stamina) == 49",
    "state.stamina.astype(jnp.float32) / 2 == 3.5",
    "jax.numpy.maximum(state.stamina, 9) == 9",
    "jax.lax.select(state.resting, 1, 2) == 1",
    "2147483647 + state.stamina < 0",
    "state.warmth < 1e300",
)


@pytest.fixture
def view(views: list[Any]) -> Any:
    """A state with known values."""
    return {
        **views[0],
        "stamina": np.int32(7),
        "resting": np.bool_(True),
        "walker_position": np.array([3, 4], np.int32),
        "herons": {**views[0]["herons"], "mask": np.array([True, False, True])},
    }


@pytest.mark.parametrize("text", TRUE)
def test_true(text: str, view: Any) -> None:
    assert holds(f"return state.stamina == 7 and ({text})", view)


STATEMENTS = {
    "break keeps what came before": "n = 0\nfor i in range(9):\n    if i == state.stamina:\n        break\n    n += 1\nreturn n == 7",
    "break after an update": "n = 0\nfor i in range(9):\n    n += 1\n    if i == state.stamina:\n        break\nreturn n == 8",
    "continue skips the rest": "n = 0\nfor i in range(9):\n    if i < state.stamina:\n        continue\n    n += 1\nreturn n == 2",
    "else runs without a break": "n = 0\nfor i in range(3):\n    if i == state.stamina:\n        break\nelse:\n    n = 5\nreturn n == 5",
    "else is skipped by a break": "n = 0\nfor i in range(8):\n    if i == state.stamina:\n        break\nelse:\n    n = 5\nreturn n == 0",
    "inner break": "n = 0\nfor i in range(3):\n    for j in range(9):\n        if j == state.stamina:\n            break\n        n += 1\nreturn n == 21",
    "return inside loops": "for i in range(3):\n    for j in range(9):\n        if i * 9 + j == state.stamina * 2:\n            return i == 1 and j == 5\nreturn False",
    "break from a nested test": "n = 0\nfor i in range(9):\n    if i > 2:\n        if i == state.stamina:\n            break\n        n += 10\n    n += 1\nreturn n == 47",
    "the loop variable afterwards": "for i in range(9):\n    if i == state.stamina:\n        break\nreturn i == 7",
    "two breaks": "n = 0\nfor i in range(9):\n    if i == state.stamina:\n        break\n    n += 1\n    if n == state.stamina - 2:\n        break\nreturn n == 5",
    "a variable set in both branches": "if state.resting:\n    x = 1\nelse:\n    x = 2.5\nreturn x == 1",
    "a variable set only where it is used": "if not state.resting:\n    return False\nelse:\n    x = 3\nreturn x == 3",
    "tuples merge": "a = (1, 2)\nif state.resting:\n    a = (3, state.stamina)\nx, y = a\nreturn x == 3 and y == 7",
    "early return keeps constants known": "if not state.resting:\n    return False\nn = 2\nreturn sum(range(n)) == 1",
    "append after an early return": "xs = []\nif not state.resting:\n    return False\nxs.append(4)\nfor i in range(2):\n    xs.append(i)\nreturn xs == [4, 0, 1]",
    "a list grows in place": "xs = [1]\nys = xs\nxs.append(2)\nxs += [3]\nreturn len(ys) == 3 and guard == 7",
    "lists unpacked from a tuple grow": "xs, ys = [], [1]\nxs.append(3)\nys.append(guard)\nreturn xs == [3] and ys == [1, 7]",
    "a list of complete lists": "rows = []\nfor i in range(2):\n    row = []\n    for j in range(2):\n        row.append(i + j)\n    rows.append(row)\nreturn rows == [[0, 1], [1, 2]] and guard == 7",
    "a chain of assignments": "a = b = state.stamina\na -= 1\nreturn a == 6 and b == 7",
    "nested unpacking": "(a, (b, c)), d = (1, (2, 3)), state.stamina\nreturn a + b + c + d == 13",
    "a closure sees later values": "def f():\n    return n\nn = 1\nn = state.stamina\nreturn f() == 7",
    "a name may hide a function of Python": "sum = 3\nmax = state.stamina\nreturn sum < max",
    "None counts as false": "def f(x):\n    if x > 3:\n        return True\nreturn f(state.stamina) and not f(2)",
    "loops over rows": "n = 0\nfor position in state.herons.position:\n    n += position[0] * 0 + 1\nreturn n == 3 and guard == 7",
    "docstrings and pass": '"""Text."""\npass\n...\nreturn state.resting',
    "filtered lists in loops": "n = 0\nfor i in [k for k in range(9) if k < state.stamina]:\n    n += i\nreturn n == 21",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str, view: Any) -> None:
    assert holds(f"guard = state.stamina\n{STATEMENTS[name]}", view)


REFUSED = {
    "x = 1 if state.resting else None\nreturn x > 0": "None or a number",
    "if state.resting:\n    x = 1\nreturn x == 1": "x may have no value here",
    "return y": "there is no name y",
    "y = y + 1\nreturn state.resting": "y may have no value here",
    "for i in range(3):\n    if state.resting:\n        break\n    z = 1\nreturn z == state.stamina": "z may have no value here",
    "if state.field == 1:\n    return True\nreturn False": "no single truth value",
    "return state.field == 1 and state.resting": "no single truth value",
    "return 0 < state.field < 3": "no single truth value",
    "return any(state.field == 1)": "has rows",
    "xs = []\nif state.resting:\n    xs.append(1)\nreturn len(xs) == state.stamina": "length of a list cannot depend",
    "xs = []\nfor i in range(3):\n    if state.resting:\n        break\n    xs.append(i)\nreturn len(xs) == state.stamina": "length of a list cannot depend",
    "for i in range(state.stamina):\n    pass\nreturn state.resting": "must be known before the program runs",
    "return max(x for x in range(3) if x < state.stamina) > 1": "there may be none",
    "return [x for x in range(3) if x < state.stamina][0] == 1": "which items this list has depends on the state",
    "return state.field[state.field == 1].sum() > 1": "cannot be picked by a mask",
    "return state.walker_position + state.herons.calm == 3": "do not fit together",
    "return state.stamina is previous.stamina": "compares with None only",
    "return state.basket > 1": "name one of its fields",
    "return state.resting.value": "has no value",
    "return state.stamina.valu": "has no valu",
    "f = lambda x: x\nreturn f(state.resting)": "a lambda can only stand",
    "return jnp.where(state.field == 1)": "where with one argument",
    "return jnp.sum(state.field, axs=1)": "no argument called axs",
    "return count_near(state)": "takes 2 arguments",
    "return count_near(state.basket, 3) > 1": "is the whole state",
    "return self.success(state, previous)": "calls itself",
    "state.field.sum()\nreturn state.resting": "value of this line is not used",
    "a, b = state.field[0, :3]\nreturn a == b": "does not unpack into 2 names",
    "return state.warmth & 1": "does not work on floats",
    "return state.stamina / 0 > 1": "division by zero",
    "return 1 // 0 > state.stamina": "division by zero",
    "return state.stamina ** previous.stamina > 1": "known exponent",
    "return Tile > state.stamina": "cannot be compared",
    "return 'a' == state.stamina": "strings are not part",
    "return state.field.at[0].set(1).any()": "arrays do not change",
    "return jnp.array([[1, 2], [3]]).sum() > state.stamina": "equal lengths",
    "def f():\n    return f()\nreturn f()": "f calls itself",
    "xs = [1]\nxs.append(xs)\nreturn len(xs) == state.stamina": "inside another one",
    "xs = [1]\nys = (xs, 2)\nxs.append(ys)\nreturn len(xs) == state.stamina": "inside another one",
    "xs = [1]\nfor x in xs:\n    xs.append(x)\nreturn len(xs) == state.stamina": "grows while it is looped over",
    "return round(jnp.inf) == state.stamina": "infinity is no integer",
    "return jnp.full((2, 2), (1, 2, 3)).sum() > state.stamina": "does not spread",
    "return jnp.argmax(state.field, axis=(0, 1)) > 1": "an axis must be an integer",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_in_words(text: str) -> None:
    found = refused(text)
    assert REFUSED[text] in f"{found.reason} {found.suggestion}"
    assert found.line > 0


def test_conditions_take_one_two_or_three_parameters() -> None:
    for text in ("lambda self, state: state.resting", "lambda s: s.resting", "lambda self, s, p: s.resting", "lambda s, p: s.resting",
                 "lambda self, state, n=3: state.resting", "lambda self, state, previous=None: state.resting"):  # fmt: skip
        program = compiled("return state.stamina > 1", requires=f'({text}, "Rest")')
        assert program.conditions[0] == compiled("return state.resting").success, text


def test_a_condition_may_be_a_method_a_string_a_lambda_or_a_function_beside() -> None:
    extra = "def tired(self, state):\n    return state.stamina < 3\nweary = lambda self, state: state.stamina < 3"
    pairs = '(tired, "A"), ("tired", "B"), (weary, "C"), (lambda s: s.stamina < 3, D), ["tired", "E"]'
    program = compiled("return state.resting", extra=extra, requires=pairs)
    assert len({node.digest for node in program.conditions}) == 1
    assert [item.prerequisite for item in program.requires] == ["A", "B", "C", "D", "E"]
    assert [item.condition for item in program.requires] == ["tired", "tired", "weary", "lambda[3]", "tired"]


def test_a_condition_must_depend_on_the_state() -> None:
    found = refused("return state.resting", requires='(lambda self, state: True, "Rest")')
    assert "lambda[0] is always True" in found.reason
