"""Ways in which a compiler could be broken, put into a real one, to show that the isolation notices each.

Each fault is a function that patches the compiler of its own process; ``"…"`` in its doc names what must be noticed.
"""

from __future__ import annotations

import ast
import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from engine.sharp import grammar, program
from engine.sharp.editions import LATEST
from tests.engine.sharp.invented import SCHEMA


def _on_compilation(action: Callable[[str], Any]) -> Callable[[], None]:
    """A fault that runs ``action`` on the text whenever a text is normalised."""

    def put() -> None:
        real = program.normalise

        def broken(text: str, *arguments: Any) -> Any:
            action(text)
            return real(text, *arguments)

        program.normalise = broken

    return put


def _quietly(action: Callable[[str], Any]) -> Callable[[str], Any]:
    def run(text: str) -> None:
        try:
            action(text)
        except Exception:  # what is tried is a fault, even if the compiler hides that it failed
            return

    return run


def _endless(text: str) -> None:
    while True:
        pass


def _deep(text: str) -> None:
    _deep(text)


def _many_lines(text: str) -> None:
    for _ in range(10_000):
        print("a line of a compiler that talks")


def _turn(text: str) -> None:
    grammar.OPERATORS[ast.GtE] = grammar.OPERATORS[ast.Lt]


def _raise(error: type[BaseException]) -> Callable[[str], None]:
    def run(text: str) -> None:
        raise error("from within")

    return run


def _lenient() -> None:
    """A grammar without its checks."""
    grammar._check_node = lambda *arguments: None  # type: ignore[assignment]


_HELD: list[Any] = []
_READY = compile("1", "", "exec")

FAULTS: dict[str, Callable[[], None]] = {
    "evaluates the text": _on_compilation(_quietly(lambda text: eval(text))),
    "executes the text": _on_compilation(_quietly(lambda text: exec(compile(text, "", "exec"), {}))),
    "runs code that is there": _on_compilation(_quietly(lambda text: exec(_READY))),
    "reads a file": _on_compilation(lambda text: open("/etc/hostname").read()),
    "reads a file and hides it": _on_compilation(_quietly(lambda text: open("/etc/hostname").read())),
    "writes a file": _on_compilation(_quietly(lambda text: open("written", "w").write(text))),
    "lists a folder": _on_compilation(_quietly(lambda text: os.listdir("/"))),
    "opens a socket": _on_compilation(_quietly(lambda text: socket.socket())),
    "starts a process": _on_compilation(_quietly(lambda text: subprocess.run(["true"], check=False))),
    "starts a shell": _on_compilation(_quietly(lambda text: os.system("true"))),
    "reads the environment": _on_compilation(_quietly(lambda text: os.environ["PYTHONPATH"])),
    "asks for a variable": _on_compilation(_quietly(lambda text: os.getenv("HOME"))),
    "lists the environment": _on_compilation(_quietly(lambda text: dict(os.environ))),
    "changes the environment": _on_compilation(_quietly(lambda text: os.environ.update(A="b"))),
    "imports a module": _on_compilation(_quietly(lambda text: __import__("wave"))),
    "loads a library": _on_compilation(_quietly(lambda text: ctypes.CDLL(None))),
    "reads raw memory": _on_compilation(_quietly(lambda text: ctypes.string_at(0))),
    "starts a thread": _on_compilation(lambda text: threading.Thread(target=_endless, args=("",), daemon=True).start()),
    "keeps state": _on_compilation(lambda text: vars(program).update(seen=text)),
    "changes a table": _on_compilation(_turn),
    "changes the schema": _on_compilation(lambda text: SCHEMA.enums["Tile"].members.update(REED=5)),  # type: ignore[attr-defined]
    "changes a budget": _on_compilation(lambda text: object.__setattr__(LATEST.limits, "work", LATEST.limits.work + 1)),
    "changes the recursion limit": _on_compilation(lambda text: sys.setrecursionlimit(sys.getrecursionlimit() + 7)),
    "changes the digits of integers": _on_compilation(lambda text: sys.set_int_max_str_digits(0)),
    "changes a builtin": _on_compilation(lambda text: vars(sys.modules["builtins"]).update(seen=1)),
    "changes the folder": _on_compilation(_quietly(lambda text: os.chdir("/"))),
    "never ends": _on_compilation(_endless),
    "takes all memory": _on_compilation(lambda text: _HELD.append(bytearray(2**40))),
    "takes much memory": _on_compilation(lambda text: _HELD.append(b"x" * (600 * 2**20))),
    "prints a line": _on_compilation(lambda text: print("a line")),
    "prints to standard error": _on_compilation(lambda text: print("a line", file=sys.stderr)),
    "writes past Python's streams": _on_compilation(lambda text: os.write(1, b"a line")),
    "prints more than a pipe holds": _on_compilation(_many_lines),
    "recurses": _on_compilation(_deep),
    "raises": _on_compilation(_raise(ValueError)),
    "ends the process": _on_compilation(lambda text: os._exit(0)),
    "asks to end the process": _on_compilation(_raise(SystemExit)),
    "crashes": _on_compilation(lambda text: os.abort()),
    "is lenient": _lenient,
}
"""By name. The last one is a compiler that forgets to refuse: the corpus must notice it."""
