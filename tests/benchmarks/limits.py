"""How near update and rollout come to what their matrix products and their environment cost at the least."""

from __future__ import annotations

import time

import jax

from engine import randomness
from tests.benchmarks import counting, setups
from tests.benchmarks.alone import environment_alone, unbegun
from tests.benchmarks.archives import archive
from tests.benchmarks.bench import Bench, functions
from tests.benchmarks.options import SKILLS, Options
from tests.benchmarks.products import best_square, bound
from tests.benchmarks.results import Row, Target, median_row

GIGA = 1e9


def update(options: Options) -> list[Row]:
    """Figure 2."""
    bench = Bench.of(functions(setups.paper(), archive(SKILLS)))
    setup, sizes = bench.made.setup, bench.made.sizes
    products = counting.update(setup.agent, setup.ppo, sizes)
    operations = counting.update_operations(setup.agent, setup.ppo, sizes)
    options.say("measuring matrix products alone")
    square, own = best_square(), bound(products, gradients=True)
    peak = max(square, own.fastest)
    options.say(f"squares {square / GIGA:.0f}, fastest own shape {own.fastest / GIGA:.0f} GFLOP/s; compiling")
    bench.roll()
    bench.learn()
    speeds = []
    for index in range(options.pairs):
        speeds.append(operations / bench.learn())
        options.say(f"update {index + 1}: {operations / GIGA:,.0f} GFLOP at {speeds[-1] / GIGA:.0f} GFLOP/s")
    again = max(best_square(), peak)
    return [
        median_row("update", "achieved", [speed / GIGA for speed in speeds], "GFLOP/s"),
        Row("update", "peak: best square or own shape, before and after", again / GIGA, "GFLOP/s"),
        Row("update", "bound: own shapes alone, summed", own.speed / GIGA, "GFLOP/s"),
        median_row("update", "achieved over peak", [100 * speed / again for speed in speeds], "%", Target("≥", 70)),
        median_row("update", "achieved over own shapes' bound", [100 * speed / own.speed for speed in speeds], "%"),
    ]


def rollout(options: Options) -> list[Row]:
    """Figure 3."""
    bench = Bench.of(functions(setups.paper(), archive(SKILLS)))
    world, ppo = bench.made.world, bench.made.setup.ppo
    batch, steps = ppo.environments, ppo.rollout_steps
    options.say("measuring matrix products alone")
    acting = bound(counting.acting(bench.made.setup.agent, bench.made.sizes, batch), gradients=False)
    alone = jax.jit(environment_alone(world, batch, steps))
    states, over = unbegun(world, batch)
    key = jax.random.key(1, impl=randomness.IMPLEMENTATION)
    options.say("compiling")
    # The first two of each are not counted: they compile, and then reset episodes that began together.
    rolls, environments = [], []
    for index in range(2 + 2 * options.pairs):
        rolls.append(bench.roll())
        began = time.perf_counter()
        states, over, _ = jax.block_until_ready(alone(states, over, jax.random.fold_in(key, index)))
        environments.append(time.perf_counter() - began)
    each = 1e6 / (batch * steps)
    rolls, environments = rolls[2:], environments[2:]
    ratios = [a / (b + steps * acting.seconds) for a, b in zip(rolls, environments, strict=True)]
    return [
        median_row("rollout", "rollout", [seconds * each for seconds in rolls], "µs/step"),
        median_row("rollout", "environment alone", [seconds * each for seconds in environments], "µs/step"),
        Row("rollout", "matrix products of acting alone", acting.seconds * 1e6 / batch, "µs/step"),
        median_row("rollout", "rollout over the sum of both", ratios, "x", Target("≤", 1.5)),
    ]
