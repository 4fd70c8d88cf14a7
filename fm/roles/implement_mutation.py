"""The mutation implementor: a mutation in pseudo-code becomes a new version of its parent (paper 000, section 2.4)."""

from __future__ import annotations

from typing import Final

from fm.library import Library
from fm.parse import Fault, answer_text, code_block
from fm.roles.context import Context, SkillCard, compose, fenced
from fm.roles.mutate import Mutation
from fm.roles.requirements import shown
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path

ROLE: Final = "implement_mutation"

KEEP_SUCCESS: Final = "The method `success` stays exactly as it is."
CHANGE_SUCCESS: Final = "The method `success` changes only as far as the change above says so."


def ask(
    path: Path,
    context: Context,
    parent: SkillCard,
    mutation: Mutation,
    library: Library,
    foundation_model: FoundationModel,
    may_change_success: bool = False,
) -> Ask:
    """Ask for ``mutation`` of ``parent`` as one class of the same name."""
    values = {
        "name": parent.name,
        "source": fenced(parent.source, "python"),
        "summary": mutation.summary,
        "requirements": shown(mutation.requirements),
        "success_rule": CHANGE_SUCCESS if may_change_success else KEEP_SUCCESS,
    }
    return compose(path, ROLE, context, library, foundation_model, values)


def read(reply: Reply) -> str | Fault:
    """The source text of the one class in a reply; whether it is a valid program is for ``Vet`` to say."""
    text = answer_text(reply)
    return text if isinstance(text, Fault) else code_block(text)
