from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fm.budget import Account, Budget, Prices, Spent
from fm.errors import BudgetExceeded
from ledger.vocabulary.ask import Ask, Sampling
from ledger.vocabulary.events import Usage
from tests.fm.conftest import MakeAsk


def a_call(make_ask: MakeAsk, path: str = "a") -> Ask:
    # "# Task\n\n" + 51 bytes + "\n" are 60 bytes: 20 tokens, and 32 for the chat template.
    return make_ask(path, ("Task", "x" * 51), sampling=Sampling(max_tokens=100))


def test_maximum_by_hand(make_ask: MakeAsk) -> None:
    assert Budget().maximum(a_call(make_ask)) == Usage(52, 100)
    assert Budget(reply_tokens=7).maximum(make_ask("a", ("Task", "x" * 52))) == Usage(53, 7)
    assert Budget().maximum(make_ask("a", ("Task", "\ud800" * 17), sampling=Sampling(max_tokens=1))) == Usage(52, 1)


def test_money_by_hand() -> None:
    prices = Prices(Decimal("0.15"), Decimal("0.60"))
    assert prices.of(Usage(1_000_000, 500_000)) == Decimal("0.45")
    assert prices.of(Usage(1, 1)) == Decimal("0.00000075")


def test_the_call_that_would_exceed_is_refused_and_the_one_before_is_not(make_ask: MakeAsk) -> None:
    first, second = a_call(make_ask, "a"), a_call(make_ask, "b")
    prices = Prices(Decimal(1000), Decimal(10_000))
    assert Budget(calls=1).maximum(first) == Usage(52, 100)  # 0.052 + 1.0 of money, 152 tokens
    for exact, short, what in (
        (Budget(calls=1), Budget(calls=0), "1 calls of 0"),
        (Budget(tokens=152), Budget(tokens=151), "152 tokens of 151"),
        (
            Budget(money=Decimal("1.052"), prices=prices),
            Budget(money=Decimal("1.051"), prices=prices),
            "1.052 money of 1.051",
        ),
    ):
        account = exact.account().reserve(first)
        with pytest.raises(BudgetExceeded, match="raise the budget"):
            account.reserve(second)
        with pytest.raises(BudgetExceeded, match=what):
            short.account().reserve(first)


def test_a_reply_settles_what_was_held(make_ask: MakeAsk) -> None:
    call = a_call(make_ask)
    account = Budget(prices=Prices(Decimal(10), Decimal(100))).account().reserve(call)
    assert account.total == Spent(1, 52, 100)
    account = account.charge(call, Usage(40, 5))
    assert (account.total, account.held) == (Spent(1, 40, 5), ())
    assert account.money == Decimal("0.0009")
    assert account.total.tokens == 45


def test_an_unanswered_call_stays_charged_at_its_maximum(make_ask: MakeAsk) -> None:
    call = a_call(make_ask)
    account = Budget(calls=2).account().attempted(call)
    again = account.reserve(call)
    assert (again.lost, again.total) == (Spent(1, 52, 100), Spent(2, 104, 200))
    done = again.charge(call, Usage(40, 5))
    assert done.total == Spent(2, 92, 105)
    with pytest.raises(BudgetExceeded, match="3 calls of 2"):
        done.reserve(a_call(make_ask, "b"))


def test_a_reply_without_usage_is_charged_at_its_maximum(make_ask: MakeAsk) -> None:
    call = a_call(make_ask)
    assert Budget().account().attempted(call).charge(call, None).total == Spent(1, 52, 100)


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="calls"):
        Budget(calls=-1)
    with pytest.raises(ValueError, match="money"):
        Budget(money=Decimal(-1))


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 52), st.integers(0, 100)), max_size=20),
    st.integers(0, 10),
    st.integers(0, 1500),
)
def test_honest_usage_never_exceeds_a_budget(
    make_ask: MakeAsk, history: list[tuple[str, bool, int, int]], calls: int, tokens: int
) -> None:
    account = Budget(calls=calls, tokens=tokens).account()
    folded: Account = account
    for path, replied, prompt, completion in history:
        call = a_call(make_ask, path)
        try:
            account = account.reserve(call)
        except BudgetExceeded:
            continue
        folded = folded.attempted(call)
        if replied:
            account = account.charge(call, Usage(prompt, completion))
            folded = folded.charge(call, Usage(prompt, completion))
        assert account.total.calls <= calls
        assert account.total.tokens <= tokens
    assert account == folded
