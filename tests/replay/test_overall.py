"""Time left for all training, by hand."""

from __future__ import annotations

from attrs import define, field

from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Train
from replay.overall import Overall, training_steps
from replay.progress import NullDisplay
from tests.replay.scripted import CONFIG


@define
class Notes(NullDisplay):
    notes: list[str] = field(factory=list)

    def advance(self, path: str, done: int, note: str) -> None:
        self.notes.append(note)


def test_training_is_added_over_phases() -> None:
    now = [0.0]
    shown = Notes()
    overall = Overall(shown, 400, clock=lambda: now[0])
    overall.start("a", "training", 100)
    overall.advance("a", 50, "reward 1")
    now[0] = 10.0
    overall.advance("a", 100, "")
    overall.finish("a")
    overall.start("b", "evaluation", 20)
    overall.advance("b", 10, "plain")
    overall.finish("b")
    overall.start("c", "training", 300)
    now[0] = 30.0
    overall.advance("c", 100, "")
    assert shown.notes == [
        "all training 12 %  reward 1",
        "all training 25 %, 1 min 0 s left",  # 50 steps in 10 s, 300 to go
        "plain",
        "all training 50 %, 40 s left",  # 150 steps in 30 s, 200 to go
    ]


def test_only_training_counts() -> None:
    one = Train(Path("a"), UNTRAINED, "corridor", (), 64, 0, CONFIG.agent, CONFIG.ppo, CONFIG.routing)
    assert training_steps([one, one]) == 128
    assert training_steps([]) == 0
