"""Readers are safe beside a writer (L6), keep little in memory, and read nothing but regular files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from ledger.codec import plain
from ledger.errors import Damaged, LedgerError, NotARun, Undecodable, Unreadable
from ledger.files import Disk, pread, read_small, reading
from ledger.frame import FrameError
from ledger.head import EMPTY, read_head, write_head
from ledger.reader import read
from ledger.segments import Batch, Position, _batch, scan
from ledger.store import CACHE_BYTES, BlobStore
from ledger.verify import verify
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Started, UserTemplate
from ledger.writer import Writer
from tests.ledger.examples import frames, many_events, some_events, some_run, write_run

WRITE = """
import sys
from pathlib import Path
from ledger.writer import Writer
from tests.ledger.examples import many_events
events = many_events(int(sys.argv[2]))
with Writer.open(Path(sys.argv[1]), segment_bytes=3000) as writer:
    for number, event in enumerate(events):
        writer.append(event)
        if number % 3 == 0:
            writer.commit()
    writer.close("stopped")
"""


def read_beside_a_writer(directory: Path, events: int, reads: int) -> int:
    """Read a run over and over while another process writes it; every read must give a prefix of what it writes."""
    Writer.create(directory).close()
    expected = many_events(events)
    done = 0
    with subprocess.Popen([sys.executable, "-c", WRITE, directory, str(events)]) as process:
        while process.poll() is None or done < reads:
            acknowledged = read_head(directory).sequence
            after = max(0, acknowledged - 20)
            seen = list(read(directory, after=after))
            assert [record.sequence for record in seen] == list(range(after + 1, after + 1 + len(seen)))
            assert [record.event for record in seen] == expected[after : after + len(seen)]
            assert after + len(seen) >= acknowledged
            done += 1
        assert process.returncode == 0
    assert [record.event for record in read(directory)] == expected
    return done


def test_every_read_beside_a_writer_gives_a_valid_prefix(tmp_path: Path) -> None:
    reads = read_beside_a_writer(tmp_path / "run", events=60, reads=100)
    print(f"{reads} reads, all of a valid prefix")


@pytest.mark.slow
def test_many_reads_beside_a_writer_give_valid_prefixes(tmp_path: Path) -> None:
    reads = read_beside_a_writer(tmp_path / "run", events=900, reads=5000)
    print(f"{reads} reads, all of a valid prefix")


def test_verify_beside_a_writer_finds_no_damage(tmp_path: Path) -> None:
    Writer.create(tmp_path / "run").close()
    with subprocess.Popen([sys.executable, "-c", WRITE, tmp_path / "run", "40"]) as process:
        while process.poll() is None:
            assert verify(tmp_path / "run").problems == ()
    assert verify(tmp_path / "run").events == 40


@pytest.mark.parametrize("batches_per_segment", [1, 2, 9])
def test_a_batch_that_was_half_written_at_the_first_look_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches_per_segment: int
) -> None:
    """A writer may finish a batch, and begin what follows it, between two looks of a reader.

    Seen failing without the second look: an honest run is then called damaged.
    """
    directory = write_segments(tmp_path / "run", batches_per_segment)
    looks: list[Position] = []

    def early(descriptor: int, at: Position) -> Batch | None:
        if at not in looks and at.sequence < 5:
            looks.append(at)
            raise FrameError("half a batch")
        return _batch(descriptor, at)

    monkeypatch.setattr("ledger.segments._batch", early)
    assert [record.event for record in read(directory)] == many_events(6)
    assert len(looks) >= 5


def test_a_batch_that_was_not_there_at_the_first_look_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same at the end of a segment, where the writer has gone on to the next one meanwhile."""
    directory = write_segments(tmp_path / "run", 2)
    looks: list[Position] = []

    def early(descriptor: int, at: Position) -> Batch | None:
        if at not in looks and at.offset and at.segment < 2:
            looks.append(at)
            return None
        return _batch(descriptor, at)

    monkeypatch.setattr("ledger.segments._batch", early)
    assert [record.event for record in read(directory)] == many_events(6)
    assert looks


def write_segments(directory: Path, batches_per_segment: int) -> Path:
    """Six events in six batches, none of them acknowledged by HEAD."""
    write_run(directory, [[event] for event in many_events(6)])
    size = max(size for _, _, size in frames(directory))
    shutil.rmtree(directory)
    write_run(directory, [[event] for event in many_events(6)], segment_bytes=batches_per_segment * (size + 4))
    assert len(list((directory / "events").iterdir())) == -(-6 // batches_per_segment)
    write_head(Disk(), directory, EMPTY)
    return directory


@pytest.mark.parametrize("after", range(10))
def test_reading_can_begin_anywhere(tmp_path: Path, after: int) -> None:
    some_run(tmp_path / "run")
    assert [record.sequence for record in read(tmp_path / "run", after=after)] == list(range(after + 1, 9))


def test_a_reader_holds_no_file_open_once_it_is_done(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    before = len(os.listdir(folder))
    for _ in range(20):
        records = read(tmp_path / "run")
        next(records)
        records.close()  # type: ignore[attr-defined]
    assert len(os.listdir(folder)) == before


def test_memory_does_not_grow_with_the_bodies(tmp_path: Path) -> None:
    """Seen failing with the store's cache unbounded."""
    texts = [Body(f"bell {i:04d}," * 100_000) for i in range(40)]
    with Writer.create(tmp_path / "run") as writer:
        for text in texts:
            writer.append(Started("l", "1", Config(), (UserTemplate("t", text),)))
            writer.commit()
    total = sum(len(text.raw) for text in texts)
    assert total == 40_000_000
    del texts
    tracemalloc.start()
    events = [record.event for record in read(tmp_path / "run")]
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    assert sum(len(event.templates[0].text.text) for event in events if isinstance(event, Started)) == total
    assert tracemalloc.get_traced_memory()[0] < CACHE_BYTES + 4_000_000
    tracemalloc.stop()


def test_bodies_are_found_in_any_order_and_checked(tmp_path: Path) -> None:
    texts = [Body(f"bell {i} " * 200) for i in range(6)]
    directory = write_run(
        tmp_path / "run",
        [[Started("l", "1", Config(), (UserTemplate("t", text),))] for text in texts],
        segment_bytes=900,
    )
    store = BlobStore(directory)
    for batch in scan(directory):
        assert isinstance(batch, Batch)
        if batch.header.kind.name == "BLOBS":
            store.add(batch)
    for text in (*texts, *reversed(texts)):
        assert store.load(text.digest) == text.raw
    for digest in ("0" * 64, "zz"):
        with pytest.raises(Undecodable):
            store.load(digest)


def test_a_body_that_was_changed_since_its_event_was_read_is_refused(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    event = next(record.event for record in read(tmp_path / "run") if isinstance(record.event, type(some_events()[2])))
    part = event.effect.parts[0]  # type: ignore[union-attr]
    path = tmp_path / "run" / "events" / "00000000.zst"
    path.write_bytes(bytes(len(path.read_bytes())))
    assert "blob" in plain(part.text)
    with pytest.raises(Damaged):
        _ = part.text.text


def test_nothing_but_regular_files_is_opened(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    segment = tmp_path / "run" / "events" / "00000000.zst"
    segment.unlink()
    os.mkfifo(segment)
    with pytest.raises(Unreadable, match="no regular file"):
        list(read(tmp_path / "run"))
    assert isinstance(verify(tmp_path / "run").problems[0], Unreadable)
    segment.unlink()
    with pytest.raises(LedgerError):
        list(read(tmp_path / "run"))
    (tmp_path / "run" / "FORMAT").unlink()
    (tmp_path / "run" / "FORMAT").symlink_to("/dev/zero")
    with pytest.raises(Unreadable, match="no regular file"):
        list(read(tmp_path / "run"))


def test_small_files_are_read_no_further_than_need_be(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    assert len(read_small(tmp_path / "large")) == 4097
    with reading(tmp_path / "large") as descriptor:
        assert pread(descriptor, 10, 99_995) == b"x" * 5
        assert pread(descriptor, 10, 200_000) == b""


def test_a_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotARun):
        list(read(tmp_path / "file"))
    with pytest.raises(NotARun):
        verify(tmp_path / "file")


def test_empty_folders_may_be_missing(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    Writer.create(directory).close()
    (directory / "events").rmdir()
    (directory / "checkpoints").rmdir()
    assert list(read(directory)) == []
    assert verify(directory).ok
    with Writer.open(directory) as writer:
        writer.save_checkpoint(b"weights")
        writer.append(many_events(1)[0])
    assert verify(directory).events == 1
