"""The archive as a fold: worked by hand, and properties over random sequences of decisions."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.archive.archive import ArchiveError, View
from engine.archive.graph import ancestors, depth
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.events import Step
from ledger.vocabulary.note import Admitted, Adopted, Decision, Failed, Note, Noted, Practised, Rate, Rates
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Program, Requirement


def program(name: str, *requires: str, version: int = 0) -> Program:
    pairs = tuple(Requirement(f"c{i}", f"m{i}", each) for i, each in enumerate(requires))
    return Program(name, "", Body(f"{name} {version}"), "s", f"m{name}", pairs, f"r{version}", (), ())


def note(decision: Decision, at: str = "x") -> Step:
    return Step(Note(Path(at), decision), Noted())


def admit(name: str, *requires: str) -> Step:
    return note(Admitted(program(name, *requires), "making", Rate(0, 8), Rate(4, 8), 0.01), f"at/{name}")


def embedded(text: str, value: bytes) -> Step:
    return Step(Embed(Path(f"e/{len(text)}"), "w", (text,)), Embedded(1, (Data(value),)))


def folded(*steps: Step) -> View:
    return reduce(View.fold, steps, View())


def test_a_history_worked_by_hand() -> None:
    view = folded(
        embedded("fetch flour", b"\0\0\0\1"),
        embedded("bake loaf", b"\0\0\0\2"),
        admit("FetchFlour"),
        admit("BakeLoaf", "FetchFlour"),
        note(Failed("Dance", "", "moving", "learnability", "no progress")),
        note(Practised(("FetchFlour",), (Rate(3, 4),))),
        note(Rates(("FetchFlour", "BakeLoaf"), (Rate(8, 8), Rate(2, 8)))),
        note(Adopted(program("BakeLoaf", version=1), "drop a pair", Rate(2, 8), Rate(5, 8)), "later"),
    )
    assert view.names == ("FetchFlour", "BakeLoaf")
    flour, loaf = view.entries
    assert (flour.evaluated, flour.practised) == (Rate(8, 8), Rate(3, 4))
    assert (loaf.evaluated, loaf.practised) == (Rate(5, 8), Rate(0, 0))
    assert [(each.heuristic, str(each.decided_at)) for each in loaf.versions] == [
        (None, "at/BakeLoaf"),
        ("drop a pair", "later"),
    ]
    assert [each.failed.name for each in view.failures] == ["Dance"]
    skills = view.skills()
    assert [(s.name, s.requires, s.successes, s.attempts) for s in skills] == [
        ("FetchFlour", (), 3, 4),
        ("BakeLoaf", (), 0, 0),
    ]
    assert skills[1].vector == Data(b"\0\0\0\2")
    assert view.steps == 8


@pytest.mark.parametrize(
    "steps",
    [
        (admit("A"), admit("A")),
        (admit("A", "Missing"),),
        (note(Rates(("A",), (Rate(0, 1),))),),
        (note(Adopted(program("A"), "h", Rate(0, 1), Rate(1, 1))),),
    ],
)
def test_what_no_loop_can_decide_is_refused(steps: tuple[Step, ...]) -> None:
    with pytest.raises(ArchiveError):
        folded(*steps)


def test_a_skill_without_a_vector_cannot_be_trained() -> None:
    with pytest.raises(ArchiveError, match="never embedded"):
        folded(admit("A")).skills()


@given(st.data())
def test_folds_are_pure_and_compose(data: st.DataObject) -> None:
    """fold(a + b) = fold(b) from fold(a), and the earlier view is still what it was."""
    names = [f"S{i}" for i in range(data.draw(st.integers(1, 6)))]
    steps = [
        admit(name, *data.draw(st.lists(st.sampled_from(names[:i]), max_size=3) if i else st.just([])))
        for i, name in enumerate(names)
    ]
    cut = data.draw(st.integers(0, len(steps)))
    first = folded(*steps[:cut])
    before = (first.names, first.steps)
    assert reduce(View.fold, steps[cut:], first) == folded(*steps)
    assert (first.names, first.steps) == before


@given(st.data())
def test_depth_and_ancestors_equal_a_slow_reference(data: st.DataObject) -> None:
    names = [f"S{i}" for i in range(data.draw(st.integers(1, 7)))]
    requires = {
        name: data.draw(st.lists(st.sampled_from(names[:i]), max_size=3) if i else st.just([]))
        for i, name in enumerate(names)
    }

    def paths(name: str) -> list[list[str]]:
        return [[name], *([name, *rest] for each in requires[name] for rest in paths(each))]

    assert depth(requires) == {name: max(len(path) for path in paths(name)) - 1 for name in names}
    for name in names:
        assert set(ancestors(requires, name)) == {each for path in paths(name) for each in path[1:]}


def test_a_cycle_has_no_depth() -> None:
    with pytest.raises(ValueError, match="own prerequisites"):
        depth({"A": ["B"], "B": ["A"]})
    with pytest.raises(ValueError, match="no skill"):
        depth({"A": ["B"]})
