"""Nothing of rewards and achievements is left in what a model reads, and nothing else is missing."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from engine.worlds.craftax_classic.source import ORIGIN, SHOWN
from engine.worlds.permissive import permissive
from engine.worlds.stripping import Origin, Stripped, StrippingFailed, strip
from tests.engine.worlds.conftest import Moves

GAME = Origin(returned={"step": (1,)}, fields=("medals",), enums=("Medal",), roots=("State", "step"))

RULES = '''
"""A game; its medals are a secret."""
from enum import Enum
import os

class Medal(Enum):
    DUG = 0
    SWAM = 1

class Verb(Enum):
    DUG = 3

class State:
    """Holds medals."""
    depth: int
    medals: tuple
    score: int = 0

def step(state, action):
    before = state.medals
    digs = action == Verb.DUG.value
    old_depth = state.depth
    # a medal for digging
    state = state.replace(depth=state.depth + digs, medals=award(state.medals, Medal.DUG.value, digs))
    state = state.replace(medals=award(state.medals, Medal.SWAM.value, False))
    if digs:
        before = before + 0
    won = sum(state.medals) - sum(before)
    bonus = 0.1 * (state.depth - old_depth)
    return state, won + bonus

def award(medals, medal, when):
    return medals | (when << medal)

def unused():
    return os.getcwd()
'''

STRIPPED_RULES = """from enum import Enum

class Verb(Enum):
    DUG = 3

class State:
    depth: int
    score: int = 0

def step(state, action):
    digs = action == Verb.DUG.value
    state = state.replace(depth=state.depth + digs)
    if digs:
        pass
    return state
"""


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    folder = files("craftax.craftax_classic")
    return {name: folder.joinpath(name).read_text("utf-8") for name in SHOWN}


@pytest.fixture(scope="module")
def stripped(sources: dict[str, str]) -> Stripped:
    return strip(sources, ORIGIN)


def identifiers(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", text))


def replaced_fields(text: str) -> Counter[str]:
    """How often each keyword is passed to ``replace`` or ``EnvState`` in a source."""
    return Counter(
        keyword.arg or ""
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("replace", "EnvState")
        for keyword in node.keywords
    )


# --- the game --------------------------------------------------------------------------------------------------------


def test_no_name_found_by_reading_is_left(sources: dict[str, str], stripped: Stripped) -> None:
    """Derived without data flow: words that speak of it, and what only the enumeration of achievements names."""
    from craftax.craftax_classic.constants import Achievement, Action, BlockType

    code = re.sub("#.*", "", "\n".join(sources.values()))
    spoken = {name for name in identifiers(code) if re.search("achiev|reward|score", name, re.I)}
    members = {item.name for item in Achievement} - {item.name for item in [*Action, *BlockType]}
    assert len(spoken) >= 5
    assert len(members) >= 10
    shown = "\n".join(stripped.texts.values())
    assert identifiers(shown).isdisjoint(spoken | members)
    assert not re.search("achiev|reward|score", shown, re.I)
    assert not [name for name in members if name.lower() in shown.lower()]
    assert spoken | members <= set(stripped.forbidden)


def test_what_served_only_rewards_is_gone_and_what_serves_the_game_stays(stripped: Stripped) -> None:
    logic = stripped.texts["game_logic.py"]
    assert {"init_health", "is_waking_player", "health_reward"} <= set(stripped.forbidden)
    assert {"is_waking_up", "did_kill_zombie", "is_mining_sapling", "new_is_sleeping"} <= identifiers(logic)
    assert "return state\n" in logic[logic.index("def craftax_step") :]


def test_comments_and_docstrings_are_gone(stripped: Stripped) -> None:
    for text in stripped.texts.values():
        assert "#" not in text
        assert '"""' not in text


def test_parses_is_a_fixed_point_and_fits_a_prompt(stripped: Stripped) -> None:
    for name, text in stripped.texts.items():
        compile(text, name, "exec")
    again = strip(stripped.texts, ORIGIN)
    assert again.texts == stripped.texts
    assert again.forbidden == ()
    assert sum(map(len, stripped.texts.values())) < 60_000


def test_every_other_field_is_still_updated(sources: dict[str, str], stripped: Stripped) -> None:
    for name in ("game_logic.py", "world_gen.py"):
        before, after = replaced_fields(sources[name]), replaced_fields(stripped.texts[name])
        if name == "world_gen.py":  # a second, unused generator is left out
            before = Counter(dict.fromkeys(before, 1))
        del before["achievements"]
        assert before == after, name


def test_the_stripped_rules_play_the_same_game(
    stripped: Stripped, moves: Moves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "stripped_game"
    for name, text in stripped.texts.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        local = re.sub(r"craftax\.craftax_classic(?!\.util)", "stripped_game", text)
        file.write_text(local)
        (file.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    logic = import_module("stripped_game.game_logic")
    states = import_module("stripped_game.envs.craftax_state")
    generation = import_module("stripped_game.world_gen")
    params, static = states.EnvParams(), states.StaticEnvParams()
    fields = set(states.EnvState.__dataclass_fields__)
    assert fields == set(moves.before.__dataclass_fields__) - {"achievements"}

    def play(key: jax.Array, state: Any, action: jax.Array) -> Any:
        return logic.craftax_step(key, state, action, params, static), generation.generate_world(key, params, static)

    before = states.EnvState(**{field: getattr(moves.before, field) for field in fields})
    with permissive():
        after, fresh = jax.jit(jax.vmap(play))(moves.keys, before, moves.actions)
    for ours, theirs in ((after, moves.after), (fresh, moves.fresh)):
        for field in sorted(fields - {"state_rng"}):
            pairs = zip(jax.tree.leaves(getattr(ours, field)), jax.tree.leaves(getattr(theirs, field)), strict=True)
            assert all(bool(jnp.array_equal(one, other)) for one, other in pairs), field


# --- the method ------------------------------------------------------------------------------------------------------


def test_worked_by_hand() -> None:
    result = strip({"rules.py": RULES}, GAME)
    assert result.texts == {"rules.py": STRIPPED_RULES}
    assert set(result.forbidden) == {"Medal", "medals", "SWAM", "award", "before", "won", "bonus", "old_depth"}


def test_a_reward_is_followed_through_calls_in_other_files() -> None:
    main = """
from rules import step

def run(state):
    state, gain = step(state, 0)
    total = gain * 2
    report = make_report(total)
    return state

def make_report(x):
    return x
"""
    origin = evolve(GAME, roots=("State", "step", "run"))
    result = strip({"rules.py": RULES, "main.py": main}, origin)
    assert (
        result.texts["main.py"]
        == "from rules import step\n\ndef run(state):\n    state = step(state, 0)\n    return state\n"
    )
    assert {"gain", "total", "report"} <= set(result.forbidden)


def test_a_tuple_keeps_its_other_elements() -> None:
    text = "def step(s):\n    r = 1\n    return s, r, s + 1\n\ndef run(s):\n    a, b, c = step(s)\n    return a, c\n"
    origin = Origin({"step": (1,)}, (), (), ("run",))
    assert strip({"g.py": text}, origin).texts["g.py"] == (
        "def step(s):\n    return (s, s + 1)\n\ndef run(s):\n    a, c = step(s)\n    return (a, c)\n"
    )


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ("def show(state):\n    for medal in state.medals:\n        print(medal)\n", "medals would remain"),
        ("def show(state):\n    print(state.medals)\n", "medals would remain"),
        ("def show(state):\n    return getattr(state, 'medals')\n", "medals would remain"),
        ("def show(state):\n    pair = step(state, 0)\n    return pair[1]\n", "not unpacked"),
        ("def show(state):\n    return step(state, 0)[1]\n", "not unpacked"),
    ],
)
def test_what_cannot_be_taken_out_safely_is_refused(addition: str, message: str) -> None:
    with pytest.raises(StrippingFailed, match=message):
        strip({"rules.py": RULES + addition}, evolve(GAME, roots=("State", "step", "show")))


def test_an_unknown_root_is_refused() -> None:
    with pytest.raises(StrippingFailed, match="not defined in the game's source: craft_step"):
        strip({"rules.py": RULES}, evolve(GAME, roots=("craft_step",)))


@st.composite
def straight_games(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Statements ``v<i> = f(…)`` over the state, the medals and earlier names: pairs of name and operands."""
    statements: list[tuple[str, list[str]]] = []
    for index in range(draw(st.integers(1, 12))):
        known = ["state.depth", "state.medals", *(name for name, _ in statements)]
        statements.append((f"v{index}", draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))))
    return statements


@given(statements=straight_games(), kept=st.integers(0, 11), reward=st.integers(0, 11))
def test_straight_code_keeps_exactly_what_the_game_needs(
    statements: list[tuple[str, list[str]]], kept: int, reward: int
) -> None:
    names = [name for name, _ in statements]
    scored: set[str] = {"state.medals", names[reward % len(names)]}
    for name, operands in statements:  # each name is assigned once, before its uses: one pass finds all
        if scored & set(operands):
            scored.add(name)
    read = {operand for _, operands in statements for operand in operands} | {names[reward % len(names)]}
    shown = names[kept % len(names)]
    live = {shown} - scored
    expected = []
    for name, operands in reversed(statements):
        if name not in scored and (name in live or name not in read | {shown}):
            expected.append(name)
            live |= set(operands)
    body = "".join(f"    {name} = f({', '.join(operands)})\n" for name, operands in statements)
    result = f"state.replace(depth={shown})"
    source = f"def step(state, f):\n{body}    return {result}, {names[reward % len(names)]}\n"
    text = strip({"g.py": source}, evolve(GAME, roots=("step",))).texts["g.py"]
    assigned = [line.split(" = ")[0].strip() for line in text.splitlines() if " = " in line]
    assert assigned == expected[::-1]
    assert ("depth=" in text) == (shown not in scored)


def test_the_search_is_not_blind(sources: dict[str, str]) -> None:
    """Were the fields not named, the achievements would stay: the tests above would then fail."""
    shown = "\n".join(strip(sources, evolve(ORIGIN, fields=(), enums=())).texts.values())
    assert "new_achievements" in shown
