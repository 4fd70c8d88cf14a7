"""Performing effects: everything that touches a device, a model or a package. Inputs come from the effect alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from engine.draws import draw
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Metric
from ledger.vocabulary.note import Note, Noted
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey, Surveyed
from ledger.vocabulary.train import Train, Trained
from ledger.vocabulary.vet import Vet, Vetted
from replay.progress import Display
from replay.runner.agents import Agents
from replay.runner.interrupt import Interrupted, Interrupts
from replay.runner.keeper import Keeper

if TYPE_CHECKING:
    from engine.train.core import TrainingCore
    from fm.embed import Embedder

SAMPLING_SEED = 0
"""States that programs are tried on when they are vetted come from this seed, whatever the run's own."""

# Worlds, programs and training need jax, whose import takes seconds; deciding a recording needs none of them, so they
# are imported where they are first used.


@define
class Performers:
    """One performer per kind of effect except Ask, which the driver sends through a transport.

    ``seed_offset`` is added to the seed of training and evaluation: retraining a history under other seeds.
    """

    config: Config
    agents: Agents
    display: Display
    interrupts: Interrupts
    embedder: Embedder | None = None
    keeper: Keeper | None = None
    checkpoint_seconds: float = 60.0
    resume_from: dict[Path, tuple[int, bytes]] = field(factory=dict)
    seed_offset: int = 0
    _cores: dict[str, TrainingCore] = field(factory=dict)

    def perform(self, effect: AnyEffect) -> AnyOutcome:
        """Perform one effect and return its outcome.

        Raises:
            Interrupted: if the user asked to stop in the middle; training has then left a checkpoint to resume from.
        """
        self.interrupts.check()
        match effect:
            case Settings():
                return self.config
            case Draw():
                return draw(effect)
            case Note():
                return Noted()
            case Survey():
                return self._survey(effect)
            case Vet():
                return self._vet(effect)
            case Embed():
                return self._embed(effect)
            case Train():
                return self._train(evolve(effect, seed=effect.seed + self.seed_offset))
            case Evaluate():
                return self._evaluate(evolve(effect, seed=effect.seed + self.seed_offset))
        raise TypeError(f"{type(effect).__name__} is no effect that is performed here")

    def _survey(self, effect: Survey) -> Surveyed:
        from engine.worlds.survey import survey

        return survey(effect)

    def _vet(self, effect: Vet) -> Vetted:
        from engine.sharp.vet import vet
        from engine.worlds.registry import world
        from engine.worlds.sampling import sampled_views

        there = world(effect.world)
        return vet(effect, there.schema, sampled_views(there, SAMPLING_SEED))

    def _embed(self, effect: Embed) -> Embedded:
        if self.embedder is None:
            from fm.embed import WordLlamaEmbedder

            self.embedder = WordLlamaEmbedder()
        return self.embedder.embed(effect)

    def _core(self, name: str) -> TrainingCore:
        if name not in self._cores:
            from engine.train.core import TrainingCore
            from engine.worlds.registry import world

            self._cores[name] = TrainingCore(world(name), save_every_seconds=self.checkpoint_seconds)
        return self._cores[name]

    def _train(self, effect: Train) -> Trained:
        from engine.train.core import Stopped

        core, path = self._core(effect.world), effect.path
        latest: list[tuple[Metric, ...]] = [()]
        whole = [effect.steps]

        def progress(done: int, total: int, metrics: tuple[Metric, ...]) -> None:
            latest[0], whole[0] = metrics, total
            self.display.advance(str(path), done, _note(metrics))

        def save(done: int, data: bytes) -> None:
            if self.keeper is not None:
                self.keeper.progress(path, done, whole[0], data, latest[0])

        self.display.start(str(path), "training", effect.steps)
        try:
            trained, data = core.train(
                effect,
                self.agents.data(effect.agent),
                progress=progress,
                save=save,
                resume=self.resume_from.get(path),
                stop=self.interrupts.requested,
            )
        except Stopped as stopped:
            raise Interrupted(f"training stopped at {path}") from stopped
        finally:
            self.display.finish(str(path))
        self._keep(path, data)
        return trained

    def _keep(self, path: Path, data: bytes) -> None:
        """The new agent's checkpoint: in the run's folder if one is written, else on scratch disk; never twice."""
        if self.keeper is None:
            self.agents.keep(path, data)
        else:
            self.agents.adopt(path, self.keeper.writer.directory, self.keeper.checkpoint(data))

    def _evaluate(self, effect: Evaluate) -> Evaluated:
        from engine.train.core import Stopped

        path, total = effect.path, effect.episodes * len(effect.targets)
        self.display.start(str(path), "evaluation", total)

        def progress(done: int, total: int, metrics: tuple[Metric, ...]) -> None:
            self.display.advance(str(path), done, _note(metrics))

        try:
            return self._core(effect.world).evaluate(
                effect, self.agents.data(effect.agent), progress=progress, stop=self.interrupts.requested
            )
        except Stopped as stopped:
            raise Interrupted(f"evaluation stopped at {path}") from stopped
        finally:
            self.display.finish(str(path))


def _note(metrics: tuple[Metric, ...]) -> str:
    return "  ".join(f"{each.name} {each.value:.3g}" for each in metrics[:3])
