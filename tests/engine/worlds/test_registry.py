"""Worlds by name, described as they are installed."""

from __future__ import annotations

import hashlib
import re
from importlib import metadata
from pathlib import Path

import pytest

from engine.worlds.craftax_classic import CraftaxClassic
from engine.worlds.craftax_classic.schema import SCHEMA
from engine.worlds.description import describe_package
from engine.worlds.protocol import World
from engine.worlds.registry import WORLDS, UnknownWorld, entry, world
from engine.worlds.stripping import Origin
from engine.worlds.survey import survey
from ledger.vocabulary.path import Path as StepPath
from ledger.vocabulary.survey import Survey


def test_one_object_per_name(classic: CraftaxClassic) -> None:
    assert world("craftax_classic") is classic
    for name in WORLDS:
        built = world(name)
        assert isinstance(built, World)
        assert built.name == built.schema.world == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "craftax_clasic",
            "there is no world 'craftax_clasic'; did you mean craftax_classic\\? worlds: craftax, craftax_classic",
        ),
        ("chess", "there is no world 'chess'; worlds: craftax, craftax_classic"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(UnknownWorld, match=message):
        entry(name)
    with pytest.raises(UnknownWorld, match=message):
        world(name)


def test_a_survey_shows_the_installed_game_and_the_language(classic: CraftaxClassic) -> None:
    surveyed = survey(Survey(StepPath("start/survey"), "craftax_classic", "sharp@1"))
    assert (surveyed.package, surveyed.version) == ("craftax", metadata.version("craftax"))
    assert surveyed.achievements == classic.achievement_names
    assert [part.name for part in surveyed.source] == [
        "craftax_classic/constants.py",
        "craftax_classic/envs/craftax_state.py",
        "craftax_classic/game_logic.py",
        "craftax_classic/world_gen.py",
    ]
    assert surveyed == survey(Survey(StepPath("again"), "craftax_classic", "sharp@1"))
    source = "".join(part.text.text for part in surveyed.source)
    assert "def craftax_step" in source
    language = surveyed.language.text
    for name in (*SCHEMA.enums, *SCHEMA.constants, *SCHEMA.helpers, *SCHEMA.state.members):
        assert name in language
    unshared = {"collect_wood", "eat_cow", "wake_up", "defeat_zombie"}
    for shown in (source, language):
        assert not re.search("achievement|" + "|".join(unshared), shown, re.IGNORECASE)
    assert not re.search("state_rng|timestep|fractal_noise_angles", language)


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed game of two files and a README, which does not count as source."""
    folder = tmp_path / "pebble_game"
    (folder / "rules").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('describing a game must not import it')\n")
    (folder / "rules" / "core.py").write_text("def step(s):\n    r = 1  # secret\n    return s, r\n")
    (folder / "README.md").write_text("pebbles")
    info = tmp_path / "pebble_game-3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pebble-game\nVersion: 3.1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


ORIGIN = Origin({"step": (1,)}, (), (), ("step",))


def test_a_description_covers_every_source_file(game: Path) -> None:
    def digest() -> str:
        return describe_package("pebble-game", "pebble_game", ("rules/core.py",), ORIGIN).source_sha256

    described = describe_package("pebble-game", "pebble_game", ("rules/core.py",), ORIGIN)
    assert (described.package, described.version) == ("pebble-game", "3.1")
    assert [(part.name, part.text) for part in described.parts] == [
        ("pebble_game/rules/core.py", "def step(s):\n    return s\n")
    ]
    first, core = (game / "__init__.py").read_bytes(), (game / "rules" / "core.py").read_bytes()
    expected = b"__init__.py\0%d\0%b" % (len(first), first) + b"rules/core.py\0%d\0%b" % (len(core), core)
    assert described.source_sha256 == hashlib.sha256(expected).hexdigest()
    (game / "README.md").write_text("more pebbles")
    assert digest() == described.source_sha256
    (game / "rules" / "core.py").write_bytes(core.replace(b"r = 1", b"r = 2"))
    edited = digest()
    assert edited != described.source_sha256
    (game / "rules" / "extra.py").touch()
    assert digest() not in (edited, described.source_sha256)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match="pebbles_nobody_has is not installed"):
        describe_package("craftax", "pebbles_nobody_has", (), ORIGIN)
