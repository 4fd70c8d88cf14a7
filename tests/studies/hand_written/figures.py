"""The study's figures: every seed a dot or a thin line, interquartile means with their intervals. PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from replay.figures import BLUE, GREEN, ORANGE, VERMILION
from tests.studies.hand_written.counts import rates
from tests.studies.hand_written.loop import FLAT_EVALUATED, FLAT_TRAINED, NAME_ONLY, ROUTED
from tests.studies.hand_written.report import DEEP, TITLES, Result, curves
from tests.studies.hand_written.statistics import Estimate, estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = {ROUTED: BLUE, FLAT_EVALUATED: ORANGE, NAME_ONLY: GREEN, FLAT_TRAINED: VERMILION}
MARKERS: Mapping[str, str] = {ROUTED: "o", FLAT_EVALUATED: "s", NAME_ONLY: "^", FLAT_TRAINED: "D"}
DPI = 150


def save(done: Result, out: Path) -> tuple[Path, ...]:
    """Draw all figures into ``out``; the same counts give the same bytes with one version of matplotlib."""
    import matplotlib

    files = []
    with matplotlib.rc_context({"svg.hashsalt": "hand_written", "font.size": 8}):
        for name, figure in (("skills", by_skill(done)), ("curves", over_training(done))):
            for ending, about in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
                files.append(out / f"{name}.{ending}")
                figure.savefig(files[-1], dpi=DPI, metadata=about)
    return tuple(files)


def by_skill(done: Result) -> Figure:
    """Success rates at the end of training: every skill, and over skills."""
    groups = list(done.groups)
    count = len(done.names) + len(groups)
    figure = _figure(7.5, 1.2 + 0.36 * count)
    axes = figure.subplots()
    width = 0.8 / len(done.arms)
    for index, arm in enumerate(done.arms):
        values = rates(done.found, arm)
        shift = (index - (len(done.arms) - 1) / 2) * width
        for row, (column, value) in enumerate(zip(values.T, done.by_skill[arm], strict=True)):
            _one(axes, arm, row + shift, column, value)
        for row, group in enumerate(groups, start=len(done.names)):
            seeds = np.array([estimate(seed[None, done.groups[group]], resamples=1).value for seed in values])
            _one(axes, arm, row + shift, seeds, done.over[arm][group])
        axes.plot([], [], color=COLOURS[arm], marker=MARKERS[arm], markersize=4, label=f"{arm}: {TITLES[arm]}")
    axes.axhline(len(done.names) - 0.5, color="#888888", linewidth=0.6)
    for row in range(1, count):
        axes.axhline(row - 0.5, color="#EEEEEE", linewidth=0.5, zorder=0)
    axes.set_yticks(range(count), [*done.names, *(f"IQM over {group}" for group in groups)])
    axes.set_ylim(count - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("success rate; small dots: seeds, large marks: interquartile mean, lines: 95 % bootstrap interval")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.legend(loc="outside upper left", frameon=False, ncols=1)
    return figure


def _one(axes: Axes, arm: str, row: float, seeds: np.ndarray, value: Estimate) -> None:
    axes.hlines(row, value.low, value.high, color=COLOURS[arm], linewidth=1.4, zorder=2)
    axes.scatter(seeds, [row] * len(seeds), s=5, color=COLOURS[arm], alpha=0.55, linewidths=0, zorder=3)
    axes.scatter(
        [value.value],
        [row],
        s=20,
        color=COLOURS[arm],
        marker=MARKERS[arm],
        edgecolors="white",
        linewidths=0.4,
        zorder=4,
    )


def over_training(done: Result) -> Figure:
    """Success rates over training steps: over skills with prerequisites, and each skill."""
    lines = curves(done)
    group = DEEP if DEEP in done.groups else next(iter(done.groups))
    panels = [f"IQM over {group}", *done.names]
    columns = 4
    rows = -(-len(panels) // columns)
    figure = _figure(9.0, 0.8 + 1.5 * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for number, (axes, title) in enumerate(zip(grid.flat, panels, strict=False)):
        for arm, (steps, values) in lines.items():
            own = values[:, :, done.groups[group]] if number == 0 else values[:, :, [number - 1]]
            at = [step / 1e6 for step in steps]
            for seed in own:
                axes.plot(at, [_mean(point) for point in seed], color=COLOURS[arm], linewidth=0.5, alpha=0.5)
            middle = [estimate(own[:, point]) for point in range(len(steps))]
            axes.plot(
                at,
                [each.value for each in middle],
                color=COLOURS[arm],
                marker=MARKERS[arm],
                markersize=3,
                linewidth=1.6,
            )
            axes.fill_between(
                at,
                [each.low for each in middle],
                [each.high for each in middle],
                color=COLOURS[arm],
                alpha=0.15,
                linewidth=0,
            )
        axes.set_title(title, fontsize=8, fontweight="bold" if number == 0 else "normal")
        axes.set_ylim(-0.03, 1.03)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for arm in lines:
        grid.flat[0].plot([], [], color=COLOURS[arm], label=f"{arm}: {TITLES[arm]}")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", frameon=False, ncols=2)
    figure.supxlabel(
        "million training steps; thin lines: seeds, thick: interquartile mean with its 95 % interval", fontsize=8
    )
    return figure


def _mean(values: np.ndarray) -> float:
    return estimate(values[None], resamples=1).value


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure
