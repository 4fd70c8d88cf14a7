"""Folds over steps for tables and figures."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ledger.vocabulary.note import Rate
from ledger.vocabulary.path import Path
from replay.history import FATES, Mutations, RatePoint, fates, iteration_of, mutations, rate_history
from tests.replay.story import STEPS, admitted, failed


def test_fates_of_the_story() -> None:
    assert fates(STEPS) == {
        0: {"admitted": 1, "not chosen": 1, "refused": 1},
        1: {"admitted": 1, "no learning progress": 1, "unreadable": 1},
        12: {"admitted": 2, "other": 1},
    }


def test_mutations_of_the_story() -> None:
    assert mutations(STEPS) == {1: Mutations(adopted=0, kept=1), 12: Mutations(adopted=1, kept=0)}


def test_rates_of_the_story_start_where_a_skill_first_appears() -> None:
    history = rate_history(STEPS)
    assert list(history) == ["TakeKey", "OpenDoor", "LightLamp", "Wave"]
    assert history["OpenDoor"] == (RatePoint(1, Rate(20, 40)), RatePoint(12, Rate(30, 40)))


def test_iterations_are_read_from_whole_first_segments() -> None:
    assert iteration_of(Path("iteration=12/rates")) == 12
    assert iteration_of(Path("iteration=12")) == 12
    assert iteration_of(Path("final/iteration=3")) is None
    assert iteration_of(Path("iteration=1x/rates")) is None
    assert iteration_of(Path("iteration=" + "9" * 5000)) is None, "no number that Python refuses to read"


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "judge", "compile", "implement", "odd"])), max_size=20)
)
def test_every_proposal_is_counted_once(ended: list[tuple[int, str]]) -> None:
    steps = [
        failed(iteration, index, stage) if stage else admitted(iteration, index, f"S{index}")
        for index, (iteration, stage) in enumerate(ended)
    ]
    counts = fates(steps)
    assert {at: sum(each.values()) for at, each in counts.items()} == Counter(iteration for iteration, _ in ended)
    assert all(fate in FATES for each in counts.values() for fate in each)
