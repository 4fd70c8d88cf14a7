"""Whether the same phase gives the same bits in every process, and under other settings of threads and cores."""

from __future__ import annotations

import os
import statistics
from typing import Any, Final

from attrs import frozen

from tests.benchmarks.options import Options
from tests.benchmarks.results import Row, Target
from tests.benchmarks.workers import OURS, Worker


@frozen
class Setting:
    """How a process is started: cores it may use (0 for all), and compiler flags."""

    name: str
    cores: int = 0
    flags: str = ""


SETTINGS: Final = (
    Setting("default"),
    Setting("one core", cores=1),
    Setting("one thread per operation", flags="--xla_cpu_multi_thread_eigen=false"),
)

PHASES: Final[dict[str, dict[str, Any]]] = {
    "mlp": {"setup": "mlp", "ppo": {"environments": 128, "rollout_steps": 16}},
    "gru": {"setup": "gru", "ppo": {"environments": 128, "rollout_steps": 16}},
    "transformer": {
        "setup": "paper",
        "ppo": {"environments": 16, "rollout_steps": 32, "update_epochs": 1},
        "agent": {"memory_window": 32, "gradient_window": 32},
    },
}
"""Tiny phases of two rollouts: widths are the real ones, so that matrix products are as likely to be split."""


def determinism(options: Options) -> list[Row]:
    """Figure 9."""
    rows = []
    for network in options.networks:
        digests: dict[str, set[str]] = {}
        seconds: dict[str, float] = {}
        for setting in SETTINGS:
            found, times = set(), []
            for run in range(options.pairs):
                answer = _run(network, setting)
                found |= {answer["first"], answer["second"]}
                times.append(answer["seconds"])
                options.say(f"{network}, {setting.name}, process {run + 1}: {answer['first'][:12]}")
            digests[setting.name], seconds[setting.name] = found, statistics.median(times)
            what = f"{network}, {setting.name}: distinct digests of {options.pairs} processes"
            rows.append(Row("determinism", what, len(found), "", Target("=", 1)))
        together = len(set.union(*digests.values()))
        rows.append(Row("determinism", f"{network}, distinct digests over all settings", together, ""))
        rows += [
            Row("determinism", f"{network}, {name}: time over default", seconds[name] / seconds["default"], "x")
            for name in seconds
            if name != "default"
        ]
    return rows


def _run(network: str, setting: Setting) -> dict[str, Any]:
    task = {"task": "repeat", "skills": 3, "rollouts": 2, "cores": setting.cores, **PHASES[network]}
    environment = {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {setting.flags}".strip()}
    with Worker(OURS, task, environment) as worker:
        return worker.ready()
