"""What our worker can do: train in turns, on a changed archive, once for its memory, twice for its bits."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

from engine.train.core import Stopped, TrainingCore
from engine.worlds.registry import world
from ledger.vocabulary.train import Skill, Train
from tests.benchmarks import setups
from tests.benchmarks.archives import archive
from tests.benchmarks.workers import Channel

_ENDLESS = 1 << 40


def updates(channel: Channel, setup: setups.Setup, count: int) -> None:
    """Train on, one rollout and update per line; answers the seconds from the line to the end of the update.

    The first update compiles and resets every environment: it is done unasked and does not count.
    """
    began = 0.0
    warm = over = False
    steps = setup.ppo.environments * setup.ppo.rollout_steps

    def progress(done: int, total: int, metrics: object) -> None:
        nonlocal began, warm, over
        channel.answer(**({"seconds": time.perf_counter() - began} if warm else {"steps": steps}))
        warm = True
        over = not channel.wait()
        began = time.perf_counter()

    core = TrainingCore(world(setups.WORLD))
    try:
        core.train(setups.phase(setup, archive(count), _ENDLESS), None, progress=progress, stop=lambda: over)
    except Stopped:
        return


def growth(channel: Channel, setup: setups.Setup, count: int, *, known: bool) -> None:
    """Seconds from a changed archive to its first rollout, beside those of the same phase once more, now warm.

    ``known``: the archive without the new skill was trained on before in this process.
    """
    core = TrainingCore(world(setups.WORLD))
    steps = setup.ppo.environments * setup.ppo.rollout_steps

    def first(skills: tuple[Skill, ...]) -> float:
        effect = setups.phase(setup, skills, steps)
        return _seconds(lambda progress: _train(core, effect, progress))

    if known:
        first(archive(count))
    changed = archive(count + 1)
    channel.answer(changed=first(changed), again=first(changed))


def memory(channel: Channel, setup: setups.Setup, count: int) -> None:
    """Peak resident bytes before and after one rollout and update."""
    core = TrainingCore(world(setups.WORLD))
    before = _peak_bytes()
    effect = setups.phase(setup, archive(count), setup.ppo.environments * setup.ppo.rollout_steps)
    seconds = _seconds(lambda progress: _train(core, effect, progress))
    channel.answer(before=before, peak=_peak_bytes(), seconds=seconds)


def repeat(channel: Channel, setup: setups.Setup, count: int, rollouts: int) -> None:
    """A short phase twice in one process: the digests of its parameters, and the seconds of the second, warm one."""
    core = TrainingCore(world(setups.WORLD))
    effect = setups.phase(setup, archive(count), rollouts * setup.ppo.environments * setup.ppo.rollout_steps)
    first = _train(core, effect, lambda *_: None)
    began = time.perf_counter()
    second = _train(core, effect, lambda *_: None)
    channel.answer(first=first, second=second, seconds=time.perf_counter() - began)


def _train(core: TrainingCore, effect: Train, progress: Callable[..., None]) -> str:
    return core.train(effect, None, progress=progress, stop=lambda: False)[0].parameters_sha256


def _seconds(train: Callable[[Callable[..., None]], object]) -> float:
    """Seconds until the first rollout has been learned from."""
    began = time.perf_counter()
    seconds: list[float] = []
    train(lambda *_: seconds.append(time.perf_counter() - began))
    return seconds[0]


def _peak_bytes() -> int:
    # Linux counts in KiB, macOS in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
