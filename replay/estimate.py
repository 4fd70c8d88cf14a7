"""What a CODE-SHARP run will ask for before it is started: calls, tokens, environment steps, hours, money.

Everything is arithmetic over the configuration and a short table of assumptions, which is printed with the result. In
every range, ``least`` is a run in which no answer needs a repair; ``most`` needs every repair allowed, admits every
chosen skill and plays every evaluation to its horizon.
"""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen
from attrs.validators import ge, gt, le

from ledger.vocabulary.config import Config
from replay.operational import Operational
from replay.progress import duration

ROLES = ("propose", "implement", "judge", "mutate", "implement_mutation")


@frozen
class Assumptions:
    """What is not known beforehand; all of it is a guess to be replaced by a run's own figures (``log`` shows them).

    Sizes are in tokens. ``unusable`` is the share of answers that cannot be read, ``refused`` the share of chosen
    programs that do not compile at once; each leads to another call. ``admitted`` is the number of skills that enter
    the archive per iteration. ``played`` is the share of an evaluation's horizon that an episode lasts.
    """

    context_tokens: int = field(default=26_000, validator=ge(0))
    task_tokens: int = field(default=1_200, validator=ge(0))
    skill_tokens: int = field(default=280, validator=ge(0))
    failure_tokens: int = field(default=70, validator=ge(0))
    repair_tokens: int = field(default=600, validator=ge(0))
    answer_tokens: int = field(default=700, validator=ge(0))
    unusable: float = field(default=0.03, validator=[ge(0), le(1)])
    refused: float = field(default=0.15, validator=[ge(0), le(1)])
    admitted: float = field(default=1.0, validator=ge(0))
    played: float = field(default=0.6, validator=[ge(0), le(1)])


@frozen
class Speed:
    """Measured or given speeds: environment steps per second, and what a call takes with how many at once."""

    training_steps_per_second: float = field(validator=gt(0))
    evaluation_steps_per_second: float = field(validator=gt(0))
    seconds_per_call: float = field(default=30.0, validator=ge(0))
    concurrency: int = field(default=4, validator=ge(1))


@frozen
class Range:
    """A quantity that is not known exactly: ``least`` <= ``expected`` <= ``most``."""

    least: int
    expected: int
    most: int

    def __add__(self, other: Range) -> Range:
        return Range(self.least + other.least, self.expected + other.expected, self.most + other.most)

    def times(self, factor: Fraction) -> Range:
        """The quantity in another unit, each bound rounded to a whole number."""
        return Range(*(round(value * factor) for value in (self.least, self.expected, self.most)))


NOTHING = Range(0, 0, 0)


@frozen
class Calls:
    """Calls of one role over the whole run, with the tokens of their prompts and answers."""

    role: str
    calls: Range
    prompt_tokens: Range
    answer_tokens: Range


@frozen
class Estimate:
    """The whole run. ``seconds`` needs a speed; ``money`` needs prices and is in their currency."""

    roles: tuple[Calls, ...]
    training_steps: Range
    evaluation_steps: Range
    assumptions: Assumptions
    seconds: Range | None = None
    money: tuple[float, float, float] | None = None

    @property
    def calls(self) -> Range:
        """Calls of all roles."""
        return sum((role.calls for role in self.roles), NOTHING)

    @property
    def prompt_tokens(self) -> Range:
        """Prompt tokens of all roles."""
        return sum((role.prompt_tokens for role in self.roles), NOTHING)

    @property
    def answer_tokens(self) -> Range:
        """Answer tokens of all roles."""
        return sum((role.answer_tokens for role in self.roles), NOTHING)

    def text(self) -> str:
        """A table for people, with the assumptions below."""
        lines = [f"{'':<26}{'least':>16}{'expected':>16}{'most':>16}"]
        lines += [_row(f"calls: {role.role}", role.calls) for role in self.roles]
        lines.append(_row("calls", self.calls))
        lines.append(_row("prompt tokens", self.prompt_tokens))
        lines.append(_row("answer tokens", self.answer_tokens))
        lines.append(_row("training steps", self.training_steps))
        lines.append(_row("evaluation steps", self.evaluation_steps))
        if self.seconds is not None:
            spans = [duration(each) for each in (self.seconds.least, self.seconds.expected, self.seconds.most)]
            lines.append(f"{'time':<26}" + "".join(f"{span:>16}" for span in spans))
        else:
            lines.append("time: unknown until steps per second are measured or given")
        if self.money is not None:
            lines.append(f"{'money':<26}" + "".join(f"{amount:>16,.2f}" for amount in self.money))
        a = self.assumptions
        lines += [
            "",
            f"assumed: {a.context_tokens:,} tokens of world, language and template in every prompt;",
            f"{a.skill_tokens} per archived skill, {a.failure_tokens} per failed one, {a.answer_tokens} per answer;",
            f"{a.unusable:.0%} of answers unreadable, {a.refused:.0%} of chosen programs refused at first, "
            f"{a.admitted:g} skills admitted per iteration, episodes last {a.played:.0%} of the horizon.",
            "least: no repair; most: every repair allowed, every chosen skill admitted, every episode to its horizon.",
            "An iteration in which no candidate compiles trains less.",
        ]
        return "\n".join(lines)


def estimate(
    config: Config,
    assumptions: Assumptions = Assumptions(),
    speed: Speed | None = None,
    operational: Operational = Operational(),
) -> Estimate:
    """Estimate a whole run of CODE-SHARP under ``config`` (paper 000, sections 2.3 to 2.5)."""
    roles = tuple(_role(role, config, assumptions) for role in ROLES)
    made = Estimate(roles, _training_steps(config), _evaluation_steps(config, assumptions), assumptions)
    return Estimate(
        roles,
        made.training_steps,
        made.evaluation_steps,
        assumptions,
        None if speed is None else _seconds(made, speed),
        _money(made, operational),
    )


# --- calls and tokens ------------------------------------------------------------------------------------------------


def _per_iteration(role: str, config: Config, iteration: int) -> int:
    """First calls of a role in one iteration, repairs apart."""
    d = config.discovery
    if role in ("propose", "implement"):
        return d.proposals
    if role == "judge":
        return 1
    return d.mutated_skills * d.mutations if iteration >= d.mutation_start else 0


def _repairs(role: str, config: Config, a: Assumptions, first_calls: int) -> tuple[Fraction, int]:
    """Expected and most repairs of ``first_calls`` calls: answers that cannot be read, and programs that are refused.

    Only the programs that the judge chose go back to the implementor when they do not compile.
    """
    allowed = config.discovery.max_repairs
    expected = first_calls * _geometric(Fraction(a.unusable), allowed)
    most = first_calls * allowed
    if role == "implement":
        chosen = min(config.discovery.max_chosen, first_calls)
        expected += chosen * _geometric(Fraction(a.refused), allowed)
        most += chosen * allowed
    return expected, most


def _geometric(share: Fraction, allowed: int) -> Fraction:
    """Expected number of repairs when each try fails with probability ``share`` and ``allowed`` are allowed."""
    return sum((share**k for k in range(1, allowed + 1)), Fraction(0))


def _role(role: str, config: Config, a: Assumptions) -> Calls:
    d = config.discovery
    # a repair shows the whole prompt again, with every earlier answer and what was wrong with it
    depths = (Fraction(0), Fraction(1), Fraction(d.max_repairs + 1, 2))
    calls, prompts = [Fraction(0)] * 3, [Fraction(0)] * 3
    for iteration in range(d.iterations):
        first = _per_iteration(role, config, iteration)
        expected_repairs, most_repairs = _repairs(role, config, a, first)
        repairs = (Fraction(0), expected_repairs, Fraction(most_repairs))
        ended = Fraction(iteration * d.proposals)
        for index, skills in enumerate(_archive_sizes(config, a, iteration)):
            failures = min(Fraction(d.failures_shown), ended if index == 2 else max(ended - skills, Fraction(0)))
            size = a.context_tokens + a.task_tokens + skills * a.skill_tokens + failures * a.failure_tokens
            if role == "judge":
                size += d.proposals * (a.failure_tokens + a.answer_tokens)
            calls[index] += first + repairs[index]
            prompts[index] += first * size
            prompts[index] += repairs[index] * (size + depths[index] * (a.answer_tokens + a.repair_tokens))
    return Calls(role, _range(calls), _range(prompts), _range([count * a.answer_tokens for count in calls]))


def _archive_sizes(config: Config, a: Assumptions, iterations: int) -> tuple[Fraction, Fraction, Fraction]:
    """Skills in the archive after so many iterations: least, expected, most."""
    chosen = Fraction(config.discovery.max_chosen)
    expected = iterations * min(Fraction(a.admitted), chosen)
    return expected, expected, iterations * chosen


# --- steps, time, money ----------------------------------------------------------------------------------------------


def _training_steps(config: Config) -> Range:
    """Archive training, and the copy that is trained on the candidates of each iteration."""
    d = config.discovery
    steps = d.iterations * (d.training_epochs + d.evaluation_epochs) * d.epoch_steps
    return Range(steps, steps, steps)


def _evaluation_steps(config: Config, a: Assumptions) -> Range:
    """Candidates before and after, every archived skill after training, parent and mutants, the last evaluation."""
    d = config.discovery
    episode = config.evaluation.episodes * config.evaluation.horizon
    targets = list(_archive_sizes(config, a, d.iterations))
    for iteration in range(d.iterations):
        mutated = d.mutated_skills * (1 + d.mutations) if iteration >= d.mutation_start else 0
        for index, archived in enumerate(_archive_sizes(config, a, iteration + 1)):
            targets[index] += 2 * d.max_chosen + archived + mutated
    shares = (Fraction(a.played), Fraction(a.played), Fraction(1))
    return _range([count * episode * share for count, share in zip(targets, shares, strict=True)])


def _seconds(made: Estimate, speed: Speed) -> Range:
    training = made.training_steps.times(1 / Fraction(speed.training_steps_per_second))
    evaluation = made.evaluation_steps.times(1 / Fraction(speed.evaluation_steps_per_second))
    calls = made.calls.times(Fraction(speed.seconds_per_call) / speed.concurrency)
    return training + evaluation + calls


def _money(made: Estimate, operational: Operational) -> tuple[float, float, float] | None:
    prompt, answer = operational.budget.prompt_price, operational.budget.completion_price
    if prompt == 0 and answer == 0:
        return None
    p, a = made.prompt_tokens, made.answer_tokens

    def cost(prompt_tokens: int, answer_tokens: int) -> float:
        return (prompt_tokens * prompt + answer_tokens * answer) / 1_000_000

    return cost(p.least, a.least), cost(p.expected, a.expected), cost(p.most, a.most)


def _range(values: list[Fraction]) -> Range:
    return Range(*(round(value) for value in values))


def _row(name: str, quantity: Range) -> str:
    return f"{name:<26}{quantity.least:>16,}{quantity.expected:>16,}{quantity.most:>16,}"
