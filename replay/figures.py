"""Figures of a run and of its reproduction, as PNG files: colour-blind-safe, labelled, drawn without a display.

Names may come from foundation models or from a recording of anybody's: they are drawn as plain ASCII, never as markup.
"""

from __future__ import annotations

import pathlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from engine.archive.archive import Entry, View
from ledger.vocabulary.events import Step
from ledger.vocabulary.note import Rate
from replay.history import FATES, RatePoint, fates, rate_history
from replay.layered import layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from replay.reproduce import AchievementRow, Reproduction, SkillRow

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
)
"""The palette of Okabe and Ito, distinguishable with every common kind of colour blindness."""
INK, GREY, PALE = "#222222", "#777777", "#E4E4E4"

FATE_COLOURS = dict(zip(FATES, (GREEN, SKY, VERMILION, "#BBBBBB", PURPLE, YELLOW), strict=True))
FATE_HATCHES = dict(zip(FATES, ("", "//", "xx", "", "..", "\\\\"), strict=True))

MOST_SKILLS = 60
"""More skills than this make a figure unreadable: the graph is left out, the others show the first ones."""
DPI = 150
NAME_CHARACTERS = 30


@frozen
class Left:
    """A figure that was not drawn, and why."""

    name: str
    reason: str


@frozen
class Drawn:
    """What ``save`` did: files written, and figures left out with their reasons."""

    files: tuple[pathlib.Path, ...]
    left: tuple[Left, ...]


def label(text: str, limit: int = NAME_CHARACTERS) -> str:
    """A name as it is drawn: ASCII, escapes for everything else, cut in the middle of nowhere with three dots."""
    plain = text.encode("unicode_escape", "backslashreplace").decode("ascii")
    return plain if len(plain) <= limit else plain[: limit - 3] + "..."


def save(done: Reproduction, folder: pathlib.Path, banner: str = "") -> Drawn:
    """Draw every figure that a reproduction has numbers for into ``folder``.

    Raises:
        OSError: if a file cannot be written.
    """
    figures: dict[str, Figure | str] = {"archive": archive_graph(done.view, banner)}
    steps = [each.step for each in done.recording.steps] if done.recording is not None else []
    figures["proposals"] = proposals(steps, banner)
    figures["rates"] = rates(steps, banner)
    if done.skills:
        figures["skills"] = skills(done.skills, banner, _second(done))
    if done.achievements:
        figures["achievements"] = achievements(done.achievements, banner, _second(done))
    folder.mkdir(parents=True, exist_ok=True)
    files, left = [], []
    for name, figure in figures.items():
        if isinstance(figure, str):
            left.append(Left(name, figure))
        else:
            files.append(folder / f"{name}.png")
            figure.savefig(files[-1], dpi=DPI, metadata={"Software": None})
    return Drawn(tuple(files), tuple(left))


def _second(done: Reproduction) -> str:
    return "reproduced" if done.profile in ("cpu", "smoke") else f"retrained ({label(done.profile)})"


# --- shared ----------------------------------------------------------------------------------------------------------


def _figure(width: float, height: float, title: str, banner: str) -> tuple[Figure, Axes]:
    """An empty figure of ``width`` by ``height`` inches with its title above and the banner, if any, below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK, parse_math=False)
    if banner:
        text = textwrap.fill(label(" ".join(banner.split()), 300), max(40, int(width * 13)))
        figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=VERMILION, fontweight="bold", parse_math=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    return figure, axes


def _names(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [label(name) for name in names], parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _percent_axis(axes: Any) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _value(rate: Rate) -> float:
    return rate.successes / rate.episodes if rate.episodes else 0.0


def _legend(axes: Axes, columns: int = 4) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, frameon=False, fontsize=8, borderaxespad=0.2)


HALF_WIDTH, HALF_HEIGHT = 0.36, 0.33
"""Half the size of a skill's box, in columns and rows."""


# --- the archive as a graph ------------------------------------------------------------------------------------------


def archive_graph(view: View, banner: str = "") -> Figure | str:
    """Prerequisite graph in layers by depth, prerequisites left, shaded by success rate; or why it is not drawn."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import FancyBboxPatch

    if not view.entries:
        return "the archive is empty"
    if len(view.entries) > MOST_SKILLS:
        return f"{len(view.entries)} skills are too many for one drawing (at most {MOST_SKILLS})"
    try:
        plan = layout({entry.name: entry.requires for entry in view.entries})
    except ValueError as error:
        return str(error)
    columns = 1 + max(x for x, _ in plan.places.values())
    size = max(5.0, 0.6 + 2.2 * columns), max(2.8, 1.4 + 0.6 * plan.rows)
    figure, axes = _figure(*size, "Skill archive: prerequisites", banner)
    shades = colormaps["cividis"]
    for way in plan.ways.values():
        axes.add_patch(_edge(way))
    for entry in view.entries:
        x, y = plan.places[entry.name]
        shade = shades(_value(entry.evaluated))
        mutated = len(entry.versions) > 1
        axes.add_patch(
            FancyBboxPatch(
                (x - HALF_WIDTH, y - HALF_HEIGHT),
                2 * HALF_WIDTH,
                2 * HALF_HEIGHT,
                boxstyle="round,pad=0,rounding_size=0.06",
                facecolor=shade,
                edgecolor=VERMILION if mutated else "white",
                linewidth=2.2 if mutated else 0.8,
                zorder=2,
            )
        )
        ink = "white" if 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.55 else "black"
        axes.text(x, y, _caption(entry), ha="center", va="center", fontsize=7, color=ink, zorder=3, parse_math=False)
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(plan.rows + 0.05, -0.05)
    axes.set_xticks(range(columns), [str(x) for x in range(columns)])
    axes.set_yticks([])
    axes.set_xlabel(
        "depth: longest chain of prerequisites (arrows lead from prerequisite to skill)", fontsize=8, color=INK
    )
    for spine in axes.spines.values():
        spine.set_visible(False)
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), shades), ax=axes, fraction=0.025, pad=0.01)
    bar.set_label("success rate, last evaluation", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    _percent_axis(bar.ax.yaxis)
    if any(len(entry.versions) > 1 for entry in view.entries):
        axes.set_title("red frame: a mutation replaced the first version", fontsize=8, color=GREY, loc="left")
    return figure


def _edge(way: Sequence[tuple[int, float]]) -> Patch:
    """A smooth arrow along a way, from the right side of one box to the left side of another."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    (x, y), *between, (last_x, last_y) = way
    points, codes = [(x + HALF_WIDTH, y)], [Path.MOVETO]
    for next_x, next_y in (*between, (last_x - HALF_WIDTH, last_y)):
        here_x, here_y = points[-1]
        ends_here = (next_x, next_y) == (last_x - HALF_WIDTH, last_y)
        entry_x = next_x if ends_here else next_x - HALF_WIDTH
        middle = (here_x + entry_x) / 2
        points += [(middle, here_y), (middle, next_y), (entry_x, next_y)]
        codes += [Path.CURVE4] * 3
        if not ends_here:
            points.append((next_x + HALF_WIDTH, next_y))
            codes.append(Path.LINETO)
    return FancyArrowPatch(
        path=Path(points, codes), arrowstyle="-|>", mutation_scale=9, linewidth=0.9, color=GREY, zorder=1
    )


def _caption(entry: Entry) -> str:
    lines = _folded(label(entry.name, 36))
    return f"{lines}\n{100 * _value(entry.evaluated):.0f}%" if entry.evaluated.episodes else f"{lines}\nno episode"


def _folded(name: str, width: int = 18) -> str:
    """A name over two lines, broken before a capital or after an underscore where possible."""
    if len(name) <= width:
        return name
    middle = len(name) // 2
    breaks = [
        i for i in range(4, len(name) - 3) if (name[i].isupper() and not name[i - 1].isupper()) or name[i - 1] == "_"
    ]
    at = min(breaks, key=lambda i: abs(i - middle), default=middle)
    return f"{name[:at]}\n{name[at:]}"


# --- rates and fates -------------------------------------------------------------------------------------------------


def skills(rows: Sequence[SkillRow], banner: str = "", second: str = "reproduced") -> Figure:
    """Success rate of each skill: recorded, reproduced, and the prediction interval where one is known."""
    shown = rows[:MOST_SKILLS]
    title = "Success rate of skills: recorded and " + second + _cut(shown, rows)
    figure, axes = _figure(7.5, max(2.4, 1.5 + 0.27 * len(shown)), title, banner)
    axes.hlines(range(len(shown)), 0, 1, color=PALE, linewidth=0.6, zorder=0)
    banded = [(y, row.interval) for y, row in enumerate(shown) if row.interval is not None]
    if banded:
        axes.barh(
            [y for y, _ in banded],
            [interval.high - interval.low for _, interval in banded],
            left=[interval.low for _, interval in banded],
            height=0.5,
            color="#D0D0D0",
            label="prediction interval",
            zorder=1,
        )
    axes.scatter([_value(r.recorded) for r in shown], range(len(shown)), s=38, color=BLUE, label="recorded", zorder=3)
    again = [(_value(row.reproduced), y) for y, row in enumerate(shown) if row.reproduced is not None]
    if again:
        axes.scatter(
            [x for x, _ in again],
            [y for _, y in again],
            s=42,
            marker="D",
            facecolors="none",
            edgecolors=VERMILION,
            linewidths=1.5,
            label=second,
            zorder=4,
        )
    _names(axes, [row.name for row in shown])
    axes.set_xlim(-0.02, 1.02)
    _percent_axis(axes.xaxis)
    axes.set_xlabel("successes per evaluation episode", fontsize=8, color=INK)
    _legend(axes, 3)
    return figure


def achievements(rows: Sequence[AchievementRow], banner: str = "", second: str = "reproduced") -> Figure:
    """The world's own achievements while the matched skill is pursued, and the paper's numbers if its text has any."""
    shown = rows[:MOST_SKILLS]
    figure, axes = _figure(
        8.5, max(2.6, 1.6 + 0.36 * len(shown)), "Achievements of the world, by the world's own flags", banner
    )
    places = list(range(len(shown)))
    recorded = [_value(row.recorded) for row in shown]
    again = [(y, row.reproduced) for y, row in enumerate(shown) if row.reproduced is not None]
    shift = 0.18 if again else 0.0
    bars = axes.barh([y - shift for y in places], recorded, height=0.34, color=BLUE, label="recorded")
    axes.bar_label(bars, [f"{value:.0%}" for value in recorded], padding=2, fontsize=6, color=INK)
    if again:
        lengths = [_value(rate) for _, rate in again]
        lower = [y + shift for y, _ in again]
        bars = axes.barh(lower, lengths, height=0.34, color=ORANGE, hatch="//", edgecolor="white", label=second)
        axes.bar_label(bars, [f"{value:.0%}" for value in lengths], padding=2, fontsize=6, color=INK)
    for y, row in enumerate(shown):
        if row.paper and row.paper != "not public":
            axes.text(1.06, y, label(row.paper, 40), va="center", fontsize=7, color=GREY, parse_math=False)
    names = [f"{label(row.name, 26)}\nas {label(row.skill, 26)}" for row in shown]
    axes.set_yticks(places, names, parse_math=False, fontsize=7, linespacing=0.95)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.0)
    _percent_axis(axes.xaxis)
    axes.grid(axis="x", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("episodes in which the flag was set", fontsize=8, color=INK)
    axes.text(
        1.06,
        1.01,
        "the paper's text,\nat the paper's scale\n(blank: not public)",
        transform=axes.transAxes,
        va="bottom",
        fontsize=7,
        color=GREY,
    )
    _legend(axes, 2)
    return figure


def proposals(steps: Sequence[Step], banner: str = "") -> Figure | str:
    """How the proposals of each iteration ended, stacked; or why there is nothing to draw."""
    from matplotlib.ticker import MaxNLocator

    counts = fates(steps)
    if not counts:
        return "no proposal was decided"
    width = min(14.0, max(5.5, 2.5 + 0.45 * len(counts)))
    figure, axes = _figure(width, 3.6, "What became of the proposals", banner)
    places = range(len(counts))
    bottom = [0] * len(counts)
    for fate in FATES:
        heights = [each.get(fate, 0) for each in counts.values()]
        if any(heights):
            axes.bar(
                places,
                heights,
                bottom=bottom,
                width=0.7,
                color=FATE_COLOURS[fate],
                hatch=FATE_HATCHES[fate],
                edgecolor="white",
                linewidth=0.6,
                label=fate,
            )
            bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    every = max(1, len(counts) // 25)
    axes.set_xticks(list(places)[::every], [str(iteration) for iteration in counts][::every])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("iteration", fontsize=8, color=INK)
    axes.set_ylabel("proposals", fontsize=8, color=INK)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8, reverse=True)
    return figure


def rates(steps: Sequence[Step], banner: str = "") -> Figure | str:
    """Success rate of each skill after each iteration; or why there is nothing to draw."""
    from matplotlib.ticker import MaxNLocator

    history = rate_history(steps)
    if not history:
        return "no iteration ended with an evaluation"
    shown = dict(list(history.items())[:MOST_SKILLS])
    figure, axes = _figure(7.5, max(3.6, 0.19 * len(shown) + 1.2), "Success rate of skills over iterations", banner)
    colours = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, INK)
    styles = ("-", "--", ":", "-.")
    markers = ("o", "s", "^", "D", "v", "P", "X")
    for index, points in enumerate(shown.values()):
        axes.plot(
            [point.iteration for point in points],
            [_value(point.rate) for point in points],
            color=colours[index % len(colours)],
            linestyle=styles[index // len(colours) % len(styles)],
            marker=markers[(index + index // len(colours)) % len(markers)],
            markersize=4,
            linewidth=1.4,
        )
    _end_labels(axes, shown, colours)
    axes.set_ylim(-0.03, 1.03)
    _percent_axis(axes.yaxis)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.set_xlabel("iteration", fontsize=8, color=INK)
    axes.set_ylabel("successes per evaluation episode", fontsize=8, color=INK)
    return figure


def _end_labels(axes: Axes, shown: Mapping[str, Sequence[RatePoint]], colours: Sequence[str]) -> None:
    """Names at the right edge, near the line's end, pushed apart so that none hides another."""
    last = max(point.iteration for points in shown.values() for point in points)
    ends = [(points[-1], index, name) for index, (name, points) in enumerate(shown.items())]
    gap = 1.06 / max(14, len(ends))
    height = 1.06
    for point, index, name in sorted(ends, key=lambda end: (-_value(end[0].rate), end[1])):
        height = min(height - gap, _value(point.rate))
        colour = colours[index % len(colours)]
        axes.annotate(
            label(name),
            xy=(point.iteration, _value(point.rate)),
            xytext=(1.05, height),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=7,
            color=colour,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": colour, "relpos": (0, 0.5), "shrinkB": 3},
            annotation_clip=False,
            parse_math=False,
        )
    first = min(point.iteration for points in shown.values() for point in points)
    margin = max(0.1, 0.02 * (last - first))
    axes.set_xlim(first - margin, last + margin)


def _cut(shown: Sequence[object], every: Sequence[object]) -> str:
    return "" if len(shown) == len(every) else f" (first {len(shown)} of {len(every)})"
