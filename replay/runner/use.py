"""The uses of a recording: which kinds of effect are recomputed, and what happens at a difference."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.draw import Draw
from ledger.vocabulary.effect import Effect
from ledger.vocabulary.evaluate import Evaluate
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey
from ledger.vocabulary.train import Train
from ledger.vocabulary.vet import Vet

Kind = type[Effect[object]]


@frozen
class Use:
    """Two switches: the kinds whose outcomes are recomputed and compared, and whether to carry on at a difference.

    A difference of structure always stops. ``perform`` allows effects beyond the recording to be performed; ``resume``
    and ``run`` are the same thing.
    """

    name: str
    recompute: frozenset[type]
    carry_on: bool
    perform: bool = False


_HOST = frozenset({Settings, Draw})
_PROGRAMS = _HOST | {Survey, Vet}
_TRAINING = _PROGRAMS | {Train, Evaluate}

LIVE = Use("run", _HOST, carry_on=False, perform=True)
DECIDE = Use("decide", _HOST, carry_on=True)
PROGRAMS = Use("programs", _PROGRAMS, carry_on=True)
STRICT = Use("strict", _TRAINING, carry_on=False)
FORCED = Use("forced", _TRAINING, carry_on=True)
