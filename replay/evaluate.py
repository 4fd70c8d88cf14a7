"""Evaluate an agent of a run anew: from its checkpoint and what the ledger says of it, without the run going on.

A checkpoint holds parameters, optimiser state and the number of steps behind it. What else an evaluation needs is in
the ledger: the step that trained the agent names its network and its routing, and the decisions give the archive.
"""

from __future__ import annotations

import difflib
import hashlib
import pathlib
from collections.abc import Sequence
from typing import Any

from attrs import asdict, field, frozen
from attrs.validators import ge

from engine.archive.archive import View
from ledger.checkpoints import checkpoint_path
from ledger.vocabulary.evaluate import Evaluate, Evaluated, Target
from ledger.vocabulary.note import Rate
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Train, Trained
from replay.loops.lineage import carried
from replay.progress import Display
from replay.runner.agents import Agents, NoAgent
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.recording import Recording
from replay.statistics import Interval, success_interval

KEYS = Path("evaluate")
"""Episode keys are derived from the seed and this path: every agent meets the same worlds under the same seed."""


class Unknown(ValueError):
    """An agent or a skill that the run does not know."""


@frozen
class Request:
    """What to evaluate; ``None`` stands for the run's own: its last agent, its whole archive, its settings.

    ``checkpoint`` is a file that lies elsewhere; its hash says which of the run's agents it is.
    """

    agent: Path | None = None
    skills: tuple[str, ...] = ()
    episodes: int | None = field(default=None)
    horizon: int | None = field(default=None)
    seed: int | None = field(default=None)
    checkpoint: pathlib.Path | None = None

    @episodes.validator
    @horizon.validator
    def _positive(self, attribute: Any, value: int | None) -> None:
        if value is not None:
            ge(1)(self, attribute, value)

    @seed.validator
    def _natural(self, attribute: Any, value: int | None) -> None:
        if value is not None:
            ge(0)(self, attribute, value)


@frozen
class Row:
    """One skill: successes now, the exact 95 % interval of its success rate, and the rate that the run recorded last.

    ``achievements`` counts, per achievement of the world, the episodes in which its flag was set.
    """

    skill: str
    rate: Rate
    interval: Interval
    recorded: Rate
    achievements: tuple[tuple[str, int], ...]


@frozen
class Evaluation:
    """An agent evaluated anew."""

    agent: Path
    horizon: int
    seed: int
    steps: int
    rows: tuple[Row, ...]

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "agent": self.agent.text,
            "horizon": self.horizon,
            "seed": self.seed,
            "steps": self.steps,
            "skills": [
                {
                    "name": row.skill,
                    "successes": row.rate.successes,
                    "episodes": row.rate.episodes,
                    "interval": asdict(row.interval),
                    "recorded": asdict(row.recorded),
                    "achievements": dict(row.achievements),
                }
                for row in self.rows
            ],
        }


def evaluate(recording: Recording, request: Request, display: Display, interrupts: Interrupts) -> Evaluation:
    """Evaluate skills of a run's archive, as it is at the recording's end, under one of its agents.

    Nothing is written. Conditions are those of the run's own evaluations (``engine.evaluate``), with fresh worlds.

    Raises:
        Unknown: if the run has no such agent or skill, or no skill at all.
        NoAgent: if the agent's checkpoint is not there.
        ledger.errors.CheckpointDamaged: if it is not what its name says.
        replay.runner.interrupt.Interrupted: if the user asked to stop.
    """
    view = _view(recording)
    trained = _trained(recording)
    skills = view.skills()
    wanted = _chosen(request.skills, [skill.name for skill in skills])
    agents = Agents()
    try:
        agent = _agent(recording, request, trained, agents)
        config = view.config or recording.started.config
        made = trained[agent][0] if agent != UNTRAINED else None
        effect = Evaluate(
            path=KEYS,
            agent=agent,
            world=recording.started.config.world,
            archive=skills,
            targets=tuple(Target(skill.name, skill) for skill in skills if skill.name in wanted),
            episodes=request.episodes or config.evaluation.episodes,
            horizon=request.horizon or config.evaluation.horizon,
            seed=config.seed if request.seed is None else request.seed,
            keys=KEYS,
            network=made.network if made is not None else config.agent,
            routing=made.routing if made is not None else config.routing,
        )
        outcome = Performers(config, agents, display, interrupts).perform(effect)
    finally:
        agents.close()
    assert isinstance(outcome, Evaluated)
    return Evaluation(agent, effect.horizon, effect.seed, outcome.steps, _rows(outcome, view))


def _rows(outcome: Evaluated, view: View) -> tuple[Row, ...]:
    names = view.surveyed.achievements if view.surveyed is not None else ()
    rows = []
    for row in outcome.rows:
        rate = Rate(row.successes, row.episodes)
        # a world may have other achievements than the recorded survey only if its package is another
        flags = tuple(zip(names, row.achievements, strict=False))
        rows.append(Row(row.label, rate, success_interval(rate), view.entry(row.label).evaluated, flags))
    return tuple(rows)


def _view(recording: Recording) -> View:
    view = View()
    for each in recording.steps:
        view = view.fold(each.step)
    if not view.entries:
        raise Unknown(f"{recording.directory} has no skill in its archive yet: there is nothing to evaluate")
    return view


def _trained(recording: Recording) -> dict[Path, tuple[Train, Trained]]:
    steps = [each.step for each in recording.steps]
    return {
        step.effect.path: (step.effect, step.outcome)
        for step in steps
        if isinstance(step.effect, Train) and isinstance(step.outcome, Trained)
    }


def _chosen(names: Sequence[str], archive: Sequence[str]) -> frozenset[str]:
    for name in names:
        if name not in archive:
            near = difflib.get_close_matches(name, archive, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(archive)}"
            raise Unknown(f"the archive has no skill {name!r}; {hint}")
    return frozenset(names or archive)


def _agent(recording: Recording, request: Request, trained: dict[Path, tuple[Train, Trained]], agents: Agents) -> Path:
    """The agent to evaluate, known to ``agents`` from now on."""
    if request.checkpoint is not None:
        return _from_file(request, trained, agents)
    agent = request.agent or _last(recording, tuple(trained))
    if agent == UNTRAINED:
        return agent
    if agent not in trained:
        near = difflib.get_close_matches(agent.text, [path.text for path in trained], n=1)
        hint = f"did you mean {near[0]}?" if near else "`python -m replay log RUN --kind Train` lists them"
        raise Unknown(f"no step of this run trained an agent at {agent}; {hint}")
    if not agents.adopt(agent, recording.directory, trained[agent][1].checkpoint):
        there = [path.text for path, (_, outcome) in trained.items() if _is_there(recording, outcome.checkpoint)]
        listed = f"there are those of {', '.join(there)}" if there else "the run's folder holds none"
        raise NoAgent(
            f"the checkpoint of the agent trained at {agent} is not here ({listed}); its file is named "
            f"{trained[agent][1].checkpoint}.safetensors: give it with --checkpoint, or train it anew with `reproduce`"
        )
    return agent


def _last(recording: Recording, made: tuple[Path, ...]) -> Path:
    if recording.finished is not None:
        return recording.finished.agent
    return next(reversed((UNTRAINED, *made[-1:], *carried(made)[-1:])))


def _from_file(request: Request, trained: dict[Path, tuple[Train, Trained]], agents: Agents) -> Path:
    assert request.checkpoint is not None
    data = request.checkpoint.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    paths = [path for path, (_, outcome) in trained.items() if outcome.checkpoint == digest]
    if not paths:
        raise Unknown(f"{request.checkpoint} is the checkpoint of no agent of this run: its SHA-256 is {digest}")
    if request.agent is not None and request.agent not in paths:
        raise Unknown(f"{request.checkpoint} is the checkpoint of the agent trained at {paths[0]}, not {request.agent}")
    agents.keep(paths[0], data)
    return paths[0]


def _is_there(recording: Recording, checkpoint: str) -> bool:
    return checkpoint_path(recording.directory, checkpoint).is_file()
