"""Displays: what a person sees of long work, with and without a terminal."""

from __future__ import annotations

import io
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from replay.progress import LineDisplay, NullDisplay, RichDisplay, display, duration


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def test_lines_come_no_more_often_than_asked_and_tell_rate_and_rest() -> None:
    """200 of 1,000 steps in 20 s since the first report are 10 a second; 600 remain: a minute."""
    clock, out = Clock(), io.StringIO()
    shown = LineDisplay(out, 10, clock)
    shown.start("a/train", "training", 1000)
    clock.now += 5
    shown.advance("a/train", 200, "")
    assert out.getvalue() == ""
    clock.now += 5
    shown.advance("a/train", 200, "")
    clock.now += 5
    shown.advance("a/train", 300, "")
    clock.now += 10
    shown.advance("a/train", 400, "reward 0.5")
    assert out.getvalue().splitlines() == [
        "training a/train: 200/1,000 (20 %)",
        "training a/train: 400/1,000 (40 %), 10/s, 1 min 0 s left, reward 0.5",
    ]


def test_long_work_is_told_when_it_ends_short_work_is_not() -> None:
    clock, out = Clock(), io.StringIO()
    shown = LineDisplay(out, 10, clock)
    shown.start("a/judge", "asking", 1)
    shown.start("a/other", "asking", 1)
    clock.now += 65
    shown.finish("a/judge")
    shown.start("a/quick", "asking", 1)
    clock.now += 1
    shown.finish("a/quick")
    shown.finish("never started")
    assert out.getvalue() == "asking a/judge: ended after 1 min 5 s; 1 more under way\n"


def test_what_is_said_is_written_at_once_until_the_display_is_closed() -> None:
    out = io.StringIO()
    shown = LineDisplay(out)
    shown.say("[bold]as it is[/bold]")
    shown.close()
    shown.close()
    shown.say("later")
    assert out.getvalue() == "[bold]as it is[/bold]\n"


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 10**9)), max_size=30), st.integers(0, 10**9))
def test_any_reports_are_shown_without_more_lines_than_time_allows(
    reports: list[tuple[float, int]], total: int
) -> None:
    clock, out = Clock(), io.StringIO()
    shown = LineDisplay(out, 10, clock)
    shown.start("p", "training", total)
    for seconds, done in reports:
        clock.now += seconds
        shown.advance("p", done, "")
    lines = out.getvalue().splitlines()
    assert len(lines) <= sum(seconds for seconds, _ in reports) / 10
    assert all(line.startswith("training p: ") for line in lines)


def test_a_terminal_shows_bars_and_keeps_what_is_said() -> None:
    out = Terminal()
    shown = RichDisplay(Console(file=out, force_terminal=True, width=160, color_system=None))
    shown.start("iteration=0/train", "training", 1000)
    shown.advance("iteration=0/train", 250, "[red]note[/red]")
    shown.say("said [bold]plainly[/bold]")
    shown._progress.refresh()
    text = out.getvalue()
    assert "training iteration=0/train" in text
    assert "250/1,000" in text
    assert "[red]note[/red]" in text
    assert "said [bold]plainly[/bold]" in text
    shown.finish("iteration=0/train")
    assert not shown._progress.live.is_started
    shown.start("iteration=0/judge", "asking", 1)
    shown.close()
    shown.close()
    assert not shown._progress.live.is_started


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_threads_may_share_a_display(kind: str) -> None:
    out = Terminal()
    shown = LineDisplay(out, 0) if kind == "lines" else RichDisplay(Console(file=out, force_terminal=True))
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(20):
                path = f"p[{number}]/{step % 3}"
                shown.start(path, "asking", 5)
                shown.advance(path, step, "")
                shown.finish(path)
                shown.finish(path)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shown.close()
    assert failures == []
    if kind == "lines":
        assert len(out.getvalue().splitlines()) == 8 * 20 * 2


def test_the_display_fits_its_stream() -> None:
    assert isinstance(display(quiet=True), NullDisplay)
    assert isinstance(display(stream=io.StringIO()), LineDisplay)
    assert isinstance(display(stream=Terminal()), RichDisplay)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations_read_like_speech(seconds: float, text: str) -> None:
    assert duration(seconds) == text
