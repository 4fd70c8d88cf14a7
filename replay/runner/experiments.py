"""Which loops exist, which version of their logic this code runs, and how a recorded run is given its inputs back."""

from __future__ import annotations

from attrs import frozen

from fm.library import Library
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Started
from replay.loops import code_sharp
from replay.loops.answers import Inputs
from replay.runner.divergence import Divergence, DivergenceClass, Stopped
from replay.runner.drive import LoopFactory
from replay.runner.retention import CODE_SHARP, Lineage


class Unrunnable(ValueError):
    """A configuration that names something this code does not have; found before anything is made or asked."""


@frozen
class Experiment:
    """A loop by name, with the version of its logic that this code runs and what is known of its agents."""

    name: str
    logic: str
    lineage: Lineage


EXPERIMENTS = {code_sharp.NAME: Experiment(code_sharp.NAME, code_sharp.LOGIC, CODE_SHARP)}


def factory_of(started: Started) -> LoopFactory:
    """The loop that a run started with, given the inputs that it recorded.

    Raises:
        Stopped: with a divergence of class ``environment`` if this code does not run that version of the loop.
        ValueError: if the run's prompt templates are not released here.
    """
    known = EXPERIMENTS.get(started.loop)
    if known is None or known.logic != started.logic:
        have = known.logic if known is not None else f"none of that name (there is {', '.join(EXPERIMENTS)})"
        raise Stopped(
            [
                Divergence(
                    DivergenceClass.ENVIRONMENT,
                    None,
                    "started",
                    "effect",
                    "logic",
                    f"{started.loop} {started.logic}",
                    have,
                )
            ]
        )
    library = Library.released(started.config.prompts).with_user(started.templates)
    inputs = Inputs(library, started.documents)
    return lambda now: code_sharp.code_sharp(now, inputs)


def check(config: Config) -> None:
    """Refuse what could only fail later, after requests have been paid for.

    Raises:
        Unrunnable: if grammar or prompts are not ones of this code.
        engine.worlds.registry.UnknownWorld: if there is no such world.
    """
    from engine.sharp.editions import (  # deciding a recording needs neither, and should not wait for them
        UnknownEdition,
        edition_of,
    )
    from engine.worlds.registry import entry

    entry(config.world)
    try:
        edition_of(config.grammar)
    except UnknownEdition as error:
        raise Unrunnable(f"grammar = {config.grammar!r}: {error}; choose one, or use another release") from error
    try:
        Library.released(config.prompts)
    except ValueError as error:
        raise Unrunnable(f"prompts = {config.prompts!r}: {error}") from error
