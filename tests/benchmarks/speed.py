"""Steps per second: the paper's agent against the peer, and the small agents through whole phases."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from tests.benchmarks.checkout import commit
from tests.benchmarks.options import SKILLS, Options
from tests.benchmarks.results import Row, Target, median_row
from tests.benchmarks.workers import OURS, PEER, Worker

PHASES: Final = 3


def against_peer(options: Options) -> list[Row]:
    """Figure 1.

    Raises:
        NoPeer: if ``options.peer`` is no checkout of the peer.
        RuntimeError: if the two sides do not do the same number of steps in the same world.
    """
    head = commit(options.peer)
    options.say(f"peer: Reytuag/transformerXL_PPO_JAX at {head}; both sides compile for about a minute")
    ours_is = {"task": "updates", "setup": "paper", "skills": SKILLS}
    peers_is = {"setup": "paper", "path": str(Path(options.peer).resolve())}
    with Worker(OURS, ours_is) as ours, Worker(PEER, peers_is) as peer:
        one, other = ours.ready(), peer.ready()
        if other["steps"] != one["steps"] or other["observation"] != 1345:
            raise RuntimeError(f"the two sides differ in what they do: {one} and {other}")
        mine, theirs = [], []
        for pair in range(options.pairs):
            mine.append(one["steps"] / ours.turn()["seconds"])
            theirs.append(one["steps"] / peer.turn()["seconds"])
            options.say(f"pair {pair + 1}: {mine[-1]:,.0f} and {theirs[-1]:,.0f} steps/s")
    ratios = [a / b for a, b in zip(mine, theirs, strict=True)]
    return [
        median_row("peer", "training, this project", mine, "steps/s"),
        median_row("peer", f"training, peer at {head[:12]}", theirs, "steps/s"),
        median_row("peer", "ratio of a pair", ratios, "x", Target("≥", 2.5)),
    ]


def small_agents(options: Options) -> list[Row]:
    """Figure 4."""
    from engine.train.core import TrainingCore
    from engine.worlds.registry import world
    from ledger.vocabulary.config import AGENT_KINDS
    from tests.benchmarks import setups
    from tests.benchmarks.archives import archive

    rows = []
    for kind in [kind for kind in ("mlp", "gru") if kind in AGENT_KINDS]:
        setup = setups.cpu(kind)
        core = TrainingCore(world(setups.WORLD))
        per_rollout = setup.ppo.environments * setup.ppo.rollout_steps
        options.say(f"{kind}: compiling")
        effect = setups.phase(setup, archive(SKILLS), per_rollout)
        core.train(effect, None, progress=lambda *_: None, stop=lambda: False)
        speeds = []
        for index in range(PHASES):
            effect = setups.phase(setup, archive(SKILLS), setup.epoch_steps, seed=index)
            began = time.perf_counter()
            trained, _ = core.train(effect, None, progress=lambda *_: None, stop=lambda: False)
            speeds.append(trained.steps / (time.perf_counter() - began))
            options.say(f"{kind}: a phase of {trained.steps:,} steps at {speeds[-1]:,.0f} steps/s")
        target = Target("≥", 9_000) if kind == "mlp" else None
        rows.append(median_row("small", f"TrainingCore.train, {kind}", speeds, "steps/s", target))
    return rows
