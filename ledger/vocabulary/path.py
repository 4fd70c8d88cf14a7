"""Where a step happens inside an experiment: explicit, immutable, passed down."""

from __future__ import annotations

import re

from attrs import field, frozen

_SEGMENT = re.compile(r"[A-Za-z0-9_.=\[\]-]+")


def _well_formed(_: Path, __: object, text: str) -> None:
    for segment in text.split("/"):
        if not _SEGMENT.fullmatch(segment) or segment in (".", ".."):
            raise ValueError(f"{text!r} is no step path: {segment!r} is not a name of letters, digits and _.=[]-")


@frozen(order=True)
class Path:
    """A step's place, such as ``iteration=12/implement[2]/repair=1``.

    Raises:
        ValueError: if a segment is empty, ``.``, ``..`` or holds anything but letters, digits and ``_.=[]-``.
    """

    text: str = field(validator=_well_formed)

    def __truediv__(self, segment: str) -> Path:
        return Path(f"{self.text}/{segment}")

    def __str__(self) -> str:
        return self.text
