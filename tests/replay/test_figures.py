"""Figures: what is drawn where, and that no name can break or steer a drawing."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.archive.archive import View
from engine.archive.graph import depth
from ledger.vocabulary.events import Step
from ledger.vocabulary.note import Adopted, Rate
from replay import figures
from replay.layered import layout
from replay.reproduce import AchievementRow, SkillRow
from replay.statistics import Interval
from tests.replay.story import HOSTILE, STEPS, admitted, note, program

BANNER = f"PROVISIONAL: {HOSTILE} " + "long words " * 40
LONE = [admitted(0, 0, HOSTILE)]


def view_of(steps: list[Step]) -> View:
    view = View()
    for step in steps:
        view = view.fold(step)
    return view


def saved(figure: figures.Figure | str, target: Path) -> tuple[int, int]:
    """Draw, and return the picture's width and height."""
    assert not isinstance(figure, str), figure
    figure.savefig(target, metadata={"Software": None})
    data = target.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    return int(width), int(height)


def test_every_figure_draws_with_hostile_names(tmp_path: Path) -> None:
    rows = (
        SkillRow(HOSTILE, Rate(1, 4), Rate(2, 4), Interval(0.1, 0.6)),
        SkillRow("TakeKey", Rate(0, 0), None, None),
    )
    flags = (
        AchievementRow(HOSTILE, HOSTILE, Rate(1, 4), Rate(3, 4), HOSTILE),
        AchievementRow("wave", "Wave", Rate(0, 4), None, "not public"),
    )
    drawn = (
        figures.archive_graph(view_of(LONE), BANNER),
        figures.archive_graph(view_of(list(STEPS))),
        figures.skills(rows, BANNER),
        figures.skills(rows[1:]),
        figures.achievements(flags, BANNER),
        figures.achievements(flags[1:]),
        figures.proposals(STEPS, BANNER),
        figures.rates(STEPS, BANNER),
    )
    for index, figure in enumerate(drawn):
        width, height = saved(figure, tmp_path / f"{index}.png")
        assert width > 300
        assert height > 200


def test_the_same_figure_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        saved(figures.rates(STEPS), tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_what_cannot_be_drawn_says_why() -> None:
    assert figures.archive_graph(View()) == "the archive is empty"
    assert figures.proposals(()) == "no proposal was decided"
    assert figures.rates(()) == "no iteration ended with an evaluation"
    many = view_of([admitted(0, index, f"Skill{index}") for index in range(figures.MOST_SKILLS + 1)])
    assert "too many" in str(figures.archive_graph(many))


def test_a_cycle_in_a_forged_archive_is_told_and_not_drawn() -> None:
    forged = [
        admitted(0, 0, "A"),
        admitted(0, 1, "B", "A"),
        note("iteration=1/mutation[0]/outcome", Adopted(program("A", "B"), "h", Rate(0, 1), Rate(1, 1))),
    ]
    assert "its own prerequisites" in str(figures.archive_graph(view_of(forged)))


def test_labels_are_ascii_of_bounded_length() -> None:
    assert figures.label("TakeKey") == "TakeKey"
    assert figures.label("x" * 99) == "x" * 27 + "..."
    assert figures.label("é\x1b$") == "\\xe9\\x1b$"
    assert figures.label(HOSTILE).isascii()


graphs = st.integers(1, 14).flatmap(
    lambda size: st.tuples(*(st.sets(st.integers(0, max(0, node - 1)), max_size=3) for node in range(size)))
)


@settings(max_examples=60)
@given(graphs)
def test_boxes_never_overlap_and_edges_run_left_to_right(graph: tuple[set[int], ...]) -> None:
    requires = {f"S{node}": tuple(f"S{each}" for each in sorted(of)) if node else () for node, of in enumerate(graph)}
    plan = layout(requires)
    depths = depth(requires)
    assert {name: x for name, (x, _) in plan.places.items()} == depths
    columns: dict[int, list[float]] = {}
    for x, y in plan.places.values():
        columns.setdefault(x, []).append(y)
        assert -1e-9 <= y - 0.5
        assert y + 0.5 <= plan.rows + 1e-9
    for rows in columns.values():
        ordered = sorted(rows)
        assert all(high - low >= 1 - 1e-9 for low, high in pairwise(ordered))
    assert set(plan.ways) == {(each, name) for name, of in requires.items() for each in of}
    for (each, name), way in plan.ways.items():
        assert way[0] == plan.places[each]
        assert way[-1] == plan.places[name]
        assert [x for x, _ in way] == list(range(depths[each], depths[name] + 1))


def test_a_long_edge_passes_beside_the_boxes_between() -> None:
    plan = layout({"A": (), "B": ("A",), "C": ("B", "A")})
    row = next(y for x, y in plan.ways["A", "C"] if x == 1)
    assert abs(row - plan.places["B"][1]) >= figures.HALF_HEIGHT


def test_names_fold_before_a_capital() -> None:
    assert figures._folded("MakeWoodPickaxe") == "MakeWoodPickaxe"
    assert figures._folded("SmeltIronAtTheFurnace") == "SmeltIron\nAtTheFurnace"
    assert figures._folded("x" * 30) == "x" * 15 + "\n" + "x" * 15


@pytest.mark.parametrize(("wanted", "fate"), [(figures.GREEN, "admitted"), (figures.VERMILION, "refused")])
def test_bars_stand_for_fates(wanted: str, fate: str) -> None:
    from matplotlib.colors import to_hex

    figure = figures.proposals(STEPS)
    assert not isinstance(figure, str)
    bars = next(each for each in figure.axes[0].containers if each.get_label() == fate)
    assert {to_hex(bar.get_facecolor()) for bar in bars} == {wanted.lower()}
    expected = {"admitted": [1, 1, 2], "refused": [1, 0, 0]}[fate]
    assert [bar.get_height() for bar in bars] == expected
