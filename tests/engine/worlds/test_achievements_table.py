"""The paper's numbers are quoted where its text gives them, and nowhere else."""

from __future__ import annotations

from engine.worlds.achievements_table import NOT_PUBLIC, PAPER_NUMBERS, PAPER_OVERALL, paper_number
from engine.worlds.craftax_classic import CraftaxClassic


def test_three_of_twenty_two_achievements_are_public(classic: CraftaxClassic) -> None:
    numbers = {name: paper_number(name) for name in classic.achievement_names}
    assert set(PAPER_NUMBERS) <= set(numbers)
    assert {name: number.text for name, number in numbers.items() if number is not NOT_PUBLIC} == {
        "collect_diamond": "16% (single runs up to 39%)",
        "make_iron_pickaxe": "over 94%",
        "make_iron_sword": "over 94%",
    }
    assert sum(number.text == "not public" for number in numbers.values()) == 19


def test_totals_are_those_of_section_3_1() -> None:
    assert {method: (total.median, total.mean) for method, total in PAPER_OVERALL.items()} == {
        "CODE-SHARP": ("94.8", "67.2"),
        "CODE-FRP": ("38.9", "44.2"),
        "OMNI": ("15.8", "39.2"),
        "ELLM": ("8.1", "39.8"),
    }
    assert {number.cited for number in PAPER_NUMBERS.values()} == {"paper 000, section 3.1"}
    assert {total.cited for total in PAPER_OVERALL.values()} == {"paper 000, section 3.1"}
