"""Every budget refuses at its limit and not one below, by counts alone, and names itself and the costliest line."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from attrs import evolve

from engine.sharp.editions import LATEST, Edition
from engine.sharp.emit import BARRIER_EVERY, predicates
from engine.sharp.limits import Limits
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.refusals import Refused
from engine.sharp.sharing import archive_work, check_archive
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import graph_truths
from tests.engine.sharp.invented import SCHEMA, random_view
from tests.engine.sharp.programs import compiled, refused, source_of

LIMITS = LATEST.limits

BUSY = """total = 0
for i in range(6):
    total += state.field[i].sum()
quiet = state.stamina
return total > quiet"""


def within(**limits: int) -> Edition:
    """The latest edition with other limits."""
    return evolve(LATEST, limits=evolve(LIMITS, **limits))


def verdict(text: str, limits: Limits) -> CompiledProgram | Refusal:
    """Compile under other limits."""
    return parse_program(source_of(text), SCHEMA, evolve(LATEST, limits=limits))


@pytest.mark.parametrize("name", ["iterations", "steps", "operations", "work"])
def test_counted_budgets_refuse_one_below_what_is_used(name: str) -> None:
    used = getattr(compiled(BUSY).used, name)
    assert isinstance(verdict(BUSY, evolve(LIMITS, **{name: used})), CompiledProgram)
    refusal = verdict(BUSY, evolve(LIMITS, **{name: used - 1}))
    assert isinstance(refusal, Refusal)
    assert refusal.kind == "budget"
    assert f"{used - 1:,}" in refusal.reason
    assert "the costliest line is" in refusal.reason


def test_the_costliest_line_is_named() -> None:
    refusal = verdict(BUSY, evolve(LIMITS, work=20))
    assert isinstance(refusal, Refusal)
    lines = source_of(BUSY).split("\n")
    assert "state.field[i].sum()" in lines[refusal.line - 1]


def test_chains_of_operations() -> None:
    """Counted along operands, so that many operations side by side are no chain; kept in parts for XLA."""
    chain = "x = state.stamina\nfor i in range({}):\n    x = (x + 7) // (previous.stamina + i)\nreturn x > 3"
    refusal = refused(chain.format(300))
    assert (refusal.kind, "operations that rest on one another" in refusal.reason) == ("budget", True)
    program = compiled(chain.format(40))
    assert max(program.success.level, BARRIER_EVERY) == program.success.level
    wide = " + ".join(f"(state.stamina // (previous.stamina + {i}))" for i in range(30))
    assert compiled(f"return {wide} > 3").success.level < 10
    view = random_view(np.random.default_rng(0))
    expected = graph_truths(program, view, view, SCHEMA)[0]
    evaluate = predicates([program], SCHEMA)
    assert bool(jax.jit(evaluate)(view, view)[0][0]) is expected
    assert "optimization_barrier" in str(jax.make_jaxpr(evaluate)(view, view))
    assert "optimization_barrier" not in str(
        jax.make_jaxpr(predicates([compiled("return state.stamina > 3")], SCHEMA))(view, view)
    )


def test_source_bytes_count_bytes() -> None:
    text = source_of("return state.resting  # ä")
    size = len(text.encode())
    assert isinstance(parse_program(text, SCHEMA, within(source_bytes=size)), CompiledProgram)
    assert isinstance(parse_program(text, SCHEMA, within(source_bytes=size - 1)), Refusal)


def test_nodes_and_depth() -> None:
    text = source_of("return state.resting")
    assert isinstance(parse_program(text, SCHEMA, within(nodes=14)), CompiledProgram | Refusal)
    assert isinstance(parse_program(text, SCHEMA, within(nodes=5)), Refusal)
    assert isinstance(parse_program(text, SCHEMA, within(depth=2)), Refusal)
    chain = " + ".join(["state.stamina"] * 60)
    refusal = refused(f"return {chain} > 3")
    assert (refusal.kind, "levels of the syntax tree" in refusal.reason) == ("budget", True)


def test_elements_of_one_value() -> None:
    compiled("return jnp.zeros((256, 256)).sum() < state.stamina")
    assert "65,536" in refused("return jnp.zeros((256, 257)).sum() < state.stamina").reason
    assert refused("x = (0,) * 65537\nreturn state.stamina > len(x)").kind == "budget"


def test_values_in_a_loop_are_counted_together() -> None:
    """Constants and tuples cost no operations, but making them does cost time."""
    assert refused("x = (0,) * 60000\nfor i in range(4000):\n    y = x + (1,)\nreturn state.resting").kind == "budget"
    assert refused("for i in range(4000):\n    y = jnp.arange(60000)\nreturn state.resting").kind == "budget"
    assert (
        refused("n = 0\nx = (9,) * 60000\nfor i in range(4000):\n    n += 3 in x\nreturn state.stamina > n").kind
        == "budget"
    )


def test_helpers_cannot_multiply_unseen() -> None:
    """Twenty helpers that each call the next one twice would be a million evaluations: counted, not run."""
    extra = "\n".join(f"def h{i}(self, s):\n    return self.h{i + 1}(s) or self.h{i + 1}(s)" for i in range(15))
    refusal = refused("return self.h0(state)", extra=f"{extra}\ndef h15(self, s):\n    return s.resting")
    assert refusal.kind == "budget"


def test_integers_have_32_bits() -> None:
    compiled("return state.stamina > 2147483647 - 1")
    compiled("return state.stamina > -2147483648")
    for text in ("2147483647 + 1", "2147483648", "65536 * 65536", "2 ** 31", "1 << 31", "10 ** 9 * 10"):
        assert refused(f"return state.stamina > {text}").kind == "budget", text


def test_the_archive_has_a_budget_of_its_own() -> None:
    programs = [compiled(f"return (state.field == {tile}).sum() > 3", name=f"Tile{tile}") for tile in range(3)]
    total = archive_work(programs, SCHEMA)
    assert total == sum(archive_work([program], SCHEMA) for program in programs)
    check_archive(programs, SCHEMA, evolve(LIMITS, archive_work=total))
    with pytest.raises(Refused, match="the costliest program is Tile2"):
        check_archive(programs, SCHEMA, evolve(LIMITS, archive_work=total - 1))


def test_shared_work_counts_once() -> None:
    programs = [
        compiled("return (state.field == 1).sum() > 3", name="A"),
        compiled("return (state.field == 1).sum() > 4", name="B"),
    ]
    assert archive_work(programs, SCHEMA) == archive_work(programs[:1], SCHEMA) + 1


def test_a_refusal_does_not_depend_on_the_stack_below() -> None:
    """Counts bound the compiler's own recursion: the same verdict from a deep stack."""
    texts = [
        BUSY,
        "return " + "(" * 30 + "state.stamina > 3" + ")" * 30,
        "x = state.stamina\nreturn " + "abs(" * 28 + "x" + ")" * 28 + " > 1",
    ]

    def deep(level: int, text: str) -> CompiledProgram | Refusal:
        return parse_program(source_of(text, name="Deep"), SCHEMA) if level == 0 else deep(level - 1, text)

    for text in texts:
        assert deep(300, text) == parse_program(source_of(text, name="Deep"), SCHEMA, evolve(LATEST))
