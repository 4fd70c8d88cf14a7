"""The states that an explanation shows, as PNG files: the previous state on the left, the state on the right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import imageio.v3 as imageio

from engine.worlds.pictures import Drawing, side_by_side
from replay.verdicts import Verdict
from replay.witness_text import wanted

MOST_NAME = 60
_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


def draw(
    verdict: Verdict, world: Drawing, conditions: Sequence[str], folder: Path, prefix: str = ""
) -> tuple[Path, ...]:
    """Draw the states of ``success`` and of ``conditions`` into ``folder``; nothing if none were sampled.

    Raises:
        OSError: if a file cannot be written.
    """
    if verdict.compiled is None or not verdict.truths:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for truth in wanted(verdict.truths, conditions):
        for value, witness in (("true", truth.when_true), ("false", truth.when_false)):
            if witness is not None:
                name = "-".join((_fit(verdict.compiled.name), _fit(truth.name), value))
                written.append(folder / f"{prefix}{name}.png")
                imageio.imwrite(written[-1], side_by_side(world, witness.previous, witness.state))
    return tuple(written)


def _fit(name: str) -> str:
    return _UNFIT.sub("-", name).strip("-")[:MOST_NAME]
