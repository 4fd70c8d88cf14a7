"""Building calls: schemas, options, repairs, and what a caller may not do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fm.library import Library
from fm.roles import heuristics, implement, implement_mutation, judge, mutate, propose, repair
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Refusal
from tests.fm.roles import bakery
from tests.fm.roles.bakery import CANDIDATES, CONTEXT, DOUGH, EMPTY, HERE, MODEL, MUTATION, PROPOSAL, REFUSAL, said

LIBRARY = Library.released()
ASKED = bakery.calls(LIBRARY)


def schema(ask: Ask) -> dict[str, Any]:
    assert ask.schema is not None
    value = json.loads(ask.schema)
    Draft202012Validator.check_schema(value)
    assert isinstance(value, dict)
    return value


def fits(ask: Ask, answer: object) -> bool:
    return bool(Draft202012Validator(schema(ask)).is_valid(answer))


def proposed(*prerequisites: str, name: str = "BakeLoaf") -> dict[str, Any]:
    pairs = [{"condition": "c", "prerequisite": prerequisite} for prerequisite in prerequisites]
    return {"reasoning": "r", "name": name, "description": "d", "success": "s", "requirements": pairs}


@pytest.mark.parametrize("name", ["propose", "propose_first", "judge", "mutate"])
def test_schemas_are_closed_and_demand_every_field(name: str) -> None:
    """What endpoints with strict schemas ask for: no additional properties, everything required."""

    def check(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert list(node["properties"]) == node["required"]
            for child in node.values():
                check(child)

    check(schema(ASKED[name]))


@pytest.mark.parametrize("name", ["implement", "implement_mutation"])
def test_programs_are_asked_for_as_text(name: str) -> None:
    assert ASKED[name].schema is None


def test_reasoning_comes_before_the_decision() -> None:
    """Fields are written in the schema's order, and a model should think before it decides."""
    assert next(iter(schema(ASKED["propose"])["properties"])) == "reasoning"
    assert next(iter(schema(ASKED["mutate"])["properties"])) == "reasoning"
    assert list(schema(ASKED["judge"])["properties"]) == ["reason", "chosen"]


def test_a_proposal_may_require_archived_skills_only() -> None:
    ask = ASKED["propose"]
    assert fits(ask, proposed("FetchFlour", "KneadDough"))
    assert not fits(ask, proposed("StokeOven"))
    assert not fits(ask, proposed(name="bake_loaf"))


def test_with_an_empty_archive_nothing_may_be_required() -> None:
    ask = ASKED["propose_first"]
    assert fits(ask, proposed())
    assert not fits(ask, proposed("FetchFlour"))


def test_a_judge_may_choose_given_labels_up_to_the_limit() -> None:
    ask = ASKED["judge"]
    assert fits(ask, {"reason": "r", "chosen": []})
    assert fits(ask, {"reason": "r", "chosen": ["a", "b"]})
    assert not fits(ask, {"reason": "r", "chosen": ["c"]})
    assert not fits(
        evolve(ask, schema=judge.ask(HERE, CONTEXT, CANDIDATES, 1, LIBRARY, MODEL).schema),
        {"reason": "r", "chosen": ["a", "b"]},
    )


def test_a_mutation_cannot_close_a_cycle() -> None:
    ask = mutate.ask(HERE, CONTEXT, bakery.FLOUR, "reorder conditions", LIBRARY, MODEL)
    pairs = [{"condition": "c", "prerequisite": "KneadDough"}]
    assert not fits(ask, {"reasoning": "r", "summary": "s", "requirements": pairs})
    assert fits(ask, {"reasoning": "r", "summary": "s", "requirements": [{**pairs[0], "prerequisite": "FetchYeast"}]})


def test_the_model_and_its_sampling_come_from_the_settings() -> None:
    for ask in ASKED.values():
        assert (ask.model, ask.sampling) == ("invented-model", MODEL.sampling)


@pytest.mark.parametrize("category", heuristics.CATEGORIES, ids=lambda each: each.name)
def test_every_category_reaches_the_prompt(category: heuristics.Heuristic) -> None:
    task = propose.ask(HERE, EMPTY, category.name, LIBRARY, MODEL).parts[-1].text.text
    assert f"**Category: {category.name}.** {category.guidance}" in task


@pytest.mark.parametrize("heuristic", heuristics.MUTATION_HEURISTICS, ids=lambda each: each.name)
def test_every_mutation_heuristic_reaches_the_prompt(heuristic: heuristics.Heuristic) -> None:
    task = mutate.ask(HERE, CONTEXT, DOUGH, heuristic.name, LIBRARY, MODEL).parts[-1].text.text
    assert f"**Direction: {heuristic.name}.** {heuristic.guidance}" in task


@pytest.mark.parametrize("those", [heuristics.CATEGORIES, heuristics.MUTATION_HEURISTICS])
def test_names_of_heuristics_are_unique_and_their_guidance_is_one_sentence(
    those: tuple[heuristics.Heuristic, ...],
) -> None:
    assert len({each.name for each in those}) == len(those)
    for each in those:
        assert each.guidance.endswith(".")
        assert each.guidance.count(". ") == 0


def test_an_unknown_heuristic_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean gathering"):
        propose.ask(HERE, EMPTY, "gatherin", LIBRARY, MODEL)
    with pytest.raises(ValueError, match="did you mean reorder conditions"):
        mutate.ask(HERE, CONTEXT, DOUGH, "reorder condition", LIBRARY, MODEL)


@pytest.mark.parametrize("candidates", [(), (CANDIDATES[0], CANDIDATES[0])])
def test_a_judge_needs_candidates_with_distinct_labels(candidates: tuple[judge.Candidate, ...]) -> None:
    with pytest.raises(ValueError, match="distinct labels"):
        judge.ask(HERE, CONTEXT, candidates, 2, LIBRARY, MODEL)


def test_candidates_are_shown_with_program_and_verdict() -> None:
    task = ASKED["judge"].parts[-1].text.text
    assert "### b: FetchSalt" in task
    assert "Compiler: refused: larder has no field salt" in task
    assert "Choose at most 2" in task


def test_a_dollar_or_placeholder_in_model_text_is_shown_as_it_is() -> None:
    odd = evolve(PROPOSAL, description="costs $5 and $name and ${success}")
    task = implement.ask(HERE, CONTEXT, odd, LIBRARY, MODEL).parts[-1].text.text
    assert "**Description:** costs $5 and $name and ${success}\n" in task


def test_the_success_condition_stays_unless_the_settings_allow_a_change() -> None:
    def task(may: bool) -> tuple[str, str]:
        first = mutate.ask(HERE, CONTEXT, DOUGH, "reorder conditions", LIBRARY, MODEL, may)
        second = implement_mutation.ask(HERE, CONTEXT, DOUGH, MUTATION, LIBRARY, MODEL, may)
        return first.parts[-1].text.text, second.parts[-1].text.text

    assert mutate.KEEP_SUCCESS in task(False)[0]
    assert implement_mutation.KEEP_SUCCESS in task(False)[1]
    assert mutate.CHANGE_SUCCESS in task(True)[0]
    assert implement_mutation.CHANGE_SUCCESS in task(True)[1]
    assert "stays exactly" not in "".join(task(True))


# --- repair ----------------------------------------------------------------------------------------------------------


def test_a_repair_is_the_same_call_with_one_more_part() -> None:
    first = ASKED["propose"]
    again = repair.ask(HERE / "repair=1", first, said("<think>secret</think>{oops"), "never closed", LIBRARY, MODEL)
    assert (again.role, again.schema, again.parts[:-1]) == (first.role, first.schema, first.parts)
    assert again.template == "repair@1"
    assert again.path == HERE / "repair=1"
    shown = again.parts[-1]
    assert shown.name == "repair 1"
    assert "```\n{oops\n```" in shown.text.text
    assert "```\nnever closed\n```" in shown.text.text
    assert "secret" not in shown.text.text


def test_a_repair_of_a_repair_keeps_both_rounds() -> None:
    ask = ASKED["implement"]
    for number in (1, 2, 3):
        ask = repair.ask(HERE / f"repair={number}", ask, said(f"answer {number}"), "no", LIBRARY, MODEL)
    assert [part.name for part in ask.parts[-3:]] == ["repair 1", "repair 2", "repair 3"]
    assert "answer 1" in ask.parts[-3].text.text
    assert "answer 3" in ask.parts[-1].text.text


def test_a_repair_uses_the_model_in_force() -> None:
    again = repair.ask(HERE, ASKED["propose"], said("x"), "no", LIBRARY, evolve(MODEL, model="another-model"))
    assert again.model == "another-model"


@pytest.mark.parametrize(
    "reply", [Reply(None, "stop"), Reply(Body("half"), "length"), Reply(Body("x"), "stop", refusal="I cannot")]
)
def test_an_unreadable_reply_is_not_shown_again(reply: Reply) -> None:
    shown = repair.ask(HERE, ASKED["propose"], reply, "no", LIBRARY, MODEL).parts[-1].text.text
    assert "(no answer that could be read)" in shown


def test_a_runaway_answer_is_cut() -> None:
    shown = repair.ask(HERE, ASKED["implement"], said("x" * 50_000), "no", LIBRARY, MODEL).parts[-1].text.text
    assert "(10,000 more characters are not shown)" in shown
    assert len(shown) < repair.MAX_SHOWN + 2_000


def test_a_refusal_is_explained_with_line_and_caret() -> None:
    source = "class A(Sharp):\n    def success(self, state, previous):\n        return state.larder.salt\n"
    assert repair.explain(REFUSAL, source) == (
        "larder has no field salt\n"
        "line 3, column 22:\n"
        "   3 |         return state.larder.salt\n"
        "                            ^\n"
        "did you mean larder.yeast?"
    )


@pytest.mark.parametrize(("line", "column"), [(0, 0), (9, 1)])
def test_a_refusal_without_a_place_shows_none(line: int, column: int) -> None:
    assert repair.explain(Refusal("k", line, column, "too long"), "class A:\n    pass") == "too long"


@given(st.integers(-2, 12), st.integers(-2, 60), st.text(), st.text())
def test_explaining_never_raises_and_keeps_the_reason(line: int, column: int, reason: str, source: str) -> None:
    explained = repair.explain(Refusal("k", line, column, reason), source)
    assert explained.startswith(reason)


def test_paths_are_the_callers() -> None:
    assert ASKED["judge"].path == Path("iteration=3/judge")
