from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path as FilePath

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fm import request
from fm.errors import Cancelled, WrongAnswer
from fm.transports import mailbox
from fm.transports.mailbox import MAX_ANSWER_BYTES, Mailbox, call_hash, file_name
from fm.transports.port import Transport
from ledger.codec import canonical
from ledger.vocabulary.ask import Ask, Part, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path
from tests.fm.conftest import CANARY, MakeAsk

POLL_SECONDS = 0.01


@pytest.fixture
def box(tmp_path: FilePath) -> Iterator[Mailbox]:
    opened = Mailbox(tmp_path / "mail", poll_seconds=POLL_SECONDS)
    yield opened
    opened.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


@pytest.fixture
def mail(tmp_path: FilePath) -> FilePath:
    return tmp_path / "mail"


def until(condition: Callable[[], bool]) -> None:
    """Wait for a state that another thread brings about; a test that never gets there fails."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("the awaited state never came")


def answer(mail: FilePath, ask: Ask, text: str | bytes) -> FilePath:
    path = mail / "answers" / file_name(ask)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_bytes(text if isinstance(text, bytes) else text.encode())
    draft.rename(path)
    return path


def content(found: Reply | None) -> str:
    assert found is not None
    assert found.content is not None
    return found.content.text


def test_a_call_is_written_waited_for_and_answered(
    box: Mailbox, mail: FilePath, pool: ThreadPoolExecutor, make_ask: MakeAsk
) -> None:
    transport: Transport = box
    ask = make_ask("iteration=12/implement[2]/repair=1", schema={"type": "object"})
    name = file_name(ask)
    assert name == f"iteration=12_implement-2-_repair=1.{call_hash(ask)[:12]}.md"
    assert call_hash(ask) == hashlib.sha256(canonical(ask)).hexdigest()
    coming: Future[tuple[Reply, None]] = pool.submit(transport.ask, ask)  # type: ignore[arg-type]
    until(lambda: (mail / "pending.txt").is_file())
    assert box.waiting() == (name,)
    assert (mail / "pending.txt").read_text() == f"requests/{name} -> answers/{name}\n"
    head, _, prompt = (mail / "requests" / name).read_text().removeprefix("---\n").partition("\n---\n\n")
    assert head.splitlines()[:4] == [
        "call: iteration=12/implement[2]/repair=1",
        "role: propose",
        f"hash: {call_hash(ask)}",
        f"answer: answers/{name}",
    ]
    assert prompt == request.text(ask)
    answer(mail, ask, "The answer.\n")
    assert coming.result(10) == (Reply(Body("The answer.\n"), "unknown"), None)
    assert box.waiting() == ()
    assert (mail / "pending.txt").read_text() == ""
    assert not list(mail.rglob("*.tmp"))
    assert {fact.name: fact.value for fact in box.facts()} == {"transport": "mailbox", "poll_seconds": "0.01"}


def test_many_calls_are_answered_in_any_order(
    box: Mailbox, mail: FilePath, pool: ThreadPoolExecutor, make_ask: MakeAsk
) -> None:
    asks = [make_ask(f"call={index}") for index in range(6)]
    coming = [pool.submit(box.ask, ask) for ask in asks]
    until(lambda: len(box.waiting()) == 6)
    for ask in reversed(asks):
        answer(mail, ask, f"answer to {ask.path}")
    assert [content(future.result(10)[0]) for future in coming] == [f"answer to call={index}" for index in range(6)]


def test_equal_prompts_at_two_places_are_two_calls(box: Mailbox, mail: FilePath, make_ask: MakeAsk) -> None:
    first, second = make_ask("judge[0]"), make_ask("judge[1]")
    answer(mail, first, "A")
    answer(mail, second, "B")
    assert (content(box.ask(first)[0]), content(box.ask(second)[0])) == ("A", "B")


def test_a_growing_file_is_left_alone(
    box: Mailbox, mail: FilePath, pool: ThreadPoolExecutor, make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = make_ask()
    path = mail / "answers" / file_name(ask)
    written = ""
    looks = 0
    look = Mailbox._look

    def look_while_someone_writes(self: Mailbox, name: str) -> object:
        nonlocal written, looks
        looks += 1
        if looks <= 5:
            written += f"line {looks}\n"
            path.write_text(written)
        return look(self, name)

    monkeypatch.setattr(Mailbox, "_look", look_while_someone_writes)
    assert content(box.ask(ask)[0]) == "line 1\nline 2\nline 3\nline 4\nline 5\n"


def test_a_file_that_changes_while_it_is_read_is_read_again(
    box: Mailbox, mail: FilePath, make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = make_ask()
    path = answer(mail, ask, "half an ans")
    read = mailbox._contents
    late = iter(["half an answer", "the whole answer"])

    def read_while_someone_writes(where: FilePath) -> bytes:
        raw = read(where)
        for text in late:
            path.write_text(text)
            break
        return raw

    monkeypatch.setattr(mailbox, "_contents", read_while_someone_writes)
    assert content(box.ask(ask)[0]) == "the whole answer"


def test_a_blank_file_is_no_answer(box: Mailbox, mail: FilePath, pool: ThreadPoolExecutor, make_ask: MakeAsk) -> None:
    ask = make_ask()
    answer(mail, ask, "")
    assert box.find(ask) is None
    answer(mail, ask, " \n\ufeff"[:2])
    assert box.find(ask) is None
    coming = pool.submit(box.ask, ask)
    until(lambda: box.waiting() != ())
    answer(mail, ask, "\ufeffnow")
    assert content(coming.result(10)[0]) == "now"


def test_find_asks_nobody(box: Mailbox, mail: FilePath, make_ask: MakeAsk) -> None:
    ask = make_ask()
    assert box.find(ask) is None
    assert not list((mail / "requests").iterdir())
    answer(mail, ask, "answer")
    assert content(box.find(ask)) == "answer"


def test_the_first_answer_stands(box: Mailbox, mail: FilePath, make_ask: MakeAsk) -> None:
    ask = make_ask()
    answer(mail, ask, "first")
    assert content(box.ask(ask)[0]) == "first"
    assert box.notices() == ()
    path = answer(mail, ask, "second")
    for later in (box, Mailbox(mail, poll_seconds=POLL_SECONDS)):
        assert content(later.find(ask)) == "first"
        assert content(later.ask(ask)[0]) == "first"
        (notice,) = later.notices()
        assert "the first answer stands" in notice
    path.unlink()
    assert content(box.find(ask)) == "first"
    assert box.notices() == ()


@pytest.mark.parametrize("characters", [64, 12])
def test_front_matter_may_name_the_call(box: Mailbox, mail: FilePath, make_ask: MakeAsk, characters: int) -> None:
    ask = make_ask()
    answer(mail, ask, f"---\r\nhash: {call_hash(ask)[:characters]}\r\n---\r\nanswer")
    assert content(box.ask(ask)[0]) == "answer"


def test_the_edited_request_is_an_answer(box: Mailbox, mail: FilePath, make_ask: MakeAsk) -> None:
    ask = make_ask()
    with pytest.raises(Cancelled):
        evolve_cancelled(mail).ask(ask)
    text = (mail / "requests" / file_name(ask)).read_text()
    answer(mail, ask, text.replace(request.text(ask), "answer"))
    assert content(box.ask(ask)[0]) == "\nanswer"


def evolve_cancelled(mail: FilePath) -> Mailbox:
    event = threading.Event()
    event.set()
    return Mailbox(mail, poll_seconds=POLL_SECONDS, cancelled=event)


@pytest.mark.parametrize("text", ["---\ntitle: lamps\n---\nanswer", "---\nanswer", "--- not a head ---\nhash: 0"])
def test_other_front_matter_belongs_to_the_answer(box: Mailbox, mail: FilePath, make_ask: MakeAsk, text: str) -> None:
    ask = make_ask()
    answer(mail, ask, text)
    assert content(box.ask(ask)[0]) == text


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"---\nhash: 000000000000\n---\nanswer", "names the call 000000000000 instead of"),
        (b"---\ncall hash: \n---\nanswer", "names the call"),
        (b"lamp \xff\xfe", "not UTF-8 (byte 5)"),
        (b"x" * (MAX_ANSWER_BYTES + 1), "more than 16777216 bytes"),
    ],
)
def test_a_wrong_answer_is_refused_and_not_kept(
    box: Mailbox, mail: FilePath, make_ask: MakeAsk, raw: bytes, words: str
) -> None:
    ask = make_ask()
    answer(mail, ask, raw)
    for attempt in (box.ask, box.find):
        with pytest.raises(WrongAnswer) as caught:
            attempt(ask)
        assert words in str(caught.value)
        assert "then resume" in str(caught.value)
    answer(mail, ask, "right")
    assert content(box.ask(ask)[0]) == "right"


def test_an_answer_to_another_call_is_told_from_this_one(box: Mailbox, mail: FilePath, make_ask: MakeAsk) -> None:
    ask, other = make_ask("a"), make_ask("b")
    answer(mail, ask, f"---\nhash: {call_hash(other)}\n---\nanswer")
    with pytest.raises(WrongAnswer, match=call_hash(other)):
        box.ask(ask)


def test_links_and_pipes_are_refused(box: Mailbox, mail: FilePath, tmp_path: FilePath, make_ask: MakeAsk) -> None:
    ask = make_ask()
    path = mail / "answers" / file_name(ask)
    secret = tmp_path / "secret"
    secret.write_text("elsewhere")
    path.symlink_to(secret)
    with pytest.raises(WrongAnswer, match="plain, readable file"):
        box.ask(ask)
    path.unlink()
    path.mkdir()
    with pytest.raises(WrongAnswer, match="no plain file"):
        box.ask(ask)
    path.rmdir()
    os.mkfifo(path)
    assert box.find(ask) is None


@given(st.from_regex(r"[A-Za-z0-9_.=\[\]-]{1,40}(/[A-Za-z0-9_.=\[\]-]{1,40}){0,6}", fullmatch=True))
def test_every_path_gives_a_plain_name_of_its_own(make_ask: MakeAsk, text: str) -> None:
    try:
        path = Path(text)
    except ValueError:
        return
    ask = evolve(make_ask(), path=path)
    name = file_name(ask)
    assert FilePath(name).name == name
    assert not name.startswith((".", "-"))
    assert len(name) < 200
    assert name != file_name(evolve(ask, path=Path(text + "x")))


def test_the_hash_covers_the_whole_call(make_ask: MakeAsk) -> None:
    ask = make_ask()
    others = [
        evolve(ask, role="judge"),
        evolve(ask, template="propose@2"),
        evolve(ask, model="other"),
        evolve(ask, schema="{}"),
        evolve(ask, sampling=evolve(ask.sampling, seed=1)),
        evolve(ask, parts=(*ask.parts, Part("More", Body("")))),
        evolve(ask, parts=(Part("Task", Body("Another.")),)),
    ]
    assert len({call_hash(item) for item in [ask, *others]}) == 8


def test_a_wait_can_be_called_off_and_taken_up_again(
    mail: FilePath, pool: ThreadPoolExecutor, make_ask: MakeAsk
) -> None:
    ask = make_ask()
    event = threading.Event()
    by_event, by_close = Mailbox(mail, poll_seconds=30, cancelled=event), Mailbox(mail, poll_seconds=30)
    for box, call_off in ((by_event, event.set), (by_close, by_close.close)):
        coming = pool.submit(box.ask, ask)
        until(lambda box=box: box.waiting() != ())  # type: ignore[misc]
        call_off()
        with pytest.raises(Cancelled, match="resume"):
            coming.result(10)
    assert file_name(ask) in (mail / "pending.txt").read_text()
    answer(mail, ask, "answer")
    assert content(Mailbox(mail, poll_seconds=POLL_SECONDS).find(ask)) == "answer"


def test_an_interrupt_ends_the_wait(box: Mailbox, make_ask: MakeAsk) -> None:
    def interrupt() -> None:
        until(lambda: box.waiting() != ())
        os.kill(os.getpid(), 2)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        box.ask(make_ask())
    thread.join()
    assert box.waiting() == ()


def test_a_crash_before_the_answer_is_kept_loses_nothing(
    box: Mailbox, mail: FilePath, make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = make_ask()
    answer(mail, ask, "answer")
    real = os.replace

    def crash(source: str, target: FilePath) -> None:
        if target.parent.name == "read":
            raise OSError("disk full")
        real(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="disk full"):
        box.ask(ask)
    monkeypatch.undo()
    assert not list((mail / "read").iterdir())
    assert content(box.find(ask)) == "answer"


def test_no_key_is_written(mail: FilePath, make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    box, ask = Mailbox(mail, poll_seconds=POLL_SECONDS), make_ask()
    answer(mail, ask, "answer")
    reply, _ = box.ask(ask)
    assert CANARY not in repr((reply, box.facts(), box.notices()))
    assert all(CANARY.encode() not in path.read_bytes() for path in mail.rglob("*") if path.is_file())


def test_a_pause_must_be_positive(mail: FilePath) -> None:
    with pytest.raises(ValueError, match="positive"):
        Mailbox(mail, poll_seconds=0)
