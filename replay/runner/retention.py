"""Which checkpoints of a run stay on disk, and how many of those that its events name are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import define, field, frozen

from ledger.checkpoints import checkpoint_path
from ledger.errors import CheckpointMissing
from ledger.vocabulary.events import Fact
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import Trained
from replay.loops import lineage
from replay.operational import KEPT_CHECKPOINTS
from replay.runner.recording import Recording

FACT = "checkpoints"
"""The fact of a session that says which checkpoints it keeps."""


@frozen
class Lineage:
    """What retention knows of a loop: agents that outlive their iteration, and those that a later step may name."""

    carried: Callable[[Iterable[Path]], tuple[Path, ...]]
    needed: Callable[[Sequence[Path], Path | None], frozenset[Path]]


CODE_SHARP = Lineage(lineage.carried, lineage.needed)
UNKNOWN = Lineage(tuple, lambda made, at: frozenset(made))
"""Of a loop of which nothing is known, every agent may be named again."""


@define
class Retention:
    """What must stay, by a policy, as steps are completed.

    - ``all``: the checkpoint of every agent.
    - ``archive``: agents that outlived their iteration (one per archive training), and what the run still needs.
    - ``last``: what the run still needs; of a finished run, its last agent.

    Whatever the policy, a phase under way keeps the latest checkpoint that it can be resumed from, and no older one.
    """

    policy: str = field(default="all")
    lineage: Lineage = UNKNOWN
    _agents: dict[Path, str] = field(factory=dict, init=False)
    _under_way: dict[Path, str] = field(factory=dict, init=False)

    @policy.validator
    def _known(self, _: object, policy: str) -> None:
        if policy not in KEPT_CHECKPOINTS:
            raise ValueError(f"there is no policy {policy!r}: choose one of {', '.join(KEPT_CHECKPOINTS)}")

    def under_way(self, path: Path, checkpoint: str) -> None:
        """The phase at ``path`` can be resumed from ``checkpoint``."""
        self._under_way[path] = checkpoint

    def made(self, path: Path, checkpoint: str) -> None:
        """The phase at ``path`` is complete, and ``checkpoint`` is its agent's."""
        self._under_way.pop(path, None)
        self._agents[path] = checkpoint

    def needed(self, at: Path | None) -> frozenset[str]:
        """The names of checkpoints that must stay once the step at ``at`` is complete and durable."""
        made = tuple(self._agents)
        if self.policy == "all":
            agents = frozenset(made)
        else:
            agents = self.lineage.needed(made, at)
            if self.policy == "archive":
                agents |= frozenset(self.lineage.carried(made))
        return frozenset((*self._under_way.values(), *(self._agents[path] for path in agents)))


@frozen
class Inventory:
    """Of the checkpoints that a run's events name, how many are there: of agents, and of phases on their way.

    ``policy`` is that of the last session that says one.
    """

    agents: int
    agents_there: int
    intermediate: int
    intermediate_there: int
    policy: str | None

    def text(self) -> str:
        """One phrase for people."""
        kept = f", kept: {self.policy}" if self.policy is not None else ""
        return (
            f"checkpoints of {self.agents_there} of {self.agents} agents{kept}; "
            f"of {self.intermediate_there} of {self.intermediate} states on the way"
        )


def inventory(recording: Recording) -> Inventory:
    """Look which of the checkpoints that a run names are in its folder; their bytes are not read."""
    agents = {each.step.outcome.checkpoint for each in recording.steps if isinstance(each.step.outcome, Trained)}
    between = {name for names in recording.intermediate.values() for name in names} - agents

    def there(names: Iterable[str]) -> int:
        return sum(_is_there(recording, name) for name in names)

    facts: Iterable[Fact] = (fact for session in recording.sessions for fact in session.facts)
    policies = [fact.value for fact in facts if fact.name == FACT]
    return Inventory(len(agents), there(agents), len(between), there(between), policies[-1] if policies else None)


def _is_there(recording: Recording, name: str) -> bool:
    try:
        return checkpoint_path(recording.directory, name).is_file()
    except CheckpointMissing:
        return False
