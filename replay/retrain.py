"""Retraining: the recorded answers, admissions and mutations, trained and evaluated at another scale.

This is no level of replay. The history is forced: which skills exist when, with which prerequisites, and with which
recorded success rates they enter sampling weights and rewards. Only networks, optimisation, steps, episodes and horizon
come from another profile, so its numbers tell what that scale makes of this history, not what it would have chosen.
"""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable
from fractions import Fraction

from attrs import define, evolve

from ledger.vocabulary.config import Config
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import AnyEffect, AnyOutcome
from ledger.vocabulary.train import Train
from replay.overall import Overall, training_steps
from replay.progress import Display
from replay.reproduce import Level, Reproduction, achievement_rows, reproduce, skill_rows, with_paper
from replay.runner.agents import Agents
from replay.runner.drive import Driver
from replay.runner.experiments import factory_of
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.use import FORCED


@define
class Rescaled(Performers):
    """Performs training and evaluation as ``scale`` says, whatever scale the effects were recorded with.

    A phase that was recorded in so many epochs keeps them, and each takes a share of the steps that ``scale`` gives to
    the whole phase.
    """

    scale: Config = Config()

    def perform(self, effect: AnyEffect) -> AnyOutcome:
        """See ``Performers``; inputs that belong to the scale are replaced first."""
        return super().perform(rescaled(effect, self.config, self.scale))


def rescaled(effect: AnyEffect, recorded: Config, scale: Config) -> AnyEffect:
    """A training or evaluation effect at another scale; any other effect as it is."""
    match effect:
        case Train():
            return evolve(
                effect, steps=_steps(effect, recorded, scale), network=scale.agent, ppo=scale.ppo, routing=scale.routing
            )
        case Evaluate():
            return evolve(
                effect,
                episodes=scale.evaluation.episodes,
                horizon=scale.evaluation.horizon,
                network=scale.agent,
                routing=scale.routing,
            )
    return effect


def _steps(effect: Train, recorded: Config, scale: Config) -> int:
    copy = "/learnability/" in f"/{effect.path}/"
    then, now = recorded.discovery, scale.discovery
    epochs = (
        Fraction(now.evaluation_epochs, then.evaluation_epochs)
        if copy
        else Fraction(now.training_epochs, then.training_epochs)
    )
    return max(1, round(now.epoch_steps * epochs))


def retrain(
    root: pathlib.Path,
    profile: str,
    scale: Config,
    *,
    display: Display,
    interrupts: Interrupts,
    paper: Callable[[str, str], str],
) -> Reproduction:
    """Replay up to programs, then train and evaluate everything at the scale of ``scale``.

    The level of the result is what was replayed, at most ``programs``.

    Raises:
        As ``replay.reproduce.reproduce``.
    """
    began = time.monotonic()
    static = reproduce(root, profile=profile, display=display, interrupts=interrupts, upto="programs")
    recording = static.recording
    if static.level is not Level.PROGRAMS or recording is None:
        return static
    display.say(f"retraining every phase from the recorded decisions with profile {profile}")
    agents = Agents()
    try:
        config = recording.started.config
        total = training_steps(rescaled(each.step.effect, config, scale) for each in recording.steps)
        performers = Rescaled(config, agents, Overall(display, total), interrupts, scale=scale)
        use = evolve(FORCED, recompute=frozenset({Train, Evaluate}))
        replayed = Driver(recording, performers, use, adopt=False).drive(factory_of(recording.started))
    finally:
        agents.close()
    phases = sum(not isinstance(again, Evaluated) for _, again in replayed.recomputed.values())
    explanation = (
        f"every program was vetted again with the same verdict; then {phases} training steps were repeated with "
        f"profile {profile}, which is retraining and no level of replay"
    )
    done = evolve(
        static,
        skills=skill_rows(replayed, recording, None),
        achievements=achievement_rows(replayed, recording),
        explanation=explanation,
        seconds=time.monotonic() - began,
    )
    return with_paper(done, recording, paper)
