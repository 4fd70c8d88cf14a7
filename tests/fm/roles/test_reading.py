"""Reading replies: every reason, worded for the model, and totality."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fm.parse import Fault
from fm.roles import implement, implement_mutation, judge, mutate, propose
from ledger.vocabulary.ask import Reply
from ledger.vocabulary.body import Body
from tests.fm.roles.bakery import CONTEXT, said

PROPOSED: dict[str, Any] = {
    "reasoning": "Dough is there.",
    "name": "BakeLoaf",
    "description": " Bake a loaf.\n",
    "success": "state.larder.loaves grows",
    "requirements": [{"condition": "dough is at least 1", "prerequisite": "KneadDough"}],
}
NAMES = ("FetchFlour", "FetchYeast", "KneadDough")


def reply(answer: object) -> Reply:
    return said(f"Here it is.\n```json\n{json.dumps(answer)}\n```")


def pair(condition: object = "dough", prerequisite: object = "KneadDough") -> dict[str, object]:
    return {"condition": condition, "prerequisite": prerequisite}


def test_a_proposal_is_read() -> None:
    assert propose.read(reply(PROPOSED), NAMES) == propose.Proposal(
        "BakeLoaf", "Bake a loaf.", "state.larder.loaves grows", (("dough is at least 1", "KneadDough"),)
    )


def test_thinking_is_ignored_and_the_last_answer_counts() -> None:
    first, last = json.dumps(PROPOSED), json.dumps({**PROPOSED, "name": "BakeCake"})
    read = propose.read(said(f"<think>{first}</think>{first}\nNo, better:\n{last}"))
    assert isinstance(read, propose.Proposal)
    assert read.name == "BakeCake"


def test_the_order_of_requirements_is_kept() -> None:
    pairs = [pair("c", "KneadDough"), pair("b", "FetchFlour"), pair("a", "KneadDough")]
    read = propose.read(reply({**PROPOSED, "requirements": pairs}), NAMES)
    assert isinstance(read, propose.Proposal)
    assert read.requirements == (("c", "KneadDough"), ("b", "FetchFlour"), ("a", "KneadDough"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "bake a loaf"}, "For example BakeALoaf"),
        ({"name": "Bäcker"}, "one CamelCase word"),
        ({"name": "42"}, "one CamelCase word"),
        ({"name": "None"}, "reserved"),
        ({"name": "Sharp"}, "reserved"),
        ({"name": "B" * 61}, "at most 60"),
        ({"name": " "}, "not empty"),
        ({"name": "KneadDough"}, "already in the archive"),
        ({"description": ""}, '"description" must be a text'),
        ({"description": "d" * 1001}, "Say it shorter"),
        ({"success": "\n"}, '"success" must be a text'),
        ({"success": "s" * 4001}, "Say it shorter"),
        ({"requirements": [pair(condition="")]}, 'Requirement 1: "condition" must be a text'),
        ({"requirements": [pair(), pair("c", "oven")]}, "Requirement 2: \"prerequisite\" is 'oven'"),
        ({"requirements": [pair("c", "BakeLoaf")]}, "its own prerequisite"),
        ({"requirements": [pair("c", "KneedDough")]}, "did you mean KneadDough?"),
        ({"requirements": [pair(), pair()]}, "repeats requirement 1"),
        ({"requirements": [pair(str(index)) for index in range(33)]}, "at most 32"),
    ],
)
def test_a_proposal_that_breaks_a_rule_gets_its_reason(change: dict[str, Any], reason: str) -> None:
    read = propose.read(reply({**PROPOSED, **change}), NAMES)
    assert isinstance(read, Fault)
    assert reason in read.reason


@pytest.mark.parametrize("change", [{"name": 7}, {"requirements": {}}, {"requirements": ["x"]}, {"requirements": [{}]}])
def test_an_answer_of_the_wrong_shape_is_a_fault(change: dict[str, Any]) -> None:
    read = propose.read(reply({**PROPOSED, **change}))
    assert isinstance(read, Fault)
    assert "does not fit the schema" in read.reason


@pytest.mark.parametrize("missing", ["name", "description", "success", "requirements"])
def test_a_missing_field_is_a_fault(missing: str) -> None:
    read = propose.read(reply({key: value for key, value in PROPOSED.items() if key != missing}))
    assert isinstance(read, Fault)
    assert missing in read.reason


def test_nothing_can_be_required_of_an_empty_archive() -> None:
    read = propose.read(reply(PROPOSED), ())
    assert isinstance(read, Fault)
    assert "must be []" in read.reason
    assert isinstance(propose.read(reply({**PROPOSED, "requirements": []}), ()), propose.Proposal)


def test_without_an_archive_any_well_formed_prerequisite_passes() -> None:
    assert isinstance(propose.read(reply({**PROPOSED, "requirements": [pair("c", "Whatever")]})), propose.Proposal)


# --- judge -----------------------------------------------------------------------------------------------------------


def test_a_choice_is_read_best_first() -> None:
    read = judge.read(reply({"reason": "b is better", "chosen": ["b", "a"]}), ("a", "b", "c"), 2)
    assert read == judge.Choice(("b", "a"), "b is better")


def test_none_is_a_choice() -> None:
    assert judge.read(reply({"reason": "all alike", "chosen": []}), ("a",), 2) == judge.Choice((), "all alike")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"reason": "r", "chosen": ["a", "a"]}, "names a more than once"),
        ({"reason": "r", "chosen": ["a", "b", "c"]}, "at most 2"),
        ({"reason": "r", "chosen": ["d"]}, "the labels are a, b, c"),
        ({"reason": " ", "chosen": ["a"]}, '"reason" must be a text'),
        ({"reason": "r", "chosen": [1]}, "does not fit the schema"),
        ({"reason": "r", "chosen": "a"}, "does not fit the schema"),
        ({"chosen": ["a"]}, "reason"),
    ],
)
def test_a_choice_that_breaks_a_rule_gets_its_reason(answer: object, reason: str) -> None:
    read = judge.read(reply(answer), ("a", "b", "c"), 2)
    assert isinstance(read, Fault)
    assert reason in read.reason


# --- mutate ----------------------------------------------------------------------------------------------------------


def test_a_mutation_is_read() -> None:
    answer = {"summary": "asks for two", "requirements": [pair("flour is at least 2", "FetchFlour")]}
    read = mutate.read(reply(answer), "KneadDough", ("FetchFlour", "FetchYeast"))
    assert read == mutate.Mutation("asks for two", (("flour is at least 2", "FetchFlour"),))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"summary": "", "requirements": []}, '"summary" must be a text'),
        ({"summary": "s", "requirements": [pair("c", "KneadDough")]}, "its own prerequisite"),
        ({"summary": "s", "requirements": [pair("c", "BakeLoaf")]}, "Allowed are: FetchFlour, FetchYeast"),
        ({"summary": "s"}, "requirements"),
    ],
)
def test_a_mutation_that_breaks_a_rule_gets_its_reason(answer: object, reason: str) -> None:
    read = mutate.read(reply(answer), "KneadDough", ("FetchFlour", "FetchYeast"))
    assert isinstance(read, Fault)
    assert reason in read.reason


def test_eligible_leaves_out_the_skill_and_all_that_require_it() -> None:
    by_name = {card.name: card for card in CONTEXT.archive}
    loaf = evolve(by_name["KneadDough"], name="BakeLoaf", requires=("KneadDough",))
    toast = evolve(loaf, name="MakeToast", requires=("FetchYeast", "BakeLoaf"))
    context = evolve(CONTEXT, archive=(*CONTEXT.archive, loaf, toast))
    assert mutate.eligible(context, "KneadDough") == ("FetchFlour", "FetchYeast")
    assert mutate.eligible(context, "FetchFlour") == ("FetchYeast",)
    assert mutate.eligible(context, "MakeToast") == ("FetchFlour", "FetchYeast", "KneadDough", "BakeLoaf")


# --- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [implement, implement_mutation])
def test_the_program_is_read_out_of_its_block(role: Any) -> None:
    assert (
        role.read(said("Done:\n```python\nclass A(Sharp):\n    pass\n```\nGood luck.")) == "class A(Sharp):\n    pass\n"
    )


@pytest.mark.parametrize("role", [implement, implement_mutation])
def test_an_answer_without_a_class_is_a_fault(role: Any) -> None:
    assert isinstance(role.read(said("I would rather not say.")), Fault)


# --- totality --------------------------------------------------------------------------------------------------------

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(("name", "success", "requirements", "chosen", "reason", "summary", "condition")) | ANY_TEXT,
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
NEARLY = st.builds(
    lambda base, changes: {**base, **changes},
    st.just({**PROPOSED, "reason": "r", "chosen": ["a"], "summary": "s"}),
    st.dictionaries(
        st.sampled_from(("name", "description", "success", "requirements", "chosen", "reason")), JSON, max_size=2
    ),
)
REPLIES = st.one_of(
    st.builds(said, ANY_TEXT),
    st.builds(reply, JSON | NEARLY),
    st.builds(
        Reply,
        content=st.none() | st.builds(Body, ANY_TEXT),
        finish=st.sampled_from(("stop", "length", "content_filter", "unknown")),
        reasoning=st.none() | st.builds(Body, ANY_TEXT),
        refusal=st.none() | ANY_TEXT,
    ),
)


@given(REPLIES)
def test_reading_never_raises(given_reply: Reply) -> None:
    for read in (
        propose.read(given_reply),
        propose.read(given_reply, NAMES),
        implement.read(given_reply),
        judge.read(given_reply, ("a", "b"), 1),
        mutate.read(given_reply, "KneadDough", NAMES[:2]),
        implement_mutation.read(given_reply),
    ):
        if isinstance(read, Fault):
            assert read.reason.strip()
            assert len(read.reason) < 4_000


@given(REPLIES)
def test_an_accepted_proposal_keeps_every_rule(given_reply: Reply) -> None:
    read = propose.read(given_reply, NAMES)
    if isinstance(read, propose.Proposal):
        assert read.name.isidentifier()
        assert read.name.isascii()
        assert read.name not in NAMES
        assert read.description == read.description.strip() != ""
        assert all(condition and prerequisite in NAMES for condition, prerequisite in read.requirements)
