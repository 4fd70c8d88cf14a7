"""Which trained agents of CODE-SHARP can still be named by a later step, told from the paths of what was done so far.

What a loop may still name decides which checkpoints a resume needs: a change of the paths of its training steps, or of
the agents that it goes back to, is a change here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ledger.vocabulary.path import Path

_ITERATION = re.compile(r"iteration=(\d+)/")
_EPOCH = re.compile(r"(?P<phase>iteration=(?P<iteration>\d+)/(?:learnability/)?train)/epoch=\d+")


def carried(made: Iterable[Path]) -> tuple[Path, ...]:
    """The agents that went on from one iteration to the next: the last of each archive training, oldest first.

    ``made`` are the paths of all completed training steps in their order. The copy of a learnability evaluation never
    goes on by itself: where it is kept, an archive training starts from it in the same iteration.
    """
    last: dict[str, Path] = {}
    for path in made:
        found = _EPOCH.fullmatch(path.text)
        if found and "/learnability/" not in path.text:
            last[found["iteration"]] = path
    return tuple(last.values())


def needed(made: Sequence[Path], at: Path | None) -> frozenset[Path]:
    """The agents that a step after the one at ``at`` may name; ``None`` before the first.

    Inside an iteration: the agent that it began with, and the latest one of each of its phases. Outside: the agent that
    was carried last.
    """
    now = _ITERATION.match(at.text) if at is not None else None
    earlier = carried(path for path in made if now is None or not path.text.startswith(now[0]))
    latest: dict[str, Path] = {}
    for path in made:
        found = _EPOCH.fullmatch(path.text)
        if found is None:
            latest[path.text] = path  # no training step of this loop: nothing is known of it
        elif now is not None and path.text.startswith(now[0]):
            latest[found["phase"]] = path
    return frozenset((*earlier[-1:], *latest.values()))
