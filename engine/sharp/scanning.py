"""A first look at a text, in linear time: nesting that could exhaust the parser, and names outside ASCII.

CPython's own tokenizer takes quadratic time for some texts. This one splits strings, comments, words and signs only;
where a string does not end it stops, because the parser says that better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.sharp.refusals import Refused

MAX_BRACKETS = 60
MAX_PREFIXES = 60

_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_PREFIXES = frozenset({"not", "-", "+", "~", "lambda", ":", "await", "**"})

# Alternatives of a repetition begin with different characters, so that there is one way only to match a text.
_TOKEN = re.compile(
    r"""
    (?P<blank> [ \t\f\n]+ | \\\n | \#[^\n]* )
  | (?P<string> \"{3} (?: [^"\\] | \\. | "(?!"") )* \"{3} | '{3} (?: [^'\\] | \\. | '(?!'') )* '{3}
              | "(?!"") (?: [^"\\\n] | \\. )* " | '(?!'') (?: [^'\\\n] | \\. )* ' )
  | (?P<quote> ["'] )
  | (?P<word> \w+ )
  | (?P<sign> \*\* | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def check_text(source: str) -> None:
    """Refuse what must not reach the parser.

    Raises:
        Refused: with its place.
    """
    depth = prefixes = 0
    for kind, text, start in _tokens(source):
        foreign = not text.isascii() and (kind == "word" or (kind == "sign" and f"a{text}".isidentifier()))
        if foreign:
            shown = text if len(text) <= 40 else text[:39] + "…"
            raise Refused(
                "name", f"{shown!r} is not ASCII: names are written in plain letters", None, *_place(source, start)
            )
        depth += _BRACKETS.get(text, 0)
        if depth > MAX_BRACKETS:
            reason = f"brackets are nested deeper than {MAX_BRACKETS}"
            raise Refused("budget", reason, "use names for parts", *_place(source, start))
        prefixes = prefixes + 1 if text in _PREFIXES else 0
        if prefixes > MAX_PREFIXES:
            raise Refused("budget", "too many signs in a row", None, *_place(source, start))


def _tokens(source: str) -> Iterator[tuple[str, str, int]]:
    """Words, signs and strings in order, each with where it begins, up to a string that does not end."""
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup or ""
        if kind == "quote":
            return
        if kind != "blank":
            yield kind, match.group(), match.start()


def _place(source: str, start: int) -> tuple[int, int]:
    before = source.rfind("\n", 0, start)
    return source.count("\n", 0, start) + 1, start - before
