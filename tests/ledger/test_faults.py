"""Acknowledged means durable (L1), and faults stop the writer (L2).

Seen to fail: L1 with the sync of a batch, of HEAD, or of a folder removed, and with HEAD written before the batch; L2
with the poisoning removed.
"""

from __future__ import annotations

import contextlib
import errno
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.errors import Damaged, LedgerError, NotARun, Poisoned
from ledger.reader import load_checkpoint, read
from ledger.verify import verify
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Event, Session, Started, UserTemplate
from ledger.writer import Writer
from tests.ledger.disks import FaultyDisk, LossyDisk, QuickDisk
from tests.ledger.examples import Clock, many_events


def story() -> list[Event]:
    """Events of which every third brings a new blob."""
    long = [Started("l", "1", Config(), (UserTemplate("t", Body(f"bell {i} " * 300)),)) for i in range(3)]
    few = many_events(6)
    return [few[0], few[1], long[0], few[2], few[3], long[1], few[4], few[5], long[2]]


EVENTS = story()


class Play:
    """Writes :data:`EVENTS`, two to a commit, and remembers what was acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.acknowledged = 0
        self.begun = False
        self.checkpoint: str | None = None

    def run(self, writer: Writer) -> None:
        self.begun = True
        for number, event in enumerate(EVENTS[writer.sequence :], writer.sequence + 1):
            writer.append(event)
            if number % 2 == 0:
                writer.commit()
                self.acknowledged = number
            if number == 5:
                self.checkpoint = writer.save_checkpoint(b"weights")
        writer.commit()
        self.acknowledged = len(EVENTS)


def recovered(directory: Path, play: Play) -> int:
    """How many events a fresh writer finds; checks that they are a prefix, whole, and not fewer than acknowledged."""
    seen = [record.event for record in read(directory)]
    with Writer.open(directory, disk=QuickDisk()) as writer:
        found = writer.sequence
        writer.append(Session("resumed", ()))
    assert found >= play.acknowledged, f"{play.acknowledged} acknowledged, {found} found"
    assert seen == EVENTS[: len(seen)]
    assert [record.event for record in read(directory)] == [*EVENTS[:found], Session("resumed", ())]
    for record in read(directory):
        if isinstance(record.event, Started):
            assert record.event.templates[0].text.text.startswith("bell")
    if play.checkpoint is not None:
        assert load_checkpoint(directory, play.checkpoint) == b"weights"
    verification = verify(directory)
    assert verification.ok
    assert verification.torn_tail is None
    return found


def count_operations(tmp_path: Path) -> list[str]:
    disk = FaultyDisk()
    with Writer.create(tmp_path / "dry", disk=disk, segment_bytes=1500) as writer:
        Play(tmp_path / "dry").run(writer)
        writer.close("stopped")
    assert {"open", "write", "sync", "rename", "sync_directory"} <= set(disk.log)
    assert len(list((tmp_path / "dry" / "events").iterdir())) > 1
    return disk.log


@pytest.mark.parametrize("how", [errno.ENOSPC, errno.EIO, "short"])
def test_a_fault_at_any_operation_stops_the_writer_for_good(tmp_path: Path, how: int | str) -> None:
    log = count_operations(tmp_path)
    for at in range(len(log)):
        directory = tmp_path / "run"
        shutil.rmtree(directory, ignore_errors=True)
        disk = FaultyDisk(at, how)
        play = Play(directory)
        try:
            writer = Writer.create(directory, disk=disk, segment_bytes=1500)
        except OSError:
            try:
                writer = Writer.open(directory, disk=QuickDisk())  # the fault came behind the last step of creation
            except NotARun:
                writer = Writer.create(directory, disk=QuickDisk())
            with writer:
                play.run(writer)
            assert recovered(directory, play) == len(EVENTS)
            continue
        with pytest.raises(Poisoned, match="resume the run"):  # noqa: PT012
            play.run(writer)
            writer.close("stopped")
        assert len(disk.log) == at + 1, "something was tried after the fault"
        calls: list[Callable[[], object]] = [
            lambda: writer.append(EVENTS[0]),  # noqa: B023
            writer.commit,
            lambda: writer.save_checkpoint(b"x"),  # noqa: B023
        ]
        for call in calls:
            with pytest.raises(Poisoned):
                call()
        with contextlib.suppress(Poisoned):
            writer.close()  # lets the lock go, and complains only where nobody was told yet
        assert len(disk.log) == at + 1
        recovered(directory, play)
    print(f"{len(log)} operations failed by {how}: {len(log)} writers stopped, no acknowledged event lost")


@pytest.mark.parametrize("how", [errno.ENOSPC, errno.EIO, "short"])
def test_a_fault_while_a_torn_tail_is_set_aside_loses_nothing(tmp_path: Path, how: int | str) -> None:
    play = Play(tmp_path / "whole")
    with Writer.create(tmp_path / "whole", disk=QuickDisk()) as writer:
        play.run(writer)
    tail = b"half a batch"
    with (tmp_path / "whole" / "events" / "00000000.zst").open("ab") as file:
        file.write(tail)
    at = 0
    while True:
        directory = tmp_path / "run"
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(tmp_path / "whole", directory)
        try:
            Writer.open(directory, disk=FaultyDisk(at, how)).close()
            break
        except OSError:
            at += 1
        assert recovered(directory, play) == len(EVENTS)
        torn = [path for path in (directory / "events").iterdir() if path.suffix == ".torn"]
        assert [path.read_bytes() for path in torn] == [tail]
    assert at == 9  # open, cut, write, sync, rename, folder of the new file; then open, cut and sync the segment


def test_an_interrupt_in_the_middle_of_a_write_poisons_too(tmp_path: Path) -> None:
    class Interrupted(QuickDisk):
        def sync(self, descriptor: int) -> None:
            raise KeyboardInterrupt

    with Writer.create(tmp_path / "run") as writer:
        writer.append(EVENTS[0])
    writer = Writer.open(tmp_path / "run", disk=Interrupted())
    writer.append(EVENTS[1])
    with pytest.raises(KeyboardInterrupt):
        writer.commit()
    calls: list[Callable[[], object]] = [writer.commit, writer.close]
    for call in calls:
        with pytest.raises(Poisoned):
            call()
    assert len(list(read(tmp_path / "run"))) == 2  # whole, though never acknowledged
    Writer.open(tmp_path / "run").close()


def power_failures(tmp_path: Path, stride: int) -> tuple[int, int]:
    directory, copy = tmp_path / "run", tmp_path / "copy"
    play = Play(directory)
    crashes = lost = 0

    def pull_the_plug(disk: LossyDisk) -> None:
        nonlocal crashes, lost
        for _ in disk.crashes(directory, copy, stride=stride):
            crashes += 1
            try:
                lost += recovered(copy, play) < play.acknowledged
            except (NotARun, FileNotFoundError):
                assert not play.begun

    with Writer.create(directory, disk=LossyDisk(pull_the_plug), segment_bytes=1500) as writer:
        play.run(writer)
    return crashes, lost


def test_no_acknowledged_event_is_lost_when_the_power_fails(tmp_path: Path) -> None:
    crashes, lost = power_failures(tmp_path, stride=41)
    print(f"{crashes} power failures, {lost} acknowledged events lost")
    assert crashes > 100
    assert lost == 0


@pytest.mark.slow
def test_no_acknowledged_event_is_lost_when_the_power_fails_at_any_byte(tmp_path: Path) -> None:
    crashes, lost = power_failures(tmp_path, stride=1)
    print(f"{crashes} power failures, {lost} acknowledged events lost")
    assert lost == 0


def test_a_disk_that_ignores_syncs_would_be_noticed(tmp_path: Path) -> None:
    """The model bites: if syncing a batch does nothing, acknowledged events are lost."""

    class Forgetful(LossyDisk):
        def sync(self, descriptor: int) -> None:
            if self._paths[descriptor].suffix != ".zst":
                super().sync(descriptor)

    directory, play = tmp_path / "run", Play(tmp_path / "run")
    disk = Forgetful(lambda disk: None)
    with Writer.create(directory, disk=disk) as writer:
        play.run(writer)

    def crash_everywhere() -> None:
        for _ in disk.crashes(directory, tmp_path / "copy", stride=100):
            recovered(tmp_path / "copy", play)

    with pytest.raises(Damaged, match="HEAD acknowledges"):
        crash_everywhere()


# --- kills -----------------------------------------------------------------------------------------------------------

WRITE = """
import sys
from pathlib import Path
from ledger.writer import Writer
from tests.ledger.examples import many_events
events = many_events(1000)
with Writer.open(Path(sys.argv[1]), segment_bytes=4000) as writer:
    print("open", flush=True)
    for event in events[writer.sequence % 1000:]:
        sequence = writer.append(event)
        writer.commit()
        print(sequence, flush=True)
"""


def killed(directory: Path, commits: int, seconds: float) -> int:
    """Start a writer, kill it some time after so many commits, and return the last event number it acknowledged."""
    command = [sys.executable, "-c", WRITE, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        last = ""
        for _ in range(commits):
            last = process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        # What the kill cut off in the middle of a line was not acknowledged.
        rest = process.stdout.read().split("\n")[:-1]
    return int((rest or [last or "0"])[-1])


def kill_often(tmp_path: Path, times: int) -> None:
    directory = tmp_path / "run"
    Writer.create(directory, clock=Clock()).close()
    events = many_events(1000)
    generator = random.Random(7)
    acknowledged = torn = 0
    for _ in range(times):
        acknowledged = max(acknowledged, killed(directory, generator.randrange(6), generator.uniform(0, 0.02)))
        torn += verify(directory).torn_tail is not None
        found = [record.event for record in read(directory)]
        assert len(found) >= acknowledged
        assert found == [events[i % 1000] for i in range(len(found))]
    print(f"{times} kills, {torn} torn tails, {acknowledged} acknowledged events, 0 lost")
    assert acknowledged > 0


def test_no_acknowledged_event_is_lost_when_the_writer_is_killed(tmp_path: Path) -> None:
    kill_often(tmp_path, 4)


@pytest.mark.slow
def test_no_acknowledged_event_is_lost_in_many_kills(tmp_path: Path) -> None:
    kill_often(tmp_path, 100)


def test_a_ledger_error_is_no_disk_fault(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer:
        with pytest.raises(LedgerError):
            writer.append(Session(1, ()))  # type: ignore[arg-type]
        writer.append(EVENTS[0])
        writer.commit()
    assert len(list(read(tmp_path / "run"))) == 1
