"""The peer's side of a comparison: its own training code, unedited, on Craftax-Classic. Started by ``workers.Worker``.

The peer is written for packages of 2024 and for full Craftax. What it imports is put in place before its modules are
loaded; its files are not touched:

- ``jax.tree_map``, since removed, is ``jax.tree.map``;
- ``gymnax``, which it uses for other worlds only, is an empty module if it is not installed;
- the module from which it takes full Craftax hands it the symbolic environment of Craftax-Classic without resets of its
  own; batching, optimistic resets and their ratio are the peer's wrapper, as is everything else.

Its ``make_train`` returns one function that builds a network, resets all worlds and then scans over updates. The body
of that scan is taken as it stands and compiled by itself, so that one call is one rollout with its update: it pays
neither for its network nor for its first resets. Its buffers are donated from call to call, as a scan would reuse them.
An update takes as long this way as inside the scan.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
import time
import types
from collections.abc import Callable
from typing import Any
from unittest import mock

from engine.worlds.compiler import settle_compiler
from tests.benchmarks import setups
from tests.benchmarks.workers import Channel


def configuration(setup: setups.Setup) -> dict[str, Any]:
    """Our settings in the peer's names; it plans more updates than will be made, so that its rate hardly decays."""
    agent, ppo = setup.agent, setup.ppo
    return {
        "LR": ppo.learning_rate,
        "NUM_ENVS": ppo.environments,
        "NUM_STEPS": ppo.rollout_steps,
        "TOTAL_TIMESTEPS": ppo.decay_steps,
        "UPDATE_EPOCHS": ppo.update_epochs,
        "NUM_MINIBATCHES": ppo.minibatches,
        "GAMMA": ppo.discount,
        "GAE_LAMBDA": ppo.gae_lambda,
        "CLIP_EPS": ppo.clip_range,
        "ENT_COEF": ppo.entropy_coefficient,
        "VF_COEF": ppo.value_coefficient,
        "MAX_GRAD_NORM": ppo.gradient_norm,
        "ACTIVATION": "relu",
        "ENV_NAME": "craftax",
        "ANNEAL_LR": True,
        "qkv_features": agent.qkv_size,
        "EMBED_SIZE": agent.embedding_size,
        "num_heads": agent.heads,
        "num_layers": agent.layers,
        "hidden_layers": agent.hidden_size,
        "WINDOW_MEM": agent.memory_window,
        "WINDOW_GRAD": agent.gradient_window,
        "gating": agent.gating,
        "gating_bias": agent.gate_bias,
        "seed": 0,
    }


def furnish() -> None:
    """Put in place what the peer imports and this machine's packages lack or call otherwise."""
    import jax
    from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

    if not hasattr(jax, "tree_map"):
        jax.tree_map = jax.tree.map  # type: ignore[attr-defined]
    full = types.ModuleType("craftax.craftax.envs.craftax_symbolic_env")
    full.CraftaxSymbolicEnvNoAutoReset = CraftaxClassicSymbolicEnvNoAutoReset  # type: ignore[attr-defined]
    sys.modules[full.__name__] = full
    if importlib.util.find_spec("gymnax") is None:
        for name in ("gymnax", "gymnax.wrappers", "gymnax.wrappers.purerl"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["gymnax.wrappers.purerl"].FlattenObservationWrapper = object  # type: ignore[attr-defined]


def one_update(train: Callable[[Any], Any], key: Any) -> tuple[Callable[[Any], Any], Any]:
    """The body of the peer's scan over updates, compiled, and the state that the scan begins with.

    Raises:
        RuntimeError: if the peer has no such scan.
    """
    import jax

    scan = jax.lax.scan
    bodies: list[Callable[[Any, Any], Any]] = []

    def watched(body: Callable[[Any, Any], Any], init: Any, *arguments: Any, **named: Any) -> Any:
        if body.__name__ != "_update_step":
            return scan(body, init, *arguments, **named)
        bodies.append(body)
        return init, None

    with mock.patch.object(jax.lax, "scan", watched):
        state = jax.block_until_ready(jax.jit(lambda key: train(key)["runner_state"])(key))
    if len(bodies) != 1:
        raise RuntimeError(
            "the peer's make_train has no scan over _update_step: it is another version than was studied"
        )
    # A scan settles the types of what it carries at once; otherwise the second call would compile anew.
    state = jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, leaf.dtype), state)
    return jax.jit(lambda state: bodies[0](state, None), donate_argnums=0), state


def main(specification: dict[str, Any]) -> None:
    """One update of the peer per line; answers the seconds from the line to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel()
    settle_compiler()
    furnish()
    sys.path.insert(0, specification["path"])
    import jax
    from trainer_PPO_trXL import make_train  # type: ignore[import-not-found]

    config = configuration(setups.named(specification["setup"], specification.get("ppo", {})))
    update, state = one_update(make_train(config), jax.random.PRNGKey(config["seed"]))
    last_observation = state[5]
    # The first update compiles; the second would again, if types of the state were not settled by the first.
    for _ in range(2):
        state, metric = jax.block_until_ready(update(state))
    channel.answer(
        environments=last_observation.shape[0],
        observation=last_observation.shape[1],
        steps=config["NUM_ENVS"] * config["NUM_STEPS"],
    )
    while channel.wait():
        began = time.perf_counter()
        state, metric = jax.block_until_ready(update(state))
        channel.answer(seconds=time.perf_counter() - began, finite=bool(jax.numpy.isfinite(metric["timestep"]).all()))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
