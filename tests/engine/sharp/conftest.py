"""Shared by the tests of the language: concrete states of the invented world."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.sharp.invented import random_view


@pytest.fixture(scope="session")
def views() -> list[dict[str, Any]]:
    """Forty random states, walkers anywhere."""
    generator = np.random.default_rng(3)
    return [random_view(generator) for _ in range(40)]


@pytest.fixture(scope="session")
def inner_views() -> list[dict[str, Any]]:
    """Random states whose walker is at least two cells from every edge."""
    generator = np.random.default_rng(0)
    drawn = [random_view(generator) for _ in range(400)]
    return [view for view in drawn if 2 <= view["walker_position"][0] <= 6 and 2 <= view["walker_position"][1] <= 8]
