"""From a raw reply to a value, or to a reason that is sent back to the model.

Everything here is pure and total: any reply and any text gives a value or a ``Fault``, in time linear in its length,
and none of it is ever executed. Repairs are conservative: comments, trailing commas, single quotes, bare keys, Python's
``True``/``False``/``None`` and raw line breaks in strings are understood; nothing is completed, dropped or guessed.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from attrs import frozen
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry

from ledger.vocabulary.ask import Reply

MAX_DEPTH: Final = 24
"""Objects and arrays nested deeper than this are refused: no answer needs it, and recursion stays bounded."""

MAX_REASONS: Final = 5
MAX_REASON_CHARACTERS: Final = 300


@frozen
class Fault:
    """Why a reply cannot be used, worded for the model that wrote it."""

    reason: str


# --- the answer ------------------------------------------------------------------------------------------------------

_THOUGHT = re.compile(r"<(?:think|thinking|thought)>.*?</(?:think|thinking|thought)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought)>", re.IGNORECASE)

_CUT_OFF = (
    "Your answer was cut off at the token limit after {count} characters, so it cannot be used. "
    "Answer again from the start, and more briefly."
)
_CUT_OFF_THINKING = (
    "Your answer ended while you were still thinking, so it holds nothing that can be used. "
    "Think more briefly, then give the whole answer."
)


def answer_text(reply: Reply) -> str | Fault:
    """The answer without thinking text, stripped of surrounding white space.

    Thinking text is dropped whether it stands between tags or has only a closing tag. When the content is null or
    blank and the endpoint delivered a finished text in the reasoning field, that text is the answer. A refusal, a
    filtered, cut-off, unfinished or empty answer is a ``Fault``.
    """
    if reply.refusal is not None and reply.refusal.strip():
        return Fault(
            f"You refused to answer ({_brief(reply.refusal)}). The task only concerns a simulated game world: "
            "give the answer in the form that was asked for."
        )
    if reply.finish == "content_filter":
        return Fault("A content filter withheld your answer. Word it differently.")
    cut_off = reply.finish in ("length", "max_tokens")
    content = "" if reply.content is None else _clean(reply.content.text)
    if not content:
        return _from_reasoning(reply, cut_off)
    answer = _without_thoughts(content)
    if answer is None:
        return Fault(_CUT_OFF_THINKING)
    if cut_off:
        # With a closing tag alone there is no telling thought from answer, so a cut-off text is never used.
        return Fault(_CUT_OFF.format(count=len(content)))
    if not answer:
        return Fault("Your answer holds thinking text and nothing else. Give the whole answer after it.")
    return answer


def _from_reasoning(reply: Reply, cut_off: bool) -> str | Fault:
    reasoning = "" if reply.reasoning is None else _clean(reply.reasoning.text)
    if cut_off:
        return Fault(_CUT_OFF_THINKING)
    answer = _without_thoughts(reasoning)
    if answer is None:
        return Fault(_CUT_OFF_THINKING)
    if not answer:
        return Fault("Your answer was empty. Give the whole answer in the form that was asked for.")
    return answer


def _clean(text: str) -> str:
    return text.removeprefix("\ufeff").strip()


def _without_thoughts(text: str) -> str | None:
    """The text outside thinking tags, or ``None`` where a thought is opened and never closed."""
    last_end = 0
    for end in _THOUGHT_END.finditer(text):
        last_end = end.end()
    # Pairs are looked for up to the last closing tag only, so that every opening tag there finds one in linear time.
    closed = _THOUGHT.sub("", text[:last_end])
    unopened = list(_THOUGHT_END.finditer(closed))
    rest = closed[unopened[-1].end() if unopened else 0 :] + text[last_end:]
    return None if _THOUGHT_START.search(rest) else rest.strip()


# --- fenced blocks ---------------------------------------------------------------------------------------------------

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`]*)")


@frozen
class _Segment:
    """A run of lines: prose (``language`` is ``None``) or the inside of a fenced block."""

    text: str
    language: str | None
    closed: bool = True


def _segments(text: str) -> tuple[_Segment, ...]:
    """Prose and fenced blocks in order; fences may be indented, as in a list."""
    found: list[_Segment] = []
    lines: list[str] = []
    fence, language = "", ""
    for line in _LINE_BREAK.split(text):
        mark = _FENCE.fullmatch(line)
        if fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            found.append(_Segment("\n".join(lines), language))
            lines, fence = [], ""
        elif not fence and mark:
            found.append(_Segment("\n".join(lines), None))
            fence, language, lines = mark[1], mark[2].strip().lower(), []
        else:
            lines.append(line)
    found.append(_Segment("\n".join(lines), language if fence else None, closed=not fence))
    return tuple(segment for segment in found if segment.text.strip())


# --- JSON ------------------------------------------------------------------------------------------------------------

_OBJECT_START = re.compile(r"\{(?=\s*(?:[\"'}]|//|/\*|#|[A-Za-z_$][\w$]*\s*:))")
_ARRAY_START = re.compile(r"\[(?=\s*\{)")
_CANDIDATE = re.compile(f"{_OBJECT_START.pattern}|{_ARRAY_START.pattern}")

# Unclosed strings and comments run to the end of the text, which keeps every search linear.
_LEXEME = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|'[^'\\]*(?:\\.[^'\\]*)*(?:'|\Z))"""
    r"""|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*)"""
    r"""|(?P<open>[{\[])|(?P<close>[}\]])|(?P<word>[A-Za-z_$][\w$]*)""",
    re.DOTALL,
)
_COLON = re.compile(r"\s*:")
_STRING_OR_TRAILING_COMMA = re.compile(r'(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|,(?=\s*[}\]])', re.DOTALL)
_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_JSON_WORD = {"True": "true", "False": "false", "None": "null"}


@frozen
class _Found:
    """One candidate in the text: a parsed object, or the reason why it is none."""

    value: dict[str, Any] | None
    reason: str = ""


class _NotJsonError(ValueError):
    """A value that JSON cannot mean: a repeated key, NaN, an infinite number."""


def json_object(text: str, schema: Mapping[str, Any] | None = None) -> dict[str, Any] | Fault:
    """The JSON object in ``text``: fenced or bare, with or without prose around it.

    Of several objects the last one that satisfies ``schema`` wins (an empty object only when there is no other).
    Without a schema the last one wins. Numbers must be finite and keys unique.

    Raises:
        jsonschema.SchemaError: if ``schema`` itself is no JSON schema (draft 2020-12).
    """
    validator = None
    if schema is not None:
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema, registry=Registry())
    segments = _segments(text)
    found = [item for segment in segments for item in _scan(segment.text)]
    judged = _judge(found, validator)
    if isinstance(judged, Fault) and any(segment.language is not None for segment in segments):
        # A fence line inside a string cuts an object in two; reading across fences finds it whole.
        whole = _judge(list(_scan("\n".join(_LINE_BREAK.split(text)))), validator)
        return judged if isinstance(whole, Fault) else whole
    return judged


def _judge(found: list[_Found], validator: Draft202012Validator | None) -> dict[str, Any] | Fault:
    objects = [item.value for item in found if item.value is not None]
    ranked: list[dict[str, Any]] = [*reversed([v for v in objects if v]), *reversed([v for v in objects if not v])]
    for value in ranked:
        if validator is None or validator.is_valid(value):
            return value
    if objects and validator is not None:
        return Fault("Your JSON object does not fit the schema: " + _schema_reasons(validator, ranked[0]))
    if found:
        return Fault(found[-1].reason)
    return Fault("I found no JSON object in your answer. Answer with exactly one JSON object in a ```json block.")


def _schema_reasons(validator: Draft202012Validator, value: dict[str, Any]) -> str:
    errors = sorted(validator.iter_errors(value), key=lambda error: (error.json_path, error.message))
    reasons = [f"{error.json_path}: {_schema_reason(error)}" for error in errors[:MAX_REASONS]]
    if len(errors) > MAX_REASONS:
        reasons.append(f"and {len(errors) - MAX_REASONS} more")
    return "; ".join(reasons) + ". Send the whole object again."


def _schema_reason(error: ValidationError) -> str:
    if error.validator == "enum":
        return _brief(f"{json.dumps(error.instance)} is not one of {json.dumps(error.validator_value)}")
    if error.validator == "type":
        return _brief(f"{json.dumps(error.instance)} is not of type {json.dumps(error.validator_value)}")
    return _brief(error.message)


def _scan(text: str) -> Iterator[_Found]:
    """Outermost objects of ``text`` from left to right; an object inside a broken one is not offered."""
    position = 0
    while start := _CANDIDATE.search(text, position):
        value, end, error = _decode_strictly(text, start.start())
        if error is None:
            position = end
            yield _accept(value)
            continue
        closing = _closing(text, start.start())
        if closing is None:
            yield _Found(None, "Your JSON object is never closed: the answer seems to be cut off. Send it whole.")
            return
        position = closing
        yield _repair(text[start.start() : position], error)


def _accept(value: Any) -> _Found:
    if isinstance(value, list):
        return _Found(None, "Your answer is a JSON array. Answer with exactly one JSON object.")
    if _deep(value):
        return _Found(None, _too_deep())
    return _Found(value)


def _decode_strictly(text: str, start: int) -> tuple[Any, int, str | None]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        line = text.count("\n", start, error.pos) + 1
        near = _brief(text[error.pos : error.pos + 30].replace("\n", "\\n"))
        return None, start, f"line {line} of it: {error.msg}, at `{near}`"
    except ValueError as error:
        return None, start, str(error)
    except RecursionError:
        return None, start, _too_deep()
    return value, end, None


def _closing(text: str, start: int) -> int | None:
    """Where the bracket at ``start`` is closed; ``None`` if it stays open."""
    depth = 0
    for lexeme in _LEXEME.finditer(text, start):
        if lexeme["open"]:
            depth += 1
        elif lexeme["close"]:
            depth -= 1
            if depth == 0:
                return lexeme.end()
    return None


def _repair(span: str, error: str) -> _Found:
    uncommented = _LEXEME.sub(_strict_lexeme, span)
    strict = _STRING_OR_TRAILING_COMMA.sub(lambda match: match["string"] or "", uncommented)
    try:
        return _accept(_LENIENT_DECODER.decode(strict))
    except RecursionError:
        return _Found(None, _too_deep())
    except ValueError as still:
        # Where the repair does not help, the error before it describes what the model wrote.
        shown = str(still) if isinstance(still, _NotJsonError) else error
    return _Found(None, f"Your JSON object is not valid: {shown}. Send the whole object again as strict JSON.")


def _strict_lexeme(lexeme: re.Match[str]) -> str:
    """One lexeme as strict JSON has it: no comment, double quotes, quoted keys, JSON's own words."""
    text = lexeme[0]
    if lexeme["comment"]:
        return " "
    if lexeme["word"]:
        is_key = _COLON.match(lexeme.string, lexeme.end())
        return f'"{text}"' if is_key else _JSON_WORD.get(text, text)
    if text.startswith("'") and len(text) > 1:
        return '"' + _ESCAPE_OR_QUOTE.sub(_double_quoted, text[1:-1]) + '"'
    return text


def _double_quoted(match: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(match[0], match[0])


def _unique(pairs: Any) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise _NotJsonError(f"the key {_brief(json.dumps(key))} occurs twice")
        value[key] = item
    return value


def _no_constant(word: str) -> NoReturn:
    raise _NotJsonError(f"{word} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _NotJsonError(f"the number {_brief(digits)} is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
_LENIENT_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, strict=False
)


def _deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, (dict, list)) for item in level)


def _too_deep() -> str:
    return f"Your JSON is nested more than {MAX_DEPTH} levels deep. Send a flatter object."


# --- Python source ---------------------------------------------------------------------------------------------------

_CLASS = re.compile(r"^[ \t]*class[ \t]+[A-Za-z_]\w*[ \t]*(?:\([^()\n]*\))?[ \t]*:", re.MULTILINE)
_LEADING_LINE = re.compile(r"(?:@|#|import\b|from\b.*\bimport\b).*")
_TOP_LEVEL_LINE = re.compile(
    r"\s*|[ \t].*|(?:class|def|import|from)\b.*|[@#)\]}].*|\"{3}.*|'{3}.*|[A-Za-z_]\w*[ \t]*=.*"
)
_PYTHON = ("", "py", "python", "python3", "sharp")


def code_block(text: str) -> str | Fault:
    """The Python source in ``text``, dedented, with one line break at its end.

    Of several fenced blocks the last that holds a class wins, blocks marked as Python before others. Without any
    fence the text from the first class (with the decorators, comments and imports just above it) to the last line
    that can belong to a program is the source. A block that is never closed is a ``Fault``.
    """
    segments = _segments(text)
    blocks = [segment for segment in segments if segment.language is not None]
    if blocks and not blocks[-1].closed and (_CLASS.search(blocks[-1].text) or len(blocks) == 1):
        return Fault("Your code block is never closed: the answer seems to be cut off. Send the whole program again.")
    holding = [block for block in blocks if _CLASS.search(block.text)]
    marked = [block for block in holding if (block.language or "").split(" ")[0] in _PYTHON]
    if marked or holding:
        return _tidy((marked or holding)[-1].text)
    bare = None if blocks else _bare_source(segments)
    if bare is not None:
        return bare
    if blocks:
        return Fault("Your code block holds no class. Send the whole program: one class in one ```python block.")
    return Fault("I found no program in your answer. Send one class in one ```python block.")


def _bare_source(segments: tuple[_Segment, ...]) -> str | None:
    lines = textwrap.dedent("\n".join(segment.text for segment in segments)).split("\n")
    first = next((index for index, line in enumerate(lines) if _CLASS.match(line) and line[:1] not in " \t"), None)
    if first is None:
        return None
    last = next(
        (index for index in range(first + 1, len(lines)) if not _TOP_LEVEL_LINE.fullmatch(lines[index])), len(lines)
    )
    while first > 0 and _LEADING_LINE.fullmatch(lines[first - 1]):
        first -= 1
    return _tidy("\n".join(lines[first:last]))


def _tidy(source: str) -> str:
    return textwrap.dedent(source).strip("\n").rstrip() + "\n"


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_REASON_CHARACTERS else line[: MAX_REASON_CHARACTERS - 1] + "…"
