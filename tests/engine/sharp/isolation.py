"""Runs the compiler on one text in a process that can do nothing else, and tells what it tried.

``python -m tests.engine.sharp.isolation`` is a zygote: it imports what a compilation needs, JAX apart, and then forks
a child for each text that it reads. A child lowers its own limits, watches every audited action of the interpreter,
compiles the text, runs the graph on concrete states, compiles honest programs, compares the global state, reports, and
ends. A fork of a single-threaded process without JAX is as good as a fresh one, and costs milliseconds.

``python -m tests.engine.sharp.isolation once`` is one new interpreter for one text, which afterwards vets it with JAX.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attrs import evolve, frozen

ROOT = Path(__file__).resolve().parents[3]
MIB = 1024**2

MEMORY_CAP = 512 * MIB
"""Address space that a compilation may take on top of what its process has already."""

CPU_SECONDS = 15
WATCHDOG_SECONDS = 90
"""Against hangs only. What a program may cost is decided by counts, and no test compares times."""


@frozen
class Report:
    """What became of one text. ``violations`` is empty unless something happened that must not."""

    accepted: bool
    kind: str = ""
    line: int = 0
    column: int = 0
    reason: str = ""
    suggestion: str = ""
    meaning: str = ""
    violations: tuple[str, ...] = ()
    seconds: float = 0.0
    peak_mib: float = 0.0
    added_mib: float = 0.0


def environment(**extra: str) -> dict[str, str]:
    """Of a process that compiles: nothing of ours but where the code is; one thread."""
    return {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **extra}


class Zygote:
    """The parent of isolated compilations, from the outside."""

    def __init__(self, *options: str, **variables: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *options, "-m", "tests.engine.sharp.isolation"],
            cwd=ROOT, env=environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, text: str, edition: str = "", fault: str = "", watchdog: float = WATCHDOG_SECONDS) -> Report:
        """Compile ``text`` in a process of its own, by the latest edition of the language if none is named.

        ``fault`` names one of ``faults.FAULTS``, which is put into the compiler of that process.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"text": text, "edition": edition, "fault": fault, "watchdog": watchdog}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the zygote ended with {self._process.wait()}: see its standard error above")
        return _read(json.loads(answer))

    def close(self) -> None:
        """End the zygote."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def zygote(*options: str, **variables: str) -> Iterator[Zygote]:
    """A zygote for the time of a block; ``options`` go to its interpreter, ``variables`` into its environment."""
    parent = Zygote(*options, **variables)
    try:
        yield parent
    finally:
        parent.close()


def run_once(text: str) -> Report:
    """Compile ``text`` in a new interpreter, and vet it there with JAX."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.sharp.isolation", "once"],
        cwd=ROOT, env=environment(JAX_PLATFORMS="cpu"), input=json.dumps({"text": text}), timeout=4 * WATCHDOG_SECONDS,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1:]
    if done.returncode or not last:
        return Report(False, violations=(f"died with {done.returncode}: {done.stderr[-500:]}",))
    report = _read(json.loads(last[0]))
    if done.stderr:
        report = evolve(report, violations=(*report.violations, f"standard error: {done.stderr[:300]}"))
    return report


def _read(fields: Mapping[str, Any]) -> Report:
    return Report(**{**fields, "violations": tuple(fields["violations"])})


# --- the zygote ------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Fork a child for each line of standard input, and answer with its report."""
    import gc

    from tests.engine.sharp.sealed import warm

    warm()
    if "jax" in sys.modules:
        raise RuntimeError("the zygote has imported JAX, whose threads do not survive a fork")
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_forked(request)), flush=True)


def _forked(request: Mapping[str, Any]) -> dict[str, Any]:
    """Fork, wait with a watchdog, and join what the child reports with what the kernel knows of it."""
    answers, answer = os.pipe()
    outputs, output = os.pipe()
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        for end in (answers, outputs):
            os.close(end)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        os.close(0)
        _child(request, os.fdopen(answer, "w"))
    os.close(answer)
    os.close(output)
    violations: list[str] = []
    said, printed = _drain((answers, outputs), began + float(request["watchdog"]))
    if said is None or printed is None:
        violations.append("hang: ended by the watchdog")
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    for end in (answers, outputs):
        os.close(end)
    if printed:
        violations.append(f"output: {printed[:200]!r}")
    report: dict[str, Any] = {"accepted": False, "violations": [], "seconds": time.perf_counter() - began}
    if said:
        report = json.loads(said)
    elif said is not None:
        code = os.waitstatus_to_exitcode(status)
        violations.append(f"died: {signal.Signals(-code).name if code < 0 else f'exit {code}'} without a report")
    report["violations"] = violations + report["violations"]
    report["peak_mib"] = usage.ru_maxrss / 1024
    return report


def _drain(ends: tuple[int, int], until: float) -> tuple[bytes | None, bytes | None]:
    """Everything written to both pipes; None for one that is open at the end of the time."""
    held: dict[int, bytes] = dict.fromkeys(ends, b"")
    open_ends = set(ends)
    while open_ends:
        ready, _, _ = select.select(list(open_ends), [], [], max(0.0, until - time.perf_counter()))
        if not ready:
            break
        for end in ready:
            piece = os.read(end, 65536)
            if piece:
                held[end] = (held[end] + piece)[: 4 * MIB]
            else:
                open_ends.discard(end)
    first, second = (None if end in open_ends else held[end] for end in ends)
    return first, second


def _child(request: Mapping[str, Any], answer: IO[str]) -> None:
    """The life of a child; never returns."""
    code = 1
    try:
        from tests.engine.sharp.sealed import compile_sealed

        sealed = compile_sealed(request["text"], request["edition"], request["fault"], MEMORY_CAP, CPU_SECONDS)
        answer.write(json.dumps(sealed))
        answer.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def once() -> None:
    """Compile and vet the text on standard input."""
    from tests.engine.sharp.sealed import vet_sealed

    print(json.dumps(vet_sealed(json.loads(sys.stdin.read())["text"], MEMORY_CAP, CPU_SECONDS)))


if __name__ == "__main__":
    once() if sys.argv[1:] == ["once"] else serve()
