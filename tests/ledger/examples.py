"""Small runs that many tests write, and the clock they are written with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path as Folder
from typing import Any

from ledger.frame import HEADER_BYTES
from ledger.segments import Torn, scan
from ledger.vocabulary.ask import Ask, Part, Reply, Sampling
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.evaluate import Evaluated, EvaluationRow
from ledger.vocabulary.events import Attempt, Event, Finished, Metric, Progress, Session, Started, Step, Usage
from ledger.vocabulary.note import Judged, Note, Noted
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.writer import Writer

LONG = Body("A world of rooms, lamps and bells. " * 60)
SPENT = Usage(1200, 34)


class Clock:
    """A clock that ticks a second per look."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def ask(number: int) -> Ask:
    """One of many calls that share a long part."""
    parts = (Part("world", LONG), Part("task", Body(f"Ring bell {number}.")))
    return Ask(Path(f"iteration={number}/propose"), "propose", "propose@1", parts, "some-model", Sampling(0.7), None)


def some_events() -> list[Event]:
    """Eight events with long and short bodies, specials among the floats, and a reported field."""
    at = Path("iteration=0")
    evaluated = Evaluated((EvaluationRow("parent", 8, 3, (1, 0)),), steps=640, seconds=1.5)
    return [
        Session("run", ()),
        Started("code_sharp", "1", Config()),
        Attempt(ask(0)),
        Step(ask(0), Reply(Body("class RingBell(Sharp): ...\n" * 50), "stop", model="some-model")),
        Step(Draw(at / "draw", "target", 0, (0.25, -0.0, float("inf"), float("nan")), 2), Drawn((0, 2))),
        Step(
            Embed(at / "embed", "words", ("a", "\ud800")), Embedded(300, (Data(bytes(range(256)) * 5), Data(b"\xff")))
        ),
        Step(Note(at / "judge", Judged(("RingBell",), Body("short"))), Noted()),
        Step(Settings(at / "settings"), evaluated),
    ]


def many_events(count: int) -> list[Event]:
    """Progress rows, each a little different."""
    return [Progress(Path("iteration=0/train"), i, 1000, None, (Metric("reward", i / 7),)) for i in range(count)]


def write_run(directory: Folder, batches: list[list[Event]], *, status: str = "open", **options: Any) -> Folder:
    """A run with one commit per list."""
    with Writer.create(directory, clock=Clock(), **options) as writer:
        for events in batches:
            for event in events:
                writer.append(event, usage=SPENT if isinstance(event, Attempt) else None)
            writer.commit()
        writer.close(status)
    return directory


def some_run(directory: Folder, *, status: str = "open", **options: Any) -> Folder:
    """A run of :func:`some_events` in four commits; a finished one ends with ``Finished``."""
    events = some_events()
    last: list[Event] = [Finished(1, ("RingBell",), Path("iteration=0/train"))] if status == "finished" else []
    return write_run(directory, [events[:2], events[2:3], events[3:5], events[5:] + last], status=status, **options)


def frames(directory: Folder) -> list[tuple[Folder, int, int]]:
    """Segment file, offset and size of every batch."""
    found = []
    for batch in scan(directory):
        assert not isinstance(batch, Torn)
        found.append((directory / "events" / f"{batch.at.segment:08d}.zst", batch.at.offset, batch.header.size))
    assert all(size > HEADER_BYTES for _, _, size in found)
    return found


def content(directory: Folder) -> dict[str, bytes]:
    """Every file of a run but its lock."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != "LOCK"
    }
