"""Shared by the tests of the language: concrete states of the invented world."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.sharp.invented import some_views


@pytest.fixture(scope="session")
def views() -> list[dict[str, Any]]:
    """Forty random states, walkers anywhere."""
    return list(some_views())
