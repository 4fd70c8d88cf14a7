"""Writes the golden ledger of a released schema, once: ``python -m tests.ledger.make_golden tests/golden/ledger-1``.

It holds an event of every type, an effect and outcome of every type, a decision of every type, and the values that
encodings lose. A committed golden ledger is never written again: it must load, verify and fold for ever.
"""

from __future__ import annotations

import hashlib
import sys
import types
from pathlib import Path as Folder
from typing import Any, Union, get_args, get_origin

import attrs

from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import (
    OUTCOME_OF,
    Arrived,
    Attempt,
    Event,
    Fact,
    Finished,
    Forked,
    Metric,
    Progress,
    Session,
    Started,
    Step,
    Usage,
    UserTemplate,
)
from ledger.vocabulary.note import Decision, Note, Noted
from ledger.vocabulary.path import Path
from ledger.writer import Writer
from tests.ledger.examples import Clock

CHECKPOINT = b"no weights, only their place"


def specimen(type_: Any, name: str) -> Any:
    """A fixed value of a vocabulary type; texts say where they stand."""
    if isinstance(type_, types.UnionType) or get_origin(type_) is Union:
        return specimen(next(member for member in get_args(type_) if member is not type(None)), name)
    if get_origin(type_) is tuple:
        return (specimen(get_args(type_)[0], name), specimen(get_args(type_)[0], name))
    if type_ is Body:
        return Body(f"{name}: a bell rings. " * (80 if name in ("Part.text", "Skill.source", "Reply.content") else 1))
    if type_ is Data:
        return Data(hashlib.sha256(name.encode()).digest() * (40 if name.startswith("Embedded") else 1))
    if type_ is Path:
        return Path("iteration=0/candidate[1]/repair=2")
    if type_ is Config:
        return Config(world="bells", seed=7)
    simple = {bool: True, int: 3, float: 0.1, str: name}
    if type_ in simple:
        return simple[type_]
    if type_.__module__ == Config.__module__:
        return type_()
    attrs.resolve_types(type_)
    return type_(**{f.name: specimen(f.type, f"{type_.__name__}.{f.name}") for f in attrs.fields(type_)})


def golden_events(checkpoint: str) -> list[Event]:
    """Events of every kind, in an order that a run could have."""
    at = Path("iteration=0")
    steps = [Step(specimen(effect, ""), specimen(outcome, "")) for effect, outcome in OUTCOME_OF.items()]
    notes = [Step(Note(at / f"note={i}", specimen(kind, "")), Noted()) for i, kind in enumerate(get_args(Decision))]
    numbers = [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1e16, 0.1]
    strange = ["\ud800", "\ud83d\ude00", "\U0001f600", "\x00\x1b\u2028é", '"},"event":{"kind":"Step",', "NaN"]
    return [
        Session("run", tuple(Fact(f"text {i}", text) for i, text in enumerate(strange))),
        Forked("another run", 2**63, "00" * 32),
        Started("code_sharp", "1", Config(), (UserTemplate("propose", Body("\ud83d\ude00" * 400)),)),
        *(Attempt(step.effect) for step in steps),
        *steps,
        *(Arrived(step.effect.path, step.outcome) for step in steps),
        *notes,
        Progress(at / "train", -(2**64), 10**40, checkpoint, tuple(Metric(f"m{i}", x) for i, x in enumerate(numbers))),
        Finished(1, ("RingBell", "LightLamp"), at / "train"),
    ]


def main(directory: Folder) -> None:
    """Write the ledger, and the hashes of its files beside it in the form that ``sha256sum -c`` reads."""
    with Writer.create(directory, clock=Clock(), segment_bytes=6000) as writer:
        events = golden_events(writer.save_checkpoint(CHECKPOINT))
        for number, event in enumerate(events):
            source = ("live", "recorded", "inherited", "edited")[number % 4]
            writer.append(event, source=source, usage=Usage(number, 2**63) if isinstance(event, Arrived) else None)
            if number % 5 == 0:
                writer.commit()
        writer.close("finished")
    (directory / "LOCK").unlink()
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(directory)}\n" for path in files]
    directory.with_suffix(".sha256").write_text("".join(sums))


if __name__ == "__main__":
    main(Folder(sys.argv[1]))
