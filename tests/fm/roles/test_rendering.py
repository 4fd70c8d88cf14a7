"""What models are shown is pinned: golden renderings, shared parts, and no name of a real world."""

from __future__ import annotations

import enum
import re
from importlib import import_module

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fm.library import Library, Template
from fm.request import text
from fm.roles import propose
from fm.roles.context import Context, FailureCard, SkillCard, base_parts, fenced, one_line, part, percentage
from fm.roles.heuristics import CATEGORIES, MUTATION_HEURISTICS
from ledger.vocabulary.ask import Part
from ledger.vocabulary.body import Body
from tests.fm.roles import bakery
from tests.fm.roles.rendering import FOLDER, rendered

LIBRARY = Library.released()
CALLS = bakery.calls(LIBRARY)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_rendering_is_the_golden_one(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert rendered(CALLS[name]) == golden, "a released prompt changed: see tests/fm/roles/rendering.py"


def test_every_golden_file_belongs_to_a_call() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(CALLS)


def test_every_role_is_shown_the_same_base_context() -> None:
    shared = [item.text.digest for item in (CALLS["propose"].parts[0], *base_parts(bakery.CONTEXT))]
    for name in ("propose", "implement", "judge", "mutate", "implement_mutation", "repair"):
        assert [item.text.digest for item in CALLS[name].parts[: len(shared)]] == shared, name


def test_parts_that_did_not_change_are_shared_between_iterations() -> None:
    """A grown archive, new rates and a new failure add four parts; everything else is stored once."""
    salt = SkillCard("FetchSalt", "Fetch salt.", bakery.fetching("salt"), (), 1, 128)
    later = evolve(
        bakery.CONTEXT,
        archive=(evolve(bakery.FLOUR, successes=120), bakery.YEAST, bakery.DOUGH, salt),
        failures=(*bakery.CONTEXT.failures, FailureCard("BakeTart", "Bake a tart.", "compile", "no field tarts")),
    )
    before = {item.text.digest for item in CALLS["propose"].parts}
    after = propose.ask(bakery.HERE, later, "building", LIBRARY, bakery.MODEL).parts
    assert [item.name for item in after if item.text.digest not in before] == [
        "skill FetchSalt",
        "archive",
        "failed proposals",
        "task",
    ]


def test_source_files_are_one_part_each_and_named_as_given() -> None:
    names = [item.name for item in base_parts(bakery.CONTEXT)]
    assert names == [
        "bakery/rules.py",
        "bakery/state.py",
        "language",
        "handbook",
        "skill FetchFlour",
        "skill FetchYeast",
        "skill KneadDough",
        "archive",
        "failed proposals",
    ]


def test_part_names_are_unique_in_every_call() -> None:
    for ask in CALLS.values():
        names = [item.name for item in ask.parts]
        assert len(set(names)) == len(names)


def test_what_the_primer_announces_is_there_under_that_heading() -> None:
    """The primer refers to parts by name, so the request must show these names as headings."""
    shown = text(CALLS["propose"])
    for heading in ("primer", "language", "skill FetchFlour", "archive", "failed proposals", "task"):
        assert f"\n# {heading}\n" in "\n" + shown


def test_archive_shows_rates_prerequisites_and_one_line_descriptions() -> None:
    archive = {item.name: item.text.text for item in base_parts(bakery.CONTEXT)}["archive"]
    assert archive.splitlines() == [
        "- FetchFlour: success rate 75 % (96 of 128 episodes); requires nothing. Fetch one measure of flour.",
        "- FetchYeast: success rate 24 % (31 of 128 episodes); requires nothing. Fetch one measure of yeast.",
        "- KneadDough: success rate not evaluated yet; requires FetchFlour. Knead dough from flour and yeast.",
    ]


def test_long_texts_of_failures_are_shortened() -> None:
    context = evolve(bakery.EMPTY, failures=(FailureCard("A" * 999, "d" * 999, "compile", "r\n" * 999),))
    listed = base_parts(context)[-1].text.text
    assert len(listed) < 1300
    assert listed.count("\n") == 1


@pytest.mark.parametrize(
    ("successes", "episodes", "shown"),
    [
        (0, 0, "not evaluated yet"),
        (0, 8, "0 % (0 of 8 episodes)"),
        (1, 8, "13 % (1 of 8 episodes)"),
        (1, 3, "33 % (1 of 3 episodes)"),
        (8, 8, "100 % (8 of 8 episodes)"),
    ],
)
def test_percentages_round_half_up(successes: int, episodes: int, shown: str) -> None:
    assert percentage(successes, episodes) == shown


@given(st.text(alphabet=st.sampled_from("`a\n ")))
def test_a_fence_cannot_be_closed_from_inside(inside: str) -> None:
    first, *body, last = fenced(inside, "python").split("\n")
    fence = first.removesuffix("python")
    assert set(fence) == {"`"}
    assert last == fence
    assert all(fence not in line for line in body)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_parts_hold_no_lone_surrogates(shown: str) -> None:
    made = part("p", shown).text.text
    made.encode("utf-8")
    if not any(0xD800 <= ord(character) < 0xE000 for character in shown):
        assert made == shown


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_within_its_limit(shown: str, limit: int) -> None:
    line = one_line(shown, limit)
    assert len(line.splitlines()) <= 1
    assert len(line) <= limit


def test_documents_and_other_files_are_shown_as_they_are() -> None:
    context = Context("w", (Part("notes.md", Body("# A heading")),), Body("l"), documents=(Part("d", Body("x")),))
    assert [item.text.text for item in base_parts(context)][:3] == ["# A heading", "l", "x"]


# --- an invented world only ------------------------------------------------------------------------------------------

ORDINARY = {
    "do",
    "down",
    "empty",
    "enter",
    "find",
    "goal",
    "learn",
    "left",
    "level",
    "make",
    "none",
    "of",
    "open",
    "out",
}
ORDINARY |= {"place", "read", "rest", "right", "thing", "up"}
"""Words of the real worlds' names that plain English instructions cannot do without."""

PACKAGES = ("craftax", "crafter", "minigrid", "xland", "minecraft", "nethack", "craft", "mine", "mining", "mob", "mobs")


def words(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier or a text: ``MAKE_WOOD_PICKAXE``, ``MakeWoodPickaxe``, ``make wood``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(word.lower() for word in re.findall(r"[A-Za-z]+", spaced))


def real_names() -> frozenset[str]:
    """Members of the enums of both Craftax worlds (with achievements), fields of their inventories, XLand's tiles."""
    found: set[str] = set()
    for name in ("craftax.craftax.constants", "craftax.craftax_classic.constants"):
        for value in vars(import_module(name)).values():
            if isinstance(value, enum.EnumMeta) and value.__module__ == name:
                found.update(value.__members__)
    for name in ("craftax.craftax.craftax_state", "craftax.craftax_classic.envs.craftax_state"):
        found.update(import_module(name).Inventory.__annotations__)
    xland = import_module("xminigrid.core.constants")
    found.update(xland.Tiles.__annotations__, xland.Colors.__annotations__)
    return frozenset(found)


NAMES = real_names()


def leaks(shown: str, names: frozenset[str]) -> list[str]:
    """Names of real worlds in a text.

    The rule: a name of several words must not occur as such, in any spelling; none of the words that names are made
    of must occur by itself either (nor its plain plural), except for the ``ORDINARY`` ones.
    """
    said = words(shown)
    single = {word for name in names for word in words(name)} - ORDINARY | set(PACKAGES)
    found = sorted({word for word in said if word in single or word.removesuffix("s") in single})
    for name in sorted(names):
        sought = words(name)
        if len(sought) > 1 and any(said[at : at + len(sought)] == sought for at in range(len(said))):
            found.append(name)
    return found


@pytest.mark.parametrize("template", LIBRARY.templates, ids=lambda template: template.label)
def test_templates_name_nothing_of_a_real_world(template: Template) -> None:
    assert leaks(template.text, NAMES) == []


def test_heuristics_name_nothing_of_a_real_world() -> None:
    for heuristic in (*CATEGORIES, *MUTATION_HEURISTICS):
        assert leaks(f"{heuristic.name}. {heuristic.guidance}", NAMES) == [], heuristic.name


@pytest.mark.parametrize(
    "leak", ["MakeWoodPickaxe", "a stone sword", "BlockType.COAL", "two zombies", "wake up", "Craftax"]
)
def test_the_rule_finds_leaks(leak: str) -> None:
    assert leaks(f"To begin with, {leak} helps.", NAMES)


def test_ordinary_words_are_needed_and_part_of_real_names() -> None:
    """The list of exceptions stays as short as it can be."""
    everything = " ".join(
        [template.text for template in LIBRARY.templates]
        + [f"{each.name} {each.guidance}" for each in (*CATEGORIES, *MUTATION_HEURISTICS)]
    )
    used = set(words(everything))
    used |= {word.removesuffix("s") for word in used}
    in_names = {word for name in NAMES for word in words(name)}
    assert ORDINARY - (used & in_names) == frozenset()
