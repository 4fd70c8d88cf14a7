"""The events of a ledger. Semantic ones make up the experiment; operational ones tell how it came about."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.ask import Ask, Part, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.note import Note, Noted
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey, Surveyed
from ledger.vocabulary.train import Train, Trained
from ledger.vocabulary.vet import Vet, Vetted

AnyEffect = Settings | Survey | Ask | Embed | Vet | Draw | Train | Evaluate | Note
AnyOutcome = Config | Surveyed | Reply | Embedded | Vetted | Drawn | Trained | Evaluated | Noted

OUTCOME_OF: dict[type[AnyEffect], type[AnyOutcome]] = {
    Settings: Config,
    Survey: Surveyed,
    Ask: Reply,
    Embed: Embedded,
    Vet: Vetted,
    Draw: Drawn,
    Train: Trained,
    Evaluate: Evaluated,
    Note: Noted,
}
"""The outcome type of every effect type: a total table, tested against the annotations."""


@frozen
class UserTemplate:
    """A prompt template of the user's own (``prompts_dir``), stored with the run so that a replay needs no folder."""

    name: str
    text: Body


# --- semantic events -------------------------------------------------------------------------------------------------


@frozen
class Started:
    """An experiment begins: which loop, which version of its logic, which configuration.

    ``templates`` and ``documents`` are the user's own prompt templates and auxiliary documents; released templates are
    named by the configuration and come with the package.
    """

    loop: str
    logic: str
    config: Config
    templates: tuple[UserTemplate, ...] = ()
    documents: tuple[Part, ...] = ()


@frozen
class Step:
    """One completed effect, in the order the loop declared it."""

    effect: AnyEffect
    outcome: AnyOutcome


@frozen
class Finished:
    """The loop returned. ``skills`` is the archive's size, ``agent`` the path of the last agent."""

    iterations: int
    skills: tuple[str, ...]
    agent: Path


# --- operational events ----------------------------------------------------------------------------------------------


@frozen
class Attempt:
    """A request leaves for the outside: durable before it is sent."""

    effect: AnyEffect


@frozen
class Arrived:
    """An outcome that came out of turn: durable at once, so that nothing paid for is lost."""

    path: Path
    outcome: AnyOutcome


@frozen
class Metric:
    """One number of a progress row."""

    name: str
    value: float


@frozen
class Progress:
    """A long step is under way: ``done`` of ``total`` steps, with a checkpoint to resume from, if one was written."""

    path: Path
    done: int
    total: int
    checkpoint: str | None
    metrics: tuple[Metric, ...]


@frozen
class Fact:
    """One fact about the machine, the software or the endpoint of a session."""

    name: str
    value: str


@frozen
class Session:
    """A process opens the run: the fingerprint of machine and software, the transport, declared limits of knowledge."""

    purpose: str
    facts: tuple[Fact, ...]


@frozen
class Forked:
    """This ledger continues another: its run, the last inherited sequence number, the digest of that prefix."""

    parent: str
    sequence: int
    prefix_digest: str


SemanticEvent = Started | Step | Finished
OperationalEvent = Attempt | Arrived | Progress | Session | Forked
Event = SemanticEvent | OperationalEvent

SEMANTIC: tuple[type[SemanticEvent], ...] = (Started, Step, Finished)


# --- envelope --------------------------------------------------------------------------------------------------------


@frozen
class Usage:
    """Tokens that an endpoint reported for a call; operational, so outside the semantic digest."""

    prompt_tokens: int
    completion_tokens: int


SOURCES = ("live", "recorded", "inherited", "edited")
