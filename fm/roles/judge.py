"""The skill proposal judge: up to two candidates go on to learnability evaluation (paper 000, section 2.3)."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from fm.library import Library
from fm.parse import Fault, answer_text, json_object
from fm.roles.context import Context, compose, fenced, one_line
from fm.roles.requirements import text_field
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path

ROLE: Final = "judge"

_READ: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "chosen": {"type": "array", "items": {"type": "string"}}},
    "required": ["reason", "chosen"],
}


@frozen
class Candidate:
    """An implemented proposal. ``verdict`` is what the compiler said: accepted, with its warnings, or the refusal."""

    label: str
    name: str
    description: str
    source: str
    verdict: str


@frozen
class Choice:
    """Labels of the chosen candidates, best first, and why."""

    chosen: tuple[str, ...]
    reason: str


def ask(
    path: Path,
    context: Context,
    candidates: tuple[Candidate, ...],
    max_chosen: int,
    library: Library,
    foundation_model: FoundationModel,
) -> Ask:
    """Ask which candidates, at most ``max_chosen``, are worth training on.

    Raises:
        ValueError: if there is no candidate, or two share a label.
    """
    labels = [candidate.label for candidate in candidates]
    if not labels or len(set(labels)) != len(labels):
        raise ValueError(f"a judge needs candidates with distinct labels, not {labels}")
    answer = {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "chosen": {"type": "array", "items": {"type": "string", "enum": labels}, "maxItems": max_chosen},
        },
        "required": ["reason", "chosen"],
        "additionalProperties": False,
    }
    values = {
        "candidates": "\n\n".join(map(_shown, candidates)),
        "labels": ", ".join(labels),
        "max_chosen": str(max_chosen),
    }
    return compose(path, ROLE, context, library, foundation_model, values, answer)


def read(reply: Reply, labels: tuple[str, ...], max_chosen: int) -> Choice | Fault:
    """The judge's choice in a reply; none is a choice too."""
    text = answer_text(reply)
    if isinstance(text, Fault):
        return text
    answer = json_object(text, _READ)
    if isinstance(answer, Fault):
        return answer
    reason = text_field(answer, "reason")
    if isinstance(reason, Fault):
        return reason
    chosen = answer.get("chosen")
    if not isinstance(chosen, list) or not all(isinstance(label, str) for label in chosen):
        return Fault('"chosen" must be a list of labels; it may be empty.')
    for label in chosen:
        if label not in labels:
            return Fault(f"{one_line(label, 60)!r} is no label; the labels are {', '.join(labels)}.")
    twice = [label for label in labels if chosen.count(label) > 1]
    if twice:
        return Fault(f'"chosen" names {", ".join(twice)} more than once. Name each candidate at most once.')
    if len(chosen) > max_chosen:
        return Fault(f'"chosen" names {len(chosen)} candidates; at most {max_chosen} may be chosen. Keep the best.')
    return Choice(tuple(chosen), reason)


def _shown(candidate: Candidate) -> str:
    return (
        f"### {candidate.label}: {candidate.name}\n\n{candidate.description.strip()}\n\n"
        f"{fenced(candidate.source, 'python')}\n\nCompiler: {candidate.verdict.strip()}"
    )
