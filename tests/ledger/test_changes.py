"""Any change is detected, and a torn tail is told from damage (guarantees L3 and L4).

Each test has been seen to fail with the check it is about switched off: the header checksum, the body hash, the chain,
the comparison with HEAD, the search for whole batches behind a bad one.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
from pathlib import Path

import pytest

from ledger.errors import Damaged, LedgerError, TornTail, WrongHead
from ledger.head import EMPTY, Head, read_head
from ledger.reader import read
from ledger.segments import Torn, scan
from ledger.verify import verify
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Session, Started, UserTemplate
from ledger.writer import Writer
from tests.ledger.disks import FaultyDisk, QuickDisk
from tests.ledger.examples import Clock, content, frames, many_events, some_run, write_run


def refused(directory: Path, head: Path) -> bool:
    """Whether ``verify`` against a saved HEAD finds anything at all to say."""
    try:
        found = verify(directory, head)
    except LedgerError:
        return True
    return not found.ok or found.torn_tail is not None


def saved(directory: Path) -> Path:
    """A copy of HEAD outside the run, as one that was published."""
    head = directory.parent / "saved-HEAD"
    head.write_bytes((directory / "HEAD").read_bytes())
    return head


def flip_all(directory: Path, names: list[str], *, part: int = 0, parts: int = 1) -> int:
    head = saved(directory)
    assert not refused(directory, head)
    flipped = 0
    for name in names:
        path = directory / name
        original = path.read_bytes()
        for bit in range(part, len(original) * 8, parts):
            changed = bytearray(original)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            assert refused(directory, head), f"bit {bit} of {name}"
            flipped += 1
        path.write_bytes(original)
    assert not refused(directory, head)
    return flipped


@pytest.mark.parametrize("status", ["open", pytest.param("finished", marks=pytest.mark.slow)])
def test_every_flipped_bit_is_detected(tmp_path: Path, status: str) -> None:
    directory = write_run(tmp_path / "run", [[Session("a", ())], [Session("b", ())]], status=status)
    bits = flip_all(directory, ["FORMAT", "HEAD", "events/00000000.zst"])
    print(f"{bits} bits flipped, {bits} detected")
    assert bits > 4000


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_every_flipped_bit_of_64_kib_is_detected(tmp_path: Path, part: int) -> None:
    directory = tmp_path / "run"
    number = 0
    with Writer.create(directory, clock=Clock()) as writer:
        while read_head(directory).size < 64 * 1024:
            noise = "".join(hashlib.sha256(b"%d" % i).hexdigest() for i in range(number, number + 100))
            writer.append(Started("l", "1", Config(), (UserTemplate("t", Body(noise)),)))
            writer.commit()
            number += 100
        writer.close("finished")
    bits = flip_all(directory, ["FORMAT", "HEAD", "events/00000000.zst"], part=part, parts=16)
    print(f"{bits} bits flipped, {bits} detected")
    assert bits >= 64 * 1024 * 8 // 16


def rearrangements(pieces: list[bytes]) -> list[tuple[str, bytes]]:
    """Every deletion, swap, duplication and truncation of frames."""
    found = [(f"delete {i}", b"".join(pieces[:i] + pieces[i + 1 :])) for i in range(len(pieces))]
    found += [(f"duplicate {i}", b"".join(pieces[: i + 1] + pieces[i:])) for i in range(len(pieces))]
    for i, j in itertools.combinations(range(len(pieces)), 2):
        swapped = list(pieces)
        swapped[i], swapped[j] = pieces[j], pieces[i]
        found.append((f"swap {i} {j}", b"".join(swapped)))
    for i in range(len(pieces)):
        before, piece = b"".join(pieces[:i]), pieces[i]
        cuts = {1, 7, 8, 151, 152, 153, len(piece) // 2, len(piece) - 1}
        found += [(f"cut {i} at {cut}, end", before + piece[:cut]) for cut in cuts]
        found += [(f"cut {i} at {cut}", before + piece[:cut] + b"".join(pieces[i + 1 :])) for cut in cuts]
    found += [(f"truncate before {i}", b"".join(pieces[:i])) for i in range(len(pieces))]
    found.append(("foreign skippable frame", bytes.fromhex("502a4d18") + b"\x01\x00\x00\x00x" + b"".join(pieces)))
    found.append(("foreign bytes at the end", b"".join(pieces) + b"x"))
    return found


@pytest.mark.parametrize("status", ["open", "finished"])
def test_every_rearrangement_of_frames_is_detected(tmp_path: Path, status: str) -> None:
    directory = some_run(tmp_path / "run", status=status)
    head = saved(directory)
    path = directory / "events" / "00000000.zst"
    data = path.read_bytes()
    pieces = [data[offset : offset + size] for _, offset, size in frames(directory)]
    assert b"".join(pieces) == data
    for name, changed in rearrangements(pieces):
        path.write_bytes(changed)
        assert refused(directory, head), name
    path.write_bytes(data)
    assert not refused(directory, head)


def test_every_change_of_segment_files_is_detected(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[event] for event in many_events(12)], segment_bytes=1000)
    head = saved(directory)
    events = directory / "events"
    kept = content(directory)
    names = sorted(path.name for path in events.iterdir())
    assert len(names) >= 4

    def restore() -> None:
        shutil.rmtree(events)
        events.mkdir()
        for name, data in kept.items():
            (directory / name).write_bytes(data)
        assert not refused(directory, head)

    for name in names:
        (events / name).unlink()
        assert refused(directory, head), f"without {name}"
        restore()
        (events / name).write_bytes(b"")
        assert refused(directory, head), f"{name} empty"
        restore()
    for one, other in itertools.combinations(names, 2):
        (events / one).write_bytes(kept[f"events/{other}"])
        (events / other).write_bytes(kept[f"events/{one}"])
        assert refused(directory, head), f"{one} and {other} swapped"
        restore()
    for name in ("a.zst", "00000000.zst.bak", "0000000.zst", "00000099.zst"):
        (events / name).write_bytes(kept["events/00000000.zst"])
        assert refused(directory, head), f"with {name}"
        restore()
    shutil.move(events / names[1], events / names[0])
    assert refused(directory, head)


def test_a_tail_cut_at_a_frame_is_seen_by_an_outside_head_alone(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[Session("a", ())], [Session("b", ())]])
    head = saved(directory)
    shutil.rmtree(directory)
    write_run(directory, [[Session("a", ())]])
    assert verify(directory).ok
    problem = verify(directory, head).problems[0]
    assert isinstance(problem, Damaged)
    assert "the given HEAD acknowledges" in str(problem)


def test_a_run_written_anew_is_seen_by_an_outside_head_alone(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[Session("a", ())], [Session("b", ())]])
    head = saved(directory)
    shutil.rmtree(directory)
    write_run(directory, [[Session("a", ())], [Session("c", ())]])
    assert verify(directory).ok
    assert not verify(directory, head).ok
    here = read_head(directory)
    for other in (Head(here.sequence, "00" * 32, here.size, "open"), Head(1, here.hash, here.size, "open")):
        head.write_bytes(other.text())
        assert isinstance(verify(directory, head).problems[0], WrongHead)


def test_an_open_run_may_go_on_beyond_an_outside_head(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[Session("a", ())]])
    head = saved(directory)
    with Writer.open(directory) as writer:
        writer.append(Session("b", ()))
        writer.close("finished")
    assert verify(directory, head).ok
    head.write_bytes(Head(1, read_head(directory).hash, verify(directory).stored_bytes - 1, "open").text())
    assert "end inside a batch" in str(verify(directory, head).problems[0])
    head.unlink()
    assert "is not there" in str(verify(directory, head).problems[0])


# --- torn tails ------------------------------------------------------------------------------------------------------


def unacknowledged(directory: Path) -> tuple[Path, int, Head]:
    """A run whose HEAD was not rewritten after the last commit: its segment, the last batch's offset, the old HEAD."""
    write_run(directory, [[event] for event in many_events(3)])
    before = read_head(directory)
    with Writer.open(directory) as writer:
        writer.append(many_events(4)[3])
    (directory / "HEAD").write_bytes(before.text())
    return directory / "events" / "00000000.zst", before.size, before


def test_a_tail_torn_at_any_byte_is_set_aside_and_the_run_goes_on(tmp_path: Path) -> None:
    path, offset, _ = unacknowledged(tmp_path / "run")
    whole = path.read_bytes()
    for length in range(offset, len(whole)):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(tmp_path / "run", tmp_path / "copy")
        segment = tmp_path / "copy" / "events" / "00000000.zst"
        segment.write_bytes(whole[:length])
        found = verify(tmp_path / "copy")
        assert found.ok
        assert len(list(read(tmp_path / "copy"))) == 3
        assert segment.read_bytes() == whole[:length]  # readers never repair
        if length == offset:
            assert found.torn_tail is None
        else:
            with pytest.raises(TornTail) as raised:
                found.check()
            assert (raised.value.segment, raised.value.offset, raised.value.sequence) == (0, offset, 4)
            assert raised.value.size == length - offset
        with Writer.open(tmp_path / "copy", disk=QuickDisk()) as writer:
            if length > offset:
                assert writer.quarantined is not None
                assert writer.quarantined.read_bytes() == whole[offset:length]
            assert writer.append(Session("resumed", ())) == 4
        found = verify(tmp_path / "copy")
        assert (found.ok, found.torn_tail, found.events) == (True, None, 4)
        assert len(found.quarantined) == (length > offset)


def test_any_damage_to_an_unacknowledged_last_batch_is_a_torn_tail(tmp_path: Path) -> None:
    path, offset, _ = unacknowledged(tmp_path / "run")
    whole = path.read_bytes()
    damages = [whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :] for at in range(offset, len(whole))]
    damages += [whole[:offset] + b"\0" * n for n in (1, 152, 4096)]
    for damaged in damages:
        path.write_bytes(damaged)
        found = verify(tmp_path / "run")
        assert found.ok
        assert found.torn_tail is not None
        assert (found.torn_tail.offset, found.events) == (offset, 3)


def test_damage_to_an_acknowledged_batch_is_refused_by_name_and_nothing_is_changed(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[event] for event in many_events(5)])
    path = directory / "events" / "00000000.zst"
    whole = path.read_bytes()
    for number, (_, offset, size) in enumerate(frames(write_run(tmp_path / "twin", [[e] for e in many_events(5)])), 1):
        for at in (offset, offset + 20, offset + 100, offset + 150, offset + 160, offset + size - 1):
            for changed in (whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], whole[:at]):
                path.write_bytes(changed)
                with pytest.raises(Damaged) as raised:
                    Writer.open(directory)
                assert (raised.value.segment, raised.value.offset, raised.value.sequence) == (0, offset, number)
                assert f"segment 00000000, offset {offset}, from event {number}" in str(raised.value)
                assert path.read_bytes() == changed
                assert [p.name for p in (directory / "events").iterdir()] == ["00000000.zst"]
                records = read(directory)
                assert [next(records).sequence for _ in range(number - 1)] == list(range(1, number))
                with pytest.raises(Damaged):
                    next(records)
                assert isinstance(verify(directory).problems[0], Damaged)
    path.write_bytes(whole)
    Writer.open(directory).close()


def test_damage_before_a_whole_batch_is_no_torn_tail_even_beyond_head(tmp_path: Path) -> None:
    path, offset, _ = unacknowledged(tmp_path / "run")
    (tmp_path / "run" / "HEAD").write_bytes(EMPTY.text())
    assert verify(tmp_path / "run").ok
    whole = path.read_bytes()
    damaged = whole[: offset - 1] + bytes([whole[offset - 1] ^ 1]) + whole[offset:]
    path.write_bytes(damaged)
    with pytest.raises(Damaged, match="whole batches follow") as raised:
        Writer.open(tmp_path / "run")
    assert raised.value.sequence == 3
    with pytest.raises(Damaged):
        list(read(tmp_path / "run"))
    assert path.read_bytes() == damaged


def test_damage_before_another_segment_is_no_torn_tail_even_beyond_head(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[event] for event in many_events(3)], segment_bytes=1)
    (directory / "HEAD").write_bytes(EMPTY.text())
    path = directory / "events" / "00000001.zst"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(Damaged) as raised:
        Writer.open(directory)
    assert (raised.value.segment, raised.value.offset, raised.value.sequence) == (1, 0, 2)


def test_whole_batches_beyond_head_are_kept_and_acknowledged_on_resume(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    path, offset, _ = unacknowledged(directory)
    found = verify(directory)
    assert (found.ok, found.beyond_head, found.events) == (True, path.stat().st_size - offset, 4)
    assert [record.event for record in read(directory)] == many_events(4)
    disk = FaultyDisk()
    with Writer.open(directory, disk=disk) as writer:
        assert writer.sequence == 4
        assert read_head(directory).sequence == 4
    # Who wrote them may have died before the sync: they are synced before HEAD says that they are there.
    assert disk.log == [
        "open",
        "sync_directory",
        "sync",
        "open",
        "truncate",
        "write",
        "sync",
        "rename",
        "sync_directory",
    ]
    assert verify(directory).beyond_head == 0


def test_a_finished_run_ends_at_its_head(tmp_path: Path) -> None:
    path, offset, head = unacknowledged(tmp_path / "run")
    (tmp_path / "run" / "HEAD").write_bytes(Head(head.sequence, head.hash, head.size, "finished").text())
    whole = path.read_bytes()
    for length in (offset + 1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(Damaged, match="beyond the HEAD of a finished run"):
            list(read(tmp_path / "run"))
        with pytest.raises(Damaged):
            Writer.open(tmp_path / "run")
        assert not verify(tmp_path / "run").ok


def test_a_segment_that_was_begun_and_never_written_is_used(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", [[event] for event in many_events(2)], segment_bytes=1)
    (directory / "events" / "00000002.zst").write_bytes(b"")
    assert verify(directory).ok
    with Writer.open(directory) as writer:
        writer.append(many_events(3)[2])
    assert [record.event for record in read(directory)] == many_events(3)
    assert next(b for b in list(scan(directory))[2:] if not isinstance(b, Torn)).at.segment == 2
