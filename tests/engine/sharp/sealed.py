"""Inside an isolated process: limits, the audit hook, the compilation, and what it must have left as it was."""

from __future__ import annotations

import ast
import builtins
import gc
import locale
import os
import posix
import random
import resource
import signal
import sys
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from engine.sharp.editions import LATEST, Edition, edition_of
from engine.sharp.program import CompiledProgram, parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import graph_truths
from tests.engine.sharp.faults import FAULTS
from tests.engine.sharp.honest_invented import PROGRAMS
from tests.engine.sharp.hostile.shapes import body
from tests.engine.sharp.invented import SCHEMA, some_views

WATCHED_MODULES = ("engine.sharp", "engine.worlds", "ledger.vocabulary")
HONEST = tuple(PROGRAMS[index] for index in (1, 12, 18))
PAGE_KIB = resource.getpagesize() // 1024

Fields = dict[str, Any]


# --- what a compilation may not do -----------------------------------------------------------------------------------


class Watch:
    """An audit hook that refuses every audited action but those of a parser, and remembers what it refused."""

    def __init__(self) -> None:
        self.active = False
        self.seen: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called by the interpreter before an action."""
        if not self.active:
            return
        self.active = False
        try:
            fine = self._fine(event, arguments, sys._getframe(1))
        finally:
            self.active = True
        if not fine:
            self.refuse(f"{event}{arguments!r}"[:160])

    def _fine(self, event: str, arguments: tuple[Any, ...], frame: types.FrameType) -> bool:
        parsing = frame.f_code is ast.parse.__code__
        if event == "compile":
            return parsing
        if event == "open":  # on a syntax error CPython looks into the file that the source names: there is none
            return parsing and arguments[0] == ""
        if event == "object.__getattr__":  # signatures of the table of functions, and where the compiler itself failed
            owner, name = arguments
            if isinstance(owner, (types.TracebackType, types.FrameType)):
                return name in ("tb_frame", "f_code")
            ours = str(getattr(owner, "__module__", "")).startswith("engine.sharp.")
            return ours and name in ("__code__", "__defaults__", "__kwdefaults__")
        return event == "builtins.id"

    def refuse(self, what: str) -> None:
        """Remember an action, and stop it."""
        self.seen.append(what)
        raise PermissionError(f"a compilation tried {what}")


WATCH = Watch()


def _watch_environment() -> None:
    """Make every read and write of the environment an action that is watched."""

    class WatchedEnvironment(type(os.environ)):  # type: ignore[misc]
        def __getitem__(self, key: Any) -> Any:
            if WATCH.active:
                WATCH.refuse(f"environment read {key!r}")
            return super().__getitem__(key)

        def __iter__(self) -> Iterator[Any]:
            if WATCH.active:
                WATCH.refuse("environment listed")
            return super().__iter__()

    class WatchedDict(dict[bytes, bytes]):
        def __getattribute__(self, name: str) -> Any:
            if WATCH.active:
                WATCH.refuse(f"environment {name}")
            return super().__getattribute__(name)

        def __getitem__(self, key: bytes) -> bytes:
            if WATCH.active:
                WATCH.refuse(f"environment read {key!r}")
            return super().__getitem__(key)

    os.environ.__class__ = os.environb.__class__ = WatchedEnvironment
    posix.environ = WatchedDict(posix.environ)


LIMITED = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)


def _limit(memory: int, seconds: int) -> list[tuple[int, int]]:
    """Soft limits, and those before: no new file descriptor, no byte into a file, so much more memory and time."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    used = resource.getrusage(resource.RUSAGE_SELF)
    before = [resource.getrlimit(which) for which in LIMITED]
    values = (size + memory, int(used.ru_utime + used.ru_stime) + seconds, 0, 0, 0)
    for which, value in zip(LIMITED, values, strict=True):
        resource.setrlimit(which, (value, resource.getrlimit(which)[1]))
    return before


def _resident_mib() -> float:
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * PAGE_KIB / 1024


# --- what it must leave as it was ------------------------------------------------------------------------------------


def compiler_state() -> dict[str, str]:
    """Everything in the compiler's modules, its schema and Python's builtins, by name."""
    found: dict[str, str] = {}
    known: set[int] = set()
    for name, module in list(sys.modules.items()):
        if name.startswith(WATCHED_MODULES) and module is not None:
            for key, value in list(vars(module).items()):
                found[f"{name}.{key}"] = _described(value, 6, known)
    found["builtins"] = _described(vars(builtins), 1, known)
    found["schema"] = _described(SCHEMA, 12, known)
    return found


def process_state() -> dict[str, str]:
    """Everything else in this process that a compilation could change for the next one, by name."""
    found = {
        "modules": sorted(sys.modules),
        "interpreter": (
            sys.getrecursionlimit(), sys.get_int_max_str_digits(), sys.path, sys.gettrace(), sys.getprofile(),
            sys.argv, sys.getswitchinterval(), sys.excepthook, sys.displayhook, list(map(id, sys.meta_path)),
            gc.isenabled(), gc.get_threshold(), sys.stdout, sys.stderr, sys.flags,
        ),
        "process": (
            os.getcwd(), locale.setlocale(locale.LC_ALL, None), time.tzname, threading.active_count(),
            [resource.getrlimit(which) for which in range(16)],
            [signal.getsignal(number) for number in signal.valid_signals()],
            [number for number in range(64) if _is_open(number)],
        ),
        "environment": sorted(os.environ._data.items()),  # type: ignore[attr-defined]
        "randomness": (hash(random.getstate()), repr(np.random.get_state(legacy=False)["state"]["key"].tobytes())),  # type: ignore[call-overload]
        "numpy": (np.geterr(), np.get_printoptions()),
        "warnings": (warnings.filters, warnings.showwarning),
    }  # fmt: skip
    if "jax" in sys.modules:
        found["jax"] = sorted(sys.modules["jax"].config.values.items(), key=str)
    return {name: repr(value) for name, value in found.items()}


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _described(value: Any, depth: int, known: set[int]) -> str:
    """A value by content as far as content can change, by identity otherwise; once, where it comes first."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    name = f"{type(value).__name__}@{id(value)}"
    if depth == 0 or id(value) in known:
        return name
    known.add(id(value))
    parts: list[Any] = []
    if isinstance(value, types.FunctionType):
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, vars(value)]
    elif isinstance(value, type):
        return name + str(hash(tuple((key, id(item)) for key, item in vars(value).items())))
    elif isinstance(value, Mapping):
        parts = [part for item in value.items() for part in item]
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    elif attrs.has(type(value)):
        parts = [getattr(value, field.name) for field in attrs.fields(type(value))]
    return name + repr([_described(part, depth - 1, known) for part in parts])


def _kept(program: CompiledProgram | Refusal) -> tuple[Any, ...] | Refusal:
    """What must be equal of two compilations of one program."""
    if isinstance(program, Refusal):
        return program
    return (
        program.name, program.description, program.source_hash, program.meaning, program.requires,
        program.requires_meaning, program.normalisations, program.warnings,
    )  # fmt: skip


_REFERENCE: list[Any] = []
_BASELINE: dict[str, str] = {}


def warm() -> None:
    """Do once what each compilation would do again: load and fill, watch, look at the global state."""
    for text in ("class", "''' class '''", '"class"', body("return state.restin"), body("return abs(1, 2)")):
        parse_program(text, SCHEMA)
    views = some_views()
    for text in HONEST:
        program = parse_program(text + "# before\n", SCHEMA)
        if not isinstance(program, CompiledProgram):
            raise RuntimeError(f"an honest program is refused: {program}")
        graph_truths(program, views[0], views[1], SCHEMA)
        _REFERENCE.append(_kept(program))
    _watch_environment()
    sys.addaudithook(WATCH)
    _BASELINE.update(compiler_state())


# --- one compilation -------------------------------------------------------------------------------------------------


def compile_sealed(text: str, edition: str, fault: str, memory: int, seconds: int) -> Fields:
    """Compile ``text`` sealed off, with a fault put into the compiler if one is named; the fields of a report."""
    if fault:
        FAULTS[fault]()
        _BASELINE.update(compiler_state())
    return _sealed(text, edition_of(edition) if edition else LATEST, memory, seconds)[0]


def _sealed(text: str, edition: Edition, memory: int, seconds: int) -> tuple[Fields, CompiledProgram | None]:
    before = process_state()
    resident = _resident_mib()
    loose = _limit(memory, seconds)
    limits = [resource.getrlimit(which) for which in LIMITED]
    violations: list[str] = []
    began = time.perf_counter()
    verdict = _watched(lambda: parse_program(text, SCHEMA, edition), violations)
    if isinstance(verdict, CompiledProgram):
        pairs = list(pairwise(some_views()[:3]))
        _watched(lambda: [graph_truths(verdict, *pair, SCHEMA) for pair in pairs], violations)
    elapsed = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for honest, expected in zip(HONEST, _REFERENCE, strict=True):
        after = _watched(lambda honest=honest: parse_program(honest + "# after\n", SCHEMA), violations)
        if after is not None and _kept(after) != expected:
            violations.append(f"an honest program means something else afterwards: {after}"[:300])
    violations.extend(f"forbidden: {what}" for what in WATCH.seen)
    WATCH.seen.clear()
    if [resource.getrlimit(which) for which in LIMITED] != limits:
        violations.append("the process's limits changed")
    for which, pair in zip(LIMITED, loose, strict=True):
        resource.setrlimit(which, pair)
    violations.extend(_changes({**_BASELINE, **before}, {**compiler_state(), **process_state()}))
    fields = {"violations": violations, "seconds": elapsed, "peak_mib": peak, "added_mib": max(0.0, peak - resident)}
    return {**fields, **_verdict(verdict, violations)}, verdict if isinstance(verdict, CompiledProgram) else None


def _watched(action: Callable[[], Any], violations: list[str]) -> Any:
    """The result of an action while everything is watched; None if it raises."""
    WATCH.active = True
    try:
        return action()
    except BaseException as error:
        WATCH.active = False
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(last.filename)}:{last.lineno}"
        violations.append(f"raised {type(error).__name__} in {place}: {error}"[:300])
        return None
    finally:
        WATCH.active = False


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    names = sorted({*before, *after})
    return [f"changed: {name}" for name in names if before.get(name) != after.get(name)]


def _verdict(verdict: CompiledProgram | Refusal | None, violations: list[str]) -> Fields:
    texts: list[str] = []
    fields: Fields = {"accepted": False}
    if isinstance(verdict, Refusal):
        texts = [verdict.reason, verdict.suggestion or ""]
        fields.update(kind=verdict.kind, line=verdict.line, column=verdict.column)
        fields.update(reason=verdict.reason, suggestion=verdict.suggestion or "")
        if verdict.kind == "internal":
            violations.append(f"the compiler failed: {verdict.reason}"[:300])
    elif isinstance(verdict, CompiledProgram):
        pairs = [text for item in verdict.requires for text in (item.condition, item.prerequisite)]
        texts = [verdict.name, verdict.description, verdict.source, *verdict.warnings, *pairs]
        fields.update(accepted=True, meaning=verdict.meaning)
    elif verdict is not None:
        violations.append(f"no verdict: {verdict!r}"[:200])
    for text in texts:
        if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            violations.append(f"a verdict with text that no file can hold: {text[:100]!r}")
    return fields


def vet_sealed(text: str, memory: int, seconds: int) -> Fields:
    """Compile ``text`` sealed off, then answer its Vet effect with JAX on sampled states."""
    import jax

    from engine.sharp.sampled import SampledViews
    from engine.sharp.vet import vet
    from ledger.vocabulary.body import Body
    from ledger.vocabulary.path import Path
    from ledger.vocabulary.vet import Known, Vet
    from tests.engine.sharp.invented import stacked

    jax.config.update("jax_numpy_rank_promotion", "raise")
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    warm()
    views = some_views()
    batch = stacked(views[:8])
    states = SampledViews(batch, stacked(views[8:16]), batch)
    fields, program = _sealed(text, LATEST, memory, seconds)
    if program is None:
        return fields
    settings = repr(sorted(jax.config.values.items(), key=str))
    archive = tuple(Known(item.prerequisite, "", "", ()) for item in program.requires)
    try:
        verdict = vet(Vet(Path("p"), SCHEMA.world, LATEST.label, Body(text), archive), SCHEMA, states)
    except Exception as error:
        fields["violations"].append(f"vetting raised {type(error).__name__}: {error}"[:300])
        return fields
    if repr(sorted(jax.config.values.items(), key=str)) != settings:
        fields["violations"].append("changed: the configuration of JAX")
    fields["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if verdict.refusal is not None:
        fields.update(_verdict(verdict.refusal, fields["violations"]))
    return fields
