# ruff: noqa: E501 - texts on one line
"""Flat reward programs: the chain that a text means, what is refused or noted, and how the pointer moves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sharp.editions import FIRST
from engine.sharp.forms import FORM_LIMITS
from engine.sharp.other_forms.flat import CompiledFlat, advance
from engine.sharp.other_forms.vet_forms import vet_flat
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from ledger.vocabulary.vet import Known, Refusal
from tests.engine.sharp.invented import SCHEMA
from tests.engine.sharp.policies import CLASSIC_ARCHIVE, INVENTED_ARCHIVE

NAMES = tuple(known.name for known in INVENTED_ARCHIVE)


def flat(chain: str, name: str = "FireBricks", extra: str = "") -> str:
    """A flat reward program. Without extra members its chain stands in line 4."""
    return f'class {name}(Flat):\n    """Text."""\n{extra}\n    chain = {chain}\n'


def read(text: str, archive: tuple[Known, ...] = INVENTED_ARCHIVE) -> CompiledFlat:
    """The program, or a failure that shows the refusal."""
    found = vet_flat(text, CLASSIC if archive is CLASSIC_ARCHIVE else SCHEMA, archive)
    assert isinstance(found, CompiledFlat), found
    return found


FULL = ("CutReeds", "WeaveBasket", "DigClay", "WalkToKiln", "FireBricks")

CHAINS = {
    "strings": ('["CutReeds", "WeaveBasket", "DigClay", "WalkToKiln", "FireBricks"]', FULL),
    "bare names": ("[CutReeds, WeaveBasket, DigClay, WalkToKiln, FireBricks]", FULL),
    "a tuple": ("'CutReeds', WeaveBasket, 'DigClay', WalkToKiln, 'FireBricks'", FULL),
    "repeated": (
        '["CutReeds"] * 3 + ["WeaveBasket", "DigClay", "WalkToKiln", "FireBricks"]',
        ("CutReeds",) * 3 + FULL[1:],
    ),
    "repeated from the left": ("2 * [CutReeds]", ("CutReeds", "CutReeds", "FireBricks")),
    "a comprehension": ('[name for name in ("CutReeds", "WeaveBasket") for _ in range(2)]', ("CutReeds",) * 2 + ("WeaveBasket",) * 2 + ("FireBricks",)),
    "a slice": ('("Rest", "CutReeds", "WeaveBasket")[1:]', ("CutReeds", "WeaveBasket", "FireBricks")),
    "a static choice": ('["CutReeds" if 2 > 1 else "Rest"]', ("CutReeds", "FireBricks")),
    "spaces in a name": ('[" CutReeds ", "FireBricks"]', ("CutReeds", "FireBricks")),
    "the last one missing": ('["CutReeds", "DigClay"]', ("CutReeds", "DigClay", "FireBricks")),
    "nothing": ("[]", ("FireBricks",)),
    "an empty tuple": ("()", ("FireBricks",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name: str) -> None:
    text, expected = CHAINS[name]
    assert read(flat(text)).chain == expected


def test_parts_of_a_chain_can_be_constants_of_the_class_or_beside_it() -> None:
    text = flat("REEDS + ['WeaveBasket', LAST]", extra="    REEDS = ['CutReeds'] * 2\n")
    assert read("LAST = 'DigClay'\n" + text).chain == ("CutReeds", "CutReeds", "WeaveBasket", "DigClay", "FireBricks")


def test_a_chain_of_the_real_world() -> None:
    found = read(
        flat('["GatherWood"] * 4 + ["PlaceCraftingTable", "GatherWood", MakeWoodPickaxe, "MineStone"]', "MineStone"),
        CLASSIC_ARCHIVE,
    )
    assert found.chain == (*["GatherWood"] * 4, "PlaceCraftingTable", "GatherWood", "MakeWoodPickaxe", "MineStone")
    assert found.warnings == ()
    assert found.normalisations == ()


def test_a_skill_without_prerequisites_is_its_own_chain() -> None:
    found = read(flat("[]", "Rest"))
    assert found.chain == ("Rest",)
    assert found.warnings == ()
    assert found.normalisations == ("Rest added at the end of chain",)


def test_what_an_accepted_text_says() -> None:
    found = read("Sure:\n```python\n" + flat("['CutReeds']").replace("(Flat)", "(FRP)") + "```")
    assert (found.name, found.description) == ("FireBricks", "Text.")
    assert found.normalisations == (
        "text outside the code block removed",
        "base class FRP read as Flat",
        "FireBricks added at the end of chain",
    )
    assert found.used.operations == 0
    assert read(found.source).source_hash == found.source_hash


def test_meaning_is_the_chain_under_the_edition() -> None:
    found = read(flat('["CutReeds"] * 2'))
    assert read(flat("[CutReeds, 'CutReeds', FireBricks]")).meaning == found.meaning
    assert read(flat("[CutReeds, 'CutReeds', FireBricks]")).source_hash != found.source_hash
    assert read(flat('["CutReeds"]')).meaning != found.meaning
    assert read(flat("['CutReeds', 'Rest']")).meaning != read(flat("['Rest', 'CutReeds']")).meaning
    first = vet_flat(flat('["CutReeds"] * 2'), SCHEMA, INVENTED_ARCHIVE, FIRST)
    assert isinstance(first, CompiledFlat)
    assert first.meaning != found.meaning
    more = read(flat('["CutReeds"] * 2'), tuple(evolve(known, requires=()) for known in INVENTED_ARCHIVE))
    assert more.meaning == found.meaning


@pytest.mark.parametrize(
    ("chain", "warnings"),
    [
        ("['CutReeds', 'WeaveBasket', 'DigClay', 'WalkToKiln']", ()),
        (
            "['FireBricks', 'FireBricks']",
            (
                "chain[0]: FireBricks itself stands before the end of its chain",
                "chain[0]: DigClay, which FireBricks requires, never occurs before it",
                "chain[0]: WalkToKiln, which FireBricks requires, never occurs before it",
            ),
        ),
        (
            "['WalkToKiln', 'DigClay', 'CutReeds', 'WeaveBasket', 'DigClay']",
            ("chain[1]: WeaveBasket, which DigClay requires, never occurs before it",),
        ),
        (
            "['WeaveBasket', 'CutReeds', 'WeaveBasket', 'DigClay', 'WalkToKiln']",
            ("chain[0]: CutReeds, which WeaveBasket requires, never occurs before it",),
        ),
    ],
)
def test_warnings(chain: str, warnings: tuple[str, ...]) -> None:
    assert read(flat(chain)).warnings == warnings


SUCCESS = "    def success(self, state):\n        return state.resting\n"

REFUSED = {
    "an unknown skill": (flat('["CutReeds", "CutReads"]'), 4, "CutReads is no skill of the archive", "did you mean CutReeds?"),
    "an unknown bare skill": (flat("[CutReeds, DigCaly]"), 4, "there is no name DigCaly", "did you mean DigClay?"),
    "an unknown skill in a constant": (flat("[GET]", extra="    GET = 'Swim'"), 3, "Swim is no skill", "CutReeds, DigClay"),
    "of no skill": (flat("[]", "FireBrick"), 1, "FireBrick is no skill of the archive", "did you mean FireBricks?"),
    "a single name": (flat('"CutReeds"'), 4, "chain is a list of names, not the name of a skill", "the list around it"),
    "a single bare name": (flat("CutReeds"), 4, "chain is a list of names", "the list around it"),
    "a set": (flat("{'CutReeds', 'Rest'}"), 4, "chain is a list of names, not a set", "write chain = "),
    "a number": (flat("[1, 2]"), 4, "chain[0] is a number, not the name of a skill"),
    "a nested list": (flat("['Rest', ['CutReeds'] * 2]"), 4, "chain[1] is a list of 2 items", "join lists with +"),
    "None": (flat("None"), 4, "chain is a list of names, not None"),
    "of an array": (flat("jnp.arange(3)"), 4, "chain is a list of names, not an array"),
    "the state": (flat("['Rest' if state.resting else 'CutReeds']"), 4, "there is no name state"),
    "joined names": (flat("['Cut' + 'Reeds']"), 4, "not the name of a skill"),
    "too long": (flat("['CutReeds'] * 64"), 4, "65 skills in a chain are over the budget of 64", "once for each success"),
    "far too long": (flat("['CutReeds'] * 100000"), 4, "over the budget"),
    "no chain": ("class FireBricks(Flat):\n    '''Text.'''\n", 1, "FireBricks has no chain", "write chain = "),
    "two chains": (flat("[]") + "    chain = []\n", 5, "chain is given twice", "one list of names"),
    "a method called chain": ("class Rest(Flat):\n    def chain(self):\n        return []\n", 2, "chain is a list of names, not a method"),
    "success": (flat("[]", "Rest", SUCCESS), 3, "has the success condition of the archived skill", "leave success out"),
    "requires": (flat("[]", "Rest", "    requires = []"), 3, "no conditions and no prerequisites", "in chain"),
    "skill": (flat("[]", "Rest", "    def skill(self, state):\n        return 'Rest'"), 3, "does not choose"),
    "another method": (flat("[]", "Rest", "    def near(self, state):\n        return state.resting"), 3, "a flat reward program has no methods"),
    "a lambda": (flat("[]", "Rest", "    near = lambda self, state: state.resting"), 3, "a flat reward program has no methods"),
    "a skill instead": ("class Rest(Sharp):\n" + SUCCESS, 1, "this is a program, and a flat reward program is asked for", "class Name(Flat)"),
    "a policy instead": ("class Plan(Policy):\n    def skill(self, state):\n        return 'Rest'\n", 1, "this is a policy, and a flat reward program is asked for"),
    "another base": ("class Rest(Chain):\n    chain = []\n", 1, "the base class is Flat", "class Name(Flat):"),
    "appended": (flat("[]") + "    chain += ['Rest']\n", 5, "only constants and chain stand in a class"),
    "starred": (flat("[*('Rest', 'CutReeds')]"), 4, "star-arguments"),
    "a list alone": ("['CutReeds', 'FireBricks']\n", 1, "only the class", "class Name(Flat):"),
    "no text": ("\n", 1, "the text is empty", "chain ="),
    "an import": ("import os\n" + flat("[]"), 1, "import of os"),
    "a dead name": (flat("['Rest'] if 1 > 0 else [Swim]"), 4, "there is no name Swim"),
    "a class walk": (flat("[].__class__.__base__.__subclasses__()"), 4, "not part of the language"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_reason(name: str) -> None:
    text, line, reason, *hint = REFUSED[name]
    found = vet_flat(text, SCHEMA, INVENTED_ARCHIVE)
    assert isinstance(found, Refusal), found
    assert reason in found.reason
    assert (hint or [""])[0] in str(found.suggestion)
    assert found.line == line
    assert found.column >= 1


def test_the_budget_counts_the_skill_itself() -> None:
    longest = read(flat("['CutReeds'] * 63"))
    assert len(longest.chain) == FORM_LIMITS.chain == 64
    assert read(flat("['CutReeds'] * 63 + ['FireBricks']")).chain == longest.chain


@settings(max_examples=60)
@given(st.lists(st.sampled_from(NAMES), max_size=12), st.sampled_from(NAMES))
def test_every_list_of_skills_is_a_chain_that_ends_in_the_skill(names: list[str], name: str) -> None:
    found = read(flat(repr(names), name))
    assert found.chain[: len(names)] == tuple(names)
    assert found.chain[-1] == name
    assert len(found.chain) - len(names) == (0 if names and names[-1] == name else 1)
    assert len(found.warnings) <= len(found.chain) * 3


# --- the pointer -----------------------------------------------------------------------------------------------------


def test_the_pointer_by_hand() -> None:
    """Of a chain of three: waits, moves on by one, waits, moves on, and stays at the last whatever fires."""
    pointer, seen = np.int32(0), []
    for fired in (False, True, False, True, True, False, True):
        pointer = advance(pointer, np.bool_(fired), 3)
        seen.append(int(pointer))
    assert seen == [0, 1, 1, 2, 2, 2, 2]
    assert pointer.dtype == np.int32


@given(st.integers(1, 6), st.lists(st.booleans(), max_size=20))
def test_the_pointer_counts_successes_up_to_the_last(length: int, fired: list[bool]) -> None:
    pointer = np.int32(0)
    for number, each in enumerate(fired):
        after = advance(pointer, np.bool_(each), length)
        assert pointer <= after <= pointer + 1
        pointer = after
        assert pointer == min(sum(fired[: number + 1]), length - 1)


def test_pointers_of_many_environments_with_chains_of_their_own() -> None:
    """Under ``jit``, with strict promotion, batched by ``vmap`` and by broadcasting."""
    pointer = jnp.array([0, 0, 1, 2, 0], jnp.int32)
    fired = jnp.array([True, False, True, True, True])
    length = jnp.array([3, 3, 2, 4, 1], jnp.int32)
    for moved in (jax.jit(advance)(pointer, fired, length), jax.jit(jax.vmap(advance))(pointer, fired, length)):
        assert moved.tolist() == [1, 0, 1, 3, 0]
        assert moved.dtype == jnp.int32
