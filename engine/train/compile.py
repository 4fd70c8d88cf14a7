"""From program sources to predicates."""

from __future__ import annotations

from collections.abc import Sequence

from engine.train.predicates import Predicates
from engine.worlds.schema import Schema


def compile_skills(sources: Sequence[str], schema: Schema) -> Predicates:
    raise NotImplementedError
