"""Where a payload can stand in a program."""

from __future__ import annotations

HEAD = 'class Probe(Sharp):\n    """A probe."""\n\n'
SUCCESS = "    def success(self, state, previous):\n        return state.resting\n"


def body(text: str) -> str:
    """A program whose success method holds ``text``."""
    inside = text.replace("\n", "\n        ")
    return f"\n{HEAD}    def success(self, state, previous):\n        {inside}\n"


def expression(text: str) -> str:
    """A program that returns ``text``, joined to a condition on the state."""
    return body(f"return state.stamina > 3 and bool({text})")


def member(text: str) -> str:
    """A program with ``text`` in its class, before an honest success method."""
    return HEAD + "".join(f"    {line}\n" for line in text.split("\n")) + SUCCESS


def default(text: str) -> str:
    """A program that hides ``text`` in the default of a helper that nobody calls."""
    return member(f"def helper(self, state, limit={text}):\n    return state.stamina > 3")


def uncalled(text: str) -> str:
    """A program that hides statements in a helper that nobody calls."""
    return member("def helper(self, state):\n    " + text.replace("\n", "\n    "))


def dead(text: str) -> str:
    """A program that hides statements after its return."""
    return body("return state.resting\n" + text)


def required(text: str) -> str:
    """A program with ``text`` as the body of a lambda in requires."""
    return member(f'requires = [(lambda self, state: {text}, "Rest")]')


def item(text: str) -> str:
    """A program with ``text`` as an item of requires."""
    return member(f"requires = [{text}]")


def constant(text: str) -> str:
    """A program with ``text`` as the value of a class constant."""
    return member(f"LIMIT = {text}")


def filtered(text: str) -> str:
    """A program with ``text`` as the filter of a comprehension."""
    return body(f"return any(state.stamina > i for i in range(3) if {text})")


def beside(text: str) -> str:
    """A program with ``text`` at the top, before the class."""
    return text + "\n\n\n" + HEAD + SUCCESS


def annotated(text: str) -> str:
    """A program with ``text`` as the annotation of its result."""
    return HEAD + SUCCESS.replace("previous):", f"previous) -> {text}:")
