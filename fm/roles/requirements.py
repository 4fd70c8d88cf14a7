"""Ordered (condition, prerequisite) pairs in an answer: their JSON schema, and how they are read and shown."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from typing import Any, Final

from fm.library import nearest
from fm.parse import Fault

Requirements = tuple[tuple[str, str], ...]
"""What a condition checks, in words, and the name of the skill that the router turns to while it is unmet."""

NAME_PATTERN: Final = "^[A-Z][A-Za-z0-9]*$"
MAX_NAME: Final = 60
MAX_DESCRIPTION: Final = 1_000
MAX_TEXT: Final = 4_000
MAX_PAIRS: Final = 32

READ_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"condition": {"type": "string"}, "prerequisite": {"type": "string"}},
        "required": ["condition", "prerequisite"],
    },
}
"""What ``requirements`` reads: the shape only, so that a wrong name gets its own reason."""


def schema(skills: tuple[str, ...]) -> dict[str, Any]:
    """The JSON schema of requirements whose prerequisites are among ``skills``; with none, the list must be empty."""
    prerequisite: dict[str, Any] = {"type": "string"}
    if skills:
        prerequisite["enum"] = list(skills)
    pairs: dict[str, Any] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"condition": {"type": "string"}, "prerequisite": prerequisite},
            "required": ["condition", "prerequisite"],
            "additionalProperties": False,
        },
    }
    if not skills:
        pairs["maxItems"] = 0
    return pairs


def text_field(answer: Mapping[str, Any], key: str, limit: int = MAX_TEXT) -> str | Fault:
    """The stripped text under ``key``; a ``Fault`` if it is no text, is blank or has more than ``limit`` characters."""
    value = answer.get(key)
    if not isinstance(value, str) or not value.strip():
        return Fault(f'"{key}" must be a text that is not empty.')
    stripped = value.strip()
    if len(stripped) > limit:
        return Fault(f'"{key}" has {len(stripped):,} characters; at most {limit:,} are allowed. Say it shorter.')
    return stripped


def skill_name(answer: Mapping[str, Any], key: str) -> str | Fault:
    """The skill name under ``key``: CamelCase, so that it can be the name of a class."""
    name = text_field(answer, key)
    if isinstance(name, Fault):
        return name
    if len(name) > MAX_NAME:
        return Fault(f'"{key}" has {len(name)} characters; at most {MAX_NAME} are allowed. Choose a shorter name.')
    if not re.fullmatch(NAME_PATTERN, name):
        words = re.findall(r"[A-Za-z0-9]+", name)
        camel = "".join(word[:1].upper() + word[1:] for word in words)
        better = f" For example {camel}." if re.fullmatch(NAME_PATTERN, camel) else ""
        return Fault(
            f'"{key}" is {name!r}; it must be one CamelCase word of the letters A-Z, a-z and digits that begins with '
            f"a capital letter.{better}"
        )
    if keyword.iskeyword(name) or name.upper() == "SHARP":
        return Fault(f'"{key}" is {name}, which is reserved. Choose a name that says what the agent does.')
    return name


def requirements(answer: Mapping[str, Any], known: tuple[str, ...] | None, forbidden: str) -> Requirements | Fault:
    """The pairs under ``requirements``, in order.

    Args:
        known: names that may be prerequisites; ``None`` accepts any well-formed name.
        forbidden: the skill's own name, which can never be its prerequisite.
    """
    pairs: list[tuple[str, str]] = []
    items = answer.get("requirements")
    if not isinstance(items, list):
        return Fault('"requirements" must be a list of objects with "condition" and "prerequisite"; it may be empty.')
    if len(items) > MAX_PAIRS:
        return Fault(
            f'"requirements" has {len(items):,} entries; at most {MAX_PAIRS} are allowed. Name only immediate ones.'
        )
    for position, item in enumerate(items, start=1):
        where = f"Requirement {position}: "
        if not isinstance(item, dict):
            return Fault(f'{where}must be an object with "condition" and "prerequisite".')
        condition, prerequisite = text_field(item, "condition"), skill_name(item, "prerequisite")
        if isinstance(condition, Fault):
            return Fault(where + condition.reason)
        if isinstance(prerequisite, Fault):
            return Fault(where + prerequisite.reason)
        if prerequisite == forbidden:
            return Fault(f"{where}a skill cannot be its own prerequisite ({forbidden}).")
        if known is not None and prerequisite not in known:
            if not known:
                return Fault(f'{where}no skill may be named yet ({prerequisite} is none). "requirements" must be [].')
            return Fault(
                f"{where}{prerequisite} may not be a prerequisite here{nearest(prerequisite, known)}. "
                f"Allowed are: {', '.join(known)}."
            )
        if (condition, prerequisite) in pairs:
            return Fault(
                f"{where}repeats requirement {pairs.index((condition, prerequisite)) + 1}. Remove one of them."
            )
        pairs.append((condition, prerequisite))
    return tuple(pairs)


def shown(pairs: Requirements) -> str:
    """Requirements as a numbered list for a prompt."""
    if not pairs:
        return "None: the skill can be attempted from any state."
    return "\n".join(
        f"{position}. condition: {condition}\n   prerequisite while it is unmet: {prerequisite}"
        for position, (condition, prerequisite) in enumerate(pairs, start=1)
    )
