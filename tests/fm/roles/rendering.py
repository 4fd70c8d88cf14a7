"""Golden renderings: every field of a call that its value depends on, as one readable text.

``python -m tests.fm.roles.rendering`` rewrites the files; do that only for prompts that no recording has used yet.
"""

from __future__ import annotations

import json
from pathlib import Path

from fm.library import Library
from ledger.vocabulary.ask import Ask
from tests.fm.roles import bakery

FOLDER = Path(__file__).parents[2] / "golden" / "prompts" / "code_sharp@1"


def rendered(ask: Ask) -> str:
    """``ask`` as text."""
    schema = "none" if ask.schema is None else json.dumps(json.loads(ask.schema), indent=2)
    head = [f"path: {ask.path}", f"role: {ask.role}", f"template: {ask.template}", f"model: {ask.model}"]
    parts = [f"=== part: {part.name}\n{part.text.text}" for part in ask.parts]
    return "\n".join([*head, f"sampling: {ask.sampling}", *parts, f"=== schema\n{schema}"]) + "\n"


def main() -> None:
    """Rewrite every golden file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, ask in bakery.calls(Library.released()).items():
        (FOLDER / f"{name}.txt").write_text(rendered(ask), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
