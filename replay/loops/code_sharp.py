"""CODE-SHARP (paper 000, section 2): discovery and evolution of an archive of skills, and the agent's training."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from engine.archive.archive import View
from engine.curriculum.matching import nearest, words
from ledger.vocabulary.config import Config
from ledger.vocabulary.effect import Loop, do
from ledger.vocabulary.embed import Embed
from ledger.vocabulary.evaluate import Target
from ledger.vocabulary.events import Finished
from ledger.vocabulary.note import Matched, Note, Rate
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey
from ledger.vocabulary.train import UNTRAINED
from replay.loops.answers import Inputs
from replay.loops.evolution import evolved
from replay.loops.learning import archive_training, evaluation, learnability
from replay.loops.prompting import context_of
from replay.loops.proposals import chosen_candidates

NAME = "code_sharp"
LOGIC = "code_sharp@1"
"""A change of what the loop yields, renamed paths included, is a new version of its logic."""


def code_sharp(now: Callable[[], View], inputs: Inputs) -> Loop[Finished]:
    """The whole experiment; ``now`` gives the view folded exactly up to the last outcome that was sent.

    Iterations count from 0; evolution starts with iteration ``mutation_start`` (Table 7).
    """
    agent = UNTRAINED
    for iteration in count():
        at = Path(f"iteration={iteration}")
        config = yield from do(Settings(at / "settings"))
        if iteration >= config.discovery.iterations:
            yield from achievements(Path("final"), now(), agent, config)
            return Finished(iteration, now().names, agent)
        if iteration == 0:
            yield from do(Survey(Path("survey"), config.world, config.grammar))
        agent = yield from discovery(at, now, agent, config, inputs)
        if iteration >= config.discovery.mutation_start and now().entries:
            for k in range(config.discovery.mutated_skills):
                context = context_of(now(), inputs, failures_shown=config.discovery.failures_shown)
                yield from evolved(at / f"mutation[{k}]", now(), agent, context, config, inputs)
    raise AssertionError("count() does not end")


def discovery(at: Path, now: Callable[[], View], agent: Path, config: Config, inputs: Inputs) -> Loop[Path]:
    """One iteration of open-ended discovery: candidates, learnability, admission, training (section 2.3)."""
    context = context_of(now(), inputs, failures_shown=config.discovery.failures_shown)
    chosen = yield from chosen_candidates(at, now(), context, config, inputs)
    if chosen:
        result = yield from learnability(at, now(), agent, chosen, config)
        if config.discovery.keep_trained_copy and result.admitted:
            agent = result.copy
    if now().entries:
        agent = yield from archive_training(at, now(), agent, config)
    return agent


def achievements(at: Path, view: View, agent: Path, config: Config) -> Loop[None]:
    """Evaluate against the world's own achievements, each pursued as the semantically nearest skill (section 3)."""
    assert view.surveyed is not None
    names = view.surveyed.achievements
    if not view.entries or not names:
        return
    skills = view.skills()
    targets = tuple(Target(skill.name, skill) for skill in skills)
    evaluated = yield from evaluation(at / "evaluate", at / "evaluate", agent, skills, targets, config)
    embedded = yield from do(Embed(at / "embed", config.embedding_model, tuple(words(name) for name in names)))
    matched, similarity, rates = [], [], []
    for index, vector in enumerate(embedded.vectors):
        best, cosine = nearest(vector, [skill.vector for skill in skills])
        row = evaluated.rows[best]
        matched.append(skills[best].name)
        similarity.append(cosine)
        rates.append(Rate(row.achievements[index], row.episodes))
    yield from do(Note(at / "matched", Matched(names, tuple(matched), tuple(similarity), tuple(rates))))
