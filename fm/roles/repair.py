"""Repair: the same call again, with the answer it got and the reason why that could not be used.

One form for two cases: a reply that cannot be read, and a program that the compiler refused (paper 000, section 2.3:
code and error go back to the implementor, up to three times).
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from fm.library import Library
from fm.parse import Fault, answer_text
from fm.roles.context import fenced, part
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Refusal

TEMPLATE: Final = "repair"
MAX_SHOWN: Final = 40_000
"""Characters of an answer that are shown again: a runaway answer must not fill the next prompt."""


def ask(
    path: Path, previous: Ask, reply: Reply, reason: str, library: Library, foundation_model: FoundationModel
) -> Ask:
    """Ask ``previous`` again, adding the reply (without thinking text) and the ``reason`` why it cannot be used.

    Repairs can be repaired: every round adds one part, ``repair 1``, ``repair 2``, ….
    """
    template = library.get(TEMPLATE)
    number = 1 + sum(shown.name.startswith(f"{TEMPLATE} ") for shown in previous.parts)
    text = template.fill({"answer": _answer(reply), "reason": fenced(reason)})
    return evolve(
        previous,
        path=path,
        template=template.label,
        parts=(*previous.parts, part(f"{TEMPLATE} {number}", text)),
        model=foundation_model.model,
        sampling=foundation_model.sampling,
    )


def explain(refusal: Refusal, source: str) -> str:
    """A refusal for the model that wrote ``source``: the reason, the line with a caret, a suggestion."""
    lines = source.splitlines()
    text = [refusal.reason]
    if 1 <= refusal.line <= len(lines):
        number, line = f"{refusal.line:>4} | ", lines[refusal.line - 1].expandtabs(1)
        text += [f"line {refusal.line}, column {refusal.column}:", number + line]
        if 1 <= refusal.column <= len(line) + 1:
            text.append(" " * (len(number) + refusal.column - 1) + "^")
    if refusal.suggestion:
        text.append(refusal.suggestion)
    return "\n".join(text)


def _answer(reply: Reply) -> str:
    text = answer_text(reply)
    if isinstance(text, Fault):
        return "(no answer that could be read)"
    if len(text) > MAX_SHOWN:
        cut = len(text) - MAX_SHOWN
        text = f"{text[:MAX_SHOWN]}\n… ({cut:,} more characters are not shown)"
    return fenced(text)
