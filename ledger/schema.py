"""Versions of the vocabulary: how events of an older one are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from ledger.errors import UnknownFormat


@frozen
class Schema:
    """The version of the vocabulary, and how a plain event of an older one becomes one of the next.

    An upcaster is total and pure: it takes a plain event of its version and returns one of the version after it; bodies
    are opaque to it. Stored bytes never change.
    """

    version: int
    upcasters: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]

    def upcast(self, tree: dict[str, Any], version: int) -> dict[str, Any]:
        """Bring a plain event of an older version up to this one.

        Raises:
            UnknownFormat: if the version is newer than this one.
        """
        if not 1 <= version <= self.version:
            raise UnknownFormat(f"these events have schema version {version}; this program knows 1 to {self.version}")
        for step in range(version, self.version):
            tree = self.upcasters[step](tree)
        return tree


def _with_sources(tree: dict[str, Any]) -> dict[str, Any]:
    """1 to 2: ``Known`` gained ``source``, whose absence means None; nothing stored has to change."""
    return tree


SCHEMA = Schema(version=2, upcasters={1: _with_sources})
"""The current vocabulary. A changed meaning is a new version with an upcaster from the one before."""
