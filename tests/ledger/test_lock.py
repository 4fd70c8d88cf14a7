"""One writer at a time, and a dead one holds nothing (guarantee L5)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ledger.errors import Locked
from ledger.lock import Lock
from ledger.writer import Writer

HOLD = """
import sys, time
from pathlib import Path
from ledger.writer import Writer
writer = Writer.open(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""

FORK = """
import os, sys, time
from pathlib import Path
from ledger.writer import Writer
writer = Writer.open(Path(sys.argv[1]))
child = os.fork()
if child == 0:
    print(os.getpid(), flush=True)
    os.close(1)
time.sleep(600)
"""

RACE = """
import sys, time
from pathlib import Path
from ledger.errors import Locked
from ledger.lock import Lock
directory, times = Path(sys.argv[1]), int(sys.argv[2])
won = lost = 0
while won < times:
    try:
        lock = Lock(directory)
    except Locked:
        lost += 1
        time.sleep(0.0005)
        continue
    (directory / "held").open("x").close()  # a second holder fails here
    time.sleep(0.001)
    (directory / "held").unlink()
    lock.release()
    won += 1
print(won, lost)
"""


def test_a_second_writer_is_refused_in_this_process(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run"):
        with pytest.raises(Locked, match=r"process \d+"):
            Writer.open(tmp_path / "run")
        with pytest.raises(Locked):
            Writer.create(tmp_path / "run")
    Writer.open(tmp_path / "run").close()


def test_a_killed_holder_keeps_nothing(tmp_path: Path) -> None:
    Writer.create(tmp_path / "run").close()
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path / "run"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(Locked, match=f"process {process.pid}"):
            Writer.open(tmp_path / "run")
        process.kill()
        process.wait()
        Writer.open(tmp_path / "run").close()


def test_a_forked_child_does_not_keep_its_dead_parents_lock(tmp_path: Path) -> None:
    """Seen failing without the hook after fork: the child holds the lock on."""
    Writer.create(tmp_path / "run").close()
    with subprocess.Popen([sys.executable, "-c", FORK, tmp_path / "run"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            with pytest.raises(Locked):
                Writer.open(tmp_path / "run")
            process.kill()
            process.wait()
            Writer.open(tmp_path / "run").close()
        finally:
            subprocess.run(["kill", "-9", str(child)], check=True)


def test_a_holders_name_that_is_no_name_is_not_repeated(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    (tmp_path / "LOCK").write_bytes(b"\x1b[31m<script>\n")
    with pytest.raises(Locked, match="another process"):
        Lock(tmp_path)
    lock.release()
    lock.release()


def race(directory: Path, processes: int, times: int) -> None:
    command = [sys.executable, "-c", RACE, str(directory), str(times)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    won = lost = 0
    for process in running:
        out, _ = process.communicate()
        assert process.returncode == 0, "two processes held the lock at once"
        won, lost = won + int(out.split()[0]), lost + int(out.split()[1])
    assert won == processes * times
    print(f"{processes} processes, {won} times held, {lost} times refused, never two at once")


def test_of_several_processes_one_holds_it_at_a_time(tmp_path: Path) -> None:
    race(tmp_path, 3, 20)


@pytest.mark.slow
def test_of_eight_processes_one_holds_it_at_a_time(tmp_path: Path) -> None:
    race(tmp_path, 8, 500)
