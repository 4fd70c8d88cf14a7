"""``docs/ledger-format.md`` is enough: a reader written from the page alone, and the page's own shell commands."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ledger.codec import parse
from ledger.digest import semantic_digest
from ledger.head import read_head
from ledger.lines import event_bytes
from ledger.reader import read
from ledger.verify import verify
from tests.ledger.examples import some_run

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "ledger-format.md").read_text()
GOLDEN = ROOT / "tests" / "golden" / "ledger-1"


# --- an independent reader: nothing of the package, only the page --------------------


def batches(run: Path) -> Iterator[tuple[bytes, int, list[bytes]]]:
    """Content kind, first event number and lines of every batch, all checked."""
    previous = hashlib.sha256((run / "FORMAT").read_bytes()).digest()
    head = json.loads((run / "HEAD").read_bytes())
    sequence = total = 0
    for number, path in enumerate(sorted((run / "events").glob("*.zst"))):
        assert path.name == f"{number:08d}.zst"
        data = path.read_bytes()
        while data:
            magic, rest, name, version, _, kind, zeros, segment, count, first, raw, size = struct.unpack(
                "<II4sHHc3sIIQQQ", data[:52]
            )
            frame = data[152 : 152 + size]
            assert (magic, rest, name, version, zeros) == (0x184D2A5C, 144, b"LDGR", 1, bytes(3))
            assert (segment, first, len(frame)) == (number, sequence + 1, size)
            assert data[52:84] == hashlib.sha256(frame).digest()
            assert data[84:116] == previous
            assert data[116:148] == hashlib.sha256(previous + data[:84] + frame).digest()
            assert data[148:152] == struct.pack("<I", zlib.crc32(data[:148]))
            assert frame[:4] == bytes.fromhex("28B52FFD")
            assert zstandard.get_frame_parameters(frame).content_size == raw <= 67_108_864
            text = zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
            lines = text.split(b"\n")
            assert (lines.pop(), len(lines), len(text)) == (b"", count, raw)
            yield kind, first, lines
            previous, total, data = data[116:148], total + 152 + size, data[152 + size :]
            sequence += count if kind == b"E" else 0
            if total == head["bytes"]:
                assert (head["sequence"], head["hash"]) == (sequence, previous.hex())
    assert total == head["bytes"]


def independent(run: Path) -> tuple[list[Any], dict[str, bytes], str]:
    """Parsed event lines, blobs and the semantic digest of a whole run."""
    events: list[Any] = []
    blobs: dict[str, bytes] = {}
    digest = hashlib.sha256()
    for kind, first, lines in batches(run):
        for number, line in enumerate(lines, first):
            tree = json.loads(line)
            if kind == b"B":
                raw = tree["text"].encode() if "text" in tree else base64.b64decode(tree["base64"])
                assert hashlib.sha256(raw).hexdigest() == tree["blob"]
                assert len(raw) > 1024
                assert tree["blob"] not in blobs
                blobs[tree["blob"]] = raw
                continue
            assert tree["seq"] == number
            event = line[line.index(b',"event":') + 9 : -1]
            assert json.loads(event) == tree["event"]
            if event.startswith((b'{"kind":"Started"', b'{"kind":"Step"', b'{"kind":"Finished"')):
                digest.update(event + b"\n")
            for path, value in tree.get("reported", {}).items():
                place = tree["event"]
                *parents, field = path.split(".")
                for parent in parents:
                    place = place[parent]
                place[field] = value
            events.append(tree)
    return events, blobs, digest.hexdigest()


@pytest.mark.parametrize("name", ["golden", "fresh"])
def test_a_reader_written_from_the_page_agrees_with_ours(tmp_path: Path, name: str) -> None:
    run = GOLDEN if name == "golden" else some_run(tmp_path / "run", status="finished", segment_bytes=900)
    events, blobs, digest = independent(run)
    found = verify(run)
    assert found.ok
    assert (len(events), len(blobs), digest) == (found.events, found.blobs, semantic_digest(run))
    for tree, record in zip(events, read(run), strict=True):
        assert (tree["seq"], tree["time"], tree["source"]) == (record.sequence, record.time, record.source)
        assert tree["event"]["kind"] == type(record.event).__name__
        for body, raw in bodies_of(tree["event"], record.event, blobs):
            assert body.raw == raw


def bodies_of(tree: Any, value: Any, blobs: dict[str, bytes]) -> Iterator[tuple[Any, bytes]]:
    """Every body that both readers found, with the bytes that the independent one has for it."""
    if isinstance(tree, dict) and list(tree) in (["text"], ["blob"], ["base64"]) and hasattr(value, "digest"):
        ((kind, content),) = tree.items()
        yield (
            value,
            {
                "text": lambda: content.encode(),
                "blob": lambda: blobs[content],
                "base64": lambda: base64.b64decode(content),
            }[kind](),
        )
    elif isinstance(tree, dict):
        for key, child in tree.items():
            if key != "kind" and hasattr(value, key):
                yield from bodies_of(child, getattr(value, key), blobs)
    elif isinstance(tree, list):
        for one, other in zip(tree, value, strict=True):
            yield from bodies_of(one, other, blobs)


# --- the page itself --------------------


def commands() -> list[str]:
    """The shell blocks of the page."""
    return re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def shell(command: str, run: Path) -> str:
    for tool in ("zstd", "sha256sum", "xxd", "bash"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    done = subprocess.run(["bash", "-eu", "-c", command], cwd=run, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_page_has_its_commands() -> None:
    assert len(commands()) == 4


@pytest.mark.parametrize("name", ["golden", "fresh"])
def test_the_commands_of_the_page_work(tmp_path: Path, name: str) -> None:
    run = GOLDEN if name == "golden" else some_run(tmp_path / "run", segment_bytes=900)
    printed, chain, digest, _ = commands()
    found = verify(run)
    assert len(shell(printed, run).splitlines()) == found.events + found.blobs
    assert shell(chain.replace("/tmp/", f"{tmp_path}/"), run) == read_head(run).hash
    assert shell(digest, run).split()[0] == semantic_digest(run)


def test_the_command_for_the_chain_stops_at_a_change(tmp_path: Path) -> None:
    run = some_run(tmp_path / "run", segment_bytes=900)
    path = run / "events" / "00000001.zst"
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    with pytest.raises(subprocess.CalledProcessError) as raised:
        shell(commands()[1].replace("/tmp/", f"{tmp_path}/"), run)
    assert raised.value.stdout.strip() == "events/00000001.zst, offset 0: does not fit"


def test_the_example_lines_of_the_page_are_lines() -> None:
    (head,) = re.findall(r'^\{"sequence".*$', PAGE, re.MULTILINE)
    assert list(json.loads(head)) == ["sequence", "hash", "bytes", "status"]
    (line,) = re.findall(r'^\{"seq":.*$', PAGE, re.MULTILINE)
    assert list(json.loads(line.replace(",…", ""))) == ["seq", "time", "source", "usage", "reported", "event"]
    assert parse(event_bytes(line.replace(",…", "").encode())) == {"kind": "Step"}
