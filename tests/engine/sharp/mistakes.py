# ruff: noqa: E501 - programs on one line
"""Mistakes that honest authors make, each with the text of a program: what they read is golden.

``python -m tests.engine.sharp.mistakes > tests/golden/refusals.txt`` writes the file that the tests compare with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from attrs import frozen

from engine.sharp.explaining.explain import explain_refusal
from engine.sharp.program import parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.invented import SCHEMA

FILE = "skill.py"


@frozen
class Mistake:
    """What the author did, and the text as the author wrote it."""

    what: str
    text: str


def _program(success: str, members: str = "", requires: str = "", before: str = "") -> str:
    """A program whose success method holds ``success``."""

    def inside(text: str, width: int) -> str:
        return "".join(f"{' ' * width}{line}\n" if line else "\n" for line in text.split("\n"))

    parts = [f"{before}\n\n" if before else "", 'class FireBricks(Sharp):\n    """Fire bricks in the kiln."""\n\n']
    parts.append(f"    def success(self, state, previous):\n{inside(success, 8)}")
    parts += [f"\n{inside(members, 4)}"] if members else []
    parts += [f"\n    requires = {requires}\n"] if requires else []
    return "".join(parts)


GOOD = "return state.basket.bricks > previous.basket.bricks"

HAS_CLAY = "def has_clay(self, state):\n    return state.basket.clay >= 2"

MISTAKES = (
    # names and attributes
    Mistake("a field without its group", _program("return state.bricks > previous.bricks")),
    Mistake("a field of another game", _program("return state.inventory.bricks > 0")),
    Mistake("a misspelt field", _program("return state.basket.brick > previous.basket.brick")),
    Mistake("a misspelt enum member", _program("return state.field[4, 5] == Tile.KLIN")),
    Mistake("an enum member of another game", _program("return state.field[4, 5] == Tile.LADDER_DOWN")),
    Mistake("a misspelt enum", _program("return state.field[4, 5] == Tiles.KILN")),
    Mistake("a helper that does not exist", _program("return is_near_tile(state, Tile.KILN)")),
    Mistake("an achievement", _program("return state.achievements[3] > previous.achievements[3]")),
    Mistake("the step counter", _program("return state.timestep > 100")),
    Mistake("a method without self", _program("return has_clay(state)", HAS_CLAY)),
    Mistake("a misspelt method", _program("return self.has_cly(state)", HAS_CLAY)),
    Mistake("state kept on self", _program("self.count = self.count + 1\nreturn self.count > 3")),
    Mistake("numpy", _program("return np.any(state.field == Tile.KILN)")),
    Mistake("a function that jnp has and the language not", _program("return jnp.argwhere(state.flooded).size > 0")),
    Mistake("a misspelt function of jnp", _program("return jnp.summ(state.flooded) > 3")),
    Mistake("a method of a list that arrays lack", _program("return state.field.count(Tile.KILN) > 0")),
    Mistake("the value of a number", _program("return state.heading.value == 2")),
    Mistake("a name assigned in one branch only", _program("if state.resting:\n    gain = 1\nreturn gain > 0")),
    Mistake("a misspelt helper", _program("return count_nearby(state, Tile.KILN) > 1")),
    Mistake("a misspelt method without self", _program("return has_cly(state)", HAS_CLAY)),
    Mistake("a helper that does not exist, where nothing calls it", _program(GOOD, "def unused(self, state):\n    return is_near_tile(state, Tile.KILN)")),
    Mistake("a helper of the world as a method", _program("return self.count_near(state, Tile.KILN) > 1")),
    Mistake("a function of jnp without jnp", _program("return where(state.resting, 1, 0) > 0")),
    Mistake("a group and a field that are both misspelt", _program("return state.baskt.brick > 0")),
    Mistake("a group with a name that is nearly right", _program("return state.heron.position[0, 0] > 3")),
    Mistake("achievements with names", _program("return state.achievements.bricks > 0")),
    Mistake("a group as a dict", _program('return state.basket["bricks"] > 3')),
    Mistake("the state in a helper that does not get it", _program("return self.tired()", "def tired(self):\n    return state.stamina < 3")),
    Mistake("the state in a constant", _program("return self.low", "low = state.stamina < 3")),
    Mistake("true as other languages write it", _program("return state.resting == true")),
    Mistake("the name of a member", _program("return Tile.KILN.name == state.field[0, 0]")),
    # functions that the language lacks
    Mistake("the median", _program("return jnp.median(state.field) > 3")),
    Mistake("the standard deviation", _program("return state.field.std() > 3")),
    Mistake("the exponential", _program("return jnp.exp(state.stamina) > 3")),
    Mistake("evenly spaced numbers", _program("return jnp.linspace(0, 1, 5).sum() > state.warmth")),
    Mistake("distinct values", _program("return len(jnp.unique(state.field)) > 3")),
    Mistake("where a condition holds", _program("rows, columns = jnp.nonzero(state.flooded)\nreturn rows[0] > 3")),
    Mistake("jax.nn", _program("return jax.nn.relu(state.stamina) > 3")),
    Mistake("a function of lax that jnp has", _program("return jax.lax.argmax(state.field, 0, int) > 3")),
    Mistake("a cell set", _program("return state.field.at[0, 0].set(1).sum() > 3")),
    Mistake("a list appended to an array", _program("state.field.append(1)\nreturn state.resting")),
    Mistake("count of a list", _program("return [state.stamina, 3].count(3) > 1")),
    Mistake("next", _program("return next(i for i in range(9) if state.stamina == i) > 3")),
    Mistake("map", _program("return any(map(bool, state.herons.mask))")),
    Mistake("filter", _program("return any(filter(None, state.herons.mask))")),
    Mistake("dict", _program("return dict(a=state.stamina) is not None")),
    Mistake("set", _program("return state.stamina in set([1, 2])")),
    Mistake("isinstance", _program("return isinstance(state.stamina, int)")),
    Mistake("str", _program('return str(state.stamina) == "3"')),
    Mistake("getattr", _program('return getattr(state.basket, "bricks") > 3')),
    Mistake("random numbers", _program("return jax.random.uniform() > 0.5")),
    # shapes and types
    Mistake("an array as a condition", _program("if state.flooded:\n    return True\nreturn False")),
    Mistake("an array as the result", _program("return state.field == Tile.KILN")),
    Mistake("a number as the result", _program("return state.basket.bricks")),
    Mistake("no return", _program("state.basket.bricks > previous.basket.bricks")),
    Mistake("a comparison that is not returned", _program("bricks = state.basket.bricks\nbricks > 3")),
    Mistake("and between arrays", _program("return ((state.field == Tile.KILN) and state.flooded).any()")),
    Mistake("and between a truth value and an array", _program("return state.resting and state.flooded")),
    Mistake("an array on one path only", _program("wet = state.flooded\nif state.resting:\n    wet = False\nreturn wet.any()")),
    Mistake("a position as one index, in a test", _program("if state.field[state.walker_position] == Tile.KILN:\n    return True\nreturn False")),
    Mistake("one number per row", _program("return (state.field == jnp.arange(9)).any()")),
    Mistake("short arrays that do not fit", _program("return (state.walker_position + state.herons.calm).sum() > 3")),
    Mistake("arrays that do not fit in a call", _program("return jnp.where(state.flooded, state.herons.calm, 0).any()")),
    Mistake("arrays that do not fit", _program("return (state.field == state.herons.position).any()")),
    Mistake("a position as one index", _program("return state.field[state.walker_position] == Tile.KILN")),
    Mistake("too many indices", _program("return state.heading[0] == 1")),
    Mistake("three indices into a map", _program("return state.field[0, 1, 2] == 1")),
    Mistake("an index off a list", _program("return [state.stamina, 1][2] == 1")),
    Mistake("an index off the map", _program("return state.field[20, 0] == Tile.KILN")),
    Mistake("a group as a number", _program("return sum(state.basket) > 3")),
    Mistake("a group in any", _program("return any(state.basket)")),
    Mistake("a group in a function of jnp", _program("return jnp.sum(state.basket) > 3")),
    Mistake("a float as an index", _program("return state.field[state.stamina / 2, 0] == Tile.KILN")),
    Mistake("text in a comparison", _program('return state.basket.tool == "SICKLE"')),
    Mistake("texts after in", _program('return state.basket.tool in ("SPADE", "SICKLE")')),
    Mistake("text that is no member", _program('return state.basket.tool == "axe"')),
    Mistake("None until something is found", _program("best = None\nfor i in range(9):\n    if state.field[i, 0] == Tile.KILN:\n        best = i\nreturn best is not None")),
    Mistake("a helper that returns on one path only", _program("return self.left(state) > 3", "def left(self, state):\n    if state.resting:\n        return state.stamina")),
    # static values
    Mistake("a loop whose length depends on the state", _program("total = 0\nfor i in range(state.stamina):\n    total += i\nreturn total > 3")),
    Mistake("a slice whose width depends on the state", _program("return state.field[0:state.stamina, 0].sum() > 3")),
    Mistake("a list that grows in a branch", _program("found = []\nif state.resting:\n    found.append(1)\nreturn len(found) > 0")),
    Mistake("a loop over a number", _program("for i in state.stamina:\n    pass\nreturn state.resting")),
    Mistake("nothing but an assignment", _program("gain = state.stamina - previous.stamina")),
    Mistake("always true", _program("return True")),
    # grammar
    Mistake("a while loop", _program("n = 0\nwhile n < 3:\n    n += 1\nreturn state.stamina > n")),
    Mistake("try", _program("try:\n    return state.stamina > 3\nexcept Exception:\n    return False")),
    Mistake("print", _program("print(state.stamina)\nreturn state.stamina > 3")),
    Mistake("an f-string", _program('name = f"{state.stamina}"\nreturn state.stamina > 3')),
    Mistake("a dict", _program("need = {1: 2}\nreturn state.stamina > need[1]")),
    Mistake("an assertion", _program("assert state.stamina > 0\nreturn state.resting")),
    Mistake("assignment to a cell", _program("field = state.field\nfield[0, 0] = 1\nreturn field.sum() > 3")),
    Mistake("an import from the game", _program(GOOD, before="from craft.constants import Tile, Recipe")),
    Mistake("import of numpy", _program(GOOD, before="import numpy as np")),
    Mistake("star-arguments", _program("return max(*state.walker_position) > 3")),
    Mistake("recursion", _program("return self.fits(state, 3)", "def fits(self, state, n):\n    return n == 0 or self.fits(state, n - 1)")),
    Mistake("a staticmethod", _program(GOOD, "@staticmethod\ndef near(state):\n    return state.resting")),
    Mistake("state kept on self, counted up", _program("self.count += 1\nreturn self.count > 3")),
    Mistake("a field set", _program("state.stamina = 3\nreturn state.resting")),
    # outline
    Mistake("a function instead of a class", "def success(state, previous):\n    return state.stamina > previous.stamina\n"),
    Mistake("no success method", 'class FireBricks(Sharp):\n    """Fire bricks."""\n\n    def succes(self, state, previous):\n        return state.resting\n'),
    Mistake("success with the state only, under another name", _program("return s.stamina > 3").replace("state, previous", "s, p, action")),
    Mistake("two classes", _program(GOOD) + "\n\n" + _program(GOOD).replace("FireBricks", "DigClay")),
    Mistake("another base class", _program(GOOD).replace("Sharp", "Skill")),
    Mistake("a constructor", _program(GOOD, "def __init__(self):\n    self.count = 0")),
    Mistake("a test of the class after it", _program(GOOD) + "\nprint(FireBricks().success(1, 2))\n"),
    Mistake("a main program", _program(GOOD) + '\nif __name__ == "__main__":\n    FireBricks()\n'),
    Mistake("code after the class", _program(GOOD) + "\nskill = FireBricks()\n"),
    # requires
    Mistake("a single pair without a list", _program(GOOD, HAS_CLAY, '(has_clay, "DigClay")')),
    Mistake("names instead of pairs", _program(GOOD, HAS_CLAY, '["DigClay"]')),
    Mistake("pairs in the wrong order", _program(GOOD, HAS_CLAY, '[("DigClay", has_clay)]')),
    Mistake("conditions instead of pairs", _program(GOOD, HAS_CLAY, "[has_clay]")),
    Mistake("three parts in a pair", _program(GOOD, HAS_CLAY, '[(has_clay, "DigClay", 3)]')),
    Mistake("a lambda behind its prerequisite", _program(GOOD, "", '[("Rest", lambda state: state.resting)]')),
    Mistake("a prerequisite that is no name", _program(GOOD, HAS_CLAY, "[(has_clay, 3)]")),
    Mistake("a misspelt condition", _program(GOOD, HAS_CLAY, '[(has_cly, "DigClay")]')),
    Mistake("requires as a dict", _program(GOOD, HAS_CLAY, '{has_clay: "DigClay"}')),
    Mistake("requires as a dict by prerequisite", _program(GOOD, HAS_CLAY, '{"DigClay": has_clay, "Rest": lambda state: state.resting}')),
    Mistake("requires as an empty dict", _program(GOOD, "", "{}")),
    Mistake("a condition that is always true", _program(GOOD, "def ready(self, state):\n    return True", '[(ready, "DigClay")]')),
    Mistake("a condition called in requires", _program(GOOD, HAS_CLAY, '[(has_clay(state), "DigClay")]')),
    Mistake("an expression as a condition", _program(GOOD, "", '[(state.basket.clay >= 2, "DigClay")]')),
    Mistake("a condition called on self in requires", _program(GOOD, HAS_CLAY, '[(self.has_clay(state), "DigClay")]')),
    Mistake("an expression of both states as a condition", _program(GOOD, "", '[(state.stamina > previous.stamina, "Rest")]')),
    Mistake("a long expression as a condition", _program(GOOD, "", '[(state.basket.clay >= 2 and state.basket.reeds >= 2 and state.basket.bricks < 9, "DigClay")]')),
    Mistake("a number as a condition", _program(GOOD, HAS_CLAY, '[(1, "DigClay")]')),
    # syntax and text
    Mistake("a missing colon", _program("if state.resting\n    return True\nreturn False")),
    Mistake("a missing bracket", _program("return (state.stamina > 3 and (state.resting)")),
    Mistake("a bracket closed by another", _program("return (state.stamina > 3]")),
    Mistake("a bracket too many", _program("return state.stamina > 3)")),
    Mistake("&& for and", _program("return state.resting && state.stamina > 3")),
    Mistake("! for not", _program("return !state.resting")),
    Mistake("? for if and else", _program("return state.resting ? True : False")),
    Mistake("else if for elif", _program("if state.resting:\n    return True\nelse if state.stamina > 3:\n    return True\nreturn False")),
    Mistake("a sign that keyboards lack", _program("return state.stamina ≥ 3")),
    Mistake("an empty block", _program("if state.resting:\nreturn True\nreturn False")),
    Mistake("an open text", _program("tool = 'SPADE\nreturn state.resting")),
    Mistake("an open docstring", 'class FireBricks(Sharp):\n    """Fire bricks.\n\n    def success(self, state, previous):\n        return state.resting\n'),
    Mistake("= for ==", _program("if state.stamina = 3:\n    return True\nreturn False")),
    Mistake("text that ends in the middle", _program(GOOD)[:-24]),
    Mistake("text that ends in requires", _program(GOOD, HAS_CLAY) + "\n    requires = [(has_clay, "),
    Mistake("text that ends before a body", _program(GOOD) + "\n    def has_clay(self, state):\n"),
    Mistake("a wrong indentation", _program("x = 1\n  y = 2\nreturn state.stamina > x")),
    Mistake("prose instead of a program", "I would propose a skill that fires bricks in the kiln.\n"),
    Mistake("nothing", "\n"),
    Mistake("two programs in fences", f"```python\n{_program(GOOD)}```\n\nand\n\n```python\n{_program(GOOD)}```\n"),
    Mistake("a mistake inside a fenced answer", f"Here is the skill:\n\n```python\n{_program('return state.bricks > 3')}```\n\nIt fires bricks.\n"),
    Mistake("a mistake inside a quoted answer", json.dumps(_program("return state.bricks > 3"))),
    Mistake("tabs", _program("return state.bricks > 3").replace("    ", "\t")),
    Mistake("wide characters before the place", _program('x = ("窯" if False else 1) + state.bricks\nreturn x > 3')),
    Mistake("typographic quotes", _program("return state.basket.tool == “SICKLE”")),
    Mistake("a long line", _program("return (" + " or ".join(f"state.stamina == {n}" for n in range(12)) + " or state.brick > 3 or " + " or ".join(f"state.stamina == {n}" for n in range(9)) + ")")),
    # budgets
    Mistake("loops over the whole map, twice", _program("found = False\nfor i in range(70):\n    for j in range(70):\n        found = found or state.stamina > i + j\nreturn found")),
    Mistake("a long number", _program("return state.stamina < 10000000000")),
    Mistake("a number beyond 32 bits", _program("return state.stamina < 10 ** 10")),
)  # fmt: skip


def is_pythons(verdict: Refusal) -> bool:
    """Whether the reason is worded by the installed Python, and so differs between its versions."""
    return verdict.reason.startswith("not valid Python")


def rendered() -> Iterator[str]:
    """Each mistake with what its author reads, in our words."""
    for each in MISTAKES:
        verdict = parse_program(each.text, SCHEMA)
        if not isinstance(verdict, Refusal):
            raise ValueError(f"{each.what}: this is accepted")
        if not is_pythons(verdict):
            yield f"## {each.what}\n\n{explain_refusal(verdict, each.text, FILE)}\n"


if __name__ == "__main__":
    sys.stdout.write("\n".join(rendered()))
