"""What the study works on: hand-written skills, their flat chains, and their success conditions alone."""

from __future__ import annotations

import ast
from pathlib import Path

from attrs import frozen

from ledger.vocabulary.ask import Part
from ledger.vocabulary.body import Body

HERE = Path(__file__).parent

ORDER = (
    "GatherWood",
    "PlaceTable",
    "MakeWoodPickaxe",
    "MakeWoodSword",
    "CollectStone",
    "PlaceStone",
    "MakeStonePickaxe",
    "MakeStoneSword",
    "CollectCoal",
    "PlaceFurnace",
    "CollectIron",
    "MakeIronPickaxe",
    "CollectDiamond",
    "DrinkWater",
    "HitCow",
    "EatCow",
    "CollectSapling",
    "PlantSapling",
)
"""The skills of Craftax-Classic, every one after its prerequisites."""


@frozen
class Item:
    """One skill in three texts: with prerequisites, as a flat chain, and by its success condition alone."""

    name: str
    skill: str
    chain: str

    @property
    def goal(self) -> str:
        """The success condition alone."""
        return success_only(self.skill)


Material = tuple[Item, ...]
"""Every skill, after its prerequisites."""


def craftax_classic() -> Material:
    """The material of the study, read from the files beside this module."""
    return tuple(
        Item(name, *((HERE / folder / f"{name}.sharp").read_text("utf-8") for folder in ("skills", "chains")))
        for name in ORDER
    )


def success_only(text: str) -> str:
    """A skill's text without ``requires`` and without the methods that ``requires`` names; other lines stay.

    Raises:
        ValueError: if the text is not one class.
    """
    tree = ast.parse(text)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.ClassDef):
        raise ValueError("a skill of this study is one class and nothing else")
    gone: set[int] = set()
    assigned = [node for node in tree.body[0].body if isinstance(node, ast.Assign) and _assigns_requires(node)]
    conditions = {name.id for node in assigned for name in ast.walk(node.value) if isinstance(name, ast.Name)}
    for node in tree.body[0].body:
        if node in assigned or (isinstance(node, ast.FunctionDef) and node.name in conditions):
            assert node.end_lineno is not None
            gone.update(range(node.lineno, node.end_lineno + 1))
    kept = [line for number, line in enumerate(text.splitlines(), start=1) if number not in gone]
    return "\n".join(kept).rstrip() + "\n"


def _assigns_requires(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "requires" for target in node.targets)


# --- in a ledger -----------------------------------------------------------------------------------------------------


def documents(arm: str, material: Material) -> tuple[Part, ...]:
    """What a run of the study is given, as its ``Started`` event holds it."""
    found = [Part("arm", Body(arm))]
    for item in material:
        found += [Part(f"skill/{item.name}", Body(item.skill)), Part(f"chain/{item.name}", Body(item.chain))]
    return tuple(found)


def given(parts: tuple[Part, ...]) -> tuple[str, Material]:
    """The arm and the material of a run's documents.

    Raises:
        KeyError: if the documents are not those of a run of this study.
    """
    texts = {part.name: part.text.text for part in parts}
    names = [part.name.removeprefix("skill/") for part in parts if part.name.startswith("skill/")]
    return texts["arm"], tuple(Item(name, texts[f"skill/{name}"], texts[f"chain/{name}"]) for name in names)
