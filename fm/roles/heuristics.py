"""Skill categories and mutation heuristics, independent of any world.

Paper 000 says that both sets exist (sections 2.3 and 2.4) and gives three examples of mutation heuristics: reordering
conditions, substituting prerequisites, inserting missing pairs. The sets themselves are not public: these are our
reconstruction. Loops draw an index into them, so an entry never changes or moves once released; the digests in
``fm/prompts/RELEASED.toml`` hold them to that.
"""

from __future__ import annotations

import hashlib
from typing import Final

from attrs import frozen

from fm.library import nearest


@frozen
class Heuristic:
    """A direction for the model: a ``name`` for the records and one sentence of ``guidance`` for the prompt."""

    name: str
    guidance: str


CATEGORIES: Final[tuple[Heuristic, ...]] = (
    Heuristic(
        "gathering",
        "Obtain something that the world holds in its raw form and that the agent can carry, bank or count, including "
        "a larger amount of something that later skills use up.",
    ),
    Heuristic(
        "making",
        "Turn what the agent has into something else, such as a tool, a product or a better version of an item, by "
        "whatever action or rule of the world does that.",
    ),
    Heuristic(
        "building",
        "Change the surroundings for good or for a while by adding, removing or transforming what stands somewhere, "
        "where the change is useful or opens up something new.",
    ),
    Heuristic(
        "moving",
        "Get to a particular kind of place, next to a particular kind of thing, or into a particular position or "
        "orientation from which another skill can be carried out.",
    ),
    Heuristic(
        "exploring",
        "Reach or uncover parts of the world that the agent does not normally get to see, such as another area, a far "
        "region or the other side of a barrier.",
    ),
    Heuristic(
        "staying alive",
        "Restore, maintain or protect the quantities that the agent loses over time or must not lose, in situations "
        "where that takes deliberate behaviour.",
    ),
    Heuristic(
        "facing others",
        "Deal with something that moves or acts by itself: overcome it, avoid it, shield against it, use it or come "
        "close to it, as the rules of the world allow.",
    ),
    Heuristic(
        "using tools",
        "Do something that is only possible, or clearly quicker, with an item, ability or upgrade that the agent must "
        "obtain first, or obtain the next better one.",
    ),
    Heuristic(
        "overcoming obstacles",
        "Get past, open, remove or bridge whatever keeps the agent from a place or a thing, by meeting the condition "
        "that the world sets for it.",
    ),
    Heuristic(
        "preparing",
        "Bring about a combination of things that holds at one and the same time, such as several stocks, a stock and "
        "a position, or full reserves, because a demanding later skill needs it.",
    ),
    Heuristic(
        "rare opportunities",
        "Exploit a mechanism in the source code that seldom comes into play, such as an unusual interaction, a "
        "time-dependent event or a side effect that no skill in the archive makes use of.",
    ),
    Heuristic(
        "long horizon",
        "Combine the most advanced skills of the archive into the next step beyond them: the deepest goal whose "
        "immediate prerequisites the archive already covers.",
    ),
)
"""What a proposal is conditioned on; drawn uniformly with replacement."""

MUTATION_HEURISTICS: Final[tuple[Heuristic, ...]] = (
    Heuristic(
        "reorder conditions",
        "Change the order of the pairs: what takes long to obtain and then lasts belongs first, what is cheap to "
        "restore or easily lost on the way (a position, a temporary state) belongs last.",
    ),
    Heuristic(
        "substitute a prerequisite",
        "Replace a prerequisite by another skill of the archive that makes its condition true more directly or more "
        "reliably, above all by one that was added after this skill was written.",
    ),
    Heuristic(
        "insert a missing pair",
        "Find something that the success condition needs according to the source code and that no condition checks "
        "yet, and add the pair of condition and prerequisite for it at the right position.",
    ),
    Heuristic(
        "drop a superfluous pair",
        "Remove a pair that is not needed for success, that is already implied by another one, or that sends the agent "
        "on a detour before something it could do at once.",
    ),
    Heuristic(
        "tighten a condition",
        "Find a condition that is met too early, for example because it asks for a smaller amount than the action uses "
        "up or ignores a second need, and make it ask for what is really needed.",
    ),
    Heuristic(
        "loosen a condition",
        "Find a condition that is hardly ever met, or that turns false again while the agent carries on, and make it "
        "ask for no more than what is really needed.",
    ),
    Heuristic(
        "match condition and prerequisite",
        "Find a pair whose prerequisite can succeed without making the condition true, so that the router calls it "
        "again and again, and change the condition or the prerequisite until they agree.",
    ),
    Heuristic(
        "stop oscillation",
        "Find two pairs whose prerequisites undo each other's work, so that the router swings between them, and break "
        "the loop by changing amounts, order or prerequisites.",
    ),
    Heuristic(
        "split a condition",
        "Take a condition that demands several things at once and replace it by several pairs, each with the "
        "prerequisite that provides exactly that thing.",
    ),
    Heuristic(
        "allow for alternatives",
        "Find a condition that insists on one way although the source code accepts others, or on something that the "
        "world varies from episode to episode, and let it be met by any of the ways.",
    ),
)
"""What a mutation is conditioned on: failure modes that recur in any world."""


def category_named(name: str) -> Heuristic:
    """The skill category of that name.

    Raises:
        ValueError: if there is none; the message gives the nearest name.
    """
    return _named(name, CATEGORIES, "skill category")


def mutation_heuristic_named(name: str) -> Heuristic:
    """The mutation heuristic of that name.

    Raises:
        ValueError: if there is none; the message gives the nearest name.
    """
    return _named(name, MUTATION_HEURISTICS, "mutation heuristic")


def digest(heuristics: tuple[Heuristic, ...]) -> str:
    """SHA-256 of names and guidance in order, as listed in ``fm/prompts/RELEASED.toml``."""
    text = "\n".join(f"{heuristic.name}: {heuristic.guidance}" for heuristic in heuristics)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _named(name: str, heuristics: tuple[Heuristic, ...], kind: str) -> Heuristic:
    for heuristic in heuristics:
        if heuristic.name == name:
            return heuristic
    names = [heuristic.name for heuristic in heuristics]
    raise ValueError(f"{name!r} is no {kind}{nearest(name, names)}; there are: {', '.join(names)}")
