"""Our side of a comparison: the training core in a process of its own. Started by ``workers.Worker``, not by people."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from attrs import evolve

from replay.commands.environment import prepare
from replay.operational import Operational
from tests.benchmarks import setups
from tests.benchmarks.workers import Channel


def main(specification: dict[str, Any]) -> None:
    """Perform one task; ``specification`` names it, the setup with its changes, and the number of skills.

    The process is prepared as the command line prepares it, but keeps compiled functions only in the folder ``cache``.
    """
    # An interrupt at the keyboard reaches the whole group: the parent decides what it means for its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel()
    if specification.get("cores"):
        # Before the backend starts: it sizes its pool of threads by the cores it may use.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: specification["cores"]])
    if "cache" in specification:
        prepare(Operational(compile_cache_dir=specification["cache"]))
    else:
        prepare(environ=os.environ)
    from tests.benchmarks import core_tasks  # the first import of JAX: everything is set

    setup = setups.named(specification["setup"], specification.get("ppo", {}))
    setup = evolve(setup, agent=evolve(setup.agent, **specification.get("agent", {})))
    task, count = specification["task"], specification["skills"]
    if task == "updates":
        core_tasks.updates(channel, setup, count)
    elif task == "growth":
        core_tasks.growth(channel, setup, count, known=specification["known"])
    elif task == "memory":
        core_tasks.memory(channel, setup, count)
    elif task == "repeat":
        core_tasks.repeat(channel, setup, count, specification["rollouts"])
    else:
        raise ValueError(f"there is no task {task!r}")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
