"""The base context: what every call is shown, whatever its role (paper 000, section 2.3).

Part boundaries follow what changes together, so that a run stores each equal part once: a file of the world's source,
the language page, each skill's program, the success rates, the failed proposals. What never changes comes first,
which is what endpoints that keep a prompt's prefix need.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from fm.library import Library
from ledger.vocabulary.ask import Ask, Part
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path

PRIMER: Final = "primer"
TASK: Final = "task"

MAX_LISTED: Final = 400
"""Characters of a description or reason in the lists of skills and failed proposals."""


@frozen
class SkillCard:
    """An archived skill as the model sees it.

    ``requires`` holds the prerequisites in the order of their conditions; ``successes`` of ``episodes`` come from
    the last evaluation.
    """

    name: str
    description: str
    source: str
    requires: tuple[str, ...]
    successes: int
    episodes: int


@frozen
class FailureCard:
    """A proposal that did not enter the archive: at which stage it failed, and why."""

    name: str
    description: str
    stage: str
    reason: str


@frozen
class Context:
    """What a call is shown besides its task.

    ``world`` names the world; ``source`` holds one part per file of its source, without rewards and achievements;
    ``language`` is the reference page of the programs' language; ``documents`` are optional texts of the user's own.
    """

    world: str
    source: tuple[Part, ...]
    language: Body
    archive: tuple[SkillCard, ...] = ()
    failures: tuple[FailureCard, ...] = ()
    documents: tuple[Part, ...] = ()


def base_parts(context: Context) -> tuple[Part, ...]:
    """The parts shared by every call on ``context``: source, language, documents, archive, rates, failed proposals."""
    return (
        *(_file(part) for part in context.source),
        Part("language", context.language),
        *context.documents,
        *(part(f"skill {card.name}", fenced(card.source, "python")) for card in context.archive),
        part("archive", _archive(context.archive)),
        part("failed proposals", _failures(context.failures)),
    )


def part(name: str, text: str) -> Part:
    """A part that any endpoint accepts: lone surrogates, which models can write, become replacement characters."""
    return Part(name, Body(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))


def compose(
    path: Path,
    role: str,
    context: Context,
    library: Library,
    foundation_model: FoundationModel,
    values: Mapping[str, str],
    schema: Mapping[str, Any] | None = None,
) -> Ask:
    """The call of ``role``: primer, base context, then the role's template filled with ``values``.

    Raises:
        TemplateError: if ``values`` are not the placeholders of the template.
    """
    template = library.get(role)
    primer = library.get(PRIMER).fill({"world": context.world})
    return Ask(
        path=path,
        role=role,
        template=template.label,
        parts=(part(PRIMER, primer), *base_parts(context), part(TASK, template.fill(values))),
        model=foundation_model.model,
        sampling=foundation_model.sampling,
        schema=None if schema is None else json.dumps(schema, separators=(",", ":")),
    )


def fenced(text: str, language: str = "") -> str:
    """``text`` in a Markdown fence that is longer than any run of backticks inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def one_line(text: str, limit: int) -> str:
    """``text`` for a place in a list: every run of white space as one blank, at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def percentage(successes: int, episodes: int) -> str:
    """A success rate for people and models: ``37 % (19 of 51 episodes)``, or ``not evaluated yet``."""
    if not episodes:
        return "not evaluated yet"
    return f"{(200 * successes + episodes) // (2 * episodes)} % ({successes} of {episodes} episodes)"


def _file(file: Part) -> Part:
    # Unfenced, a comment of the source would look like the heading of a part.
    return part(file.name, fenced(file.text.text, "python")) if file.name.endswith(".py") else file


def _archive(archive: tuple[SkillCard, ...]) -> str:
    if not archive:
        return "The archive is empty: the agent has not been trained on any skill yet."
    lines = []
    for card in archive:
        requires = f"requires {', '.join(card.requires)}" if card.requires else "requires nothing"
        rate = percentage(card.successes, card.episodes)
        lines.append(f"- {card.name}: success rate {rate}; {requires}. {one_line(card.description, MAX_LISTED)}")
    return "\n".join(lines)


def _failures(failures: tuple[FailureCard, ...]) -> str:
    if not failures:
        return "No proposal has failed yet."
    return "\n".join(
        f"- {one_line(card.name, MAX_LISTED)} ({card.stage}): {one_line(card.description, MAX_LISTED)}\n"
        f"  Reason: {one_line(card.reason, MAX_LISTED)}"
        for card in failures
    )
