# ruff: noqa: E501 - texts on one line
"""Policies in code: they mean what CPython says, and broken ones are refused with place and reason.

Seen to fail with an earlier return not counting first, with the sides of a test exchanged, and with skills in the order
of the text.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sharp.editions import FIRST, LATEST
from engine.sharp.emit import policy_function
from engine.sharp.other_forms.policy import CompiledPolicy, SampledChoices, parse_policy
from engine.sharp.other_forms.vet_forms import vet_policy
from engine.sharp.program import parse_program
from engine.sharp.sampled import SampledViews
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from engine.worlds.schema import Schema
from ledger.vocabulary.vet import Known, Refusal
from tests.engine.sharp.concrete import evaluate, policy_runner
from tests.engine.sharp.invented import SCHEMA, inner_views, random_view, stacked
from tests.engine.sharp.policies import BROKEN, CLASSIC_ARCHIVE, INVENTED, INVENTED_ARCHIVE, policy, skill
from tests.engine.sharp.policies import CLASSIC as CLASSIC_POLICIES
from tests.engine.sharp.test_honest import helpers_for, spaced, view_of

STATES = 40
CLASSIC_STATES = 10


def compiled(
    text: str, schema: Schema = SCHEMA, archive: tuple[Known, ...] = INVENTED_ARCHIVE, **keywords: Any
) -> CompiledPolicy:
    """The policy, or a failure that shows the refusal."""
    found = parse_policy(text, schema, archive, **keywords)
    assert isinstance(found, CompiledPolicy), found
    return found


def refused(text: str, archive: tuple[Known, ...] = INVENTED_ARCHIVE, **keywords: Any) -> Refusal:
    """The refusal, or a failure."""
    found = parse_policy(text, SCHEMA, archive, **keywords)
    assert isinstance(found, Refusal), found
    return found


def chosen(found: CompiledPolicy, view: Any, previous: Any, schema: Schema = SCHEMA) -> str:
    """The name that a policy's graph gives, by numpy."""
    (index,) = evaluate([found.choice], view, previous, schema)
    assert (index.dtype, index.shape) == (np.int32, ())
    return found.skills[int(index)]


# --- what they mean --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INVENTED)
def test_invented_policies_agree_with_cpython(name: str) -> None:
    text = INVENTED[name]
    found = compiled(text)
    run = policy_runner(text, SCHEMA, [known.name for known in INVENTED_ARCHIVE], helpers_for(SCHEMA))
    seen = set()
    for view, previous in pairwise(inner_views()[: STATES + 1]):
        expected = run(spaced(view), spaced(previous))
        assert chosen(found, view, previous) == expected
        seen.add(expected)
    assert len(seen) >= 2
    assert seen <= set(found.skills)


@pytest.mark.parametrize("name", CLASSIC_POLICIES)
def test_classic_policies_agree_with_cpython(name: str) -> None:
    text = CLASSIC_POLICIES[name]
    found = compiled(text, CLASSIC, CLASSIC_ARCHIVE)
    run = policy_runner(text, CLASSIC, [known.name for known in CLASSIC_ARCHIVE], helpers_for(CLASSIC))
    generator = np.random.default_rng(5)
    views = [view_of(CLASSIC, generator) for _ in range(CLASSIC_STATES + 1)]
    for view, previous in pairwise(views):
        assert chosen(found, view, previous, CLASSIC) == run(spaced(view), spaced(previous))


def test_corpora_are_large_enough() -> None:
    assert len(INVENTED) + len(CLASSIC_POLICIES) >= 25
    assert len(BROKEN) >= 25


def test_jax_agrees_with_numpy() -> None:
    """Under ``jit`` and ``vmap``, with strict promotion: a choice by branches, by an index, by the world, and none."""
    names = ("nested", "rows of names", "windows and helpers of the world")
    found = [compiled(text) for text in (*(INVENTED[name] for name in names), policy("return 'Rest'"))]
    current, before = inner_views()[:24], inner_views()[24:48]
    functions = [policy_function(each, SCHEMA) for each in found]
    rows = jax.jit(jax.vmap(lambda view, previous: tuple(function(view, previous) for function in functions)))(
        stacked(current), stacked(before)
    )
    for each, indices in zip(found, rows, strict=True):
        assert (indices.dtype, indices.shape) == (np.int32, (24,))
        expected = [chosen(each, *pair) for pair in zip(current, before, strict=True)]
        assert [each.skills[int(index)] for index in indices] == expected


TESTS = (
    "state.stamina < 4",
    "state.resting",
    "previous.stamina > state.stamina",
    "state.basket.clay >= 2 and not state.resting",
    "state.heading == 2",
    "not (state.warmth > 0.5 or state.heading < 2)",
    "state.herons.mask.any()",
    "0 < state.basket.reeds < 3",
)
NAMES = tuple(known.name for known in INVENTED_ARCHIVE)
Tree = Any

TREES = st.recursive(
    st.sampled_from(NAMES),
    lambda inside: st.tuples(st.sampled_from(TESTS), inside, inside),
    max_leaves=9,
)


def as_branches(tree: Tree) -> str:
    """A tree as if / else."""
    if isinstance(tree, str):
        return f"return {tree!r}"
    test, yes, no = tree
    return f"if {test}:\n{_in(as_branches(yes))}\nelse:\n{_in(as_branches(no))}"


def as_early_returns(tree: Tree) -> str:
    """A tree whose false sides follow their branch."""
    if isinstance(tree, str):
        return f"return {tree}"
    test, yes, no = tree
    return f"if {test}:\n{_in(as_early_returns(yes))}\n{as_early_returns(no)}"


def as_expression(tree: Tree) -> str:
    """A tree of conditional expressions."""
    if isinstance(tree, str):
        return repr(tree)
    test, yes, no = tree
    return f"({as_expression(yes)} if {test} else {as_expression(no)})"


def as_variable(tree: Tree) -> str:
    """A tree that assigns a local variable."""
    if isinstance(tree, str):
        return f"goal = {tree!r}"
    test, yes, no = tree
    return f"{as_variable(no)}\nif {test}:\n{_in(as_variable(yes))}"


def _in(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")


STYLES = {
    "branches": as_branches,
    "early returns": as_early_returns,
    "expression": lambda tree: f"return {as_expression(tree)}",
    "variable": lambda tree: f"{as_variable(tree)}\nreturn goal",
}


@settings(max_examples=60)
@given(TREES, st.sampled_from(sorted(STYLES)), st.integers(0, 1000))
def test_random_decision_trees_agree_with_cpython(tree: Tree, style: str, seed: int) -> None:
    text = policy(STYLES[style](tree))
    found = compiled(text)
    run = policy_runner(text, SCHEMA, NAMES)
    generator = np.random.default_rng(seed)
    views = [random_view(generator) for _ in range(9)]
    for view, previous in pairwise(views):
        assert chosen(found, view, previous) == run(spaced(view), spaced(previous))


@settings(max_examples=60)
@given(TREES)
def test_branches_expressions_and_variables_have_one_meaning(tree: Tree) -> None:
    meanings = {compiled(policy(STYLES[style](tree))).meaning for style in ("branches", "expression", "variable")}
    assert len(meanings) == 1


# --- meanings and hashes ---------------------------------------------------------------------------------------------

SAME = (
    "if state.resting:\n    return 'Rest'\nif state.stamina > 3:\n    return 'DigClay'\nreturn 'CutReeds'",
    "if state.resting:\n    return Rest\nelif state.stamina > 3:\n    return DigClay\nelse:\n    return CutReeds",
    "return 'Rest' if state.resting else 'DigClay' if 3 < state.stamina else 'CutReeds'",
    "goal = 'CutReeds'\nif state.stamina > 3:\n    goal = 'DigClay'\nif state.resting:\n    goal = 'Rest'\nreturn goal",
    "if not state.resting:\n    if state.stamina <= 3:\n        return CutReeds\n    return DigClay\nreturn 'Rest'",
    "for name, test in (('Rest', state.resting), ('DigClay', state.stamina > 3)):\n"
    "    if test:\n        return name\nreturn 'CutReeds'",
    "goal = 'CutReeds'\nfor name, test in (('Rest', state.resting), ('DigClay', state.stamina > 3)):\n"
    "    if test:\n        goal = name\n        break\nreturn goal",
    "def work(enough):\n    if enough:\n        return DigClay\n    return CutReeds\n"
    "if state.resting:\n    return Rest\nreturn work(state.stamina > 3)",
)  # fmt: skip


def test_one_decision_in_many_words_has_one_meaning() -> None:
    found = [compiled(policy(body)) for body in SAME]
    assert len({each.meaning for each in found}) == 1
    assert len({each.source_hash for each in found}) == len(SAME)
    assert found[0].skills == ("CutReeds", "DigClay", "Rest")


def test_the_order_of_the_text_does_not_number_the_skills() -> None:
    one = compiled(policy("return 'Rest' if state.resting else 'CutReeds'"))
    other = compiled(policy("return 'CutReeds' if not state.resting else 'Rest'"))
    assert one.skills == other.skills == ("CutReeds", "Rest")
    assert one.meaning == other.meaning


def test_meaning_covers_names_structure_and_edition_and_nothing_else() -> None:
    text = policy("return 'Rest' if state.resting else 'CutReeds'")
    found = compiled(text)
    assert compiled(text, archive=(*INVENTED_ARCHIVE, skill("Another"))).meaning == found.meaning
    assert compiled(text.replace("A plan.", "Another plan.").replace("Plan", "Idea")).meaning == found.meaning
    assert compiled(text.replace("'CutReeds'", "'DigClay'")).meaning != found.meaning
    assert compiled(text.replace("state.resting", "not state.resting")).meaning != found.meaning
    assert compiled(text, edition=FIRST).meaning != found.meaning


def test_what_an_accepted_policy_says() -> None:
    text = policy("return 'Rest' if state.resting else 'CutReeds'")
    found = compiled("Here it is:\n```python\n" + text.replace("(Policy)", "") + "```")
    assert (found.name, found.description) == ("Plan", "A plan.")
    assert found.normalisations == ("text outside the code block removed", "base class Policy added")
    assert found.warnings == ()
    assert found.used.operations == 2
    assert found.used.steps > 3
    assert found.sampled is None
    assert "no docstring" in compiled(text.replace('"""A plan."""', "")).warnings[0]


def test_a_policy_that_does_not_depend_on_the_state_is_warned_about() -> None:
    found = compiled(policy("if state.resting:\n    return 'Rest'\nreturn 'Rest'"))
    assert found.skills == ("Rest",)
    assert "always names Rest" in found.warnings[0]


def test_an_index_that_may_leave_a_tuple_is_clamped_and_warned_about() -> None:
    found = compiled(policy("return ('Rest', 'DigClay', 'CutReeds')[state.stamina - 4]"))
    assert "an index may leave its axis of 3" in found.warnings[0]
    view = inner_views()[0]
    chosen_at = {at: chosen(found, {**view, "stamina": np.int32(at)}, view) for at in range(1, 9)}
    assert list(chosen_at.values()) == ["Rest", "DigClay", "CutReeds", "Rest", "DigClay", *["CutReeds"] * 3]


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BROKEN)
def test_broken_policies_are_refused_with_place_and_reason(name: str) -> None:
    broken = BROKEN[name]
    found = refused(broken.text)
    assert broken.reason in found.reason
    assert broken.hint in str(found.suggestion)
    assert found.line == broken.line
    assert found.column >= 1


def test_an_empty_archive_is_told() -> None:
    assert refused(policy("return 'Rest'"), archive=()).suggestion == "the archive has no skill yet"
    assert refused(policy("return 1"), archive=()).suggestion == "the archive has no skill yet"


def test_a_smaller_archive_restricts_what_can_be_named() -> None:
    """Paper 000, Figure 5b: only skills discovered by an earlier iteration."""
    text = INVENTED["elif"]
    assert isinstance(vet_policy(text, SCHEMA, INVENTED_ARCHIVE), CompiledPolicy)
    found = vet_policy(text, SCHEMA, INVENTED_ARCHIVE[:4])
    assert isinstance(found, Refusal)
    assert found.reason == "FireBricks is no skill of the archive"


@pytest.mark.parametrize("base", ["Policy", "Flat"])
def test_another_form_is_no_program(base: str) -> None:
    """The first edition knew no other form: its words stay as they were."""
    text = f"class Plan({base}):\n    def skill(self, state):\n        return 'Rest'\n"
    found = parse_program(text, SCHEMA, LATEST)
    assert isinstance(found, Refusal)
    assert found.reason in (
        "this is a policy, and a program is asked for",
        "this is a flat reward program, and a program is asked for",
    )
    assert (found.line, found.column) == (1, 12)
    first = parse_program(text, SCHEMA, FIRST)
    assert isinstance(first, Refusal)
    assert (first.reason, first.suggestion) == ("the base class is Sharp", "write class Name(Sharp):")


def test_choosing_costs_what_its_budgets_say() -> None:
    """A chain of a thousand choices in a loop stays within the budgets or is refused by them, in bounded time."""
    body = "goal = 'Rest'\nfor i in range({count}):\n    if state.stamina + i * state.heading > 40:\n        goal = 'DigClay'\nreturn goal"
    assert compiled(policy(body.replace("{count}", "60"))).skills == ("DigClay", "Rest")
    assert refused(policy(body.replace("{count}", "4000"))).kind == "budget"


def test_parsing_needs_no_jax() -> None:
    script = "import sys; import engine.sharp.other_forms.policy, engine.sharp.other_forms.flat, engine.sharp.other_forms.reference_forms; assert 'jax' not in sys.modules"
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", script], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=True)


# --- sampled states --------------------------------------------------------------------------------------------------


def states_with(staminas: list[int], resets: list[int]) -> SampledViews:
    """States that differ in stamina only."""
    view = {**inner_views()[0], "resting": np.bool_(False), "heading": np.int32(1)}
    at = [{**view, "stamina": np.int32(value)} for value in (*resets, *staminas)]
    return SampledViews(stacked(at[: len(resets)]), stacked(at[len(resets) :]), stacked(at[len(resets) :]))


def sampled(body: str, extra: str = "", states: SampledViews | None = None) -> CompiledPolicy:
    """A policy vetted on states with a stamina of 1, 2, 3 and 8, and resets with 9 and 1."""
    found = vet_policy(
        policy(body, extra),
        SCHEMA,
        INVENTED_ARCHIVE,
        states=states_with([1, 2, 3, 8], [9, 1]) if states is None else states,
    )
    assert isinstance(found, CompiledPolicy), found
    return found


def test_counts_by_hand() -> None:
    found = sampled("if state.stamina > 5:\n    return 'DigClay'\nreturn 'Rest' if state.stamina > 1 else 'CutReeds'")
    assert found.skills == ("CutReeds", "DigClay", "Rest")
    assert found.sampled == SampledChoices(2, (1, 1, 0), 4, (1, 1, 2))
    assert found.warnings == ()


def test_the_verdict_without_states_is_the_same_but_for_statistics() -> None:
    text = policy("return 'DigClay' if state.stamina > 20 else 'Rest'")
    without = vet_policy(text, SCHEMA, INVENTED_ARCHIVE)
    found = vet_policy(text, SCHEMA, INVENTED_ARCHIVE, states=states_with([1], [1]))
    assert isinstance(found, CompiledPolicy)
    assert len(found.warnings) == 2
    assert evolve(found, sampled=None, warnings=()) == without


@pytest.mark.parametrize(
    ("body", "warnings"),
    [
        (
            "if state.stamina > 20:\n    return 'DigClay'\nreturn 'Rest' if state.stamina > 5 else 'CutReeds'",
            ("DigClay is never named on 6 sampled states", "line 6: the condition never holds on the 6 sampled states that get to it"),
        ),
        (
            "if state.stamina < 20:\n    return 'DigClay'\nreturn 'Rest'",
            ("DigClay is named on all 6 sampled states", "line 6: the condition always holds on the 6 sampled states that get to it"),
        ),
        (
            "if state.stamina > 5:\n    if state.stamina < 4:\n        return Rest\n    return DigClay\nreturn Rest",
            ("line 7: the condition never holds on the 2 sampled states that get to it",),
        ),
        (
            "if state.stamina > 5:\n    return DigClay\nif state.stamina > 8:\n    return Rest\nreturn CutReeds",
            ("Rest is never named on 6 sampled states", "line 8: the condition never holds on the 4 sampled states that get to it"),
        ),
        (
            "if state.stamina == 8:\n    return 'DigClay' if state.resting else 'Rest'\nreturn CutReeds",
            ("DigClay is never named on 6 sampled states", "line 7: the condition never holds on the one sampled state that gets to it"),
        ),
    ],
)  # fmt: skip
def test_what_sampled_states_warn_of(body: str, warnings: tuple[str, ...]) -> None:
    assert sampled(body).warnings == warnings


def test_a_branch_that_no_state_gets_to_is_told_once() -> None:
    """What lies inside of it gets no warning of its own."""
    found = sampled(
        "if state.stamina > 20:\n    if state.stamina > 30:\n        return Rest\n    return DigClay\nreturn 'Rest' if state.stamina > 1 else CutReeds"
    )
    assert [text for text in found.warnings if text.startswith("line")] == [
        "line 6: the condition never holds on the 6 sampled states that get to it"
    ]


def test_a_test_in_a_loop_or_a_helper_is_judged_over_all_its_evaluations() -> None:
    found = sampled(
        "for low in (0, 2, 7):\n    if state.stamina == low + 1:\n        return DigClay\nreturn self.more(state, 8) if state.heading == 1 else self.more(state, 20)",
        "def more(self, state, low):\n    if state.stamina > low:\n        return Rest\n    return CutReeds\n",
    )
    assert [text for text in found.warnings if text.startswith("line")] == [
        "line 14: the condition always holds on the 2 sampled states that get to it"
    ]


@pytest.mark.parametrize(("count", "told"), [(3, True), (64, True), (65, False)])
def test_a_test_that_never_holds_in_a_loop_is_told_if_the_loop_is_short(count: int, told: bool) -> None:
    found = sampled(
        f"for low in range({count}):\n    if state.stamina == low + 90:\n        return DigClay\nreturn Rest if state.stamina > 2 else CutReeds"
    )
    warning = "line 7: the condition never holds on the 6 sampled states that get to it"
    assert (warning in found.warnings) is told
