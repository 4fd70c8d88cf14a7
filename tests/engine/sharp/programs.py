# ruff: noqa: E501 - programs on one line
"""Short ways to make programs of the invented world, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.sharp.program import CompiledProgram, parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import evaluate
from tests.engine.sharp.invented import SCHEMA


def source_of(text: str, name: str = "Probe", requires: str = "", extra: str = "") -> str:
    """A program whose success method holds ``text``, with ``extra`` members and pairs of ``requires``."""
    inside = text.replace("\n", "\n        ")
    members = "".join(f"    {line}\n" for line in extra.split("\n") if extra)
    tail = f"\n    requires = [{requires}]\n" if requires else ""
    return f'class {name}(Sharp):\n    """A probe."""\n\n{members}\n    def success(self, state, previous):\n        {inside}\n{tail}'


def compiled(text: str, **keywords: str) -> CompiledProgram:
    """The program, or a failure that shows the refusal."""
    program = parse_program(source_of(text, **keywords), SCHEMA)
    assert isinstance(program, CompiledProgram), program
    return program


def refused(text: str, **keywords: str) -> Refusal:
    """The refusal of a program, or a failure."""
    verdict = parse_program(source_of(text, **keywords), SCHEMA)
    assert isinstance(verdict, Refusal), verdict
    return verdict


def holds(text: str, view: Mapping[str, Any], previous: Mapping[str, Any] | None = None, **keywords: str) -> bool:
    """Whether a success method holds on a concrete state."""
    (value,) = evaluate([compiled(text, **keywords).success], view, view if previous is None else previous, SCHEMA)
    return bool(value)
