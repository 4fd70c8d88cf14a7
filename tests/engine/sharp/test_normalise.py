"""Text in many wrappings becomes one source, and what was done is written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sharp.editions import LATEST
from engine.sharp.normalise import normalise
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.refusals import Refused
from tests.engine.sharp.honest_invented import PROGRAMS
from tests.engine.sharp.invented import SCHEMA

PLAIN = (
    'class Probe(Sharp):\n    """A probe."""\n\n    def success(self, state, previous):\n        return state.resting\n'
)
TABS = PLAIN.replace("    ", "\t")

WRAPPED = {
    "plain": (PLAIN, ()),
    "fenced": (f"```python\n{PLAIN}```\n", ("text outside the code block removed",)),
    "fenced without language": (f"```\n{PLAIN}```", ("text outside the code block removed",)),
    "prose around": (f"Here it is:\n\n```python\n{PLAIN}```\nGood luck!\n", ("text outside the code block removed",)),
    "two blocks, one class": (f"```\nskill\n```\n```py\n{PLAIN}\n```\n", ("text outside the code block removed",)),
    "truncated fence": (f"```python\n{PLAIN}", ("text outside the code block removed",)),
    "tildes": (f"~~~python\n{PLAIN}~~~\n", ("text outside the code block removed",)),
    "byte order mark": ("\ufeff" + PLAIN, ("byte order mark removed",)),
    "CRLF": (PLAIN.replace("\n", "\r\n"), ("line ends made \\n",)),
    "tabs": (TABS, ("tabs made spaces",)),
    "JSON string": (json.dumps(PLAIN), ("quotes around the source removed",)),
    "Python string": (repr(PLAIN), ("quotes around the source removed",)),
    "triple quotes": ("'''\n" + PLAIN + "'''", ("quotes around the source removed",)),
    "JSON with CRLF": (
        json.dumps(PLAIN.replace("\n", "\r\n")),
        ("quotes around the source removed", "line ends made \\n"),
    ),
    "indented": (
        "\n".join("    " + line if line else "" for line in PLAIN.split("\n")),
        ("common indentation removed",),
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrappings_come_off_and_are_recorded(name: str) -> None:
    text, steps = WRAPPED[name]
    found = normalise(text, LATEST.limits)
    assert found.steps == steps
    program, plain = parse_program(text, SCHEMA), parse_program(PLAIN, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    assert isinstance(plain, CompiledProgram)
    assert program.source_hash == plain.source_hash
    assert program.normalisations == steps


@given(st.sampled_from([*PROGRAMS, *(text for text, _ in WRAPPED.values())]) | st.text(max_size=200))
def test_normalising_twice_changes_nothing(text: str) -> None:
    try:
        once = normalise(text, LATEST.limits)
    except Refused:
        return
    twice = normalise(once.source, LATEST.limits)
    if "class " in once.source or not any(mark in once.source for mark in ("```", "~~~", "'", '"')):
        assert (twice.source, twice.steps) == (once.source, ())


def test_fences_inside_a_docstring_stay() -> None:
    text = PLAIN.replace("A probe.", "A probe.\n\n    ```\n    class Other(Sharp):\n    ```\n    ")
    assert normalise(text, LATEST.limits).steps == ()


def notes(source: str) -> tuple[str, ...]:
    """The normalisations of an accepted program."""
    program = parse_program(source, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    return program.normalisations


def test_what_the_class_itself_is_forgiven() -> None:
    assert notes("import jax.numpy as jnp\nimport jax\n" + PLAIN) == ("imports dropped",)
    assert notes("from world.names import Tile, NEARBY\nfrom sharp import Sharp\n" + PLAIN) == ("imports dropped",)
    assert notes(PLAIN.replace("(Sharp)", "")) == ("base class Sharp added",)
    assert notes(PLAIN.replace("(Sharp)", "(SHARP)")) == ("base class SHARP read as Sharp",)
    assert notes(PLAIN.replace("(self, state, previous)", "(state, previous)")) == ("success without self",)
    assert notes(PLAIN.replace("return state.resting", "return 1 if state.resting else 0")) == (
        "success made a truth value",
    )
    assert notes(PLAIN.replace("return state.resting", "return state.resting * previous.resting")) == (
        "success made a truth value",
    )


def test_parameter_names_are_free_but_their_order_is_not() -> None:
    swapped = PLAIN.replace("(self, state, previous)", "(self, previous_state, current)").replace(
        "state.resting", "previous_state.resting"
    )
    program = parse_program(swapped, SCHEMA)
    assert isinstance(program, CompiledProgram)
    assert any("previous_state gets the current one" in text for text in program.warnings)


@pytest.mark.parametrize("body", ['"""Wood\\d."""\n        return state.resting', "return 1if state.resting else 0"])
def test_the_interpreters_own_warnings_decide_nothing(body: str) -> None:
    """CPython warns of such literals, and with ``-W error`` (as here) it would raise."""
    text = PLAIN.replace("return state.resting", body)
    assert text != PLAIN
    program = parse_program(text, SCHEMA)
    assert isinstance(program, CompiledProgram), program
