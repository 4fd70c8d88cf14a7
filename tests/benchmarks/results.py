"""What a benchmark says: rows with a target, whether it was met, and the table that closes a run."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from attrs import asdict, field, frozen
from attrs.validators import in_

_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = MappingProxyType(
    {"≥": operator.ge, "≤": operator.le, "<": operator.lt, "=": operator.eq}
)


@frozen
class Target:
    """What a measurement must be: ``Target("≥", 2.5)``."""

    comparison: str = field(validator=in_(_COMPARISONS))
    value: float

    def met_by(self, measured: float) -> bool:
        """Whether ``measured`` itself, not its rounded print, fulfils the target; not-a-number never does."""
        return _COMPARISONS[self.comparison](measured, self.value)


def _is_number(_: object, __: object, value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"a measurement came out as {value}: the benchmark is at fault, look at its samples")


@frozen
class Row:
    """One measurement: a line of the closing table. ``samples`` are what ``measured`` is the median of, if anything."""

    figure: str
    what: str
    measured: float = field(validator=_is_number)
    unit: str
    target: Target | None = None
    samples: tuple[float, ...] = ()

    @property
    def verdict(self) -> str:
        """``met``, ``missed``, or ``-`` where there is no target."""
        if self.target is None:
            return "-"
        return "met" if self.target.met_by(self.measured) else "missed"


def median_row(figure: str, what: str, samples: Sequence[float], unit: str, target: Target | None = None) -> Row:
    """A row of the median of ``samples``.

    Raises:
        ValueError: if there are none.
    """
    if not samples:
        raise ValueError(f"{figure}: nothing was measured")
    return Row(figure, what, statistics.median(samples), unit, target, tuple(samples))


def shown(value: float, unit: str) -> str:
    """A number at three significant digits, or as an integer from 100 on, with its unit."""
    if abs(value) >= 100 or value == int(value):
        text = f"{value:,.0f}"
    else:
        text = f"{value:#.3g}".rstrip(".")
    return f"{text} {unit}".strip()


def spread(row: Row) -> str:
    """Lowest and highest sample, empty with fewer than two."""
    if len(row.samples) < 2:
        return ""
    return f"{shown(min(row.samples), '')} to {shown(max(row.samples), '')} of {len(row.samples)}"


def table(rows: Sequence[Row]) -> str:
    """Figure, measured, spread, target, met or missed: one line per row under a heading, columns aligned."""
    lines = [("figure", "what", "measured", "spread", "target", "verdict")]
    for row in rows:
        target = "-" if row.target is None else f"{row.target.comparison} {shown(row.target.value, row.unit)}"
        lines.append((row.figure, row.what, shown(row.measured, row.unit), spread(row), target, row.verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join((texts[0], "  ".join("-" * width for width in widths), *texts[1:]))


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain data, with their verdicts."""
    return [{**asdict(row), "verdict": row.verdict} for row in rows]
