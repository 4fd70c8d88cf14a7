"""A scripted model and quick performers: the whole CODE-SHARP loop on the corridor in milliseconds.

Requests, parsing, vetting, draws, decisions, the runner and the ledger are the real ones. Only training and evaluation
are stand-ins: integers derived from the effect itself, so that they are as deterministic as a device would be.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import threading
from collections.abc import Callable

import attrs
from attrs import define, field

from engine.sharp.vet import vet
from fm.budget import Budget
from ledger.codec import canonical
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.config import Config, Discovery, Evaluation
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.evaluate import Evaluate, Evaluated, EvaluationRow
from ledger.vocabulary.events import Fact, Usage
from ledger.vocabulary.survey import SourcePart, Survey, Surveyed
from ledger.vocabulary.train import Attempts, Train, Trained
from ledger.vocabulary.vet import Vet, Vetted
from ledger.writer import Writer
from replay.progress import NullDisplay
from replay.runner import live
from replay.runner.agents import Agents
from replay.runner.drive import Driver, Replayed
from replay.runner.experiments import factory_of
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.recording import load
from replay.runner.use import Use
from tests.tiny_worlds import PROGRAMS, SCHEMA

CONFIG = Config(
    world="corridor",
    seed=3,
    discovery=Discovery(
        iterations=3,
        proposals=3,
        mutation_start=1,
        mutations=2,
        training_epochs=1,
        evaluation_epochs=2,
        epoch_steps=64,
    ),
    evaluation=Evaluation(episodes=20, horizon=30),
)

ORDER = ("TakeKey", "OpenDoor", "LightLamp")
REQUIRES: dict[str, list[dict[str, str]]] = {
    "TakeKey": [],
    "OpenDoor": [{"condition": "state.bag.keys is at least 1", "prerequisite": "TakeKey"}],
    "LightLamp": [{"condition": "state.door_open", "prerequisite": "OpenDoor"}],
}


BROKEN = """```python
class Broken(Sharp):
    def success(self, state, previous):
        return state.no_such_field
```"""


def answer(ask: Ask) -> str:
    """What the scripted model says: candidate k of iteration i proposes skill min(i, k); some answers need repair."""
    path = str(ask.path)
    iteration = int(path.split("/")[0].partition("=")[2])
    repaired = "repair=" in path or "compile=" in path
    name = ORDER[iteration]
    if ask.role == "propose":
        if "propose[1]" in path and not repaired:
            return "<think>I should answer with"
        return json.dumps(
            {"reasoning": "r", "name": name, "description": f"{name}.", "success": "s", "requirements": REQUIRES[name]}
        )
    if ask.role == "implement":
        if "implement[2]" in path or (iteration == 1 and not repaired):
            return BROKEN
        return f"```python\n{PROGRAMS[name]}```"
    if ask.role == "judge":
        return json.dumps({"reason": "the first is right", "chosen": ["candidate[0]"]})
    if ask.role == "mutate":
        return json.dumps({"summary": "ask for the key again", "requirements": REQUIRES["OpenDoor"]})
    assert ask.role == "implement_mutation"
    target = "TakeKey" if "class TakeKey" in ask.parts[-1].text.text else "OpenDoor"
    return f"```python\n{PROGRAMS[target]}```"


@define
class ScriptedModel:
    """A transport that answers from ``answer``; counts what it was asked, and can fail or stall on request."""

    reply: Callable[[Ask], str] = answer
    before: Callable[[Ask], None] = lambda ask: None
    asked: list[str] = field(factory=list)
    name: str = "scripted"
    answers_persist: bool = False
    _lock: threading.Lock = field(factory=threading.Lock)

    def facts(self) -> tuple[Fact, ...]:
        return (Fact("transport", "scripted"),)

    def find(self, ask: Ask) -> Reply | None:
        return None

    def ask(self, ask: Ask) -> tuple[Reply, Usage | None]:
        self.before(ask)
        with self._lock:
            self.asked.append(str(ask.path))
        return Reply(Body(self.reply(ask)), "stop"), Usage(100, 10)

    def close(self) -> None:
        pass


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "big")


class QuickPerformers(Performers):
    """Real host effects; training and evaluation are integers that depend on every input of the effect."""

    perturb: Callable[[Train], int] = staticmethod(lambda effect: 0)

    def _survey(self, effect: Survey) -> Surveyed:
        return Surveyed(
            "corridor",
            "1",
            "0" * 64,
            (SourcePart("corridor.py", Body("# a corridor\n" * 100)),),
            Body("# language"),
            ("take_key", "open_door", "light_lamp"),
        )

    def _vet(self, effect: Vet) -> Vetted:
        return vet(effect, SCHEMA, None)

    def _embed(self, effect: Embed) -> Embedded:
        import struct

        return Embedded(
            4, tuple(Data(struct.pack("<4f", *(_number(t, i) / 2**32 for i in range(4)))) for t in effect.texts)
        )

    def _train(self, effect: Train) -> Trained:
        start = self.agents.data(effect.agent) or b""
        data = hashlib.sha256(start + canonical(effect) + bytes([self.perturb(effect)])).digest()
        self._keep(effect.path, data)
        rows = tuple(
            Attempts(s.name, 10, _number(data, s.name) % 11, 64, _number(data, s.name, "a") % 11) for s in effect.skills
        )
        digest = hashlib.sha256(data).hexdigest()
        return Trained(effect.steps, 4, rows, digest, digest, _number(data, "r") / 2**32)

    def _evaluate(self, effect: Evaluate) -> Evaluated:
        data = self.agents.data(effect.agent)
        rows = []
        for target in effect.targets:
            if data is None or "before" in effect.path.text:
                successes = 0
            else:
                successes = 2 + _number(data, target.skill.source.digest, target.label) % 18
            rows.append(EvaluationRow(target.label, effect.episodes, successes, (successes // 2, 0, 1)))
        return Evaluated(tuple(rows), 100)


def run(
    directory: pathlib.Path, model: ScriptedModel | None = None, config: Config = CONFIG, **changes: object
) -> Replayed:
    """Start a run and drive it to its end."""
    live.create(directory, "code_sharp", config)
    return resume(directory, model, **changes)


def resume(
    directory: pathlib.Path,
    model: ScriptedModel | None = None,
    interrupts: Interrupts | None = None,
    budget: Budget | None = None,
    keep_checkpoints: str = "all",
) -> Replayed:
    """Continue a run with the scripted model and quick performers."""
    return live.resume(
        directory,
        transport=model or ScriptedModel(),
        display=NullDisplay(),
        interrupts=interrupts or Interrupts(),
        facts=(),
        budget=budget or Budget(),
        concurrency=4,
        checkpoint_seconds=60.0,
        keep_checkpoints=keep_checkpoints,
        performers_type=QuickPerformers,
    )


def replay(directory: pathlib.Path, use: Use, performers: type[Performers] = QuickPerformers) -> Replayed:
    """Replay a run under a use."""
    recording = load(directory)
    agents = Agents()
    try:
        made = performers(recording.started.config, agents, NullDisplay(), Interrupts())
        return Driver(recording, made, use).drive(factory_of(recording.started))
    finally:
        agents.close()


def rewritten(source: pathlib.Path, target: pathlib.Path, change: Callable[[object], object]) -> None:
    """A copy of a run whose events went through ``change``, re-chained with a valid HEAD: a forgery."""
    from ledger import reader

    with Writer.create(target) as writer:
        for record in reader.read(source):
            changed = change(record.event)
            if changed is not None:
                writer.append(changed, source=record.source, usage=record.usage)
        writer.commit()
        writer.close("finished")
    for checkpoint in (source / "checkpoints").glob("*"):
        (target / "checkpoints" / checkpoint.name).write_bytes(checkpoint.read_bytes())


__all__ = ["CONFIG", "QuickPerformers", "ScriptedModel", "answer", "attrs", "replay", "resume", "rewritten", "run"]
