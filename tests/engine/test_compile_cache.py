"""Compiled functions between processes: damage, full disks, foreign folders and company cost time, never a result."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engine import compile_cache
from engine.compile_cache import ABANDONED_SECONDS, DIGEST_BYTES, Store

ROOT = Path(__file__).parents[2]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, told: list[str]) -> Store:
    return Store(tmp_path / "kept", told.append)


def entry(store: Store, key: str) -> Path:
    return store._path / f"{key}.compiled"


def test_what_is_put_comes_back(store: Store, told: list[str]) -> None:
    assert store.get("jit_f-1") is None
    store.put("jit_f-1", b"code")
    store.put("jit_f-2", b"")
    assert (store.get("jit_f-1"), store.get("jit_f-2"), store.get("jit_f-3")) == (b"code", b"", None)
    assert (store._path.stat().st_mode & 0o077, told) == (0, [])


@pytest.mark.parametrize("cut", [0, 1, DIGEST_BYTES - 1, DIGEST_BYTES, DIGEST_BYTES + 3])
def test_a_cut_entry_is_gone_and_told_once(store: Store, told: list[str], cut: int) -> None:
    for key in ("a", "b"):
        store.put(key, b"some code")
        entry(store, key).write_bytes(entry(store, key).read_bytes()[:cut])
        assert store.get(key) is None
        assert not entry(store, key).exists()
        store.put(key, b"new code")
        assert store.get(key) == b"new code"
    assert len(told) == 1
    assert "holds a damaged entry (a.compiled): nothing is lost" in told[0]


def test_every_flipped_byte_is_noticed(store: Store) -> None:
    store.put("a", b"some code")
    whole = entry(store, "a").read_bytes()
    for place in range(len(whole)):
        entry(store, "a").write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert store.get("a") is None


def test_an_entry_under_another_name_is_not_taken(store: Store) -> None:
    store.put("a", b"some code")
    entry(store, "a").rename(entry(store, "b"))
    assert store.get("b") is None


def test_a_folder_that_cannot_be(tmp_path: Path, told: list[str]) -> None:
    """Neither read nor written: the run goes on and hears of it once."""
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "kept", told.append)
    for _ in range(2):
        assert store.get("a") is None
        store.put("a", b"code")
    assert len(told) == 1
    assert "Not a directory" in told[0]


@pytest.mark.parametrize("call", ["replace", "fdopen"])
def test_a_full_disk_leaves_nothing_half_written(
    store: Store, told: list[str], monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store.put("before", b"code")
    attempts = []

    def full(*given: object) -> None:
        attempts.append(given)
        if call == "fdopen":
            os.close(int(str(given[0])))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compile_cache.os, call, full)
    store.put("a", b"code")
    store.put("b", b"code")
    monkeypatch.undo()
    assert len(attempts) == 1
    assert [file.name for file in store._path.iterdir()] == ["before.compiled"]
    assert store.get("before") == b"code"
    assert len(told) == 1
    assert "cannot be written (No space left on device)" in told[0]


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path, told: list[str]) -> None:
    store = Store(tmp_path, told.append, limit=3 * (DIGEST_BYTES + 100))
    for age, key in enumerate(("c", "b", "a")):
        store.put(key, key.encode() * 100)
        moment = time.time() - 1_000 * (3 - age)
        os.utime(entry(store, key), (moment, moment))
    assert store.get("c") == b"c" * 100  # used just now
    store.put("d", b"d" * 100)
    assert sorted(file.name[0] for file in tmp_path.iterdir()) == ["a", "c", "d"]
    store.put("e", b"e" * 1_000)  # larger than everything together
    assert sorted(file.name[0] for file in tmp_path.iterdir()) == ["a", "c", "d"]
    assert told == []


def test_only_abandoned_writes_are_cleared_away(store: Store) -> None:
    store.put("a", b"code")
    for name, age in (("old", ABANDONED_SECONDS + 60), ("new", 60.0)):
        file = store._path / f"{name}.unfinished"
        file.write_bytes(b"half")
        os.utime(file, (time.time() - age, time.time() - age))
    store.put("b", b"code")
    names = sorted(file.name for file in store._path.iterdir())
    assert names == ["a.compiled", "b.compiled", "new.unfinished"]


def test_readers_never_see_half_an_entry(tmp_path: Path, told: list[str]) -> None:
    """Writers replace one entry over and over, and make room for it; a reader gets a whole one, or none."""
    values = [bytes([number]) * 200_000 for number in range(3)]
    stores = [Store(tmp_path, told.append, limit=500_000) for _ in range(4)]
    done = threading.Event()

    def write(store: Store) -> None:
        for turn in range(60):
            store.put(f"key{turn % 3}", values[turn % 3])

    def read() -> None:
        while not done.is_set():
            for number in range(3):
                assert stores[3].get(f"key{number}") in (None, values[number])

    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            read()
        except BaseException as error:
            failures.append(error)

    reader = threading.Thread(target=guarded)
    writers = [threading.Thread(target=write, args=(store,)) for store in stores[:3]]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert (failures, told) == ([], [])


SCRIPT = """
import sys
from pathlib import Path
from engine.compile_cache import keep_compiled
import jax, jax.numpy as jnp
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None)
keep_compiled(Path(sys.argv[1]), lambda text: print("told:", text, file=sys.stderr))
{body}
print(len(hits), file=sys.stderr)
"""

SMALL = """
@jax.jit
def function(x):
    return jnp.tanh(x @ x.T).sum(axis=0)
print(jax.device_get(function(jnp.linspace(-1.0, 1.0, 300, dtype=jnp.float32).reshape(20, 15))).tobytes().hex())
"""

PHASE = """
from tests.engine.train.effects import GTRXL, MLP, train
from tests.tiny_worlds import Corridor
from engine.train.core import TrainingCore
for network in (MLP, GTRXL):
    core = TrainingCore(Corridor())
    trained, data = core.train(train(network=network), None, progress=lambda *_: None, stop=lambda: False)
    print(trained.parameters_sha256, trained.checkpoint)
"""


def fresh(folder: Path, body: str, **environment: str) -> tuple[str, list[str]]:
    """What a process of its own prints, and what it says beside that: the number of functions found comes last."""
    variables = {**os.environ, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", **environment}
    for name in ("JAX_COMPILATION_CACHE_DIR", "JAX_COMPILATION_CACHE_MAX_SIZE"):
        variables.pop(name, None)
    command = [sys.executable, "-c", SCRIPT.format(body=body), str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.splitlines()


def test_jax_uses_the_store_and_recovers_from_damage(tmp_path: Path) -> None:
    cold, said = fresh(tmp_path, SMALL)
    assert said == ["0"]
    kept = sorted(file for file in tmp_path.iterdir() if "function" in file.name)
    assert len(kept) == 1
    warm, said = fresh(tmp_path, SMALL)
    assert (warm, int(said[-1]) > 0, len(said)) == (cold, True, 1)
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-7])
    mended, said = fresh(tmp_path, SMALL)
    assert (mended, said[-1], len(said)) == (cold, "0", 2)
    assert "told: the folder of compiled functions" in said[0]
    assert int(fresh(tmp_path, SMALL)[1][-1]) > 0
    off, said = fresh(tmp_path / "off", SMALL, JAX_ENABLE_COMPILATION_CACHE="false")
    assert (off, said, (tmp_path / "off").exists()) == (cold, ["0"], False)


@pytest.mark.slow
def test_training_from_kept_functions_gives_the_same_bits(tmp_path: Path) -> None:
    """Both networks: fresh, from what the first process kept, and without a store."""
    cold, _ = fresh(tmp_path, PHASE)
    warm, said = fresh(tmp_path, PHASE)
    assert int(said[-1]) >= 4
    without, _ = fresh(tmp_path, PHASE, JAX_ENABLE_COMPILATION_CACHE="false")
    assert cold == warm == without


@pytest.mark.slow
def test_two_processes_at_once_give_the_same_bits(tmp_path: Path) -> None:
    results: list[tuple[str, list[str]]] = []
    threads = [threading.Thread(target=lambda: results.append(fresh(tmp_path, PHASE))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert results[0][0] == results[1][0]
    assert all(not line.startswith("told:") for _, said in results for line in said)
