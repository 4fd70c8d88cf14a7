"""Comparing recorded with recomputed values, field by field, as each field declares in the vocabulary."""

from __future__ import annotations

import difflib
import math
import reprlib
from collections.abc import Iterator
from typing import Any

import attrs
from attrs import frozen

from ledger.codec import canonical
from ledger.vocabulary.ask import Ask
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.comparison import CLOSE, CLOSE_TOLERANCE, EXACT, KEY, NUMERIC, REPORTED
from ledger.vocabulary.draw import Draw
from ledger.vocabulary.embed import Embed
from ledger.vocabulary.evaluate import Evaluate
from ledger.vocabulary.note import Note
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey
from ledger.vocabulary.train import Train
from ledger.vocabulary.vet import Vet
from replay.runner.divergence import Divergence, DivergenceClass

_EFFECT_CLASS = {
    Settings: DivergenceClass.STRUCTURE,
    Survey: DivergenceClass.ENVIRONMENT,
    Ask: DivergenceClass.PROMPT,
    Embed: DivergenceClass.DECISION,
    Vet: DivergenceClass.PROGRAM,
    Draw: DivergenceClass.DECISION,
    Train: DivergenceClass.DECISION,
    Evaluate: DivergenceClass.DECISION,
    Note: DivergenceClass.DECISION,
}
_OUTCOME_CLASS = {
    **_EFFECT_CLASS,
    Settings: DivergenceClass.DECISION,
    Train: DivergenceClass.NUMERIC,
    Evaluate: DivergenceClass.NUMERIC,
}
SIDES = ("effect", "outcome")


@frozen
class Difference:
    """One differing leaf: dotted name, both values, and how the field is compared."""

    name: str
    recorded: Any
    recomputed: Any
    comparison: str


def differences(recorded: Any, recomputed: Any) -> tuple[Difference, ...]:
    """Leaves in which two values of the vocabulary differ; canonical bytes decide, never ``==``.

    Where the canonical bytes of the whole are equal nothing is walked.
    """
    if type(recorded) is type(recomputed) and canonical(recorded) == canonical(recomputed):
        return ()
    return tuple(_walk("", recorded, recomputed, EXACT))


def _walk(name: str, old: Any, new: Any, how: str) -> Iterator[Difference]:
    if how == REPORTED:
        return
    if isinstance(old, Body | Data) and isinstance(new, Body | Data):  # a stored body is a subclass that loads lazily
        if old.digest != new.digest:
            yield Difference(name, old, new, how)
    elif type(old) is not type(new):
        yield Difference(name, old, new, how)
    elif attrs.has(type(old)):
        for each in attrs.fields(type(old)):
            inner = each.metadata.get(KEY, how)
            yield from _walk(_join(name, each.name), getattr(old, each.name), getattr(new, each.name), inner)
    elif isinstance(old, tuple):
        if len(old) != len(new):
            yield Difference(_join(name, "length"), len(old), len(new), how)
        for index, (a, b) in enumerate(zip(old, new, strict=False)):
            yield from _walk(f"{name}[{index}]", a, b, how)
    elif isinstance(old, float) and how == CLOSE:
        if not _close(old, new):
            yield Difference(name, old, new, how)
    elif canonical(old) != canonical(new):
        yield Difference(name, old, new, how)


def _join(name: str, inner: str) -> str:
    return f"{name}.{inner}" if name else inner


def _close(old: float, new: float) -> bool:
    return math.isclose(old, new, rel_tol=CLOSE_TOLERANCE, abs_tol=CLOSE_TOLERANCE) or canonical(old) == canonical(new)


def divergences(effect: Any, sequence: int | None, side: str, old: Any, new: Any) -> tuple[Divergence, ...]:
    """Differences as divergences of the class that the effect's kind and the field's comparison give.

    Args:
        effect: the recorded effect, whose kind and path name the place.
        side: ``effect`` for what the loop yields, ``outcome`` for what a performer computes.
    """
    classes = _EFFECT_CLASS if side == "effect" else _OUTCOME_CLASS
    kind = classes[type(effect)]
    found = []
    for each in differences(old, new):
        numeric = each.comparison == NUMERIC
        found.append(
            Divergence(
                kind=DivergenceClass.NUMERIC if numeric else kind,
                sequence=sequence,
                path=str(effect.path),
                side=side,
                field=each.name,
                recorded=_short(each.recorded),
                recomputed=_short(each.recomputed),
                diff=_diff(each),
            )
        )
    return tuple(found)


def _short(value: Any) -> str:
    if isinstance(value, Body):
        return f"text {value.digest[:12]} of {len(value.raw)} bytes"
    if isinstance(value, Data):
        return f"data {value.digest[:12]} of {len(value.raw)} bytes"
    return reprlib.repr(value)


def _diff(each: Difference) -> str:
    if not (isinstance(each.recorded, Body) and isinstance(each.recomputed, Body)):
        return ""
    lines = difflib.unified_diff(
        each.recorded.text.splitlines(),
        each.recomputed.text.splitlines(),
        "recorded",
        "recomputed",
        lineterm="",
        n=2,
    )
    return "\n".join(lines)
