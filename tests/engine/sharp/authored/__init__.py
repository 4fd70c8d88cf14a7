"""Programs by authors who were given the implementor's prompt and nothing else; see README.md beside this file."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
WORLDS = {"classic": "craftax_classic", "craftax": "craftax"}


def answers(folder: str) -> dict[str, str]:
    """The answers of one folder as they were written, by file name without its ending."""
    return {file.stem: file.read_text("utf-8") for file in sorted((HERE / folder).glob("*.md"))}
