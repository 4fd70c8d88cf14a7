"""The forms that a text of the language can have: a skill, a flat reward program of a skill, a policy over skills.

All are one class, read by the same compiler under the same budgets; what differs between them is in this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import field, frozen

from engine.sharp.refusals import Refused

Foreign = Mapping[str, tuple[str, str]]


@frozen
class Method:
    """The method that a form is about."""

    name: str
    usage: str


@frozen
class Listed:
    """The class attribute of a form that is a list and has a meaning of its own."""

    name: str
    items: str
    usage: str


@frozen
class Form:
    """One form. ``spellings`` are the names that its base class may have; the first is the right one.

    ``foreign`` holds members of the other forms, with the reason and the advice when one stands here.
    """

    spellings: tuple[str, ...]
    noun: str
    plural: str
    named: str
    least: str
    template: str
    members: str
    method: Method | None
    listed: Listed | None
    foreign: Foreign = field(factory=lambda: MappingProxyType({}))
    instead: Mapping[str, str] = field(factory=lambda: MappingProxyType({}))

    @property
    def base(self) -> str:
        """The base class."""
        return self.spellings[0]

    @property
    def head(self) -> str:
        """How the class begins."""
        return f"class Name({self.base}):"

    def retold(self, refused: Refused) -> Refused:
        """A refusal of the grammar, which all forms share, with this form's advice."""
        if refused.suggestion is not None:
            refused.suggestion = self.advice(refused.suggestion)
        return refused

    def advice(self, text: str) -> str:
        """An advice that was written for skills, for this form."""
        return self.instead.get(text, text).replace("class Name(Sharp):", self.head)


SHARP = Form(
    spellings=("Sharp", "SHARP"),
    noun="a program",
    plural="programs",
    named="skill",
    least="one class with a success method",
    template="write class Name(Sharp): with a docstring, success(self, state, previous) and requires",
    members="constants, methods and requires",
    method=Method("success", "def success(self, state, previous):"),
    listed=Listed("requires", "pairs", 'requires = [(condition, "Prerequisite")]'),
)

FLAT = Form(
    spellings=("Flat", "FLAT", "FRP", "FlatRewardProgram"),
    noun="a flat reward program",
    plural="flat reward programs",
    named="flat reward program",
    least='one class with chain = ["FirstSkill", "SecondSkill"]',
    template='write class Name(Flat): with chain = ["FirstSkill", "SecondSkill"]',
    members="constants and chain",
    method=None,
    listed=Listed("chain", "names", 'chain = ["FirstSkill", "SecondSkill"]'),
    foreign=MappingProxyType(
        {
            "success": (
                "a flat reward program has the success condition of the archived skill that it is named after",
                "leave success out",
            ),
            "requires": (
                "a flat reward program has no conditions and no prerequisites",
                "list every skill on the way in chain, in order",
            ),
            "skill": (
                "a flat reward program does not choose: its order is fixed",
                "list every skill on the way in chain, in order",
            ),
        }
    ),
    instead=MappingProxyType({"return False": "leave it out", "return a value": "leave it out"}),
)

POLICY = Form(
    spellings=("Policy", "POLICY"),
    noun="a policy",
    plural="policies",
    named="policy",
    least="one class with a skill method",
    template="write class Name(Policy): with a docstring and skill(self, state), which returns the name of a skill",
    members="constants and methods",
    method=Method("skill", "def skill(self, state):"),
    listed=None,
    foreign=MappingProxyType(
        {
            "success": (
                "a policy has no success condition: it names the skill to follow",
                'write def skill(self, state): and return a name, such as "DigClay"',
            ),
            "requires": (
                "a policy has no prerequisites: each skill brings its own",
                "leave it out, or test the state in skill(self, state)",
            ),
            "chain": (
                "a policy has no chain: it names one skill for each state",
                "test in skill(self, state) what is still missing, and return the skill that gets it",
            ),
        }
    ),
    instead=MappingProxyType(
        {"return False": "return the name of a skill", "return a value": "return the name of a skill"}
    ),
)

FORMS = (SHARP, FLAT, POLICY)


@frozen
class FormLimits:
    """What forms may use beside the budgets of the language."""

    chain: int = 64


FORM_LIMITS = FormLimits()

FORM_MEANINGS = {"chain": "skills in a chain"}


def form_of(base: str) -> Form | None:
    """The form whose base class has this name."""
    return next((form for form in FORMS if base in form.spellings), None)
