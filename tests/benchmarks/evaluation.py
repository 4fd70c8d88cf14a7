"""Evaluation against rollouts: the same network, archive and world, without learning."""

from __future__ import annotations

import time

from attrs import evolve

from engine.train.core import Stopped, TrainingCore
from engine.worlds.registry import world
from ledger.vocabulary.evaluate import Evaluate, Target
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill
from tests.benchmarks import results, setups
from tests.benchmarks.archives import archive
from tests.benchmarks.bench import Bench, functions
from tests.benchmarks.options import SKILLS, Options
from tests.benchmarks.results import Row, median_row

EPISODES = 128

TARGETS = {"transformer": 2}
"""How many targets there are; four for the small networks."""

HORIZONS = {"transformer": 128}
"""Shorter than the paper's: an evaluation is to take seconds. The small networks have that of their profile."""


def evaluation(options: Options) -> list[Row]:
    """Figure 7."""
    rows = []
    for network in options.networks:
        setup = setups.paper() if network == "transformer" else setups.cpu(network)
        skills = archive(SKILLS)
        effect = _effect(setup, skills, TARGETS.get(network, 4), HORIZONS.get(network, setup.evaluation.horizon))
        core = TrainingCore(world(setups.WORLD))
        bench = Bench.of(functions(setup, skills))
        options.say(f"{network}: compiling")
        bench.roll()
        bench.roll()
        _only_compile(core, effect)
        steps = setup.ppo.environments * setup.ppo.rollout_steps
        evaluated, rolled = [], []
        for pair in range(max(options.pairs // 2, 2)):
            began = time.perf_counter()
            done = core.evaluate(evolve(effect, seed=pair), None, progress=lambda *_: None, stop=lambda: False)
            evaluated.append(done.steps / (time.perf_counter() - began))
            rolled.append(steps / bench.roll())
            options.say(
                f"{network}, pair {pair + 1}: {done.steps:,} steps of evaluation at {evaluated[-1]:,.0f} steps/s, a "
                f"rollout at {rolled[-1]:,.0f} steps/s"
            )
        ratios = [a / b for a, b in zip(evaluated, rolled, strict=True)]
        rows += [
            median_row("evaluation", f"{network}, evaluation", evaluated, "steps/s"),
            median_row("evaluation", f"{network}, rollout", rolled, "steps/s"),
            median_row("evaluation", f"{network}, ratio", ratios, "x", results.Target("≥", 1)),
        ]
    return rows


def _effect(setup: setups.Setup, skills: tuple[Skill, ...], targets: int, horizon: int) -> Evaluate:
    return Evaluate(
        path=Path("benchmark/evaluate"),
        agent=UNTRAINED,
        world=setups.WORLD,
        archive=skills,
        targets=tuple(Target(skill.name, skill) for skill in skills[:targets]),
        episodes=EPISODES,
        horizon=horizon,
        seed=0,
        keys=Path("benchmark/keys"),
        network=setup.agent,
        routing=setup.routing,
    )


def _only_compile(core: TrainingCore, effect: Evaluate) -> None:
    """Stop an evaluation as early as it can be: by then everything is compiled."""
    asked = iter((False, True))
    try:
        core.evaluate(effect, None, progress=lambda *_: None, stop=lambda: next(asked))
    except Stopped:
        return
