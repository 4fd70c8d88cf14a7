# ruff: noqa: E501 - programs on one line
"""Hostile and broken programs are refused, with a reason, in processes that can do nothing else (guarantee P1)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest
from attrs import field, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sharp.editions import EDITIONS, LATEST
from engine.sharp.explaining.explain import explain_refusal
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.sampled import SampledViews
from engine.sharp.vet import vet
from engine.worlds.craftax.schema import SCHEMA as FULL
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from engine.worlds.schema import Schema
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Known, Refusal, Vet
from tests.engine.sharp.concrete import graph_truths
from tests.engine.sharp.honest_invented import PROGRAMS
from tests.engine.sharp.hostile import BROKEN, CLEAN, FORBIDDEN_BY_ARCHIVE, HARMLESS, HOSTILE, REPAIRED, WON_AT_RESET
from tests.engine.sharp.hostile.shapes import body
from tests.engine.sharp.invented import SCHEMA, inner_views, some_views, stacked
from tests.engine.sharp.isolation import MEMORY_CAP, MIB, Report, Zygote, run_once, zygote

LEAKS = re.compile(
    r"Exceeds the limit|set_int_max|0x[0-9a-f]{8}|Traceback|recursion depth|<class|object at |ndarray|numpy|_src|\.py\b|NoneType|__init__"
)
"""What a message shows only if it is the interpreter's, not ours."""

MAX_MESSAGE = 500
"""Characters of a reason with its suggestion: they go into prompts, and must not repeat a hostile text."""


@frozen
class Case:
    """One text; ``group`` is its class."""

    group: str
    index: int
    text: str = field(repr=False)


def cases(texts: Mapping[str, tuple[str, ...]], first_only: bool = False) -> list[object]:
    """Parameters of a test, one for each text, or one for each class."""
    return [
        pytest.param(Case(group, index, text), id=f"{group}[{index}]")
        for group, variants in texts.items()
        for index, text in enumerate(variants[:1] if first_only else variants)
    ]


@frozen
class Isolated:
    """A zygote that remembers what it was asked, for the table at the end."""

    parent: Zygote
    reports: dict[str, list[Report]] = field(factory=lambda: defaultdict(list))

    def run(self, case: Case, edition: str = "") -> Report:
        """Compile one text, and note its report."""
        report = self.parent.run(case.text, edition)
        self.reports[case.group].append(report)
        return report

    def table(self) -> str:
        """By class: texts, refusals, the longest time and the most memory."""
        lines = [f"{'class':40} {'texts':>6} {'refused':>8} {'slowest':>9} {'memory':>9}"]
        for group, reports in self.reports.items():
            lines.append(
                f"{group:40} {len(reports):6} {sum(not report.accepted for report in reports):8}"
                f" {max(report.seconds for report in reports):7.2f} s {max(report.peak_mib for report in reports):5.0f} MiB"
            )
        every = [report for reports in self.reports.values() for report in reports]
        lines.append(
            f"{len(every)} texts, {sum(report.seconds for report in every):.1f} s, each in a process of its own"
        )
        return "\n".join(lines)


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    with zygote() as parent:
        found = Isolated(parent)
        yield found
    if found.reports:
        print("\n" + found.table())


def untouched(report: Report) -> None:
    """Nothing happened but a compilation, within the memory that it may have."""
    assert report.violations == ()
    assert report.added_mib <= MEMORY_CAP / MIB


def refused_well(report: Report, text: str) -> None:
    """The text was refused, in words that help, at a place that exists."""
    untouched(report)
    assert not report.accepted
    assert report.kind
    assert report.reason
    lines = text.replace("\r\n", "\n").count("\n") + text.count("\r") + text.count("\\n") + 1
    assert 1 <= report.line <= lines
    assert report.column >= 1
    message = f"{report.reason} {report.suggestion}"
    assert len(message) <= MAX_MESSAGE, message[:200]
    assert message.isprintable(), message
    assert [found for found in LEAKS.findall(message) if found not in text] == [], message
    refusal = Refusal(report.kind, report.line, report.column, report.reason, report.suggestion or None)
    assert report.reason in explain_refusal(refusal, text)


@pytest.mark.parametrize("case", cases({**HOSTILE, **BROKEN}))
def test_refused_with_a_reason(isolated: Isolated, case: Case) -> None:
    refused_well(isolated.run(case), case.text)


@pytest.mark.parametrize("case", cases(HARMLESS))
def test_harmless_whatever_the_verdict(isolated: Isolated, case: Case) -> None:
    report = isolated.run(case)
    untouched(report)
    if not report.accepted:
        refused_well(report, case.text)


@pytest.mark.parametrize("case", cases(REPAIRED))
def test_read_as_it_was_meant(isolated: Isolated, case: Case) -> None:
    report = isolated.run(case)
    untouched(report)
    meant = parse_program(CLEAN, SCHEMA)
    assert isinstance(meant, CompiledProgram)
    assert (report.reason, report.meaning) == ("", meant.meaning)


def test_every_class_has_five_variants() -> None:
    assert sorted(int(name.split(" ")[0]) for name in HOSTILE) == list(range(1, 35))
    for group, texts in [*HOSTILE.items(), *BROKEN.items(), *REPAIRED.items(), *FORBIDDEN_BY_ARCHIVE.items()]:
        assert len(set(texts)) == len(texts) >= 5, group


@pytest.mark.parametrize("case", cases({**HOSTILE, **BROKEN, **HARMLESS}, first_only=True))
def test_a_verdict_depends_on_nothing_else(strange: Zygote, isolated: Isolated, case: Case) -> None:
    """Other hash seeds, warnings as errors and a C locale give the same verdict."""
    first, second = isolated.parent.run(case.text), strange.run(case.text)
    assert (first.accepted, first.meaning, first.reason, first.line, first.column) == (
        second.accepted, second.meaning, second.reason, second.line, second.column,
    )  # fmt: skip
    untouched(second)


@pytest.mark.parametrize(
    "text",
    [
        CLEAN.replace("A probe.", "A \\d regular \\z expression."),
        body("return state.stamina > 1if state.resting else 0"),
        body("return state.stamina > 0x1for 0 in (1,)"),
        body("return state.resting is 1"),
        body("x = 'a' 'b'\nreturn state.resting"),
        body("return state.resting and (1)(2)"),
    ],
)
def test_warnings_of_the_parser_decide_nothing(strange: Zygote, isolated: Isolated, text: str) -> None:
    """Python warns of some texts that it accepts. What is done with warnings must not reach a verdict, nor the screen."""
    first, second = isolated.parent.run(text), strange.run(text)
    untouched(first)
    untouched(second)
    assert (first.accepted, first.meaning, first.reason) == (second.accepted, second.meaning, second.reason)


@pytest.fixture(scope="module")
def strange() -> Iterator[Zygote]:
    with zygote("-W", "error", PYTHONHASHSEED="4711", LC_ALL="C", PYTHONUTF8="0") as parent:
        yield parent


# --- against an archive, and on states -------------------------------------------------------------------------------


def archive() -> tuple[Known, ...]:
    """Rest, Dig (requires Rest), Fire (requires Dig)."""
    successes = {
        "Rest": "return state.resting and not previous.resting",
        "Dig": "return state.basket.clay > previous.basket.clay",
        "Fire": "return state.basket.bricks > previous.basket.bricks",
    }
    known: list[Known] = []
    for name, text in successes.items():
        program = parse_program(body(text), SCHEMA)
        assert isinstance(program, CompiledProgram)
        known.append(Known(name, program.meaning, program.requires_meaning, tuple(item.name for item in known[-1:])))
    return tuple(known)


@pytest.mark.parametrize("case", cases(FORBIDDEN_BY_ARCHIVE))
def test_refused_by_the_archive(isolated: Isolated, case: Case) -> None:
    report = isolated.run(case)
    untouched(report)
    if not report.accepted:
        refused_well(report, case.text)
    verdict = vet(Vet(Path("p"), SCHEMA.world, LATEST.label, Body(case.text), archive()), SCHEMA)
    assert verdict.program is None
    assert verdict.refusal is not None
    assert verdict.refusal.kind == "archive" or not report.accepted


@pytest.mark.parametrize("case", cases({"success at every reset": WON_AT_RESET}))
def test_refused_because_there_is_nothing_to_learn(isolated: Isolated, case: Case) -> None:
    report = isolated.run(case)
    untouched(report)
    assert report.accepted, report.reason
    views = stacked(some_views()[:8])
    states = SampledViews(views, views, views)
    verdict = vet(Vet(Path("p"), SCHEMA.world, LATEST.label, Body(case.text), ()), SCHEMA, states)
    assert verdict.refusal is not None
    assert (verdict.refusal.kind, "8 of 8 resets" in verdict.refusal.reason) == ("sampled", True)


@pytest.mark.parametrize(
    ("schema", "text", "hint"),
    [
        (CLASSIC, "state.inventory.pickaxe > 0", "did you mean state.inventory.wood_pickaxe?"),
        (CLASSIC, "state.player_mana > 0", "its fields are map,"),
        (CLASSIC, "state.inventory.potions[0] > 0", ""),
        (CLASSIC, "state.player_level == 1", ""),
        (CLASSIC, "state.monsters_killed[0] > 8", "its fields are map,"),
        (CLASSIC, "state.item_map[0, 0, 0] == 1", ""),
        (CLASSIC, "(state.map == BlockType.NECROMANCER).any()", "its members are"),
        (CLASSIC, "(state.map == BlockType.LADDER_DOWN).any()", "its members are"),
        (CLASSIC, "state.timestep > 9", "programs read the game's state"),
        (FULL, "state.inventory.wood_pickaxe > 0", "did you mean state.inventory.pickaxe?"),
        (FULL, "state.inventory.stone_sword > 0", ""),
        (FULL, "state.zombies.mask.any()", "state.melee_mobs.mask"),
        (FULL, "state.player_fatigue_ > 0", "did you mean state.player_fatigue?"),
        (FULL, "(state.map == BlockType.CRAFTING).any()", "did you mean BlockType.CRAFTING_TABLE?"),
        (FULL, "state.achievements.sum() > 0", "programs read the game's state"),
    ],
)
def test_names_of_the_other_game(schema: Schema, text: str, hint: str) -> None:
    verdict = parse_program(body(f"return {text}"), schema)
    assert isinstance(verdict, Refusal), verdict
    assert (verdict.kind, verdict.line) == ("attribute", 5)
    assert hint in (verdict.suggestion or "")


# --- slow: real interpreters, every edition --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("case", cases({**HOSTILE, **BROKEN, **HARMLESS, "won": WON_AT_RESET}, first_only=True))
def test_in_a_new_interpreter(case: Case) -> None:
    """The same in a process of its own from the start, vetted with JAX where the compiler accepts."""
    report = run_once(case.text)
    if case.group in HARMLESS and report.accepted:
        untouched(report)
    else:
        refused_well(report, case.text) if report.kind != "sampled" else untouched(report)
        assert not report.accepted


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(HARMLESS))
def test_what_is_accepted_can_be_vetted(isolated: Isolated, case: Case) -> None:
    """Whatever the compiler accepts, JAX compiles and runs, in a process of its own."""
    if isolated.run(case).accepted:
        untouched(run_once(case.text))


@pytest.mark.slow
@pytest.mark.parametrize("edition", sorted(set(EDITIONS) - {LATEST.label}))
@pytest.mark.parametrize("case", cases({**HOSTILE, **BROKEN, **HARMLESS}))
def test_earlier_editions_are_as_safe(isolated: Isolated, case: Case, edition: str) -> None:
    """An edition that was released may accept more; it must not do more."""
    untouched(isolated.parent.run(case.text, edition))


# --- any text --------------------------------------------------------------------------------------------------------


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
