"""The runner: run, resume, decide, strict, forced through one interpreter; every check is seen to bite."""

from __future__ import annotations

import pathlib
import random
import threading
import time
from collections.abc import Callable

import attrs
import pytest

from fm.budget import Budget
from fm.errors import BudgetExceeded, TransportFailure
from fm.library import Library, Template
from ledger import reader
from ledger.digest import semantic_digest
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.evaluate import Evaluated
from ledger.vocabulary.events import AnyOutcome, Arrived, Attempt, Event, Finished, Started, Step
from ledger.vocabulary.note import Admitted, Adopted, Failed, Kept, Note
from ledger.vocabulary.train import Train, Trained
from ledger.vocabulary.vet import Vet, Vetted
from ledger.writer import Writer
from replay.runner import performers as performers_module
from replay.runner.divergence import DivergenceClass, Stopped
from replay.runner.experiments import factory_of
from replay.runner.interrupt import Interrupted, Interrupts
from replay.runner.recording import Disordered, load
from replay.runner.use import DECIDE, FORCED, PROGRAMS, STRICT
from tests.replay.scripted import CONFIG, QuickPerformers, ScriptedModel, answer, replay, resume, rewritten, run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    directory = tmp_path_factory.mktemp("recorded") / "run"
    run(directory)
    return directory


def steps(directory: pathlib.Path) -> list[Step]:
    return [record.event for record in reader.read(directory) if isinstance(record.event, Step)]


def decisions(directory: pathlib.Path) -> list[object]:
    return [each.effect.decision for each in steps(directory) if isinstance(each.effect, Note)]


def test_the_loop_grows_an_archive_with_prerequisites(recorded: pathlib.Path) -> None:
    finished = load(recorded).finished
    assert finished is not None
    assert finished.skills == ("TakeKey", "OpenDoor", "LightLamp")[: len(finished.skills)]
    assert len(finished.skills) >= 2
    made = decisions(recorded)
    assert any(isinstance(each, Admitted) for each in made)
    assert any(isinstance(each, Failed) and each.stage == "judge" for each in made)
    assert any(isinstance(each, Adopted | Kept) for each in made)


def test_every_stage_of_the_method_is_in_the_ledger(recorded: pathlib.Path) -> None:
    roles = {each.effect.role for each in steps(recorded) if isinstance(each.effect, Ask)}
    assert roles == {"propose", "implement", "judge", "mutate", "implement_mutation"}
    paths = [str(each.effect.path) for each in steps(recorded)]
    assert any("repair=1" in path for path in paths), "an unreadable reply goes back with its reason"
    assert any("compile=1" in path for path in paths), "a refused program goes back to the implementor"


@pytest.mark.parametrize("use", [DECIDE, PROGRAMS, STRICT, FORCED], ids=lambda use: use.name)
def test_an_untouched_recording_replays_without_difference(recorded: pathlib.Path, use: object) -> None:
    replayed = replay(recorded, use)  # type: ignore[arg-type]
    assert replayed.finished == load(recorded).finished
    assert replayed.report.divergences == ()
    assert replayed.recomputed, "something was really recomputed"


def test_replay_performs_no_call(recorded: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refused(*args: object, **kwargs: object) -> None:
        raise AssertionError("a replay opened a socket")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert replay(recorded, STRICT).finished is not None


# --- decide turns red and names the place ----------------------------------------------------------------------------


def test_a_changed_sampler_turns_decide_red(recorded: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rotated(effect: Draw) -> Drawn:
        count = len(effect.weights)
        from engine.draws import draw

        return Drawn(tuple((index + 1) % count for index in draw(effect).indices))

    monkeypatch.setattr(performers_module, "draw", rotated)
    found = replay(recorded, DECIDE).report
    assert found.totals.keys() == {"decision"}
    assert found.divergences[0].path == "iteration=0/categories"
    assert found.divergences[0].side == "outcome"


def test_a_changed_template_turns_decide_red_with_a_diff(
    recorded: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = Library.get

    def changed(self: Library, name: str) -> Template:
        template = genuine(self, name)
        return attrs.evolve(template, text=template.text + "\nBe brief.") if name == "judge" else template

    monkeypatch.setattr(Library, "get", changed)
    found = replay(recorded, DECIDE).report
    assert found.totals.keys() == {"prompt"}
    assert {each.path.split("/")[1] for each in found.divergences} == {"judge"}
    assert "+Be brief." in found.divergences[0].diff


def changed_reply(path: str, old: str, new: str) -> Callable[[Event], Event]:
    def change(event: Event) -> Event:
        if isinstance(event, Step) and isinstance(event.outcome, Reply) and str(event.effect.path) == path:
            assert event.outcome.content is not None
            assert old in event.outcome.content.text
            text = event.outcome.content.text.replace(old, new)
            return attrs.evolve(event, outcome=attrs.evolve(event.outcome, content=Body(text)))
        return event

    return change


@pytest.mark.parametrize(
    ("path", "old", "new", "first"),
    [
        ("iteration=0/propose[0]", "TakeKey.", "Take it.", "iteration=0/implement[0]"),
        ("iteration=0/implement[0]", ">", ">=", "iteration=0/vet[0]"),
        ("iteration=0/judge", "the first is right", "no reason", "iteration=0/judged"),
    ],
)
def test_a_changed_answer_turns_decide_red_at_its_first_consumer(
    recorded: pathlib.Path, tmp_path: pathlib.Path, path: str, old: str, new: str, first: str
) -> None:
    forged = tmp_path / "forged"
    rewritten(recorded, forged, changed_reply(path, old, new))
    found = replay(forged, DECIDE).report
    assert found.divergences, "the forged answer went unnoticed"
    assert found.divergences[0].path == first


def test_a_dropped_and_a_duplicated_step_are_structure(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    victim = "iteration=0/vet[0]"

    def drop(event: Event) -> Event | None:
        return None if isinstance(event, Step) and str(event.effect.path) == victim else event

    rewritten(recorded, tmp_path / "dropped", drop)  # type: ignore[arg-type]
    with pytest.raises(Stopped) as stopped:
        replay(tmp_path / "dropped", DECIDE)
    assert stopped.value.divergences[-1].kind is DivergenceClass.STRUCTURE
    assert stopped.value.divergences[-1].path == victim
    with Writer.create(tmp_path / "doubled") as writer:
        for record in reader.read(recorded):
            twice = isinstance(record.event, Step) and str(record.event.effect.path) == victim
            for _ in range(1 + twice):
                writer.append(record.event, source=record.source, usage=record.usage)
    with pytest.raises(Stopped) as stopped:
        replay(tmp_path / "doubled", DECIDE)
    assert stopped.value.divergences[-1].kind is DivergenceClass.STRUCTURE
    assert victim in stopped.value.divergences[-1].recorded


def test_another_verdict_is_a_program_divergence(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def change(event: Event) -> Event:
        if isinstance(event, Step) and isinstance(event.effect, Vet) and str(event.effect.path) == "iteration=0/vet[0]":
            program = attrs.evolve(event.outcome.program, meaning="0" * 64)
            return attrs.evolve(event, outcome=attrs.evolve(event.outcome, program=program))
        return event

    rewritten(recorded, tmp_path / "forged", change)  # type: ignore[arg-type]
    found = replay(tmp_path / "forged", PROGRAMS).report
    assert DivergenceClass.PROGRAM in {each.kind for each in found.divergences}
    assert found.of(DivergenceClass.PROGRAM)[0].path == "iteration=0/vet[0]"
    assert found.of(DivergenceClass.PROGRAM)[0].field == "program.meaning"


def forged_step(path: str, change: Callable[[Step], Step]) -> Callable[[Event], Event]:
    def changed(event: Event) -> Event:
        return change(event) if isinstance(event, Step) and str(event.effect.path) == path else event

    return changed


def test_a_step_marked_as_edited_is_recomputed_all_the_same(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The envelope is outside the semantic digest, so what it says must exempt nothing."""
    victim = "iteration=0/categories"
    with Writer.create(tmp_path / "forged") as writer:
        for record in reader.read(recorded):
            event, source = record.event, record.source
            if isinstance(event, Step) and str(event.effect.path) == victim:
                event, source = attrs.evolve(event, outcome=Drawn((0, 0, 0))), "edited"
            writer.append(event, source=source, usage=record.usage)
        writer.commit()
        writer.close("finished")
    found = replay(tmp_path / "forged", DECIDE).report
    assert (found.divergences[0].path, found.divergences[0].side) == (victim, "outcome")


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("iteration=0/categories", Drawn((0, 10**6, 0))),
        ("iteration=1/mutation[0]/skill", Drawn(())),
        ("iteration=0/vet[0]", Vetted(None, None)),
        ("final/evaluate", Evaluated((), 1)),
    ],
    ids=["an index beyond its range", "nothing drawn", "no verdict", "no rows"],
)
def test_outcomes_that_no_performer_gives_are_structure_and_no_crash(
    recorded: pathlib.Path, tmp_path: pathlib.Path, path: str, outcome: AnyOutcome
) -> None:
    rewritten(recorded, tmp_path / "forged", forged_step(path, lambda step: attrs.evolve(step, outcome=outcome)))  # type: ignore[arg-type]
    with pytest.raises(Stopped) as stopped:
        replay(tmp_path / "forged", DECIDE)
    last = stopped.value.divergences[-1]
    assert last.kind is DivergenceClass.STRUCTURE
    paths = [str(each.effect.path) for each in steps(recorded)]
    assert 0 <= paths.index(last.path) - paths.index(path) <= 3, "named where it is used, at most a group later"


def test_a_forged_effect_is_not_performed(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A draw of 10**11 indices would not fit into memory."""
    path = "iteration=0/categories"

    def greedy(step: Step) -> Step:
        return attrs.evolve(step, effect=attrs.evolve(step.effect, count=10**11))

    rewritten(recorded, tmp_path / "forged", forged_step(path, greedy))  # type: ignore[arg-type]
    found = replay(tmp_path / "forged", DECIDE).report
    assert [(each.path, each.side, each.field) for each in found.divergences] == [(path, "effect", "count")]


@pytest.mark.parametrize("fault", ["two beginnings", "an end in the middle", "no end", "a step before the beginning"])
def test_semantic_events_in_another_order_are_refused(
    recorded: pathlib.Path, tmp_path: pathlib.Path, fault: str
) -> None:
    events = [record.event for record in reader.read(recorded)]
    started, finished = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(finished, Finished)
    step = next(event for event in events if isinstance(event, Step))
    changed: dict[str, list[Event]] = {
        "two beginnings": [started, attrs.evolve(started, config=attrs.evolve(CONFIG, seed=99)), *events[1:]],
        "an end in the middle": [*events[:40], finished, *events[40:-1]],
        "no end": events[:-1],
        "a step before the beginning": [step, started],
    }
    with Writer.create(tmp_path / "forged") as writer:
        for event in changed[fault]:
            writer.append(event)
        writer.commit()
        writer.close("finished")
    with pytest.raises(Disordered):
        load(tmp_path / "forged")


def test_another_version_of_the_loop_is_an_environment_divergence(recorded: pathlib.Path) -> None:
    started = attrs.evolve(load(recorded).started, logic="code_sharp@999")
    with pytest.raises(Stopped) as stopped:
        factory_of(started)
    assert stopped.value.divergences[0].kind is DivergenceClass.ENVIRONMENT


# --- training --------------------------------------------------------------------------------------------------------


class Perturbed(QuickPerformers):
    """One phase trains with another kernel."""

    perturb = staticmethod(lambda effect: int(str(effect.path) == "iteration=1/learnability/train/epoch=1"))


def test_strict_stops_at_a_perturbed_phase(recorded: pathlib.Path) -> None:
    with pytest.raises(Stopped) as stopped:
        replay(recorded, STRICT, Perturbed)
    assert {each.path for each in stopped.value.divergences} == {"iteration=1/learnability/train/epoch=1"}
    assert {each.kind for each in stopped.value.divergences} == {DivergenceClass.NUMERIC}


def test_forced_contains_the_drift_and_reaches_the_end(recorded: pathlib.Path) -> None:
    replayed = replay(recorded, FORCED, Perturbed)
    assert replayed.finished == load(recorded).finished
    assert {each.path for each in replayed.report.divergences} == {"iteration=1/learnability/train/epoch=1"}
    assert len(replayed.adopted) == sum(isinstance(each.effect, Train) for each in steps(recorded))


def test_without_checkpoints_drift_spreads_and_the_earliest_is_named(
    recorded: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    rewritten(recorded, tmp_path / "bare", lambda event: event)
    for file in (tmp_path / "bare" / "checkpoints").iterdir():
        file.unlink()
    replayed = replay(tmp_path / "bare", FORCED, Perturbed)
    assert replayed.adopted == ()
    assert len({each.path for each in replayed.report.divergences}) > 1
    earliest = replayed.report.earliest_numeric
    assert earliest is not None
    assert earliest.path == "iteration=1/learnability/train/epoch=1"


# --- resume ----------------------------------------------------------------------------------------------------------


def cut(source: pathlib.Path, target: pathlib.Path, events: int) -> list[str]:
    """A copy of the first ``events`` events, as a process killed there leaves them; returns the answered calls."""
    answered = []
    with Writer.create(target) as writer:
        for record in reader.read(source):
            if record.sequence > events:
                break
            writer.append(record.event, source=record.source, usage=record.usage)
            if isinstance(record.event, Step) and isinstance(record.event.effect, Ask):
                answered.append(str(record.event.effect.path))
            if isinstance(record.event, Arrived):
                answered.append(str(record.event.path))
        writer.commit()
    for checkpoint in (source / "checkpoints").glob("*"):
        (target / "checkpoints" / checkpoint.name).write_bytes(checkpoint.read_bytes())
    return answered


def boundaries(directory: pathlib.Path) -> range:
    return range(1, sum(1 for _ in reader.read(directory)))


def check_resumes(recorded: pathlib.Path, folder: pathlib.Path, events: int) -> None:
    answered = cut(recorded, folder, events)
    model = ScriptedModel()
    resume(folder, model)
    assert semantic_digest(folder) == semantic_digest(recorded), f"cut after {events} events"
    assert not set(answered) & set(model.asked), "a recorded answer was asked again"


def test_resume_equals_uninterrupted_at_some_boundaries(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    every = boundaries(recorded)
    for events in sorted({1, 2, 3, *random.Random(0).sample(every, 12), every[-1]}):
        check_resumes(recorded, tmp_path / f"cut-{events}", events)


@pytest.mark.slow
def test_resume_equals_uninterrupted_at_every_boundary(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for events in boundaries(recorded):
        check_resumes(recorded, tmp_path / f"cut-{events}", events)


def test_an_idle_resume_appends_nothing(recorded: pathlib.Path) -> None:
    before = sorted((file, file.stat().st_mtime_ns) for file in recorded.rglob("*") if file.name != "LOCK")
    replayed = resume(recorded)
    assert replayed.finished is not None
    assert replayed.performed_steps == 0
    assert sorted((file, file.stat().st_mtime_ns) for file in recorded.rglob("*") if file.name != "LOCK") == before


def test_any_order_of_arrival_gives_the_same_digest(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    order = random.Random(5)
    delays = [0.0, 0.004, 0.008, 0.012]
    model = ScriptedModel(before=lambda ask: time.sleep(order.choice(delays)))
    run(tmp_path / "run", model)
    early = [record for record in reader.read(tmp_path / "run") if isinstance(record.event, Arrived)]
    assert early, "no call ever arrived out of turn: the test shows nothing"
    assert semantic_digest(tmp_path / "run") == semantic_digest(recorded)


def test_an_answer_that_arrived_out_of_turn_survives_a_failure(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    arrived = threading.Event()

    def before(ask: Ask) -> None:
        if str(ask.path) == "iteration=0/propose[0]":
            assert arrived.wait(20)
            raise TransportFailure("the endpoint went away")
        if str(ask.path) == "iteration=0/propose[2]":
            arrived.set()

    with pytest.raises(TransportFailure):
        run(tmp_path / "run", ScriptedModel(before=before))
    model = ScriptedModel()
    resume(tmp_path / "run", model)
    assert "iteration=0/propose[2]" not in model.asked
    assert "iteration=0/propose[0]" in model.asked
    assert semantic_digest(tmp_path / "run") == semantic_digest(recorded)


def test_a_request_is_durable_before_it_is_sent(tmp_path: pathlib.Path) -> None:
    missing: list[str] = []

    def before(ask: Ask) -> None:
        sent = {str(r.event.effect.path) for r in reader.read(tmp_path / "run") if isinstance(r.event, Attempt)}
        if str(ask.path) not in sent:
            missing.append(str(ask.path))

    run(tmp_path / "run", ScriptedModel(before=before))
    assert missing == []


def test_a_budget_stops_before_the_call_and_resume_continues(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    model = ScriptedModel()
    from tests.replay.scripted import live

    live.create(tmp_path / "run", "code_sharp", CONFIG)
    with pytest.raises(BudgetExceeded):
        resume(tmp_path / "run", model, budget=Budget(calls=4))
    assert len(model.asked) == 4
    resume(tmp_path / "run", model)
    assert len(model.asked) == len(set(model.asked)), "no call was made twice"
    assert semantic_digest(tmp_path / "run") == semantic_digest(recorded)


def test_an_interrupt_keeps_everything_and_resume_continues(recorded: pathlib.Path, tmp_path: pathlib.Path) -> None:
    interrupts = Interrupts()
    model = ScriptedModel(before=lambda ask: interrupts.event.set() if "judge" in ask.path.text else None)
    from tests.replay.scripted import live

    live.create(tmp_path / "run", "code_sharp", CONFIG)
    with pytest.raises(Interrupted):
        resume(tmp_path / "run", model, interrupts=interrupts)
    again = ScriptedModel()
    resume(tmp_path / "run", again)
    assert not set(model.asked) & set(again.asked)
    assert semantic_digest(tmp_path / "run") == semantic_digest(recorded)


def test_resume_refuses_a_loop_that_asks_something_else(
    recorded: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(recorded, tmp_path / "cut", 40)
    genuine = Library.get
    monkeypatch.setattr(
        Library, "get", lambda self, name: attrs.evolve(genuine(self, name), text=genuine(self, name).text + "!")
    )
    with pytest.raises(Stopped) as stopped:
        resume(tmp_path / "cut")
    assert stopped.value.divergences[0].kind is DivergenceClass.PROMPT


def test_equal_prompts_with_different_answers_replay_in_their_order(
    recorded: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """All candidates of one category get one prompt; their answers differ and must not be swapped or merged."""
    counter = iter(range(1000))

    def distinct(ask: Ask) -> str:
        if ask.role == "propose":
            return answer(ask).replace('"r"', f'"r{next(counter)}"')
        return answer(ask)

    run(tmp_path / "run", ScriptedModel(reply=distinct))
    replayed = replay(tmp_path / "run", DECIDE)
    assert replayed.report.divergences == ()


def test_agents_are_named_by_path(recorded: pathlib.Path) -> None:
    trained = {each.effect.path for each in steps(recorded) if isinstance(each.outcome, Trained)}
    used = {each.effect.agent for each in steps(recorded) if isinstance(each.effect, Train)}
    assert {str(path) for path in used - trained} == {"untrained"}
    finished = load(recorded).finished
    assert isinstance(finished, Finished)
    assert finished.agent in trained
    assert isinstance(next(iter(reader.read(recorded))).event, Started)
