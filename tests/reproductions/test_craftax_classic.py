"""The committed recording: whole, re-decided and re-vetted by this code. What it pins cannot change unnoticed."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
from collections import Counter

import attrs
import pytest

from engine.draws import draw
from fm.library import Library, Template
from ledger.verify import verify
from ledger.vocabulary.ask import Ask
from ledger.vocabulary.body import Body
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.events import Event, Step
from ledger.vocabulary.note import Adopted, Failed, Note
from ledger.vocabulary.vet import Vet
from replay.progress import NullDisplay
from replay.runner import performers as performers_module
from replay.runner.agents import Agents
from replay.runner.divergence import DivergenceReport
from replay.runner.drive import Driver
from replay.runner.experiments import factory_of
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.recording import Recording, load
from replay.runner.use import DECIDE, PROGRAMS, Use
from tests.replay.scripted import rewritten

FOLDER = pathlib.Path(__file__).parents[2] / "reproductions" / "craftax_classic"
RUN = FOLDER / "recording"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return load(RUN)


def replayed(recording: Recording, use: Use) -> DivergenceReport:
    agents = Agents()
    try:
        performers = Performers(recording.started.config, agents, NullDisplay(), Interrupts())
        return Driver(recording, performers, use).drive(factory_of(recording.started)).report
    finally:
        agents.close()


def test_every_byte_is_what_the_head_beside_it_says() -> None:
    found = verify(RUN, FOLDER / "HEAD")
    assert found.ok, found.problems
    assert found.status == "finished"


def test_plain_tools_print_it() -> None:
    if shutil.which("zstd") is None:
        pytest.skip("the zstd command is not installed; tests/ledger reads the same bytes with the library")
    files = sorted((RUN / "events").glob("*.zst"))
    joined = b"".join(file.read_bytes() for file in files)
    lines = subprocess.run(["zstd", "-dc"], input=joined, capture_output=True, check=True).stdout.splitlines()
    parsed = [json.loads(line) for line in lines]
    assert sum("event" in line for line in parsed) == verify(RUN).events


def test_this_code_decides_it_again(recording: Recording) -> None:
    assert replayed(recording, DECIDE).divergences == ()


def test_this_code_and_world_vet_it_again(recording: Recording) -> None:
    """Statistics on sampled states are device arithmetic: numeric, so another processor may differ in those alone."""
    assert set(replayed(recording, PROGRAMS).totals) <= {"numeric"}


def test_another_sampler_turns_decide_red(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    def next_one(effect: Draw) -> Drawn:
        return Drawn(tuple((index + 1) % len(effect.weights) for index in draw(effect).indices))

    monkeypatch.setattr(performers_module, "draw", next_one)
    report = replayed(recording, DECIDE)
    draws = [str(each.step.effect.path) for each in recording.steps if isinstance(each.step.effect, Draw)]
    assert list(dict.fromkeys(each.path for each in report.divergences)) == draws
    assert report.totals.keys() == {"decision"}


@pytest.mark.parametrize("role", ["propose", "implement", "judge", "mutate", "implement_mutation"])
def test_another_template_turns_decide_red(recording: Recording, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    genuine = Library.get

    def edited(self: Library, name: str) -> Template:
        template = genuine(self, name)
        return attrs.evolve(template, text=template.text.replace(" the ", " thy ", 1)) if name == role else template

    monkeypatch.setattr(Library, "get", edited)
    report = replayed(recording, DECIDE)
    asked = [each for each in recording.steps if isinstance(each.step.effect, Ask) and each.step.effect.role == role]
    assert [each.path for each in report.divergences] == [str(each.step.effect.path) for each in asked]
    assert report.totals == {"prompt": len(asked)}
    assert "+" in report.divergences[0].diff


def test_one_changed_answer_turns_decide_red_and_names_its_first_consumer(
    recording: Recording, tmp_path: pathlib.Path
) -> None:
    victim = "iteration=1/propose[4]"

    def change(event: Event) -> Event:
        if isinstance(event, Step) and str(event.effect.path) == victim:
            text = event.outcome.content.text.replace('"description": "', '"description": "Quickly: ')  # type: ignore[union-attr]
            return attrs.evolve(event, outcome=attrs.evolve(event.outcome, content=Body(text)))
        return event

    rewritten(RUN, tmp_path / "forged", change)  # type: ignore[arg-type]
    assert verify(tmp_path / "forged").ok, "the forgery is well formed"
    assert not verify(tmp_path / "forged", FOLDER / "HEAD").ok, "the HEAD beside the recording tells"
    report = replayed(load(tmp_path / "forged"), DECIDE)
    assert report.divergences[0].path == "iteration=1/implement[4]"


def test_the_page_counts_what_the_ledger_holds(recording: Recording) -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    effects = [each.step.effect for each in recording.steps]
    asks = [each for each in effects if isinstance(each, Ask)]
    assert f"| requests issued | {len(recording.attempts)} |" in page
    assert f"| answered | {len(asks)} |" in page
    assert not [each for each in asks if "repair=" in each.path.text or "compile=" in each.path.text]
    verdicts = Counter(
        each.step.outcome.program is not None  # type: ignore[union-attr]
        for each in recording.steps
        if isinstance(each.step.effect, Vet)
    )
    assert f"| programs vetted | {sum(verdicts.values())}: {verdicts[True]} accepted" in page
    for decision in (each.decision for each in effects if isinstance(each, Note)):
        if isinstance(decision, Failed) and decision.stage == "learnability":
            assert re.search(rf"\| {decision.name} \|.*no learning progress", page)
        if isinstance(decision, Adopted):
            rates = f"{decision.parent.successes}/{decision.parent.episodes} → {decision.mutant.successes}/"
            assert f"{decision.program.name} ({rates}" in page
