"""What an archive costs: to go on training when it has changed, and per step when it is large."""

from __future__ import annotations

import tempfile
from typing import Any, Final

from tests.benchmarks.options import Options
from tests.benchmarks.results import Row, Target, median_row
from tests.benchmarks.workers import OURS, Worker

COUNTS: Final = (10, 90)

FEW_ENVIRONMENTS: Final = {"environments": 16}
"""For the transformer: what is compiled hardly depends on how many there are, a rollout's seconds do."""


def _setup(network: str) -> dict[str, Any]:
    if network == "transformer":
        return {"setup": "paper", "ppo": FEW_ENVIRONMENTS}
    return {"setup": network}


def growth(options: Options) -> list[Row]:
    """Figure 5."""
    rows = []
    for network in options.networks:
        for count in COUNTS:
            with tempfile.TemporaryDirectory() as cache:
                task = {"task": "growth", "skills": count, "cache": cache, **_setup(network)}
                cold = _run({**task, "known": True})
                options.say(f"{network}, {count} skills and one more, cold: {_both(cold)}")
                warm = _run({**task, "known": False})
                options.say(f"{network}, {count} skills and one more, warm cache: {_both(warm)}")
            what = f"{network}, {count} skills and one more"
            rows.append(Row("growth", f"{what}, cold", cold["changed"] - cold["again"], "s", Target("≤", 12)))
            rows.append(Row("growth", f"{what}, warm cache", warm["changed"] - warm["again"], "s", Target("≤", 4)))
    return rows


def _run(task: dict[str, Any]) -> dict[str, Any]:
    with Worker(OURS, task) as worker:
        return worker.ready()


def _both(seen: dict[str, Any]) -> str:
    return f"{seen['changed']:.1f} s, and {seen['again']:.1f} s when nothing is new"


def skills(options: Options) -> list[Row]:
    """Figure 6."""
    rows = []
    for network in options.networks:
        setup = {"setup": "paper" if network == "transformer" else network, "task": "updates"}
        options.say(f"{network}: both archives compile")
        with Worker(OURS, {**setup, "skills": 1}) as few, Worker(OURS, {**setup, "skills": 90}) as many:
            steps = few.ready()["steps"]
            many.ready()
            one, ninety = [], []
            for pair in range(options.pairs):
                one.append(few.turn()["seconds"])
                ninety.append(many.turn()["seconds"])
                options.say(f"{network}, pair {pair + 1}: {steps / one[-1]:,.0f} and {steps / ninety[-1]:,.0f} steps/s")
        over = [100 * (b / a - 1) for a, b in zip(one, ninety, strict=True)]
        rows += [
            median_row("skills", f"{network}, 1 skill", [1e6 * seconds / steps for seconds in one], "µs/step"),
            median_row("skills", f"{network}, 90 skills", [1e6 * seconds / steps for seconds in ninety], "µs/step"),
            median_row("skills", f"{network}, overhead of 90 against 1", over, "%", Target("≤", 5)),
        ]
    return rows
