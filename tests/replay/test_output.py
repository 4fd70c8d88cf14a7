"""Nothing that is printed can be obeyed by a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay.output import safe, safe_lines
from tests.replay.story import HOSTILE


def test_the_hostile_text_by_hand() -> None:
    assert safe("\x1b[2J") == "\\x1b[2J"
    assert safe("a\nb\tc") == "a\\nb\\tc"
    assert safe("\u202e\ud800\U000e0001\x7f") == "\\u202e\\ud800\\U000e0001\\x7f"
    assert safe("[bold]é 語") == "[bold]é 語"
    assert safe("abcdef", 4) == "abc…"


@given(st.text(st.characters() | st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Zp"])))
def test_safe_text_is_one_printable_line_that_loses_nothing(text: str) -> None:
    line = safe(text)
    assert line.isprintable()
    assert len(line) >= len(text)
    if text.isprintable():
        assert line == text


@given(st.text(), st.integers(2, 30))
def test_a_limit_holds(text: str, limit: int) -> None:
    assert len(safe(text, limit)) <= limit


def test_lines_stay_lines() -> None:
    assert safe_lines("a\nb\x1b") == ["a", "b\\x1b"]
    assert all(line.isprintable() for line in safe_lines(HOSTILE))
