"""Estimates before a run: counted by hand on a small configuration, and sane on any."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ledger.vocabulary.config import Config, Discovery, Evaluation
from replay.estimate import NOTHING, Assumptions, Range, Speed, estimate
from replay.operational import Operational, Spending

SMALL = Config(
    discovery=Discovery(
        iterations=3,
        training_epochs=2,
        evaluation_epochs=1,
        epoch_steps=1000,
        proposals=4,
        max_chosen=2,
        max_repairs=3,
        mutation_start=1,
        mutated_skills=1,
        mutations=5,
        failures_shown=5,
    ),
    evaluation=Evaluation(episodes=10, horizon=100),
)

PLAIN = Assumptions(
    context_tokens=1000,
    task_tokens=100,
    skill_tokens=10,
    failure_tokens=1,
    repair_tokens=20,
    answer_tokens=50,
    unusable=0.0,
    refused=0.5,
    admitted=1.0,
    played=0.5,
)


def test_calls_by_role_as_counted_by_hand() -> None:
    """Three iterations with 4 proposals; mutation in two of them with 5 mutants; at most 3 repairs for each answer.

    Half of the programs that the judge chose (2 each time) are refused at each try: 1/2 + 1/4 + 1/8 repairs for each,
    5.25 in the run. At most, the implementor repairs 4 unreadable answers and 2 refused programs three times.
    """
    calls = {role.role: role.calls for role in estimate(SMALL, PLAIN).roles}
    assert calls == {
        "propose": Range(12, 12, 12 * 4),
        "implement": Range(12, 17, 3 * (4 * 4 + 2 * 3)),
        "judge": Range(3, 3, 3 * 4),
        "mutate": Range(10, 10, 10 * 4),
        "implement_mutation": Range(10, 10, 10 * 4),
    }


def test_prompt_tokens_as_counted_by_hand() -> None:
    """Proposals, no repair: 4 x (1000 + 100) at first; then 1 skill and 3 failures; then 2 skills and 5 shown of 6."""
    roles = {role.role: role for role in estimate(SMALL, PLAIN).roles}
    assert roles["propose"].prompt_tokens.least == 4 * (1100 + (1100 + 10 + 3) + (1100 + 20 + 5))
    assert roles["propose"].answer_tokens == Range(12 * 50, 12 * 50, 48 * 50)
    # the judge reads 4 candidates of 51 tokens in each iteration
    assert roles["judge"].prompt_tokens.least == 1304 + (1304 + 10 + 3) + (1304 + 20 + 5)
    # every repair: 2 skills an iteration, all earlier proposals among the failures, and on average 2 earlier answers
    first = (1100, 1100 + 20 + 4, 1100 + 40 + 5)
    assert roles["propose"].prompt_tokens.most == sum(4 * size + 12 * (size + 2 * 70) for size in first)


def test_steps_as_counted_by_hand() -> None:
    """Per iteration 3,000 steps. Evaluations of 1,000 steps each, half of it played: 4 candidates each time, 1 + 2 + 3
    archived skills (2 + 4 + 6 at most), twice parent and 5 mutants, and the whole archive at the end."""
    made = estimate(SMALL, PLAIN)
    assert made.training_steps == Range(9000, 9000, 9000)
    expected = (3 * 4 + (1 + 2 + 3) + 2 * 6 + 3) * 500
    assert made.evaluation_steps == Range(expected, expected, (3 * 4 + (2 + 4 + 6) + 2 * 6 + 6) * 1000)


def test_time_and_money_follow_from_speeds_and_prices() -> None:
    made = estimate(SMALL, PLAIN)
    assert made.seconds is None
    assert made.money is None
    assert "unknown until" in made.text()
    prices = Operational(budget=Spending(prompt_price=2.0, completion_price=4.0))
    full = estimate(SMALL, PLAIN, Speed(100, 500, seconds_per_call=8, concurrency=2), prices)
    assert full.seconds is not None
    assert full.money is not None
    assert full.seconds.least == 9000 // 100 + made.evaluation_steps.least // 500 + 47 * 4
    assert full.money[0] == (made.prompt_tokens.least * 2 + made.answer_tokens.least * 4) / 1e6
    assert "money" in full.text()
    assert f"{made.prompt_tokens.most:,}" in full.text()


def test_the_papers_run_has_the_papers_number_of_archive_steps() -> None:
    """Table 9: 1e8 steps in total, which leaves out the steps of the copies; here they are added."""
    made = estimate(Config())
    assert made.training_steps.expected == 2 * 10**8
    assert made.calls.least == 25 * (10 + 10 + 1) + 18 * (5 + 5)


shares = st.floats(0, 1)
assumptions = st.builds(
    Assumptions,
    context_tokens=st.integers(0, 10**5),
    skill_tokens=st.integers(0, 10**3),
    failure_tokens=st.integers(0, 10**3),
    answer_tokens=st.integers(0, 10**4),
    unusable=shares,
    refused=shares,
    admitted=st.floats(0, 5),
    played=shares,
)
configs = st.builds(
    lambda discovery, evaluation: Config(discovery=discovery, evaluation=evaluation),
    st.builds(
        Discovery,
        iterations=st.integers(1, 8),
        proposals=st.integers(1, 12),
        max_chosen=st.integers(1, 3),
        max_repairs=st.integers(0, 4),
        mutation_start=st.integers(0, 9),
        mutated_skills=st.integers(0, 2),
        mutations=st.integers(1, 6),
        failures_shown=st.integers(0, 50),
    ),
    st.builds(Evaluation, episodes=st.integers(1, 100), horizon=st.integers(1, 1000)),
)


def ordered(quantity: Range) -> bool:
    return 0 <= quantity.least <= quantity.expected <= quantity.most


@given(configs, assumptions)
def test_ranges_are_ordered_and_add_up(config: Config, assumed: Assumptions) -> None:
    made = estimate(config, assumed, Speed(1000.0, 2000.0))
    assert made.seconds is not None
    quantities = [made.calls, made.prompt_tokens, made.answer_tokens, made.training_steps, made.evaluation_steps]
    quantities += [made.seconds, *(role.prompt_tokens for role in made.roles), *(role.calls for role in made.roles)]
    assert all(ordered(quantity) for quantity in quantities)
    assert made.calls == sum((role.calls for role in made.roles), NOTHING)
    longer = evolve(config, discovery=evolve(config.discovery, iterations=config.discovery.iterations + 1))
    assert estimate(longer, assumed).prompt_tokens.least >= made.prompt_tokens.least


@given(configs)
def test_without_repairs_and_with_sure_admission_nothing_is_uncertain(config: Config) -> None:
    certain = evolve(config, discovery=evolve(config.discovery, max_repairs=0))
    made = estimate(certain, Assumptions(admitted=float(config.discovery.max_chosen), played=1.0))
    assert made.calls.least == made.calls.expected == made.calls.most
    assert made.evaluation_steps.least == made.evaluation_steps.most
