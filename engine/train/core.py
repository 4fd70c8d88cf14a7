"""Performs Train and Evaluate: holds what is compiled, and nothing else between two effects."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attrs import frozen

from engine import checkpoint, randomness
from engine.agent.network import Network, build
from engine.evaluate import Lanes, build_lanes, plan, run_lanes
from engine.train import tally as tallies
from engine.train.compiled import Compiled
from engine.train.ppo import build_update, learning_rate, optimiser
from engine.train.predicates import Compile, Predicates, compile_programs
from engine.train.rollout import Episodes, Rolled, Rollout, before_first, build_rollout
from engine.train.routing import reward_scale, success_rates
from engine.train.stopped import Stopped
from engine.train.tables import Shape, Tables, assemble, wired
from engine.worlds.protocol import World
from ledger.vocabulary.config import Agent, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import Metric
from ledger.vocabulary.train import UNTRAINED, Skill, Train, Trained

__all__ = ["Progress", "Save", "Stopped", "TrainingCore"]

Progress = Callable[[int, int, tuple[Metric, ...]], None]
"""Told after every rollout: steps done, steps in total, and numbers about the rollout."""

Save = Callable[[int, bytes], None]
"""Given a checkpoint to resume from, with the number of steps done."""


@frozen
class _Learner:
    """What a phase carries from rollout to rollout; everything else is derived from the effect."""

    parameters: Any
    optimiser: Any
    lineage: np.ndarray  # environment steps that the agent was ever trained on, int64, shape ()
    episodes: Episodes
    memory: Any
    tally: tallies.Tally


class TrainingCore:
    """Training and evaluation in one world.

    Compiled functions are kept: rollout and evaluation by the meanings of their programs, the update by shapes only.
    Rewiring and reordering of conditions, other success rates and other embeddings compile nothing, and neither does
    going back to fewer skills: what was compiled for more conditions serves as long as the capacities are the same.
    The bits do not depend on which function served.
    """

    def __init__(
        self,
        world: World,
        *,
        compiler: Compile = compile_programs,
        save_every_seconds: float = 300.0,
        evaluation_lanes: int = 64,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``compiler`` turns sources into predicates; ``evaluation_lanes`` episodes run side by side at most."""
        self.world = world
        self._compiler = compiler
        self._save_every_seconds = save_every_seconds
        self._lanes = evaluation_lanes
        self._clock = clock
        self._rollouts = Compiled(8)
        self._updates = Compiled(8)
        self._evaluations = Compiled(8)
        self._networks = Compiled(16)

    def train(
        self,
        effect: Train,
        start: bytes | None,
        *,
        progress: Progress,
        save: Save | None = None,
        resume: tuple[int, bytes] | None = None,
        stop: Callable[[], bool],
    ) -> tuple[Trained, bytes]:
        """Train for at least ``effect.steps`` steps, rounded up to whole rollouts.

        ``start`` is the checkpoint of the agent that the effect names, ``None`` for the untrained one. A phase that
        goes on from ``resume`` (what ``save`` was given) ends with the same bits as one that was never interrupted.

        Returns:
            The outcome, and the bytes of the new agent's checkpoint, whose SHA-256 is ``Trained.checkpoint``.

        Raises:
            Stopped: when ``stop()`` was true between two rollouts; ``save`` has been given the state.
            CheckpointError: if a checkpoint does not fit the effect.
            ValueError: if the effect contradicts itself; the message says where.
        """
        began = self._clock()
        self._check_world(effect.world)
        skills, ppo, routing = effect.skills, effect.ppo, effect.routing
        shape, wiring = wired(skills)
        network = self._network(effect.network, shape)
        rollout, predicates = self._rollout(network, self._predicates(skills), shape, ppo, routing)
        tables = _tables(skills, predicates, wiring, shape, routing)
        update = self._updates.get((network, ppo), lambda: build_update(network, ppo))

        about = {"kind": "resume", "phase": _digest(effect)}
        learner = self._begin(effect, start, network, shape)
        done = 0
        if resume is not None:
            learner, done = _resume(learner, about, *resume)
        per_rollout = ppo.environments * ppo.rollout_steps
        total = -(-effect.steps // per_rollout) * per_rollout
        key = randomness.key(effect.seed, effect.path, "train")
        saved = self._clock()

        while done < total:
            if stop():
                if save is not None:
                    save(done, _pack(learner, about, done))
                raise Stopped(f"stopped after {done} of {total} steps of {effect.path}")
            rollout_key, update_key = jax.random.split(jax.random.fold_in(key, np.uint32(done // per_rollout)))
            rolled = rollout(learner.parameters, learner.episodes, learner.memory, tables, rollout_key)
            learner, metrics = self._learn(learner, rolled, update, ppo, tables, update_key)
            done += per_rollout
            progress(done, total, metrics)
            if save is not None and done < total and self._clock() - saved >= self._save_every_seconds:
                save(done, _pack(learner, about, done))
                saved = self._clock()

        groups = {"parameters": learner.parameters, "optimiser": learner.optimiser, "lineage": learner.lineage}
        data = checkpoint.pack(groups, {"kind": "agent", "path": effect.path.text})
        trained = Trained(
            steps=total,
            episodes=int(learner.tally.episodes),
            attempts=tallies.rows(learner.tally, tuple(skill.name for skill in skills)),
            parameters_sha256=checkpoint.parameters_sha256(learner.parameters),
            checkpoint=hashlib.sha256(data).hexdigest(),
            mean_reward=float(learner.tally.reward / total),
            seconds=self._clock() - began,
        )
        return trained, data

    def evaluate(
        self, effect: Evaluate, agent: bytes | None, *, progress: Progress, stop: Callable[[], bool]
    ) -> Evaluated:
        """Count successes and achievement flags of every target; ``agent`` is ``None`` for the untrained one.

        Actions are sampled from the policy, with keys of the episode. ``progress`` counts episodes.

        Raises:
            Stopped: when ``stop()`` was true; an evaluation starts over.
            CheckpointError: if the checkpoint does not fit the effect.
            ValueError: if the effect contradicts itself; the message says where.
        """
        began = self._clock()
        self._check_world(effect.world)
        if not effect.targets:
            return Evaluated((), 0, self._clock() - began)
        skills, prerequisite, shape = plan(effect)
        network = self._network(effect.network, shape)
        parameters = self._parameters(effect.agent == UNTRAINED, effect.seed, network, agent)
        jobs = len(effect.targets) * effect.episodes
        lanes = min(self._lanes, 1 << max(jobs - 1, 0).bit_length())
        run, predicates = self._evaluation(network, self._predicates(skills), shape, lanes)
        blank = np.zeros(len(skills))
        tables = assemble(skills, predicates, prerequisite, shape, blank, blank)
        cache = self._networks.get(("open", network), lambda: network.open)(parameters, network.initial_memory(lanes))
        rows, steps = run_lanes(run, self.world, effect, parameters, cache, tables, progress, stop, lanes)
        return Evaluated(rows, steps, self._clock() - began)

    def _check_world(self, name: str) -> None:
        if name != self.world.name:
            raise ValueError(f"this core holds {self.world.name}, but the effect names {name}")

    def _predicates(self, skills: tuple[Skill, ...]) -> Predicates:
        return self._compiler(tuple(skill.source.text for skill in skills), self.world.schema)

    def _network(self, agent: Agent, shape: Shape) -> Network:
        return build(
            agent,
            observation_size=self.world.observation_size,
            vector_size=shape.dimensions,
            actions=self.world.num_actions,
        )

    def _rollout(
        self, network: Network, wanted: Predicates, shape: Shape, ppo: Ppo, routing: Routing
    ) -> tuple[Any, Predicates]:
        def build(predicates: Predicates) -> Rollout:
            return build_rollout(self.world, network, predicates, shape, ppo, routing)

        return self._rollouts.serving((network, shape, ppo, routing), wanted, build)

    def _evaluation(self, network: Network, wanted: Predicates, shape: Shape, lanes: int) -> tuple[Lanes, Predicates]:
        def build(predicates: Predicates) -> Lanes:
            return build_lanes(self.world, network, predicates, shape, lanes)

        return self._evaluations.serving((network, shape, lanes), wanted, build)

    def _parameters(self, untrained: bool, seed: int, network: Network, data: bytes | None) -> Any:
        if untrained != (data is None):
            raise ValueError("give the checkpoint of the agent that the effect names, and none for the untrained agent")
        key = randomness.key(seed, UNTRAINED, "parameters")
        if data is None:
            return self._networks.get(("initialise", network), lambda: network.initialise)(key)
        return checkpoint.unpack(data, "parameters", jax.eval_shape(network.initialise, key))

    def _begin(self, effect: Train, start: bytes | None, network: Network, shape: Shape) -> _Learner:
        parameters = self._parameters(effect.agent == UNTRAINED, effect.seed, network, start)
        state = optimiser(effect.ppo).init(parameters)
        lineage = np.zeros((), np.int64)
        if start is not None:
            state = checkpoint.unpack(start, "optimiser", state)
            lineage = checkpoint.unpack(start, "lineage", lineage)
        batch = effect.ppo.environments
        episodes = before_first(self.world, batch)
        return _Learner(
            parameters, state, lineage, episodes, network.initial_memory(batch), tallies.empty(shape.skills)
        )

    def _learn(
        self, learner: _Learner, rolled: Rolled, update: Any, ppo: Ppo, tables: Tables, key: jax.Array
    ) -> tuple[_Learner, tuple[Metric, ...]]:
        rate = learning_rate(ppo, int(learner.lineage))
        parameters, state, numbers = update(
            learner.parameters,
            learner.optimiser,
            learner.memory,
            rolled.trajectory,
            rolled.last_value,
            tables.vectors,
            key,
            jnp.float32(rate),
        )
        reward = np.asarray(rolled.trajectory.reward)
        tally = tallies.add(learner.tally, rolled.trace, reward)
        counted = [
            ("reward", float(reward.mean(dtype=np.float64))),
            ("episodes", float(tally.episodes - learner.tally.episodes)),
            ("attempts", float(tally.attempts.sum() - learner.tally.attempts.sum())),
            ("successes", float(tally.successes.sum() - learner.tally.successes.sum())),
            ("learning_rate", rate),
        ]
        counted += [(name, float(value)) for name, value in sorted(numbers.items())]
        lineage = learner.lineage + np.int64(reward.size)
        following = _Learner(parameters, state, np.asarray(lineage), rolled.episodes, rolled.memory, tally)
        return following, tuple(Metric(name, value) for name, value in counted)


def _tables(
    skills: tuple[Skill, ...], predicates: Predicates, wiring: np.ndarray, shape: Shape, routing: Routing
) -> Tables:
    rates = success_rates([skill.successes for skill in skills], [skill.attempts for skill in skills])
    rewards = reward_scale(
        rates, adaptive=routing.adaptive_reward, cap=routing.reward_cap, epsilon=routing.reward_epsilon
    )
    return assemble(skills, predicates, wiring, shape, np.log(rates + routing.sampling_epsilon), rewards)


def _digest(effect: Train) -> str:
    """Which phase a resume checkpoint belongs to."""
    return hashlib.sha256(repr(effect).encode("utf-8", "surrogatepass")).hexdigest()


_GROUPS = ("parameters", "optimiser", "lineage", "episodes", "memory", "tally")


def _pack(learner: _Learner, about: dict[str, str], done: int) -> bytes:
    return checkpoint.pack({name: getattr(learner, name) for name in _GROUPS}, {**about, "done": done})


def _resume(learner: _Learner, about: dict[str, str], done: int, data: bytes) -> tuple[_Learner, int]:
    written = checkpoint.about(data)
    if {name: written.get(name) for name in (*about, "done")} != {**about, "done": done}:
        raise checkpoint.CheckpointError(
            "the checkpoint to resume from belongs to another training phase or step; give the phase's own latest one"
        )
    return _Learner(**{name: checkpoint.unpack(data, name, getattr(learner, name)) for name in _GROUPS}), done
