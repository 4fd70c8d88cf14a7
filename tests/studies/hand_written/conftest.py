"""The corridor as a world that runs can name, and its three skills as material of the study."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.worlds import registry
from tests.studies.hand_written.material import Item, Material
from tests.tiny_worlds import PROGRAMS, Corridor

CHAINS = {
    "TakeKey": ("TakeKey",),
    "OpenDoor": ("TakeKey", "OpenDoor"),
    "LightLamp": ("TakeKey", "OpenDoor", "LightLamp"),
}


def flat(name: str, *chain: str) -> str:
    """The text of a flat reward program."""
    return f'class {name}(Flat):\n    """Text."""\n\n    chain = {list(chain)}\n'


@pytest.fixture(scope="package")
def corridor() -> Corridor:
    """Starts differ from episode to episode."""
    return Corridor(random_start=True)


@pytest.fixture(scope="package")
def named_corridor(corridor: Corridor) -> Iterator[Corridor]:
    """The corridor, found by its name."""
    entry = registry.Entry(lambda: corridor, lambda: pytest.fail("nobody surveys the corridor"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "WORLDS", {**registry.WORLDS, corridor.name: entry})
        yield corridor


@pytest.fixture(scope="package")
def material() -> Material:
    """Each skill requires the one before it."""
    return tuple(Item(name, PROGRAMS[name], flat(name, *CHAINS[name])) for name in PROGRAMS)
