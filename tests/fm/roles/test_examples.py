"""The worked examples inside the templates keep the rules that the templates state."""

from __future__ import annotations

import ast
import re

import pytest

from fm.library import Library
from fm.roles import implement, implement_mutation, judge, mutate, propose
from ledger.vocabulary.ask import Reply
from ledger.vocabulary.body import Body

LIBRARY = Library.released()
ARCHIVE = ("FetchFlour", "FetchYeast", "GoToBench", "GoToOven", "StokeOven", "KneadDough")


def examples(role: str, language: str) -> list[str]:
    """The fenced blocks of a template in ``language``."""
    return re.findall(rf"```{language}\n(.*?)```", LIBRARY.get(role).text, re.DOTALL)


def example_reply(role: str, language: str) -> Reply:
    """The last example of a template as if a model had sent it."""
    return Reply(Body(f"```{language}\n{examples(role, language)[-1]}```"), "stop")


def test_the_example_proposal_can_be_read() -> None:
    read = propose.read(example_reply("propose", "json"), ARCHIVE)
    assert isinstance(read, propose.Proposal)
    assert [prerequisite for _, prerequisite in read.requirements] == ["KneadDough", "StokeOven", "GoToOven"]


def test_the_example_choice_can_be_read() -> None:
    read = judge.read(example_reply("judge", "json"), ("x", "y", "z"), 2)
    assert isinstance(read, judge.Choice)
    assert read.chosen == ("x",)


def test_the_example_mutation_can_be_read() -> None:
    read = mutate.read(example_reply("mutate", "json"), "BakeLoaf", ARCHIVE)
    assert isinstance(read, mutate.Mutation)
    assert read.requirements[0][1] == "KneadDough"


def test_the_example_programs_can_be_read() -> None:
    for source in (
        implement.read(example_reply("implement", "python")),
        implement_mutation.read(example_reply("implement_mutation", "python")),
    ):
        assert isinstance(source, str)
        assert len(ast.parse(source).body) == 1


@pytest.mark.parametrize("role", ["primer", "implement", "implement_mutation"])
def test_example_programs_have_the_form_of_a_skill(role: str) -> None:
    classes = [node for source in examples(role, "python") for node in ast.parse(source).body]
    assert classes
    for node in classes:
        assert isinstance(node, ast.ClassDef)
        assert ast.unparse(node.bases[0]) == "Sharp"
        assert ast.get_docstring(node)
        methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        assert [argument.arg for argument in methods["success"].args.args] == ["self", "state", "previous"]
        requires = [item for item in node.body if isinstance(item, ast.Assign)]
        pairs = [pair for item in requires for pair in getattr(item.value, "elts", ())]
        named = [(ast.unparse(pair.elts[0]), ast.literal_eval(pair.elts[1])) for pair in pairs]
        assert [condition for condition, _ in named] == [name for name in methods if name != "success"]
        if "NameOf" not in node.name:
            assert all(prerequisite in ARCHIVE for _, prerequisite in named)


def test_the_primer_lists_the_archive_that_its_example_uses() -> None:
    for name in ARCHIVE:
        assert f"`{name}`" in LIBRARY.get("primer").text
