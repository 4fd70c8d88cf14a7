"""The mutation proposal generator: one change of a skill's initiation set per call (paper 000, section 2.4)."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from fm.library import Library
from fm.parse import Fault, answer_text, json_object
from fm.roles.context import Context, SkillCard, compose, fenced, percentage
from fm.roles.heuristics import mutation_heuristic_named
from fm.roles.requirements import READ_SCHEMA, Requirements, requirements, schema, text_field
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path

ROLE: Final = "mutate"

KEEP_SUCCESS: Final = "The success condition stays exactly as it is: both versions are measured by the same goal."
CHANGE_SUCCESS: Final = (
    "The success condition may change too, if it is wrong: say so in the summary, and keep the goal that the name and "
    "the description promise."
)

_READ: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "requirements": READ_SCHEMA},
    "required": ["summary", "requirements"],
}


@frozen
class Mutation:
    """A changed initiation set in pseudo-code: ``requirements`` is the whole new list, ``summary`` says what is new."""

    summary: str
    requirements: Requirements


def eligible(context: Context, parent: str) -> tuple[str, ...]:
    """Skills that may be prerequisites of ``parent`` without closing a cycle, in the archive's order."""
    requires = {card.name: card.requires for card in context.archive}

    def reaches(name: str) -> bool:
        seen: list[str] = [name]
        for each in seen:
            seen.extend(other for other in requires.get(each, ()) if other not in seen)
        return parent in seen

    return tuple(name for name in requires if not reaches(name))


def ask(
    path: Path,
    context: Context,
    parent: SkillCard,
    heuristic: str,
    library: Library,
    foundation_model: FoundationModel,
    may_change_success: bool = False,
) -> Ask:
    """Ask for one mutation of ``parent`` along ``heuristic`` (a name in ``heuristics.MUTATION_HEURISTICS``).

    Raises:
        ValueError: if there is no such heuristic.
    """
    guide = mutation_heuristic_named(heuristic)
    allowed = eligible(context, parent.name)
    answer = {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "summary": {"type": "string"},
            "requirements": schema(allowed),
        },
        "required": ["reasoning", "summary", "requirements"],
        "additionalProperties": False,
    }
    values = {
        "name": parent.name,
        "source": fenced(parent.source, "python"),
        "rate": percentage(parent.successes, parent.episodes),
        "heuristic": guide.name,
        "guidance": guide.guidance,
        "eligible": ", ".join(allowed) if allowed else "none",
        "success_rule": CHANGE_SUCCESS if may_change_success else KEEP_SUCCESS,
    }
    return compose(path, ROLE, context, library, foundation_model, values, answer)


def read(reply: Reply, parent: str = "", allowed: tuple[str, ...] | None = None) -> Mutation | Fault:
    """The mutation in a reply. With ``allowed`` (see ``eligible``), every prerequisite must be among those names."""
    text = answer_text(reply)
    if isinstance(text, Fault):
        return text
    answer = json_object(text, _READ)
    if isinstance(answer, Fault):
        return answer
    summary = text_field(answer, "summary")
    if isinstance(summary, Fault):
        return summary
    pairs = requirements(answer, allowed, parent)
    return pairs if isinstance(pairs, Fault) else Mutation(summary, pairs)
