"""A mailbox: prompts are written as files, answers are dropped in as files, by people or by programs without a network.

::

    requests/<path>.<hash>.md   a call: how to answer it, then the prompt
    answers/<path>.<hash>.md    the answer, put there by whoever gives it
    read/<path>.<hash>.md       the answer as it was read
    pending.txt                 the requests without an answer

**The first answer stands.** It is copied to ``read/`` before anything uses it; a later edit of the answer file changes
nothing and is told by ``Mailbox.notices``. Use one directory per run: a call that is asked twice is answered twice by
the same file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
from pathlib import Path
from typing import Final

from attrs import frozen

from fm import request
from fm.errors import Cancelled, WrongAnswer
from ledger.codec import canonical
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.events import Fact, Usage

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
_MAX_SLUG_CHARACTERS: Final = 120
_HASH_CHARACTERS: Final = 12

_UNSAFE = re.compile(r"[^A-Za-z0-9=_-]+")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<head>(?:(?!---)[^\n]*\n){0,50}?)---[ \t]*(?:\n|\Z)")
_HASH_LINE = re.compile(r"^(?:call[_ ])?hash:[ \t]*[\"']?(?P<hash>[^\s\"'#]*)", re.MULTILINE | re.IGNORECASE)


def call_hash(ask: Ask) -> str:
    """SHA-256 of the call's canonical bytes, in hexadecimal: equal calls, and only those, share it."""
    return hashlib.sha256(canonical(ask)).hexdigest()


def file_name(ask: Ask) -> str:
    """Name of the call's files: readable path, then the start of its hash; a plain name on every file system."""
    slug = _UNSAFE.sub("-", ask.path.text.replace("/", "_")).strip("-")[:_MAX_SLUG_CHARACTERS]
    return f"{slug or 'call'}.{call_hash(ask)[:_HASH_CHARACTERS]}.md"


@frozen
class _Look:
    """What tells one state of a file from another."""

    inode: int
    size: int
    modified: int


class Mailbox:
    """Exchanges calls and answers through a directory; threads may share it.

    An answer is taken once its file is not blank and two looks, ``poll_seconds`` apart, find it unchanged, so that a
    file still being written is left alone. It may start with front matter that repeats the call's ``hash``.

    Args:
        directory: where the mailbox lives; made if missing.
        poll_seconds: pause between two looks.
        cancelled: set it to call off every wait.
    """

    name = "mailbox"
    answers_persist = True

    def __init__(
        self, directory: Path | str, *, poll_seconds: float = 1.0, cancelled: threading.Event | None = None
    ) -> None:
        if not poll_seconds > 0:
            raise ValueError(f"poll_seconds is {poll_seconds}: give a positive number of seconds")
        self._directory = Path(directory)
        self._poll_seconds = poll_seconds
        self._cancelled = cancelled or threading.Event()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        for room in ("requests", "answers", "read"):
            (self._directory / room).mkdir(parents=True, exist_ok=True)

    def facts(self) -> tuple[Fact, ...]:
        """Transport and pause between looks; where the directory lies says nothing about the experiment."""
        return (Fact("transport", self.name), Fact("poll_seconds", f"{self._poll_seconds:g}"))

    def waiting(self) -> tuple[str, ...]:
        """Names of the answer files that calls are waiting for right now, in the order asked."""
        with self._lock:
            return tuple(self._waiting)

    def notices(self) -> tuple[str, ...]:
        """One line for each answer file that was changed after it had been read."""
        changed = []
        for read in sorted((self._directory / "read").glob("*.md")):
            answer = self._directory / "answers" / read.name
            if self._look(read.name) is not None and _contents(answer) != read.read_bytes():
                changed.append(
                    f"answers/{read.name} was changed after it had been read: the first answer stands, "
                    f"see read/{read.name}; fork the run to try another"
                )
        return tuple(changed)

    def find(self, ask: Ask) -> Reply | None:
        """The answer that was read before or lies ready now; takes two looks at most, and asks nobody.

        Raises:
            WrongAnswer: if the answer file is for another call or cannot be read.
            Cancelled: if cancelled between the looks.
        """
        name = file_name(ask)
        read = self._already_read(ask, name)
        if read is not None:
            return read
        first = self._look(name)
        if first is None:
            return None
        self._pause()
        return self._take(ask, name, first) if self._look(name) == first else None

    def ask(self, ask: Ask) -> tuple[Reply, Usage | None]:
        """Write the request and wait for its answer; see ``fm.transports.port.Transport``."""
        name = file_name(ask)
        self._write("requests", name, _request_text(ask, name).encode("utf-8", "surrogatepass"))
        with self._lock:
            self._waiting.append(name)
        try:
            self._list_pending()
            return self._wait(ask, name), None
        finally:
            with self._lock:
                self._waiting.remove(name)
            self._list_pending()

    def close(self) -> None:
        """Call off every wait; requests stay, and a resumed run finds their answers."""
        self._closed.set()

    def _wait(self, ask: Ask, name: str) -> Reply:
        before: _Look | None = None
        while True:
            reply = self._already_read(ask, name)
            if reply is not None:
                return reply
            look = self._look(name)
            if look is not None and look == before:
                reply = self._take(ask, name, look)
                if reply is not None:
                    return reply
            before = look
            self._pause()

    def _pause(self) -> None:
        # Short waits notice both flags, and let an interrupt reach the main thread on every platform.
        left = self._poll_seconds
        while True:
            if self._closed.is_set() or self._cancelled.wait(min(left, 0.2)):
                raise Cancelled("the wait for answers was cancelled: resume goes on waiting for the same files")
            left -= 0.2
            if left <= 0:
                return

    def _look(self, name: str) -> _Look | None:
        try:
            found = os.lstat(self._directory / "answers" / name)
        except FileNotFoundError:
            return None
        return _Look(found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else None

    def _already_read(self, ask: Ask, name: str) -> Reply | None:
        path = self._directory / "read" / name
        return _reply(ask, name, path.read_bytes()) if path.is_file() else None

    def _take(self, ask: Ask, name: str, look: _Look) -> Reply | None:
        """Read, check, and keep the answer; ``None`` while it is blank or changes under the reader."""
        raw = _contents(self._directory / "answers" / name)
        if self._look(name) != look:
            return None
        reply = _reply(ask, name, raw)
        if reply is not None:
            self._write("read", name, raw)
        return reply

    def _list_pending(self) -> None:
        with self._lock:
            requests = {path.name for path in (self._directory / "requests").glob("*.md")}
            read = {path.name for path in (self._directory / "read").glob("*.md")}
            lines = [f"requests/{name} -> answers/{name}" for name in sorted(requests - read)]
            self._write(".", "pending.txt", "".join(line + "\n" for line in lines).encode())

    def _write(self, room: str, name: str, raw: bytes) -> None:
        """Put a whole file in place, durably: a reader sees all of it or nothing."""
        folder = self._directory / room
        temporary = folder / f".{name}.{os.getpid()}.{threading.get_ident()}.tmp"
        try:
            with open(temporary, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, folder / name)
        finally:
            temporary.unlink(missing_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _contents(path: Path) -> bytes:
    """Bytes of a regular file; links and pipes are refused, for an answer must not lead out of the mailbox or block."""
    where = f"answers/{path.name}"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise WrongAnswer(
            f"{where} cannot be opened ({error.strerror}): put a plain, readable file there, then resume"
        ) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WrongAnswer(f"{where} is no plain file: put the answer's text there, then resume")
    with open(descriptor, "rb") as file:
        raw = file.read(MAX_ANSWER_BYTES + 1)
    if len(raw) > MAX_ANSWER_BYTES:
        raise WrongAnswer(f"{where} has more than {MAX_ANSWER_BYTES} bytes: put the answer alone there, then resume")
    return raw


def _reply(ask: Ask, name: str, raw: bytes) -> Reply | None:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongAnswer(
            f"answers/{name} is not UTF-8 (byte {error.start}): save it as UTF-8 text, then resume"
        ) from None
    plain = text.replace("\r\n", "\n")
    head = _FRONT_MATTER.match(plain)
    named = _HASH_LINE.search(head["head"]) if head else None
    if head and named:
        expected = call_hash(ask)
        quoted = named["hash"].lower()
        if len(quoted) < _HASH_CHARACTERS or not expected.startswith(quoted):
            raise WrongAnswer(
                f"answers/{name} names the call {quoted or '(none)'} instead of {expected[:_HASH_CHARACTERS]}: "
                "move it away, put the answer to this call there, then resume"
            )
        text = plain[head.end() :]
    if not text.strip():
        return None
    return Reply(content=Body(text), finish="unknown")


def _request_text(ask: Ask, name: str) -> str:
    head = (
        f"call: {ask.path}",
        f"role: {' '.join(ask.role.split())}",
        f"hash: {call_hash(ask)}",
        f"answer: answers/{name}",
        "# Answer everything below the next line. Write the bare answer into the file that 'answer' names, best under",
        "# another name first, then rename it. The first answer stands. This head may be repeated at its top.",
    )
    return "---\n" + "\n".join(head) + "\n---\n\n" + request.text(ask)
