"""Old ledgers load for ever (guarantee L8): one golden ledger per released schema, never written again."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

from ledger import lines
from ledger.blobs import Reference
from ledger.codec import parse, plain
from ledger.digest import digest_of, semantic_digest
from ledger.fold import fold
from ledger.frame import Kind
from ledger.reader import load_checkpoint, read
from ledger.schema import SCHEMA
from ledger.segments import Batch, scan
from ledger.verify import verify
from ledger.vocabulary.events import OUTCOME_OF, AnyOutcome, Attempt, Event, Progress, Step
from ledger.vocabulary.note import Decision, Note
from ledger.writer import Writer
from tests.ledger.examples import content
from tests.ledger.make_golden import CHECKPOINT

GOLDEN = Path(__file__).parent.parent / "golden"
DIGESTS = {
    1: "c4bcc3d46b8bd1a7a058a007b535e52aa1681dacbf4a70920104177abef76547",
    2: "ccee239e9e3d9dd5539598682fd0615539517c3a06ddaafd7078a3c510e373d0",
}
"""The semantic digest of each golden ledger."""

VERSIONS = [pytest.param(GOLDEN / f"ledger-{version}", version, id=str(version)) for version in DIGESTS]


def test_every_released_schema_has_its_golden_ledger() -> None:
    assert sorted(DIGESTS) == list(range(1, SCHEMA.version + 1))


@pytest.mark.parametrize(("directory", "version"), VERSIONS)
def test_its_bytes_are_the_ones_that_were_committed(directory: Path, version: int) -> None:
    sums = directory.with_suffix(".sha256").read_text()
    assert sums == "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in content(directory).items())


@pytest.mark.parametrize(("directory", "version"), VERSIONS)
def test_it_verifies_against_its_head(directory: Path, version: int) -> None:
    found = verify(directory, directory / "HEAD")
    found.check()
    assert (found.status, found.not_shipped, found.checkpoints, found.torn_tail) == (
        "finished",
        ("Trained.checkpoint",),
        1,
        None,
    )
    assert found.blobs >= 4
    assert semantic_digest(directory) == DIGESTS[version]


@pytest.mark.parametrize(("directory", "version"), VERSIONS)
def test_it_loads_and_folds_and_nothing_in_it_is_lost(directory: Path, version: int) -> None:
    records = list(read(directory))
    assert fold(lambda count, record: count + (record.sequence == count + 1), 0, records) == len(records)
    assert digest_of(record.event for record in records) == DIGESTS[version] or version < SCHEMA.version
    if version == SCHEMA.version:
        stored = [
            line for b in scan(directory) if isinstance(b, Batch) and b.header.kind is Kind.EVENTS for line in b.lines()
        ]
        for line, record in zip(stored, records, strict=True):
            assert holds(plain(record.event), parse(lines.event_bytes(line))), line
    for record in records:
        for body in lines.bodies(record.event):
            assert hashlib.sha256(body.raw).hexdigest() == body.digest
    (progress,) = (record.event for record in records if isinstance(record.event, Progress))
    assert progress.checkpoint is not None
    assert load_checkpoint(directory, progress.checkpoint) == CHECKPOINT


def holds(now: Any, stored: Any) -> bool:
    """Whether a value as written today holds all that was stored; fields that are younger may stand beside it."""
    if isinstance(stored, Reference):
        return bool(now == {"blob": stored.digest})
    if isinstance(stored, dict):
        return isinstance(now, dict) and all(key in now and holds(now[key], value) for key, value in stored.items())
    if isinstance(stored, list):
        return isinstance(now, list) and len(now) == len(stored) and all(map(holds, now, stored))
    return json.dumps(now) == json.dumps(stored)


def test_the_current_one_holds_every_type() -> None:
    events = [record.event for record in read(GOLDEN / f"ledger-{SCHEMA.version}")]
    steps = [event for event in events if isinstance(event, Step)]
    assert {type(event) for event in events} == set(get_args(Event))
    assert {type(step.effect) for step in steps} == set(OUTCOME_OF)
    assert {type(step.outcome) for step in steps} == set(get_args(AnyOutcome))
    assert {type(event.effect) for event in events if isinstance(event, Attempt)} == set(OUTCOME_OF)
    assert {type(step.effect.decision) for step in steps if isinstance(step.effect, Note)} == set(get_args(Decision))


@pytest.mark.parametrize(("directory", "version"), VERSIONS)
def test_a_writer_leaves_its_bytes_alone(directory: Path, version: int, tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", directory, tmp_path / "copy"], check=True)
    before = content(tmp_path / "copy")
    with Writer.open(tmp_path / "copy") as writer:
        assert writer.status == "finished"
    assert content(tmp_path / "copy") == before == content(directory)
