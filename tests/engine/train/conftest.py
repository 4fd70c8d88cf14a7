"""One training core for all tests of training, so that what it compiles is compiled once."""

from __future__ import annotations

import pytest

from engine.train.core import TrainingCore
from tests.tiny_worlds import Corridor


@pytest.fixture(scope="session")
def core() -> TrainingCore:
    """In the corridor, with the project's own language; saves after every rollout."""
    return TrainingCore(Corridor(), save_every_seconds=0.0, evaluation_lanes=16)
