"""Nothing of rewards and achievements is left of Craftax in what a model reads, and what it needs is there."""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from engine.worlds.craftax.source import ORIGIN, SHOWN
from engine.worlds.craftax.staging import SCENES
from engine.worlds.permissive import permissive
from engine.worlds.stripping import Stripped, strip
from engine.worlds.survey import survey
from ledger.vocabulary.path import Path as StepPath
from ledger.vocabulary.survey import Survey
from tests.engine.worlds.craftax.conftest import Moves
from tests.engine.worlds.test_stripping import identifiers, replaced_fields


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    folder = files("craftax.craftax")
    return {name: folder.joinpath(name).read_text("utf-8") for name in SHOWN}


@pytest.fixture(scope="module")
def stripped(sources: dict[str, str]) -> Stripped:
    return strip(sources, ORIGIN)


def test_no_name_found_by_reading_is_left(sources: dict[str, str], stripped: Stripped) -> None:
    """Derived without data flow: words that speak of it, and what only the enumeration of achievements names."""
    from craftax.craftax.constants import Achievement, Action, BlockType

    code = re.sub("#.*", "", "\n".join(sources.values()))
    spoken = {name for name in identifiers(code) if re.search("achiev|reward|score", name, re.I)}
    members = {item.name for item in Achievement} - {item.name for item in [*Action, *BlockType]}
    assert len(spoken) >= 15
    assert len(members) >= 40
    shown = "\n".join(stripped.texts.values())
    assert identifiers(shown).isdisjoint(spoken | members)
    assert not re.search("achiev|reward|score", shown, re.I)
    in_small_letters = [name for name in members if re.search(rf"\b{name}\b", shown, re.I)]
    assert in_small_letters == ["DRINK_POTION"], "drink_potion is a function of the game"
    unreached = {"achievement_mapping", "achievement_value", "ACHIEVEMENTS"}
    assert spoken | members <= set(stripped.forbidden) | unreached


def test_what_served_only_rewards_is_gone_and_what_serves_the_game_stays(stripped: Stripped) -> None:
    gone = {"init_health", "is_waking_player", "new_floor", "can_get_achievement", "calculate_inventory_achievements"}
    assert gone <= set(stripped.forbidden)
    logic = stripped.texts["game_logic.py"]
    assert {"is_waking_up", "did_kill_mob", "is_mining_sapphire", "is_looting_bow"} <= identifiers(logic)
    assert "return state\n" in logic[logic.index("def craftax_step") :]
    fight = stripped.texts["util/game_logic_utils.py"]
    assert "attack_mob_class(state, state.passive_mobs, position, damage_vector, 0)" in fight


def test_parses_without_comments_is_a_fixed_point_and_fits_a_prompt(stripped: Stripped) -> None:
    for name, text in stripped.texts.items():
        compile(text, name, "exec")
        assert "#" not in text
        assert '"""' not in text
    again = strip(stripped.texts, ORIGIN)
    assert again.texts == stripped.texts
    assert again.forbidden == ()
    assert sum(map(len, stripped.texts.values())) < 130_000


def test_every_other_field_is_still_updated_but_for_the_experience_of_a_new_floor(
    sources: dict[str, str], stripped: Stripped
) -> None:
    for name in ("util/game_logic_utils.py", "game_logic.py", "world_gen/world_gen.py"):
        before, after = replaced_fields(sources[name]), replaced_fields(stripped.texts[name])
        assert before["achievements"] > 0
        del before["achievements"]
        assert before - after == (Counter({"player_xp": 1}) if name == "game_logic.py" else Counter()), name
        assert after - before == Counter()


def test_the_survey_shows_the_installed_game_and_no_achievement(stripped: Stripped) -> None:
    surveyed = survey(Survey(StepPath("start/survey"), "craftax", "sharp@1"))
    assert surveyed.package == "craftax"
    assert [part.name for part in surveyed.source] == [f"craftax/{name}" for name in SHOWN]
    assert [part.text.text for part in surveyed.source] == list(stripped.texts.values())
    assert len(surveyed.achievements) == 67
    shared = {"wake_up", "enter_dungeon", "eat_snail", "defeat_troll", "find_bow"}
    assert shared <= set(surveyed.achievements)
    for name in shared:
        assert name not in surveyed.language.text.lower()


@pytest.mark.slow
def test_the_stripped_rules_play_the_same_game(
    stripped: Stripped, moves: Moves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "stripped_craftax"
    for name, text in stripped.texts.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        ours = "|".join(re.escape(name.removesuffix(".py").replace("/", ".")) for name in stripped.texts)
        file.write_text(re.sub(rf"craftax\.craftax\.({ours})\b", r"stripped_craftax.\1", text))
        (file.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    logic = import_module("stripped_craftax.game_logic")
    kinds = import_module("stripped_craftax.craftax_state")
    generation = import_module("stripped_craftax.world_gen.world_gen")
    params, static = kinds.EnvParams(), kinds.StaticEnvParams()
    fields = set(kinds.EnvState.__dataclass_fields__)
    assert fields == set(moves.before.__dataclass_fields__) - {"achievements"}

    def play(key: jax.Array, state: Any, action: jax.Array) -> Any:
        return logic.craftax_step(key, state, action, params, static), generation.generate_world(key, params, static)

    few = slice(len(SCENES))
    keys, fresh, before, expected = jax.tree.map(
        lambda leaf: leaf[few], (moves.keys, moves.fresh, moves.before, moves.after)
    )
    with permissive():
        state = kinds.EnvState(**{field: getattr(before, field) for field in fields})
        after, made = jax.jit(jax.vmap(play))(keys, state, moves.actions[few])
    for ours, theirs in ((after, expected), (made, fresh)):
        for field in sorted(fields - {"state_rng", "player_xp"}):
            pairs = zip(jax.tree.leaves(getattr(ours, field)), jax.tree.leaves(getattr(theirs, field)), strict=True)
            assert all(bool(jnp.array_equal(one, other)) for one, other in pairs), field
    owed = np.asarray(expected.player_level > before.player_level).astype(np.int32)
    assert (np.asarray(after.player_xp) + owed == np.asarray(expected.player_xp)).all()
