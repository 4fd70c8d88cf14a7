"""Settings: the configuration in force; the first effect of every iteration, so that a fork can change it midway."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.config import Config
from ledger.vocabulary.effect import Effect


@frozen
class Settings(Effect[Config]):
    """Ask for the configuration in force from here on."""
