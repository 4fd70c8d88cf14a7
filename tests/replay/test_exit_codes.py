"""Exit codes: every error of ours has one, and what a person reads says what to do."""

from __future__ import annotations

import errno
import importlib
import inspect
from pathlib import Path

import pytest

from fm import errors as fm
from fm.library import TemplateError
from ledger import errors as ledger
from replay.config_file import ConfigError
from replay.exit_codes import _BY_NAME, DIVERGENCES, ExitCode, explain, table
from replay.runner.divergence import Divergence, DivergenceClass, Stopped


def test_codes_are_distinct_fit_a_process_and_have_a_meaning() -> None:
    assert len({code.value for code in ExitCode}) == len(ExitCode.__members__) == len(ExitCode)
    assert all(0 <= code.value <= 255 for code in ExitCode)
    assert all(code.meaning and "\n" not in code.meaning for code in ExitCode)
    assert int(ExitCode.OK) == 0


def test_the_table_shows_every_code() -> None:
    lines = table().splitlines()
    assert len(lines) == len(ExitCode)
    for code, line in zip(ExitCode, lines, strict=True):
        assert line.split()[0] == str(code.value)
        assert line.endswith(code.meaning)


def test_each_class_of_divergence_has_its_own_code() -> None:
    names = ("integrity", "environment", "prompt", "program", "decision", "structure", "numeric")
    assert tuple(DIVERGENCES) == names
    assert len(set(DIVERGENCES.values())) == len(names)
    assert all(DIVERGENCES[name].name == name.upper() for name in names)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("a.toml, line 1: wrong"), ExitCode.CONFIG),
        (TemplateError("propose@1 has no text"), ExitCode.CONFIG),
        (ledger.NotARun(Path("run")), ExitCode.NOT_A_RUN),
        (ledger.AlreadyARun(Path("run")), ExitCode.NOT_A_RUN),
        (ledger.UnknownFormat("format 9"), ExitCode.UNKNOWN_FORMAT),
        (ledger.WrongHead("missing"), ExitCode.DAMAGED),
        (ledger.Damaged(1, 2, 3, "wrong hash"), ExitCode.DAMAGED),
        (ledger.TornTail(1, 2, 3, 4), ExitCode.TORN_TAIL),
        (ledger.Locked(Path("run"), "process 7"), ExitCode.LOCKED),
        (ledger.Poisoned(OSError(errno.EIO, "Input/output error")), ExitCode.DISK_FULL),
        (ledger.RunFinished(Path("run")), ExitCode.FINISHED),
        (ledger.CheckpointMissing("ab"), ExitCode.MISSING_RECORDING),
        (ledger.CheckpointDamaged("ab"), ExitCode.DAMAGED),
        (ledger.Undecodable("not an event"), ExitCode.DAMAGED),
        (fm.NoKey("OPENAI_API_KEY is not set"), ExitCode.NO_KEY),
        (fm.EndpointDown("nothing answers"), ExitCode.ENDPOINT_DOWN),
        (fm.WrongAnswer("answer for another call"), ExitCode.WRONG_ANSWER),
        (fm.Cancelled("called off"), ExitCode.INTERRUPTED),
        (fm.TransportFailure("500"), ExitCode.TRANSPORT),
        (fm.BudgetExceeded("100 calls"), ExitCode.BUDGET),
        (fm.EmbeddingFailure("no model"), ExitCode.EMBEDDING),
    ],
)
def test_our_errors_keep_their_own_words(error: Exception, code: ExitCode) -> None:
    assert explain(error) == (code, str(error))


def test_no_error_that_the_outside_can_cause_is_called_internal() -> None:
    """``Closed`` and ``Unencodable`` can only follow from a defect of ours; the two bases are never raised."""
    ours = {
        kind
        for module in (ledger, fm)
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception) and kind.__module__ == module.__name__
    }
    internal = {kind for kind in ours if explain(kind.__new__(kind))[0] is ExitCode.INTERNAL}
    assert internal == {ledger.LedgerError, fm.FmError, ledger.Closed, ledger.Unencodable}


@pytest.mark.parametrize("place", _BY_NAME)
def test_errors_that_are_named_by_their_place_are_there(place: str) -> None:
    module, _, name = place.rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    assert issubclass(kind, Exception)
    assert explain(kind("what happened")) == (_BY_NAME[place], "what happened")
    assert explain(type("Special", (kind,), {})("it"))[0] is _BY_NAME[place]


def test_a_stopped_replay_ends_with_the_code_of_its_divergence() -> None:
    assert set(DIVERGENCES) == {kind.value for kind in DivergenceClass}
    for kind in DivergenceClass:
        stopped = Stopped([Divergence(kind, 4, "iteration=0/judge", "effect", "parts", "a", "b")])
        code, text = explain(stopped)
        assert code is DIVERGENCES[kind.value]
        assert text.startswith(f"{stopped} — ")


def test_files_and_disks() -> None:
    assert explain(OSError(errno.ENOSPC, "No space left on device", "run/events")) == (
        ExitCode.DISK_FULL,
        "run/events: No space left on device; make room, then `resume` the run, or run any other command again",
    )
    code, text = explain(PermissionError(errno.EACCES, "Permission denied", "run/HEAD"))
    assert code is ExitCode.FILE
    assert text.startswith("run/HEAD: Permission denied; check")


def test_an_interrupt_is_no_failure_and_a_surprise_is_a_defect() -> None:
    assert explain(KeyboardInterrupt())[0] is ExitCode.INTERRUPTED
    code, text = explain(ValueError("two\nlines"))
    assert code is ExitCode.INTERNAL
    assert text == "internal error, ValueError: two lines; please report it"
    assert explain(AssertionError())[1] == "internal error, AssertionError: no message; please report it"
    assert explain(ConnectionResetError(errno.ECONNRESET, "reset"))[0] is ExitCode.INTERNAL
