# ruff: noqa: E501 - programs on one line
"""What only the vet can refuse: against an archive, and on sampled states."""

from __future__ import annotations

from tests.engine.sharp.hostile.shapes import HEAD, SUCCESS, body, member


def _requiring(*names: str, name: str = "Probe") -> str:
    pairs = ", ".join(f"(lambda s: s.stamina > {index + 2}, {known!r})" for index, known in enumerate(names))
    return member(f"requires = [{pairs}]").replace("class Probe", f"class {name}")


FORBIDDEN_BY_ARCHIVE: dict[str, tuple[str, ...]] = {
    "unknown prerequisite": (
        _requiring("Swim"),
        _requiring("rest"),
        _requiring("Rest", "Digg"),
        _requiring(""),
        _requiring("Rest()"),
        _requiring("A\nB"),
        _requiring("Rest\x00"),
        _requiring("__import__('os')"),
        _requiring("Dig.success"),
        member("requires = [(lambda s: s.stamina > 2, Swim)]"),
        member("requires = [(lambda s: s.stamina > 2, open)]"),
    ),
    "self or cyclic prerequisites": (
        _requiring("Probe"),
        _requiring("Rest", "Probe"),
        member("requires = [(lambda s: s.stamina > 2, Probe)]"),
        _requiring("Dig", name="Rest"),
        _requiring("Fire", name="Rest"),
        _requiring("Fire", name="Dig"),
    ),
    "duplicate names": (
        (HEAD + SUCCESS).replace("Probe", "Rest"),
        (HEAD + SUCCESS).replace("Probe", "Dig"),
        body("return state.stamina > 4").replace("Probe", "Fire"),
        _requiring("Rest", name="Dig"),
        "```python\n" + (HEAD + SUCCESS).replace("Probe", "Rest") + "```",
    ),
    "duplicate meanings": (
        body("return not previous.resting and state.resting"),
        body("was = previous.resting\nif not was:\n    return state.resting == True\nreturn False"),
        body("if previous.resting:\n    return False\nreturn state.resting"),
        body("return state.resting if not previous.resting else False"),
        body("x, y = state, previous\nreturn all([x.resting, not y.resting, 1 < 2])"),
    ),
}
"""The archive has Rest (success: ``state.resting and not previous.resting``), Dig (requires Rest) and Fire (requires Dig)."""

WON_AT_RESET: tuple[str, ...] = (
    body("return state.stamina >= 0"),
    body("return state.warmth == state.warmth"),
    body("return state.field.sum() >= 0"),
    body("return state.stamina < 100"),
    body("return (state.field == previous.field).all()"),
    body("return state.resting == previous.resting"),
    body("return jnp.sqrt(state.warmth) >= 0"),
    body("return state.heading in range(5)"),
    body("return any(state.heading == i for i in range(5))"),
    body("return abs(state.stamina) >= 0"),
    body("return state.stamina % 2 in (0, 1)"),
    body("return count_near(state, Tile.MEADOW) >= 0"),
    body("n = 0\nfor tile in Tile:\n    n += (state.field == tile).sum()\nreturn n == 99"),
)
"""True of every state, which only looking at states can show."""
