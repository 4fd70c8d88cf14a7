# ruff: noqa: E501 - programs on one line
"""Hostile and broken programs are refused, with a reason, while nothing but the compiler runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sharp.explain import explain_refusal
from engine.sharp.program import CompiledProgram, parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import graph_truths
from tests.engine.sharp.honest_invented import PROGRAMS
from tests.engine.sharp.hostile import HOSTILE, body
from tests.engine.sharp.invented import SCHEMA, inner_views

CASES = [
    pytest.param(text, id=f"{name}[{index}]") for name, texts in HOSTILE.items() for index, text in enumerate(texts)
]


@pytest.mark.parametrize("text", CASES)
def test_refused_with_a_reason(text: str) -> None:
    verdict = parse_program(text, SCHEMA)
    assert isinstance(verdict, Refusal), verdict
    assert verdict.reason
    assert verdict.kind
    lines = text.count("\n") + 1
    assert 0 <= verdict.line <= lines
    assert (verdict.line == 0) == (verdict.column == 0)
    assert verdict.reason in explain_refusal(verdict, text)


def test_every_class_has_three_variants() -> None:
    assert len(HOSTILE) == 35
    assert all(len(texts) >= 3 for texts in HOSTILE.values())


WATCHED = """
import sys
from engine.sharp.program import parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.hostile import HOSTILE
from tests.engine.sharp.invented import SCHEMA

texts = [text for texts in HOSTILE.values() for text in texts]
parse_program(texts[0], SCHEMA)  # lazy imports happen before the watch begins
seen = []
QUIET = ("builtins.id", "sys._getframe", "code.__new__")

def watch(event, arguments):
    if event == "compile" and isinstance(arguments[0], (str, bytes)) and arguments[1] == "":
        return  # ast.parse
    if event == "open" and arguments[0] == "":
        return  # CPython looks for the line of a syntax error in the file that the source names: there is none
    if event not in QUIET and not event.startswith("object."):
        seen.append((event, str(arguments)[:80]))

sys.addaudithook(watch)
verdicts = [parse_program(text, SCHEMA) for text in texts]
found = list(seen)
assert all(isinstance(verdict, Refusal) for verdict in verdicts)
assert not found, found
print(len(texts), "watched")
"""


def test_nothing_is_opened_imported_or_executed() -> None:
    """Fails if a text reaches ``exec``, ``open``, a socket or an import: seen to fail with an ``eval`` put into lowering."""
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "watched" in done.stdout


@settings(max_examples=150)
@given(st.text(max_size=300))
def test_any_text_gets_a_verdict(text: str) -> None:
    assert isinstance(parse_program(text, SCHEMA), Refusal)


@settings(max_examples=200)
@given(st.data())
def test_any_damage_to_a_program_gets_a_verdict(data: st.DataObject) -> None:
    """Cut, doubled and replaced pieces of honest programs are accepted or refused; nothing escapes."""
    text = data.draw(st.sampled_from(PROGRAMS))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 30)))
        middle = data.draw(
            st.sampled_from(
                ["", text[start:stop] * 2, "(", "[", ":", "\n", " ", "state", "self", "0", "*", "not ", "lambda: "]
            )
        )
        text = text[:start] + middle + text[stop:]
    assert isinstance(parse_program(text, SCHEMA), (Refusal, CompiledProgram))


@settings(max_examples=200)
@given(st.recursive(
    st.sampled_from(["state", "previous", "self", "Tile", "jnp", "1", "2.5", "None", "'x'", "state.field", "state.basket", "range(3)", "NEARBY", "Tile.REED"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "&", "<<", "<", "==", "in", "is", "and", "or"]), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        inner.map(lambda text: f"(not {text})"),
        inner.map(lambda text: f"(-{text})"),
        st.tuples(inner, inner).map(lambda parts: f"{parts[0]}[{parts[1]}]"),
        st.tuples(inner, inner).map(lambda parts: f"[{parts[0]}, {parts[1]}]"),
        st.tuples(st.sampled_from(["abs", "len", "sum", "any", "all", "max", "min", "int", "list", "tuple", "enumerate", "jnp.sum", "jnp.where", "jnp.stack", "count_near"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]})" if len(parts[1]) % 2 else f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
        st.tuples(inner, st.sampled_from(["value", "shape", "any", "sum", "T", "append", "at", "reeds", "position"])).map(lambda parts: f"{parts[0]}.{parts[1]}"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
        st.tuples(inner, inner).map(lambda parts: f"[{parts[0]} for k in {parts[1]} if k]"),
    ),
    max_leaves=12,
))  # fmt: skip
def test_any_expression_gets_a_verdict(text: str) -> None:
    """Ill-typed expressions of every shape are refused in words, never by an exception of the compiler.

    What is accepted has the shapes and dtypes that the compiler inferred (``graph_truths`` asserts them).
    """
    verdict = parse_program(body(f"return state.resting and bool({text})"), SCHEMA)
    assert isinstance(verdict, (Refusal, CompiledProgram))
    if isinstance(verdict, CompiledProgram):
        graph_truths(verdict, *inner_views()[:2], SCHEMA)
