"""The skill proposal generator: one candidate in pseudo-code per call and category (paper 000, section 2.3)."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from fm.library import Library
from fm.parse import Fault, answer_text, json_object
from fm.roles.context import Context, compose
from fm.roles.heuristics import category_named
from fm.roles.requirements import (
    MAX_DESCRIPTION,
    NAME_PATTERN,
    READ_SCHEMA,
    Requirements,
    requirements,
    schema,
    skill_name,
    text_field,
)
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path

ROLE: Final = "propose"

_READ: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "success": {"type": "string"},
        "requirements": READ_SCHEMA,
    },
    "required": ["name", "description", "success", "requirements"],
}


@frozen
class Proposal:
    """A candidate in pseudo-code: ``success`` and each condition say in words what is to be checked."""

    name: str
    description: str
    success: str
    requirements: Requirements


def ask(
    path: Path,
    context: Context,
    category: str,
    library: Library,
    foundation_model: FoundationModel,
    avoid: tuple[str, ...] = (),
) -> Ask:
    """Ask for one new skill of ``category`` (a name in ``heuristics.CATEGORIES``).

    ``avoid`` names skills that other calls of this iteration have already proposed.

    Raises:
        ValueError: if there is no such category.
    """
    heuristic = category_named(category)
    answer = {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "name": {"type": "string", "pattern": NAME_PATTERN},
            "description": {"type": "string"},
            "success": {"type": "string"},
            "requirements": schema(tuple(card.name for card in context.archive)),
        },
        "required": ["reasoning", "name", "description", "success", "requirements"],
        "additionalProperties": False,
    }
    values = {
        "category": heuristic.name,
        "guidance": heuristic.guidance,
        "avoid": ", ".join(avoid) if avoid else "none so far",
    }
    return compose(path, ROLE, context, library, foundation_model, values, answer)


def read(reply: Reply, archive: tuple[str, ...] | None = None) -> Proposal | Fault:
    """The proposal in a reply. With ``archive`` (names), prerequisites must be among them and the name must not."""
    text = answer_text(reply)
    if isinstance(text, Fault):
        return text
    answer = json_object(text, _READ)
    if isinstance(answer, Fault):
        return answer
    name = skill_name(answer, "name")
    if isinstance(name, Fault):
        return name
    if archive is not None and name in archive:
        return Fault(f"{name} is already in the archive. Propose another skill, or a name that tells the two apart.")
    description = text_field(answer, "description", MAX_DESCRIPTION)
    if isinstance(description, Fault):
        return description
    success = text_field(answer, "success")
    if isinstance(success, Fault):
        return success
    pairs = requirements(answer, archive, name)
    if isinstance(pairs, Fault):
        return pairs
    return Proposal(name, description, success, pairs)
