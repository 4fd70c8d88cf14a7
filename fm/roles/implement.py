"""The skill proposal implementor: pseudo-code becomes one class (paper 000, section 2.3)."""

from __future__ import annotations

from typing import Final

from fm.library import Library
from fm.parse import Fault, answer_text, code_block
from fm.roles.context import Context, compose
from fm.roles.propose import Proposal
from fm.roles.requirements import shown
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path

ROLE: Final = "implement"


def ask(path: Path, context: Context, proposal: Proposal, library: Library, foundation_model: FoundationModel) -> Ask:
    """Ask for ``proposal`` as one class in the programs' language."""
    values = {
        "name": proposal.name,
        "description": proposal.description,
        "success": proposal.success,
        "requirements": shown(proposal.requirements),
    }
    return compose(path, ROLE, context, library, foundation_model, values)


def read(reply: Reply) -> str | Fault:
    """The source text of the one class in a reply; whether it is a valid program is for ``Vet`` to say."""
    text = answer_text(reply)
    return text if isinstance(text, Fault) else code_block(text)
