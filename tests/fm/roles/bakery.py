"""An invented world for the tests of prompts: the bakery of the primer's example, with a small archive."""

from __future__ import annotations

from fm.library import Library
from fm.roles import implement, implement_mutation, judge, mutate, propose, repair
from fm.roles.context import Context, FailureCard, SkillCard
from ledger.vocabulary.ask import Ask, Part, Reply, Sampling
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Refusal

MODEL = FoundationModel("invented-model", Sampling(temperature=0.7, max_tokens=4096))
HERE = Path("iteration=3/propose[0]")


def fetching(thing: str) -> str:
    """The program of a skill that fetches one ``thing``."""
    return (
        f'class Fetch{thing.capitalize()}(Sharp):\n    """Fetch one measure of {thing}."""\n\n'
        f"    def success(self, state, previous):\n"
        f"        return state.larder.{thing} > previous.larder.{thing}\n"
    )


KNEAD = '''class KneadDough(Sharp):
    """Knead two measures of flour and one of yeast into a piece of dough."""

    def success(self, state, previous):
        return state.larder.dough > previous.larder.dough

    def has_flour(self, state):
        return state.larder.flour >= 1

    requires = [(has_flour, "FetchFlour")]
'''

FLOUR = SkillCard("FetchFlour", "Fetch one measure of flour.", fetching("flour"), (), 96, 128)
YEAST = SkillCard("FetchYeast", "Fetch one measure of yeast.", fetching("yeast"), (), 31, 128)
DOUGH = SkillCard("KneadDough", "Knead dough from\n flour and yeast.", KNEAD, ("FetchFlour",), 0, 0)

SOURCE = (
    Part("bakery/rules.py", Body("# kneading uses two measures of flour and one of yeast\nFLOUR_PER_DOUGH = 2\n")),
    Part("bakery/state.py", Body("class Larder:\n    flour: int\n    yeast: int\n    dough: int\n")),
)
CONTEXT = Context(
    world="bakery",
    source=SOURCE,
    language=Body("Programs are one class each. Fields: larder.flour, larder.yeast, larder.dough."),
    archive=(FLOUR, YEAST, DOUGH),
    failures=(FailureCard("BakeCake", "Bake a cake.", "learnability", "0 of 128 before, 1 of 128 after training"),),
    documents=(Part("handbook", Body("Bakers rise early.")),),
)
EMPTY = Context(world="bakery", source=SOURCE, language=CONTEXT.language)

PROPOSAL = propose.Proposal(
    "BakeLoaf",
    "Bake a piece of dough into a loaf.",
    "state.larder.loaves is greater than previous.larder.loaves",
    (("state.larder.dough is at least 1", "KneadDough"),),
)
CANDIDATES = (
    judge.Candidate("a", "BakeLoaf", "Bake a loaf.", fetching("loaves"), "accepted"),
    judge.Candidate("b", "FetchSalt", "Fetch salt.", fetching("salt"), "refused: larder has no field salt"),
)
MUTATION = mutate.Mutation(
    "Kneading uses two measures of flour, so the condition asks for two.",
    (("state.larder.flour is at least 2", "FetchFlour"), ("state.larder.yeast is at least 1", "FetchYeast")),
)
REFUSAL = Refusal("unknown name", 3, 22, "larder has no field salt", "did you mean larder.yeast?")


def said(text: str) -> Reply:
    """A finished reply with this content."""
    return Reply(Body(text), "stop")


def calls(library: Library) -> dict[str, Ask]:
    """One call of every role, by the name of its golden file."""
    answer = "<think>Salt?</think>\n```python\nclass FetchSalt(Sharp):\n    ...\n```"
    implementing = implement.ask(Path("iteration=3/implement[0]"), CONTEXT, PROPOSAL, library, MODEL)
    repairing = repair.ask(
        Path("iteration=3/implement[0]/repair=1"), implementing, said(answer), "a reason", library, MODEL
    )
    return {
        "propose": propose.ask(HERE, CONTEXT, "making", library, MODEL, ("StokeOven", "GoToOven")),
        "propose_first": propose.ask(HERE, EMPTY, "gathering", library, MODEL),
        "implement": implementing,
        "judge": judge.ask(Path("iteration=3/judge"), CONTEXT, CANDIDATES, 2, library, MODEL),
        "mutate": mutate.ask(Path("iteration=3/mutate[0]"), CONTEXT, DOUGH, "tighten a condition", library, MODEL),
        "implement_mutation": implement_mutation.ask(
            Path("iteration=3/mutant[0]"), CONTEXT, DOUGH, MUTATION, library, MODEL
        ),
        "repair": repairing,
    }
