"""Exit codes: one table for scripts, and what a person reads when a command cannot go on.

Codes below 20 answer the question that was asked; 20 and above say why it could not be asked. Released codes keep
their meaning.
"""

from __future__ import annotations

import enum
import errno
from collections.abc import Mapping
from types import MappingProxyType

from fm import errors as fm
from fm.library import TemplateError
from ledger import errors as ledger
from replay.config_file import ConfigError


class ExitCode(enum.IntEnum):
    """Why a process ended; ``meaning`` says it in one line."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    OK = 0, "done, and the answer is yes"
    NO = 1, "the answer is no: a program was refused, two runs differ, a check failed, or a level was not reached"
    USAGE = 2, "the command line is not understood; see --help"

    INTEGRITY = 10, "a level was not reached: recorded bytes were changed since HEAD was published"
    ENVIRONMENT = 11, "a level was not reached: another world, loop logic or package than the recorded one"
    PROMPT = 12, "a level was not reached: the prompts that would be sent now are not the recorded ones"
    PROGRAM = 13, "a level was not reached: a program is judged otherwise than recorded"
    DECISION = 14, "a level was not reached: a decision recomputed from the recording differs"
    STRUCTURE = 15, "a level was not reached: the loop asks for other steps than were recorded"
    NUMERIC = 16, "a level was not reached: training or evaluation gives other numbers than recorded"

    CONFIG = 20, "an experiment file, a profile, an override or a prompt template cannot be used"
    UNKNOWN_WORLD = 21, "the world that is named does not exist"
    NOT_A_RUN = 22, "the folder is not a run, or a run is already there"
    MISSING_RECORDING = 23, "a step, an answer or a checkpoint that is needed was not recorded"
    DAMAGED = 24, "the ledger is damaged; nothing was changed"
    TORN_TAIL = 25, "the ledger ends in an unfinished batch; nothing acknowledged is lost"
    LOCKED = 26, "another process writes to this run"
    UNKNOWN_FORMAT = 27, "the ledger was written by a version that this one does not know"
    FINISHED = 28, "the run is finished and takes no more events"

    TRANSPORT = 30, "a request to the foundation model was not answered; the run can be resumed"
    NO_KEY = 31, "the endpoint's key is missing or was refused"
    ENDPOINT_DOWN = 32, "nothing answers at the endpoint's address"
    WRONG_ANSWER = 33, "an answer file belongs to another call, or was changed"
    BUDGET = 34, "the next call could exceed a budget; it was not made, and the run can be resumed"
    EMBEDDING = 35, "texts could not be embedded"

    DISK_FULL = 40, "the disk is full, or a write failed; the writer stopped at the last acknowledged event"
    FILE = 41, "a file or folder cannot be read or written"

    INTERNAL = 70, "a defect of this program; please report it with the traceback"
    INTERRUPTED = 130, "interrupted; a run can be resumed"


DIVERGENCES: Mapping[str, ExitCode] = {
    "integrity": ExitCode.INTEGRITY,
    "environment": ExitCode.ENVIRONMENT,
    "prompt": ExitCode.PROMPT,
    "program": ExitCode.PROGRAM,
    "decision": ExitCode.DECISION,
    "structure": ExitCode.STRUCTURE,
    "numeric": ExitCode.NUMERIC,
}
"""The code of each class of divergence between a recording and what is recomputed."""

_BY_TYPE: tuple[tuple[type[BaseException], ExitCode], ...] = (
    (ConfigError, ExitCode.CONFIG),
    (TemplateError, ExitCode.CONFIG),
    (ledger.NotARun, ExitCode.NOT_A_RUN),
    (ledger.AlreadyARun, ExitCode.NOT_A_RUN),
    (ledger.UnknownFormat, ExitCode.UNKNOWN_FORMAT),
    (ledger.TornTail, ExitCode.TORN_TAIL),
    (ledger.Locked, ExitCode.LOCKED),
    (ledger.RunFinished, ExitCode.FINISHED),
    (ledger.Poisoned, ExitCode.DISK_FULL),
    (ledger.CheckpointMissing, ExitCode.MISSING_RECORDING),
    (ledger.CheckpointDamaged, ExitCode.DAMAGED),
    (ledger.Damaged, ExitCode.DAMAGED),
    (ledger.WrongHead, ExitCode.DAMAGED),
    (ledger.Undecodable, ExitCode.DAMAGED),
    (fm.NoKey, ExitCode.NO_KEY),
    (fm.EndpointDown, ExitCode.ENDPOINT_DOWN),
    (fm.WrongAnswer, ExitCode.WRONG_ANSWER),
    (fm.Cancelled, ExitCode.INTERRUPTED),
    (fm.TransportFailure, ExitCode.TRANSPORT),
    (fm.BudgetExceeded, ExitCode.BUDGET),
    (fm.EmbeddingFailure, ExitCode.EMBEDDING),
)
"""The first row whose type fits decides: special types stand before general ones."""

_BY_NAME: Mapping[str, ExitCode] = MappingProxyType(
    {
        "engine.archive.archive.ArchiveError": ExitCode.DAMAGED,
        "engine.worlds.compiler.CompilerFault": ExitCode.ENVIRONMENT,
        "engine.worlds.registry.UnknownWorld": ExitCode.UNKNOWN_WORLD,
        "engine.worlds.stripping.StrippingFailed": ExitCode.ENVIRONMENT,
        "engine.checkpoint.CheckpointError": ExitCode.DAMAGED,
        "replay.commands.refusal.Refused": ExitCode.USAGE,
        "replay.reproduce.MissingRecording": ExitCode.MISSING_RECORDING,
        "replay.runner.agents.NoAgent": ExitCode.MISSING_RECORDING,
        "replay.runner.interrupt.Interrupted": ExitCode.INTERRUPTED,
        "replay.runner.live.AlreadyStarted": ExitCode.NOT_A_RUN,
        "replay.runner.experiments.Unrunnable": ExitCode.CONFIG,
        "replay.runner.recording.Disordered": ExitCode.STRUCTURE,
        "replay.runner.recording.NoExperiment": ExitCode.NOT_A_RUN,
        "replay.statistics.BadExpected": ExitCode.CONFIG,
    }
)
"""Errors that are named by their place, since importing it would start JAX or lead back here."""

_STOPPED = "replay.runner.divergence.Stopped"

_FULL = (errno.ENOSPC, errno.EDQUOT)


def explain(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code of an error, and what to tell: one line, or for a configuration one line per problem.

    Whatever is not foreseen is ``INTERNAL``: its caller should show the traceback too.
    """
    for kind, code in _BY_TYPE:
        if isinstance(error, kind):
            return code, str(error)
    for name in (f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__):
        if name in _BY_NAME:
            return _BY_NAME[name], _one_line(error)
        if name == _STOPPED:
            advice = "see the rest with `python -m replay decide`, and use the commit of the recording"
            return DIVERGENCES[error.divergences[0].kind], f"{_one_line(error)} — {advice}"  # type: ignore[attr-defined]
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED, "interrupted"
    if isinstance(error, OSError) and not isinstance(error, (ConnectionError, TimeoutError)):
        return _file_trouble(error)
    return ExitCode.INTERNAL, f"internal error, {type(error).__name__}: {_one_line(error)}; please report it"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no message"


def _file_trouble(error: OSError) -> tuple[ExitCode, str]:
    where = f"{error.filename}: " if error.filename else ""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in _FULL:
        return (
            ExitCode.DISK_FULL,
            f"{where}{reason}; make room, then `resume` the run, or run any other command again",
        )
    return ExitCode.FILE, f"{where}{reason}; check the name and your permissions, then run the same command again"


def table() -> str:
    """All codes with their meanings, one a line, as the documentation and ``--help`` show them."""
    return "\n".join(f"{code.value:>3}  {code.name.lower().replace('_', '-'):<18} {code.meaning}" for code in ExitCode)
