"""Parameters and functions that served only rewards go, and nothing that anything else needs does."""

from __future__ import annotations

import pytest

from engine.worlds.stripping import Origin, strip

ORIGIN = Origin(returned={"step": (1,)}, fields=("medals",), enums=(), roots=("step",))


def stripped(text: str, origin: Origin = ORIGIN) -> str:
    """The stripped text of one file; stripping it again changes nothing."""
    result = strip({"g.py": text}, origin)
    again = strip(result.texts, Origin({}, origin.fields, origin.enums, origin.roots))
    assert again.texts == result.texts
    return result.texts["g.py"]


def test_a_parameter_read_for_rewards_only_goes_with_its_arguments() -> None:
    text = """
def dig(state, deep, counts, soft):
    state = state.replace(depth=state.depth + deep * soft)
    medals = state.medals | counts
    return state.replace(medals=medals)

def step(state, action):
    tired = state.health < 3
    fresh = not tired
    state = dig(state, action, fresh, 2)
    state = dig(state, action, counts=True, soft=1)
    return state, 0
"""
    assert (
        stripped(text)
        == """def dig(state, deep, soft):
    state = state.replace(depth=state.depth + deep * soft)
    return state.replace()

def step(state, action):
    state = dig(state, action, 2)
    state = dig(state, action, soft=1)
    return state
"""
    )


def test_a_chain_of_parameters_goes_link_by_link() -> None:
    text = """
def inner(state, scale):
    return state.replace(depth=state.depth + 1, medals=scale)

def outer(state, scale):
    return inner(state, scale + 1)

def step(state, action):
    return outer(state, action), 0
"""
    assert "scale" not in stripped(text)
    assert "    return outer(state)\n" in stripped(text)


def test_a_function_that_only_hands_back_its_argument_goes() -> None:
    text = """
def count_medals(state, limit):
    medals = state.medals + limit
    return state.replace(medals=medals)

def step(state, action):
    state = state.replace(depth=action)
    state = count_medals(state, 3)
    if action:
        state = count_medals(state, 4)
    return count_medals(state, 5), 0
"""
    assert (
        stripped(text)
        == """def step(state, action):
    state = state.replace(depth=action)
    if action:
        pass
    return state
"""
    )


@pytest.mark.parametrize(
    "kept",
    [
        "def dig(state, counts):\n    return state\n",
        "def dig(state, counts):\n    return state.replace(depth=counts)\n",
    ],
)
def test_what_never_served_rewards_stays(kept: str) -> None:
    text = kept + "\ndef step(state, action):\n    state = dig(state, action)\n    return state, 0\n"
    assert stripped(text).startswith(kept)


@pytest.mark.parametrize(
    "use",
    ["apply(dig, state)", "dig(*state)", "dig(state, counts=2)", "dig(state, **action)"],
    ids=["handed on", "starred", "defaults", "keywords"],
)
def test_functions_that_are_not_plainly_called_keep_their_parameters(use: str) -> None:
    default = "=1" if "counts=2" in use else ""
    text = f"""
def dig(state, counts{default}):
    return state.replace(depth=1, medals=counts)

def step(state, action):
    state = dig(state, 3)
    state = {use}
    return state, 0
"""
    assert f"def dig(state, counts{default}):" in stripped(text)


def test_a_local_function_of_the_same_name_is_left_alone() -> None:
    text = """
def dig(state, counts):
    return state.replace(depth=1, medals=counts)

def step(state, action):
    def dig(state, counts):
        return state.replace(depth=counts)
    return dig(state, action), 0
"""
    assert "        return state.replace(depth=counts)\n" in stripped(text)
    assert "dig(state, action)" in stripped(text)


def test_a_root_keeps_its_parameters() -> None:
    text = (
        "def step(state, action, goal):\n    medals = state.medals + goal\n    return state.replace(medals=medals), 0\n"
    )
    assert stripped(text).startswith("def step(state, action, goal):\n")
