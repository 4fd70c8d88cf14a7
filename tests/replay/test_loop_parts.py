"""Combinators of effects, comparison of values, and the archive's fold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.codec import Unencodable
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.effect import Loop, Together, do, side_by_side, together
from ledger.vocabulary.note import Matched, Note, Rate, Rates
from ledger.vocabulary.path import Path
from replay.runner.matching import differences, divergences


def asks(name: str, rounds: int) -> Loop[str]:
    seen = []
    for index in range(rounds):
        outcome = yield from do(Draw(Path(f"{name}/{index}"), "test", 0, (1.0,)))
        seen.append(outcome.indices[0])
    return f"{name}{seen}"


@given(st.lists(st.integers(0, 4), max_size=5))
def test_side_by_side_runs_in_lockstep_and_keeps_order(rounds: list[int]) -> None:
    body = side_by_side(tuple(asks(f"loop{i}", count) for i, count in enumerate(rounds)))
    groups, send = [], None
    try:
        while True:
            item = body.send(send)
            assert isinstance(item, Together)
            groups.append([str(effect.path) for effect in item.effects])
            send = tuple(Drawn((len(groups),)) for _ in item.effects)
    except StopIteration as stop:
        results = stop.value
    assert groups == [
        [f"loop{i}/{turn}" for i, count in enumerate(rounds) if count > turn] for turn in range(max(rounds, default=0))
    ]
    assert results == tuple(f"loop{i}{list(range(1, count + 1))}" for i, count in enumerate(rounds))


def test_an_empty_group_yields_nothing() -> None:
    with pytest.raises(StopIteration) as stop:
        together(()).send(None)
    assert stop.value.value == ()


def draw(*weights: float) -> Draw:
    return Draw(Path("x"), "test", 0, weights)


def test_canonical_bytes_decide_and_not_equality() -> None:
    nan = Rates(("a",), (Rate(1, 2),))
    assert differences(nan, nan) == ()
    assert differences(draw(math.nan), draw(math.nan)) == ()
    assert differences(draw(0.0), draw(-0.0)) == (), "weights are close"
    noted = Note(Path("n"), Matched(("A",), ("S",), (0.5,), (Rate(1, 1),)))
    with pytest.raises(Unencodable):
        differences(noted, Note(Path("n"), Matched(("A",), ("S",), (0.5,), (Rate(True, 1),))))


def test_close_floats_within_and_beyond_the_tolerance() -> None:
    assert differences(draw(1.0), draw(1.0 + 5e-13)) == ()
    assert len(differences(draw(1.0), draw(1.0 + 5e-12))) == 1
    assert len(differences(draw(1.0), draw(math.nan))) == 1


def test_a_difference_names_its_field() -> None:
    found = divergences(draw(1.0), 7, "effect", draw(1.0, 2.0), draw(1.0, 3.0))
    assert [(each.field, each.sequence, each.kind.value) for each in found] == [("weights[1]", 7, "decision")]
    assert divergences(draw(1.0), 7, "effect", draw(1.0), draw(1.0, 3.0))[0].field == "weights.length"
