"""Note: a decision of the loop, written down with the integers it rests on."""

from __future__ import annotations

from attrs import field, frozen

from ledger.vocabulary.body import Body
from ledger.vocabulary.comparison import CLOSE, compared
from ledger.vocabulary.effect import Effect
from ledger.vocabulary.vet import Program


@frozen
class Rate:
    """``successes`` of ``episodes``; no episode yet counts as rate 0."""

    successes: int
    episodes: int


@frozen
class Judged:
    """The judge's choice among this iteration's candidates (at most two), with its reason."""

    chosen: tuple[str, ...]
    reason: Body


@frozen
class Admitted:
    """A candidate enters the archive: its success rate rose by at least tau (paper 000, section 2.3).

    ``chance`` is the probability that a skill without progress, at the pooled rate, would have passed.
    """

    program: Program
    category: str
    before: Rate
    after: Rate
    chance: float = field(metadata=compared(CLOSE))


@frozen
class Failed:
    """A proposal that did not enter the archive, the stage where it ended, and why.

    ``stage`` is ``propose`` or ``implement`` (no readable answer), ``judge`` (not chosen), ``compile`` (still refused
    after repair) or ``learnability`` (no progress). The last two are shown to the model in later iterations.
    """

    name: str
    description: str
    category: str
    stage: str
    reason: str
    before: Rate | None = None
    after: Rate | None = None


@frozen
class Rates:
    """Fresh evaluation of every archived skill: feeds admission, mutation and prompts."""

    names: tuple[str, ...]
    rates: tuple[Rate, ...]


@frozen
class Practised:
    """Attempts of the last training phase, as target: feed the sampling weight B and the rewards."""

    names: tuple[str, ...]
    rates: tuple[Rate, ...]


@frozen
class Adopted:
    """A mutation replaces its parent in place: strictly more successes on the same keys (paper 000, section 2.4)."""

    program: Program
    heuristic: str
    parent: Rate
    mutant: Rate


@frozen
class Kept:
    """The parent stays: no valid mutant had strictly more successes."""

    name: str
    parent: Rate
    best_mutant: Rate | None
    valid_mutants: int


@frozen
class Matched:
    """Per achievement: the archived skill whose name is nearest in embedding space, and its own-flag success rate."""

    achievements: tuple[str, ...]
    skills: tuple[str, ...]
    similarity: tuple[float, ...] = field(metadata=compared(CLOSE))
    rates: tuple[Rate, ...]


Decision = Judged | Admitted | Failed | Rates | Practised | Adopted | Kept | Matched


@frozen
class Noted:
    """Nothing comes back from a note."""


@frozen
class Note(Effect[Noted]):
    """Write a decision down; the archive and every table are folds over these."""

    decision: Decision
