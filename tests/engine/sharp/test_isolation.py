"""The isolation notices what a broken compiler does: each fault that is put into a real one is reported."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.sharp.faults import FAULTS
from tests.engine.sharp.hostile.shapes import HEAD, SUCCESS, body
from tests.engine.sharp.isolation import Report, Zygote, run_once, zygote

HONEST = HEAD + SUCCESS

NOTICED = {
    "evaluates the text": "forbidden: compile",
    "executes the text": "forbidden: compile",
    "runs code that is there": "forbidden: exec",
    "reads a file": "forbidden: open('/etc/hostname'",
    "reads a file and hides it": "forbidden: open('/etc/hostname'",
    "writes a file": "forbidden: open('written'",
    "lists a folder": "forbidden: os.listdir",
    "opens a socket": "forbidden: socket.__new__",
    "starts a process": "forbidden: subprocess.Popen",
    "starts a shell": "forbidden: os.system",
    "reads the environment": "forbidden: environment read 'PYTHONPATH'",
    "asks for a variable": "forbidden: environment read 'HOME'",
    "lists the environment": "forbidden: environment listed",
    "changes the environment": "forbidden: os.putenv",
    "imports a module": "forbidden: import('wave'",
    "loads a library": "forbidden: ctypes.dlopen",
    "reads raw memory": "forbidden: ctypes.string_at",
    "starts a thread": "changed: process",
    "keeps state": "changed: engine.sharp.program.seen",
    "changes a table": "an honest program means something else",
    "changes the schema": "changed: schema",
    "changes a budget": "changed: engine.sharp",
    "changes the recursion limit": "changed: interpreter",
    "changes the digits of integers": "changed: interpreter",
    "changes a builtin": "changed:",
    "changes the folder": "forbidden: os.chdir",
    "never ends": "hang: ended by the watchdog",
    "takes all memory": "raised MemoryError",
    "takes much memory": "raised MemoryError",
    "prints a line": "output: b'a line",
    "prints to standard error": "output: b'a line",
    "writes past Python's streams": "output: b'a line",
    "prints more than a pipe holds": "output: b'a line",
    "recurses": "RecursionError in _deep",
    "raises": "ValueError in run",
    "ends the process": "died: exit 0",
    "asks to end the process": "raised SystemExit",
    "crashes": "died: SIGABRT",
}


@pytest.fixture(scope="module")
def isolated() -> Iterator[Zygote]:
    with zygote() as parent:
        yield parent


def noticed(report: Report, words: str) -> bool:
    return any(words in violation for violation in report.violations)


def test_a_sound_compiler_is_left_alone(isolated: Zygote) -> None:
    accepted = isolated.run(HONEST)
    assert accepted.accepted
    assert accepted.violations == ()
    refused = isolated.run(body("return open('/etc/hostname').read()"))
    assert (refused.accepted, refused.kind, refused.line) == (False, "name", 5)
    assert refused.violations == ()


@pytest.mark.parametrize("fault", NOTICED)
def test_each_fault_is_noticed(isolated: Zygote, fault: str) -> None:
    report = isolated.run(HONEST, fault=fault, watchdog=5)
    assert noticed(report, NOTICED[fault]), report.violations
    assert isolated.run(HONEST).violations == (), "the next process has nothing of it"


def test_every_fault_has_its_words() -> None:
    assert set(NOTICED) | {"is lenient"} == set(FAULTS)


def test_a_compiler_that_forgets_to_refuse_accepts(isolated: Zygote) -> None:
    """What the isolation cannot see, the corpus does: its texts must not be accepted."""
    decorated = "@abs\n" + HONEST
    assert not isolated.run(decorated).accepted
    assert isolated.run(decorated, fault="is lenient").accepted


def test_texts_arrive_whole(isolated: Zygote) -> None:
    """Lone surrogates, line ends and lengths survive the way into the process."""
    assert "U+D83D" in isolated.run(HONEST + "# \ud83d\n").reason
    assert isolated.run(HONEST.replace("\n", "\r\n")).meaning == isolated.run(HONEST).meaning
    assert "32,768" in isolated.run("#" * 32769).reason


def test_memory_is_measured(isolated: Zygote) -> None:
    """Fifty arrays of constants take more than none."""
    plain = isolated.run(HONEST)
    heavy = isolated.run(
        body("x = 0\nfor i in range(50):\n    x = jnp.arange(65000) + i\nreturn state.stamina > x.sum()")
    )
    assert heavy.added_mib > plain.added_mib + 5


def test_a_new_interpreter_reports_the_same() -> None:
    with zygote() as parent:
        for text in (HONEST, body("return True")):
            once, forked = run_once(text), parent.run(text)
            assert (once.accepted, once.meaning, once.reason) == (forked.accepted, forked.meaning, forked.reason)
            assert once.violations == ()
