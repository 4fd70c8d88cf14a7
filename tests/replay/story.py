"""A small run told by hand, with an archive of five skills and names that a terminal must not obey."""

from __future__ import annotations

from pathlib import Path as Folder

from ledger.vocabulary.ask import Ask, Part, Reply, Sampling
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.events import Arrived, Attempt, Event, Fact, Finished, Progress, Session, Started, Step, Usage
from ledger.vocabulary.note import Admitted, Adopted, Decision, Failed, Kept, Note, Noted, Rate, Rates
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Program, Refusal, Requirement, Vet, Vetted
from ledger.writer import Writer

ESCAPE = "\x1b[2J\x1b]0;owned\x07"
HOSTILE = f"{ESCAPE}[bold]Evil$x_{{\u202e\ud800\n\x7f<script>"
"""Clears a screen, sets a title, is markup, unfinished mathematics, reversed text, half a character, two lines."""


def program(name: str, *requires: str, source: str = "class X(Sharp): ...") -> Program:
    """An accepted program with these prerequisites."""
    pairs = tuple(Requirement(f"has_{index}", f"c{index}", each) for index, each in enumerate(requires))
    return Program(name, f"{name} it.", Body(source), f"source-{name}", f"meaning-{name}", pairs, "r", (), ())


def note(path: str, decision: Decision) -> Step:
    """A step that notes a decision."""
    return Step(Note(Path(path), decision), Noted())


def admitted(iteration: int, index: int, name: str, *requires: str, successes: int = 20) -> Step:
    """A skill enters the archive."""
    path = f"iteration={iteration}/fate-candidate[{index}]"
    return note(path, Admitted(program(name, *requires), "tools", Rate(0, 40), Rate(successes, 40), 0.01))


def failed(iteration: int, index: int, stage: str, name: str = "Wave") -> Step:
    """A proposal ends."""
    path = f"iteration={iteration}/fate-candidate[{index}]"
    return note(path, Failed(name, "d", "tools", stage, f"because of {HOSTILE}"))


def ask(path: str) -> Ask:
    """A call."""
    return Ask(Path(path), "propose", "propose@1", (Part("task", Body("Ring.")),), "some-model", Sampling(), None)


STEPS: tuple[Step, ...] = (
    Step(Draw(Path("iteration=0/categories"), "category", 0, (1.0, 1.0), 2), Drawn((1, 0))),
    Step(ask("iteration=0/propose[0]"), Reply(Body(f"I say {HOSTILE}"), "stop")),
    Step(
        Vet(Path("iteration=0/vet[0]"), "corridor", "sharp@1", Body("x"), ()),
        Vetted(None, Refusal("unknown name", 3, 9, f"no {HOSTILE}", "TakeKey")),
    ),
    admitted(0, 0, "TakeKey", successes=36),
    failed(0, 1, "judge"),
    failed(0, 2, "compile"),
    note("iteration=0/rates", Rates(("TakeKey",), (Rate(30, 40),))),
    admitted(1, 0, "OpenDoor", "TakeKey", successes=12),
    failed(1, 1, "learnability"),
    failed(1, 2, "propose", HOSTILE),
    note("iteration=1/rates", Rates(("TakeKey", "OpenDoor"), (Rate(38, 40), Rate(20, 40)))),
    note("iteration=1/mutation[0]/outcome", Kept("TakeKey", Rate(30, 40), None, 0)),
    admitted(12, 0, "LightLamp", "OpenDoor", "TakeKey", successes=4),
    admitted(12, 1, "Wave", successes=8),
    failed(12, 2, "strange stage"),
    note(
        "iteration=12/rates",
        Rates(("TakeKey", "OpenDoor", "LightLamp", "Wave"), (Rate(40, 40), Rate(30, 40), Rate(0, 40), Rate(9, 40))),
    ),
    note(
        "iteration=12/mutation[0]/outcome",
        Adopted(program("Wave", "OpenDoor"), "add a requirement", Rate(9, 40), Rate(25, 40)),
    ),
)

EVENTS: tuple[Event, ...] = (
    Started("code_sharp", "code_sharp@1", Config(world="corridor")),
    Session("run", (Fact("transport", "mailbox"), Fact("device", HOSTILE))),
    Attempt(ask("iteration=0/propose[0]")),
    *STEPS[:4],
    Arrived(Path("iteration=0/propose[9]"), Reply(None, "content_filter", refusal=HOSTILE)),
    *STEPS[4:],
    Progress(Path("iteration=12/train/epoch=0"), 64, 128, None, ()),
    Finished(13, ("TakeKey", "OpenDoor", "LightLamp", "Wave"), Path("iteration=12/train/epoch=0")),
)


def write(directory: Folder, events: tuple[Event, ...] = EVENTS, status: str = "finished") -> Folder:
    """Write the run and return its folder."""
    with Writer.create(directory) as writer:
        for event in events:
            writer.append(event, usage=Usage(10, 2) if isinstance(event, Step) else None)
        writer.close(status)
    return directory
