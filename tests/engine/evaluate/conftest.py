"""The evaluation tests' own core."""

from __future__ import annotations

import pytest

from engine.train.core import TrainingCore
from tests.tiny_worlds import Corridor


@pytest.fixture(scope="session")
def core() -> TrainingCore:
    """Starts differ from episode to episode, so that equal keys can be told from unequal ones."""
    return TrainingCore(Corridor(random_start=True), evaluation_lanes=8)
