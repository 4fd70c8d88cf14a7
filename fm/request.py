"""A call as an endpoint or a person gets to see it: a pure, deterministic rendering of its parts."""

from __future__ import annotations

import json
from typing import Any

from ledger.vocabulary.ask import Ask

SCHEMA_HEADING = "Form of the answer"


def text(ask: Ask) -> str:
    """The whole call as one text: every part under a heading line with its name, the answer's schema last."""
    sections = [_section(part.name, part.text.text) for part in ask.parts]
    if ask.schema is not None:
        sections.append(_section(SCHEMA_HEADING, _schema_text(ask.schema)))
    return "\n\n".join(sections) + "\n"


def messages(ask: Ask, *, schema_in_text: bool = True) -> list[dict[str, str]]:
    """Chat messages: one user message with the text of the call.

    ``schema_in_text=False`` leaves the schema out, for an endpoint that gets it apart (``response_format``).
    """
    if schema_in_text or ask.schema is None:
        return [{"role": "user", "content": text(ask)}]
    sections = [_section(part.name, part.text.text) for part in ask.parts]
    return [{"role": "user", "content": "\n\n".join(sections) + "\n"}]


def schema(ask: Ask) -> dict[str, Any] | None:
    """The JSON schema that the answer must obey.

    Raises:
        ValueError: if ``ask.schema`` is no JSON object.
    """
    if ask.schema is None:
        return None
    value = json.loads(ask.schema)
    if not isinstance(value, dict):
        raise ValueError(f"the schema of {ask.path} is no JSON object: write it as one")
    return value


def _section(name: str, body: str) -> str:
    heading = " ".join(name.split())
    return f"# {heading}\n\n{body.strip()}"


def _schema_text(schema_json: str) -> str:
    instruction = "Answer with exactly one JSON object that satisfies this JSON schema:"
    return f"{instruction}\n\n```json\n{schema_json.strip()}\n```"
