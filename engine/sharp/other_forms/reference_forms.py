"""Pages of the other forms: what flat reward programs and policies may contain, from the compiler's own tables."""

from __future__ import annotations

from engine.sharp.editions import LATEST, Edition
from engine.sharp.forms import FLAT, FORM_LIMITS, FORM_MEANINGS, POLICY
from engine.sharp.reference import budgets, common_rules, tables, world_names
from engine.worlds.schema import Schema

FLAT_TEMPLATE = '''\
```python
class FireBricks(Flat):
    """Take at least one new brick out of the kiln."""

    chain = ["CutReeds"] * 2 + ["WeaveBasket", "DigClay", "DigClay", "WalkToKiln", "FireBricks"]
```'''

FLAT_RULES = (
    "One text is one class. Its name is that of an existing skill, whose success condition it shares: it has no "
    "`success`, no `requires` and no other method.",
    "`chain` is the full sequence of skills from the start of an episode to the skill itself, in order. Names are "
    "strings or stand bare, and a name may occur as often as its skill has to succeed.",
    "Each name is that of an existing skill. The last one is the skill itself; it is added if it is missing. A skill "
    "that needs nothing has the chain of itself alone, which may be written `[]`.",
    "The first skill of the chain is followed until its success condition holds, then the next one, and never one "
    "before it again. The last one stays. Nothing is skipped, whatever the state is: what a skill uses up or may lose "
    "has to be gathered again further down the chain.",
    'Lists can be joined and repeated, and parts of them can be class constants: `REEDS = ["CutReeds"] * 3`. The text '
    "is parsed, never executed.",
)

POLICY_TEMPLATE = '''\
```python
class FillTheYard(Policy):
    """Fire as many bricks as possible without running out of strength."""

    REST = "Rest"

    def beside_kiln(self, state):
        row, column = state.walker_position
        around = state.field[row - 1 : row + 2, column - 1 : column + 2]
        return (around == Tile.KILN).any()

    def gather(self, state):
        return "DigClay" if state.basket.clay < 2 else "WalkToKiln"

    def skill(self, state, previous):
        tired = state.stamina <= 2
        if tired or (previous.resting and state.stamina < 7):
            return self.REST
        if state.basket.clay < 2 or not self.beside_kiln(state):
            return self.gather(state)
        return "FireBricks"
```'''

POLICY_RULES = (
    "One policy is one class. Its name is free, except that no skill may have it; its docstring says what it is for.",
    "`skill(self, state)` or `skill(self, state, previous)` returns the name of the skill to follow in this state. It "
    "is asked again at every step. `state` is the current state, `previous` the one a step before, of the same "
    "episode.",
    "A name is that of an existing skill, as a string or bare. Prerequisites need no mention: while something that a "
    "skill requires is missing, its own prerequisites are pursued.",
    "Every path ends with the return of a name: close with the skill to follow otherwise.",
    "Names can be class constants, local variables, results of helper methods, and items of tuples, picked by an index "
    "or a loop. They are chosen by `if`, `elif`, `else`, by `x if test else y`, and by `break` out of a loop. They "
    "cannot be compared, joined or computed with.",
    "Policies are parsed and compiled, never executed. `if`, `and`, `or`, `not`, chained comparisons, `any`, `all`, "
    "`min`, `max`, `sum` and early `return` work on values of the state as they do in Python. A policy has no memory.",
)


def flat_page(edition: Edition = LATEST) -> str:
    """What a flat reward program may contain, as Markdown."""
    own = [f"- {getattr(FORM_LIMITS, name):,} {meaning}" for name, meaning in FORM_MEANINGS.items()]
    lines = [
        f"# Flat reward programs ({edition.label})",
        "",
        "A flat reward program replaces the conditions of a skill by one fixed sequence. An example, of a world that "
        "does not exist:",
        "",
        FLAT_TEMPLATE,
        "",
        *(f"- {rule}" for rule in FLAT_RULES),
        "",
        "Budgets:",
        "",
        *own,
        *(line for line in budgets(edition, FLAT) if "operations" not in line),
    ]
    return "\n".join(lines) + "\n"


def policy_core(edition: Edition = LATEST) -> str:
    """The rules of policies, without the tables of the language and the names of a world."""
    lines = [
        f"# Policies in code ({edition.label})",
        "",
        "A policy names the skill to follow from the state. It is written in the language of skills. An example, of a "
        "world that does not exist:",
        "",
        POLICY_TEMPLATE,
        "",
        *(f"- {rule}" for rule in POLICY_RULES),
    ]
    return "\n".join(lines) + "\n"


def policy_page(schema: Schema, edition: Edition = LATEST) -> str:
    """Everything that a policy of this world may contain, as Markdown: rules, the language, the world's own names."""
    rules = [*(f"- {rule}" for rule in common_rules(edition)), "", *tables(edition, POLICY)]
    return policy_core(edition) + "\n".join(rules) + "\n\n" + world_names(schema)
