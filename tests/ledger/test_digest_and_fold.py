"""The semantic digest covers what was done and nothing else; folds are deterministic (guarantee L7)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ledger.digest import digest_of, semantic_digest
from ledger.errors import Damaged, LedgerError
from ledger.fold import Snapshot, advance, fold
from ledger.lines import Record
from ledger.reader import read
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.evaluate import Evaluated
from ledger.vocabulary.events import SEMANTIC, Attempt, Event, Session, Started, Step, Usage
from ledger.vocabulary.note import Note
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.train import Trained
from ledger.writer import Writer
from tests.ledger.examples import ask, many_events, some_events, some_run, write_run


def test_the_digest_is_the_hash_of_the_stored_semantic_events(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    printed = subprocess.run(
        'cat events/*.zst | zstd -dc | grep -a \',"event":{"kind":"\\(Started\\|Step\\|Finished\\)"\' '
        "| sed 's/^.*,\"event\"://; s/}$//' | sha256sum",
        shell=True,
        cwd=tmp_path / "run",
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()[0]
    assert semantic_digest(tmp_path / "run") == printed == digest_of(some_events())


def test_the_digest_ignores_how_a_run_came_about(tmp_path: Path) -> None:
    semantic = [event for event in some_events() if isinstance(event, SEMANTIC)]
    with Writer.create(tmp_path / "run", clock=lambda: datetime(1999, 1, 1, tzinfo=UTC), segment_bytes=1) as writer:
        for event in semantic:
            writer.append(Attempt(ask(7)), source="live")
            if isinstance(event, Step) and isinstance(event.outcome, Evaluated):
                event = Step(event.effect, evolve(event.outcome, steps=9, seconds=99.0))
            writer.append(event, source="inherited", usage=Usage(1, 2))
            writer.append(many_events(1)[0])
            writer.commit()
    assert semantic_digest(tmp_path / "run") == digest_of(some_events())


@pytest.mark.parametrize("number", range(len(some_events())))
def test_the_digest_tells_every_semantic_event_from_its_absence(number: int) -> None:
    events = some_events()
    assert (digest_of(events[:number] + events[number + 1 :]) == digest_of(events)) is not isinstance(
        events[number], SEMANTIC
    )


def test_the_digest_tells_contents_and_order_apart() -> None:
    semantic: list[Event] = [event for event in some_events() if isinstance(event, SEMANTIC)]
    assert digest_of(semantic[::-1]) != digest_of(semantic)
    started = semantic[0]
    assert isinstance(started, Started)
    for other in (evolve(started, loop="x"), evolve(started, logic="2"), evolve(started, config=Config(seed=1))):
        assert digest_of([other, *semantic[1:]]) != digest_of(semantic)
    step = semantic[1]
    assert isinstance(step, Step)
    reply = evolve(step.outcome, content=Body("class RingBell(Sharp): ...\n" * 51))  # type: ignore[arg-type]
    assert digest_of([started, Step(step.effect, reply), *semantic[2:]]) != digest_of(semantic)


def test_seconds_do_not_count_and_rewards_do() -> None:
    def digest(reward: float, seconds: float) -> str:
        return digest_of([Step(Settings(ask(0).path), Trained(1, 1, (), "a", "b", reward, seconds))])

    assert digest(0.5, 1.0) == digest(0.5, 2.0)
    assert digest(0.5, 1.0) != digest(0.25, 1.0)


def test_a_prefix_has_a_digest_of_its_own(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    for through in range(10):
        assert semantic_digest(tmp_path / "run", through=through) == digest_of(some_events()[:through])
    assert semantic_digest(tmp_path / "run", through=0) == hashlib.sha256().hexdigest()


def test_damage_has_no_digest(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    path = tmp_path / "run" / "events" / "00000000.zst"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(Damaged):
        semantic_digest(tmp_path / "run")


# --- folds -----------------------------------------------------------------------------------------------------------


START: tuple[str, ...] = ()


def note(state: tuple[str, ...], record: Record) -> tuple[str, ...]:
    """A fold that sees everything, order included."""
    return (*state, f"{record.sequence} {record.event!r}")


@given(st.integers(0, 8), st.integers(0, 8))
def test_a_fold_in_parts_is_the_whole_fold(first: int, second: int) -> None:
    records = [Record(i, "", "live", None, event) for i, event in enumerate(some_events(), 1)]
    whole = fold(note, START, records)
    assert fold(note, fold(note, START, records[:first]), records[first:]) == whole
    snapshot = advance(note, Snapshot(START), records[:first])
    assert snapshot == Snapshot(fold(note, START, records[:first]), first)
    again = advance(note, snapshot, records[min(first, second) :])  # records that it holds already are skipped
    assert again == Snapshot(whole, 8)
    assert advance(note, again, records) == again


def test_a_snapshot_is_carried_on_from_disk(tmp_path: Path) -> None:
    directory = some_run(tmp_path / "run")
    whole = advance(note, Snapshot(START), read(directory))
    for sequence in range(9):
        early = Snapshot(whole.state[:sequence], sequence)
        assert advance(note, early, read(directory, after=sequence)) == whole


def test_a_gap_in_a_fold_is_refused() -> None:
    records = [Record(i, "", "live", None, Session("a", ())) for i in (1, 3)]
    with pytest.raises(LedgerError, match="event 3 follows event 1"):
        advance(note, Snapshot(START), records)


DIGESTS = """
import sys
from pathlib import Path
from ledger.digest import semantic_digest
from ledger.fold import fold
from ledger.reader import read
from tests.ledger.test_digest_and_fold import START, note
directory = Path(sys.argv[1])
print(semantic_digest(directory), fold(note, START, read(directory)))
"""


def test_digests_and_folds_are_equal_under_any_hash_seed_in_fresh_processes(tmp_path: Path) -> None:
    directory = some_run(tmp_path / "run")
    printed = {
        subprocess.run(
            [sys.executable, "-c", DIGESTS, directory],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(printed) == 1
    assert semantic_digest(directory).encode() in printed.pop()


def test_equal_events_make_equal_runs(tmp_path: Path) -> None:
    """Bytes of a run depend on its events, its clock and its commits alone."""
    one, other = (some_run(tmp_path / name) for name in ("one", "other"))
    assert (one / "HEAD").read_bytes() == (other / "HEAD").read_bytes()
    assert (one / "events" / "00000000.zst").read_bytes() == (other / "events" / "00000000.zst").read_bytes()
    third = write_run(tmp_path / "third", [[event] for event in some_events()])
    assert semantic_digest(third) == semantic_digest(one)
    assert (third / "HEAD").read_bytes() != (one / "HEAD").read_bytes()


def test_a_note_is_part_of_the_digest() -> None:
    notes = [event for event in some_events() if isinstance(event, Step) and isinstance(event.effect, Note)]
    assert len(notes) == 1
    assert digest_of(notes) != digest_of([])
