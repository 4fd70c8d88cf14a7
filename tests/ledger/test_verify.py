"""What a verification reports beyond hashes: counts, blobs, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger import frame, lines
from ledger.blobs import Reference, StoredBody
from ledger.errors import CheckpointDamaged, Damaged, NotARun
from ledger.files import Disk
from ledger.frame import Kind
from ledger.head import GENESIS, Head, read_head, write_head
from ledger.lines import Record
from ledger.reader import read
from ledger.verify import verify
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Event, Progress, Session, Started, Step, UserTemplate
from ledger.vocabulary.path import Path as StepPath
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.train import Trained
from ledger.writer import Writer
from tests.ledger.examples import some_run

TIME = "2026-01-02T03:04:05.000006Z"


def test_the_counts_are_right(tmp_path: Path) -> None:
    some_run(tmp_path / "run", status="finished")
    found = verify(tmp_path / "run", tmp_path / "run" / "HEAD")
    head = read_head(tmp_path / "run")
    assert found.ok
    found.check()
    assert (found.status, found.events, found.blobs, found.batches) == ("finished", 9, 3, 7)
    assert (found.sequence, found.hash, found.stored_bytes) == (9, head.hash, head.size)
    assert found.stored_bytes == (tmp_path / "run" / "events" / "00000000.zst").stat().st_size < found.raw_bytes
    assert (found.beyond_head, found.torn_tail, found.quarantined) == (0, None, ())


def test_an_empty_run_is_whole(tmp_path: Path) -> None:
    Writer.create(tmp_path / "run").close()
    found = verify(tmp_path / "run", tmp_path / "run" / "HEAD")
    assert (found.ok, found.events, found.sequence, found.hash) == (True, 0, 0, GENESIS.hex())
    with pytest.raises(NotARun):
        verify(tmp_path)


def test_checkpoints_are_hashed_and_those_not_shipped_are_told_apart(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer:
        kept, lost, broken = (writer.save_checkpoint(name) for name in (b"kept", b"lost", b"broken"))
        for name in (kept, lost, broken):
            writer.append(Progress(StepPath("a"), 1, 2, name, ()))
        trained = Trained(1, 1, (), "00" * 32, kept, 0.5)
        writer.append(Step(Settings(StepPath("b")), trained))
        writer.append(Progress(StepPath("a"), 1, 2, None, ()))
        writer.append(Session('"checkpoint":"never"', ()))
    found = verify(tmp_path / "run")
    assert (found.ok, found.checkpoints, found.not_shipped, found.damaged_checkpoints) == (True, 3, (), ())
    folder = tmp_path / "run" / "checkpoints"
    (folder / f"{lost}.safetensors").unlink()
    (folder / f"{broken}.safetensors").write_bytes(b"Broken")
    found = verify(tmp_path / "run")
    assert (found.ok, found.checkpoints, found.not_shipped, found.damaged_checkpoints) == (False, 1, (lost,), (broken,))
    with pytest.raises(CheckpointDamaged, match=broken):
        found.check()


def test_a_checkpoint_name_in_an_event_leads_nowhere_else(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer:
        writer.append(Progress(StepPath("a"), 1, 2, "../HEAD", ()))
    assert verify(tmp_path / "run").not_shipped == ("../HEAD",)


def forged(directory: Path, batches: list[tuple[Kind, list[bytes]]], **wrong: Any) -> Path:
    """A run whose chain and HEAD are right, whatever its lines say: what an author could re-chain.

    ``wrong`` gives the last batch another place: ``segment``, ``first`` or ``previous``.
    """
    Writer.create(directory).close()
    previous, data, first = GENESIS, b"", 1
    for number, (kind, content) in enumerate(batches, 1):
        place: dict[str, Any] = {"segment": 0, "first": first, "previous": previous}
        if number == len(batches):
            place |= wrong
        header, batch = frame.pack(content, frame.compress(content), schema=1, kind=kind, **place)
        previous, first, data = header.hash, header.next, data + batch
    (directory / "events" / "00000000.zst").write_bytes(data)
    write_head(Disk(), directory, Head(first - 1, previous.hex(), len(data), "open"))
    return directory


def line(sequence: int, event: Event) -> bytes:
    return lines.write(Record(sequence, TIME, "live", None, event))


LONG = Body("bell " * 300)
BLOB = lines.write_blob(LONG.digest, LONG.raw)
NAMES_BLOB = line(1, Started("l", "1", Config(), (UserTemplate("t", LONG),)))
SHORT = StoredBody.at(Reference(Body("short").digest, lambda digest: b"short"))


@pytest.mark.parametrize(
    ("batches", "reason"),
    [
        ([(Kind.EVENTS, [NAMES_BLOB])], "stored nowhere before it"),
        ([(Kind.EVENTS, [NAMES_BLOB]), (Kind.BLOBS, [BLOB])], "stored nowhere before it"),
        ([(Kind.BLOBS, [BLOB, BLOB]), (Kind.EVENTS, [NAMES_BLOB])], "stored twice"),
        ([(Kind.BLOBS, [BLOB.replace(b"bell", b"Bell", 1)])], "does not have the hash"),
        ([(Kind.BLOBS, [BLOB.replace(b"bell", rb"\u0062ell", 1)])], "its one stored form"),
        ([(Kind.BLOBS, [lines.write_blob(SHORT.digest, b"short")])], "short enough"),
        ([(Kind.BLOBS, [b"{}"])], "without its digest"),
        ([(Kind.EVENTS, [line(2, Session("a", ()))])], "another number"),
        ([(Kind.EVENTS, [line(1, Session("a", ())), line(1, Session("b", ()))])], "another number"),
        ([(Kind.EVENTS, [b'{"seq":1,"time":"x"}'])], "cannot be read"),
        ([(Kind.EVENTS, [NAMES_BLOB.replace(LONG.digest.encode(), b"../../x")])], "stored nowhere before it"),
    ],
)
def test_a_chain_that_is_right_around_wrong_lines_is_refused(
    tmp_path: Path, batches: list[tuple[Kind, list[bytes]]], reason: str
) -> None:
    found = verify(forged(tmp_path / "run", batches))
    assert len(found.problems) == 1
    assert isinstance(found.problems[0], Damaged)
    assert reason in str(found.problems[0])


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"segment": 1}, "a batch of segment 1"),
        ({"first": 4}, "a batch that begins at event 4"),
        ({"first": 2}, "a batch that begins at event 2"),
        ({"previous": GENESIS}, "a batch that continues another chain"),
        ({"previous": bytes(32)}, "a batch that continues another chain"),
    ],
)
def test_a_sound_batch_in_a_wrong_place_is_refused(tmp_path: Path, wrong: dict[str, Any], reason: str) -> None:
    first, second = [line(1, Session("a", ())), line(2, Session("b", ()))], [line(3, Session("c", ()))]
    batches = [(Kind.EVENTS, first), (Kind.EVENTS, second)]
    assert verify(forged(tmp_path / "right", batches)).ok
    (problem,) = verify(forged(tmp_path / "wrong", batches, **wrong)).problems
    assert reason in str(problem)


def test_an_empty_segment_between_others_is_refused(tmp_path: Path) -> None:
    data = [b"", b"", b""]
    previous = GENESIS
    for segment, sequence in ((0, 1), (2, 2)):
        content = [line(sequence, Session("a", ()))]
        header, data[segment] = frame.pack(
            content,
            frame.compress(content),
            schema=1,
            kind=Kind.EVENTS,
            segment=segment,
            first=sequence,
            previous=previous,
        )
        previous = header.hash
    directory = tmp_path / "run"
    Writer.create(directory).close()
    for segment, batch in enumerate(data):
        (directory / "events" / f"{segment:08d}.zst").write_bytes(batch)
    write_head(Disk(), directory, Head(2, previous.hex(), sum(map(len, data)), "open"))
    (problem,) = verify(directory).problems
    assert "an empty segment, though another follows" in str(problem)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (b'{"kind":"Session","purpose":"a","facts":[],"more":1}', "unknown fields more"),
        (b'{"kind":"Session","purpose":1,"facts":[]}', "expected str, got int 1"),
        (b'{"kind":"Riot"}', "whose kind is one of"),
        (b'{"kind":"Session","purpose":"a","facts":' + b"[" * 5000 + b"]" * 5000 + b"}", "no JSON of this ledger"),
        (b"[" + b"[]," * 600_000 + b"[]]", "larger than"),
        (b"{}", "whose kind is one of"),
        (b"print(1)", "no JSON"),
    ],
)
def test_an_event_that_no_writer_makes_is_refused_by_name(tmp_path: Path, event: bytes, reason: str) -> None:
    start = f'{{"seq":1,"time":"{TIME}","source":"live","event":'.encode()
    directory = forged(tmp_path / "run", [(Kind.EVENTS, [start + event + b"}"])])
    with pytest.raises(Damaged, match="event 1 cannot be read") as raised:
        list(read(directory))
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_sound_forgery_is_a_ledger(tmp_path: Path) -> None:
    """The helper above makes sound runs; only then do its unsound ones show anything."""
    directory = forged(tmp_path / "run", [(Kind.BLOBS, [BLOB]), (Kind.EVENTS, [NAMES_BLOB, line(2, Session("b", ()))])])
    assert verify(directory, directory / "HEAD").ok
    first, second = read(directory)
    assert first.event.templates[0].text == LONG  # type: ignore[union-attr]
    assert second.event == Session("b", ())
