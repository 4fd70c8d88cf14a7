"""Processes that measure: each compiles once, then does one thing per line it reads and answers in JSON.

What is to be compared lives in processes of its own, so that one side's memory, caches and shims never touch the
other's, and so that the two can take turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

ROOT: Final = Path(__file__).parent.parent.parent

OURS: Final = "tests.benchmarks.core_worker"
PEER: Final = "tests.benchmarks.peer_worker"

LAST_LINES: Final = 15


class WorkerFailed(RuntimeError):
    """A worker ended before it answered; the message ends with what it wrote last."""


class Worker:
    """A process of ``python -m MODULE SPECIFICATION``; use it as a context manager, so that it never outlives it."""

    def __init__(self, module: str, specification: Mapping[str, Any], environment: Mapping[str, str] | None = None):
        """``environment`` is added to this process's own, less everything that would share compiled code."""
        self._name = module.rpartition(".")[2]
        self._written = tempfile.TemporaryFile("w+")
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JAX_COMPILATION_CACHE", "JAX_PERSISTENT_CACHE", "JAX_NUMPY_"))
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, json.dumps(specification)],
            cwd=ROOT,
            env={**inherited, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._written,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._written):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:  # a line that nobody reads any more
                    continue

    def ready(self) -> dict[str, Any]:
        """What the worker says first, once everything is compiled and warm.

        Raises:
            WorkerFailed: if it ended instead.
        """
        return self._read()

    def turn(self) -> dict[str, Any]:
        """Have the worker do its thing once more, and read its answer.

        Raises:
            WorkerFailed: if it ended instead.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failed() from None
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failed()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _failed(self) -> WorkerFailed:
        self._process.wait()
        self._written.seek(0)
        last = self._written.read().splitlines()[-LAST_LINES:]
        return WorkerFailed(f"{self._name} ended with status {self._process.returncode}:\n" + "\n".join(last))


class Channel:
    """A worker's side: answers go out on what was standard output, which anything else can then no longer disturb."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(self, **values: Any) -> None:
        """One line of JSON."""
        self._out.write(json.dumps(values) + "\n")
        self._out.flush()

    def wait(self) -> bool:
        """Whether there was another line to read: false when the parent has gone."""
        return bool(sys.stdin.readline())
