"""What paper 000 says in its text about achievements of Craftax-Classic; everything else is not public.

The per-achievement numbers stand in Appendix C and in a figure, and neither is public as text. A table of ours shows
these values beside its own and ``NOT_PUBLIC`` elsewhere; it never estimates a number from a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from attrs import frozen


@frozen
class PaperNumber:
    """A success rate as the paper words it (``16%``, ``over 94%``), and the place where it stands."""

    text: str
    cited: str


@frozen
class PaperOverall:
    """Median and mean success rate over the 22 achievements, in per cent, as printed."""

    median: str
    mean: str
    cited: str


SECTION: Final = "paper 000, section 3.1"

NOT_PUBLIC: Final = PaperNumber("not public", "paper 000, Appendix C (not public)")

PAPER_NUMBERS: Final[Mapping[str, PaperNumber]] = MappingProxyType(
    {
        "make_iron_pickaxe": PaperNumber("over 94%", SECTION),
        "make_iron_sword": PaperNumber("over 94%", SECTION),
        "collect_diamond": PaperNumber("16% (single runs up to 39%)", SECTION),
    }
)
"""CODE-SHARP on Craftax-Classic, for the achievements that the text names."""

PAPER_OVERALL: Final[Mapping[str, PaperOverall]] = MappingProxyType(
    {
        "CODE-SHARP": PaperOverall("94.8", "67.2", SECTION),
        "CODE-FRP": PaperOverall("38.9", "44.2", SECTION),
        "OMNI": PaperOverall("15.8", "39.2", SECTION),
        "ELLM": PaperOverall("8.1", "39.8", SECTION),
    }
)
"""Craftax-Classic, by method."""


def paper_number(achievement: str) -> PaperNumber:
    """The paper's number for an achievement of Craftax-Classic, or ``NOT_PUBLIC``."""
    return PAPER_NUMBERS.get(achievement, NOT_PUBLIC)
