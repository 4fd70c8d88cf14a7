"""The writer: what it keeps, how it rolls over, resumes and ends."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ledger.errors import (
    AlreadyARun,
    CheckpointDamaged,
    CheckpointMissing,
    Closed,
    LedgerError,
    NotARun,
    RunFinished,
    Unencodable,
    UnknownFormat,
    WrongHead,
)
from ledger.head import read_head
from ledger.reader import load_checkpoint, read
from ledger.verify import verify
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Event, Fact, Metric, Progress, Session, Started, UserTemplate
from ledger.vocabulary.path import Path as StepPath
from ledger.writer import Writer
from tests.ledger.examples import SPENT, Clock, content, frames, many_events, some_events, some_run, write_run


def events_of(directory: Path) -> list[Event]:
    return [record.event for record in read(directory)]


def test_a_run_comes_back_with_its_envelope(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run", clock=Clock()) as writer:
        assert writer.sequence == 0
        assert writer.append(Session("a", ()), source="edited", usage=SPENT) == 1
        assert writer.append(Session("b", ())) == 2
        assert writer.sequence == 2
        writer.commit()
    first, second = read(tmp_path / "run")
    assert (first.sequence, first.time, first.source, first.usage) == (
        1,
        "2026-01-02T03:04:06.000000Z",
        "edited",
        SPENT,
    )
    assert (second.sequence, second.source, second.usage, second.event) == (2, "live", None, Session("b", ()))


def test_every_example_comes_back_and_long_bodies_are_looked_up(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    assert str(events_of(tmp_path / "run")[4]) == str(some_events()[4])  # the NaN
    back = events_of(tmp_path / "run")
    assert back[:4] + back[5:] == some_events()[:4] + some_events()[5:]
    assert back[3].outcome.content.text == some_events()[3].outcome.content.text  # type: ignore[union-attr]


def test_nothing_is_seen_before_its_commit_and_all_of_it_after(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer:
        writer.append(Session("a", ()))
        assert events_of(tmp_path / "run") == []
        writer.commit()
        assert events_of(tmp_path / "run") == [Session("a", ())]
        before = content(tmp_path / "run")
        writer.commit()
        assert content(tmp_path / "run") == before


def test_leaving_the_block_commits_even_by_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Writer.create(tmp_path / "run") as writer:  # noqa: PT012
        writer.append(Session("a", ()))
        raise ZeroDivisionError
    assert events_of(tmp_path / "run") == [Session("a", ())]
    Writer.open(tmp_path / "run").close()


def test_each_body_is_stored_once_per_run(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    first, second, third = (Body(letter * 5000) for letter in "abc")
    with Writer.create(directory) as writer:
        for body in (first, first, second):
            writer.append(Started("l", "1", Config(), (UserTemplate("t", body), UserTemplate("u", body))))
        writer.commit()
        writer.append(Started("l", "1", Config(), (UserTemplate("t", first),)))
    with Writer.open(directory) as writer:
        writer.append(Started("l", "1", Config(), (UserTemplate("t", second), UserTemplate("u", third))))
    assert verify(directory).blobs == 3
    assert verify(directory).ok
    with Writer.open(directory) as writer, Writer.create(tmp_path / "other") as other:
        for event in events_of(directory):  # stored bodies travel to another run by their text
            writer.append(event)
            other.append(event)
    assert verify(directory).blobs == 3
    assert verify(tmp_path / "other").blobs == 3
    assert events_of(tmp_path / "other") == events_of(directory)[:5]


def test_segments_roll_over(tmp_path: Path) -> None:
    events = many_events(40)
    write_run(tmp_path / "run", [[event] for event in events], segment_bytes=1500)
    names = sorted(path.name for path in (tmp_path / "run" / "events").iterdir())
    assert len(names) > 3
    assert names == [f"{number:08d}.zst" for number in range(len(names))]
    assert max(path.stat().st_size for path in (tmp_path / "run" / "events").iterdir()) <= 1500
    assert events_of(tmp_path / "run") == events
    with Writer.open(tmp_path / "run", segment_bytes=1500) as writer:
        writer.append(Session("again", ()))
    assert events_of(tmp_path / "run") == [*events, Session("again", ())]
    assert verify(tmp_path / "run").ok


def test_a_batch_larger_than_a_segment_stands_alone(tmp_path: Path) -> None:
    write_run(tmp_path / "run", [[event] for event in many_events(3)], segment_bytes=1)
    assert len(frames(tmp_path / "run")) == len(list((tmp_path / "run" / "events").iterdir())) == 3
    assert verify(tmp_path / "run").ok


def test_a_large_buffer_is_committed_in_several_batches(tmp_path: Path) -> None:
    bodies = [Body(f"{number:07d}" * 300_000) for number in range(9)]
    with Writer.create(tmp_path / "run") as writer:
        for body in bodies:
            writer.append(Started("l", "1", Config(), (UserTemplate("t", body),)))
        assert read_head(tmp_path / "run").sequence == 8  # 16 MiB are reached in between
    assert len(frames(tmp_path / "run")) > 4
    assert [record.event.templates[0].text for record in read(tmp_path / "run")] == bodies  # type: ignore[union-attr]
    assert verify(tmp_path / "run").ok


def test_zstd_prints_the_lines_with_no_code_of_ours(tmp_path: Path) -> None:
    write_run(tmp_path / "run", [[event] for event in some_events()], segment_bytes=700)
    lines = subprocess.run(
        "cat events/*.zst | zstd -dc", shell=True, cwd=tmp_path / "run", capture_output=True, check=True
    ).stdout.splitlines()
    assert sum(line.startswith(b'{"seq":') for line in lines) == 8
    assert sum(line.startswith(b'{"blob":') for line in lines) == 3
    assert len(lines) == 11


def test_what_cannot_be_encoded_leaves_no_trace(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer:
        with pytest.raises(Unencodable, match=r"Metric\.value"):
            writer.append(Progress(StepPath("a"), 0, 1, None, (Metric("x", 1),)))
        with pytest.raises(Unencodable, match="Split the text"):
            writer.append(Session("\x00" * (12 * 2**20), ()))
        with pytest.raises(Unencodable, match="dream"):
            writer.append(Session("a", ()), source="dream")
        assert writer.append(Session("b", ())) == 1
    assert verify(tmp_path / "run").events == 1


def test_an_idle_resume_changes_no_byte(tmp_path: Path) -> None:
    for status in ("open", "stopped", "finished"):
        some_run(tmp_path / status, status=status)
        before = content(tmp_path / status)
        with Writer.open(tmp_path / status) as writer:
            assert writer.status == status
            writer.close(status)
        assert content(tmp_path / status) == before


def test_a_finished_run_stays_finished(tmp_path: Path) -> None:
    some_run(tmp_path / "run", status="finished")
    before = content(tmp_path / "run")
    with Writer.open(tmp_path / "run") as writer:
        with pytest.raises(RunFinished, match="Fork it"):
            writer.append(Session("more", ()))
        writer.close("stopped")
    assert content(tmp_path / "run") == before


def test_a_stopped_run_is_open_again_once_it_goes_on(tmp_path: Path) -> None:
    some_run(tmp_path / "run", status="stopped")
    assert read_head(tmp_path / "run").status == "stopped"
    with Writer.open(tmp_path / "run") as writer:
        writer.append(Session("more", ()))
        writer.commit()
        assert read_head(tmp_path / "run").status == writer.status == "open"
        writer.close("stopped")
        assert read_head(tmp_path / "run").status == "stopped"


def test_a_closed_writer_says_so(tmp_path: Path) -> None:
    writer = Writer.create(tmp_path / "run")
    with pytest.raises(LedgerError, match="none of open, finished, stopped"):
        writer.close("done")
    writer.close()
    writer.close()
    for call in (lambda: writer.append(Session("a", ())), writer.commit, lambda: writer.save_checkpoint(b"x")):
        with pytest.raises(Closed):
            call()


def test_create_refuses_what_is_there(tmp_path: Path) -> None:
    some_run(tmp_path / "run")
    before = content(tmp_path / "run")
    with pytest.raises(AlreadyARun):
        Writer.create(tmp_path / "run")
    assert content(tmp_path / "run") == before
    (tmp_path / "run" / "FORMAT").unlink()
    with pytest.raises(AlreadyARun):
        Writer.create(tmp_path / "run")


def test_open_refuses_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(NotARun):
        Writer.open(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotARun):
        list(read(tmp_path / "nowhere"))
    some_run(tmp_path / "run")
    (tmp_path / "run" / "FORMAT").write_bytes(b'{"format":"ledger","version":2}\n')
    with pytest.raises(UnknownFormat, match="Install"):
        Writer.open(tmp_path / "run")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"null\n",
        b'{"sequence":0,"hash":"' + b"0" * 64 + b'","bytes":0,"status":"open"}',
        b'{"sequence":0, "hash":"' + b"0" * 64 + b'","bytes":0,"status":"open"}\n',
        b'{"sequence":-1,"hash":"' + b"0" * 64 + b'","bytes":0,"status":"open"}\n',
        b'{"sequence":true,"hash":"' + b"0" * 64 + b'","bytes":0,"status":"open"}\n',
        b'{"sequence":0,"hash":"' + b"A" * 63 + b'","bytes":0,"status":"open"}\n',
        b'{"sequence":0,"hash":"' + b"0" * 64 + b'","bytes":0,"status":"done"}\n',
        b"[" * 5000,
    ],
)
def test_a_head_of_another_form_is_refused(tmp_path: Path, text: bytes) -> None:
    some_run(tmp_path / "run")
    (tmp_path / "run" / "HEAD").write_bytes(text)
    with pytest.raises(WrongHead):
        Writer.open(tmp_path / "run")
    with pytest.raises(WrongHead):
        list(read(tmp_path / "run"))
    assert not verify(tmp_path / "run").ok


def test_checkpoints_are_named_by_their_hash(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer:
        name = writer.save_checkpoint(b"weights")
        assert writer.save_checkpoint(b"weights") == name
    path = tmp_path / "run" / "checkpoints" / f"{name}.safetensors"
    assert [path] == list((tmp_path / "run" / "checkpoints").iterdir())
    assert load_checkpoint(tmp_path / "run", name) == b"weights"
    path.write_bytes(b"weightz")
    with pytest.raises(CheckpointDamaged):
        load_checkpoint(tmp_path / "run", name)
    with Writer.open(tmp_path / "run") as writer:
        assert writer.save_checkpoint(b"weights") == name  # a damaged file is replaced
    assert load_checkpoint(tmp_path / "run", name) == b"weights"
    with pytest.raises(CheckpointMissing):
        load_checkpoint(tmp_path / "run", "0" * 64)


@pytest.mark.parametrize("name", ["", "../HEAD", "/etc/passwd", "0" * 63, "A" * 64, "0" * 64 + "\n", "../" * 20 + "x"])
def test_a_checkpoint_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    some_run(tmp_path / "run")
    with pytest.raises(CheckpointMissing):
        load_checkpoint(tmp_path / "run", name)


def test_facts_are_strings(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "run") as writer, pytest.raises(Unencodable, match=r"Fact\.value"):
        writer.append(Session("run", (Fact("cores", 2),)))  # type: ignore[arg-type]
