"""Writes docs/language.md: ``python -m tests.engine.sharp.language_doc``."""

from __future__ import annotations

from pathlib import Path

from engine.sharp.other_forms.reference_forms import flat_page, policy_core
from engine.sharp.reference import language_core

NOTE = "<!-- Generated from the tables in engine/sharp: python -m tests.engine.sharp.language_doc -->\n\n"


def page() -> str:
    """The text of the document."""
    return NOTE + "\n".join((language_core(), flat_page(), policy_core()))


if __name__ == "__main__":
    Path("docs/language.md").write_text(page(), encoding="utf-8")
