"""Budgets of calls, tokens and money: a pure fold that refuses a call before it could exceed one.

``Account`` is folded over the ledger: a sent request holds its maximum, a reply settles it at what was really used.
What was sent and never answered stays charged at its maximum, for nobody knows what became of it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from attrs import evolve, field, frozen
from attrs.validators import ge, optional

from fm import request
from fm.errors import BudgetExceeded
from ledger.vocabulary.ask import Ask
from ledger.vocabulary.events import Usage

BYTES_PER_TOKEN: Final = 3
"""Bytes of UTF-8 per prompt token, on the safe side.

Tokenisers in use average about four bytes per token of English or code, and about three of Chinese or Japanese (one
character). Text that tokenises worse, such as long digit strings, can exceed the estimate; what was really used is
charged once the endpoint reports it.
"""

CALL_OVERHEAD_TOKENS: Final = 32
"""Tokens of the chat template around one message."""

MILLION: Final = Decimal(1_000_000)


@frozen
class Prices:
    """Money per million tokens, in any one currency."""

    prompt: Decimal = field(default=Decimal(0), validator=ge(Decimal(0)))
    completion: Decimal = field(default=Decimal(0), validator=ge(Decimal(0)))

    def of(self, usage: Usage) -> Decimal:
        """Money that ``usage`` costs, exactly."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / MILLION


@frozen
class Budget:
    """What a run may spend in all its sessions; ``None`` means no limit.

    ``tokens`` counts prompt and completion together. ``reply_tokens`` is the maximum that is assumed of a reply whose
    call sets no ``max_tokens``.
    """

    calls: int | None = field(default=None, validator=optional(ge(0)))
    tokens: int | None = field(default=None, validator=optional(ge(0)))
    money: Decimal | None = field(default=None, validator=optional(ge(Decimal(0))))
    prices: Prices = Prices()
    reply_tokens: int = field(default=16_384, validator=ge(1))

    def account(self) -> Account:
        """An account on which nothing has been spent."""
        return Account(self)

    def maximum(self, ask: Ask) -> Usage:
        """Most tokens that a call is expected to use: the prompt's estimate and the longest reply allowed."""
        prompt = -(-len(request.text(ask).encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN) + CALL_OVERHEAD_TOKENS
        return Usage(prompt, ask.sampling.max_tokens or self.reply_tokens)


@frozen
class Spent:
    """A sum of charges."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def plus(self, usage: Usage) -> Spent:
        """One call more."""
        return Spent(
            self.calls + 1, self.prompt_tokens + usage.prompt_tokens, self.completion_tokens + usage.completion_tokens
        )


@frozen
class Held:
    """A call whose reply has not come, with the maximum that is held for it."""

    path: str
    usage: Usage


@frozen
class Account:
    """What has been spent of a budget, and what is held for calls under way; every method returns a new account."""

    budget: Budget
    settled: Spent = Spent()
    lost: Spent = Spent()
    held: tuple[Held, ...] = ()

    def reserve(self, ask: Ask) -> Account:
        """Hold the maximum of a call that is about to be sent.

        Raises:
            BudgetExceeded: if settled, lost and held calls together with this one could exceed a limit.
        """
        after = self.attempted(ask)
        total, limits = after.total, self.budget
        money = limits.prices.of(_usage(total))
        for what, limit, needed in (
            ("calls", limits.calls, total.calls),
            ("tokens", limits.tokens, total.tokens),
            ("money", limits.money, money),
        ):
            if limit is not None and needed > limit:
                raise BudgetExceeded(
                    f"{ask.path} could take the run to {needed} {what} of {limit} allowed: "
                    f"raise the budget of {what} and resume, nothing is lost"
                )
        return after

    def attempted(self, ask: Ask) -> Account:
        """Fold a recorded request: hold its maximum, whatever the limits say.

        A request for a path whose reply never came makes the earlier one lost, at its maximum.
        """
        left = self._without(ask)
        lost = self.lost
        for item in self.held:
            if item.path == ask.path.text:
                lost = lost.plus(item.usage)
        return evolve(self, lost=lost, held=(*left, Held(ask.path.text, self.budget.maximum(ask))))

    def charge(self, ask: Ask, usage: Usage | None) -> Account:
        """Fold a reply: what was held for it is settled at ``usage``, or at its maximum where nothing reports usage."""
        used = self.budget.maximum(ask) if usage is None else usage
        return evolve(self, settled=self.settled.plus(used), held=self._without(ask))

    @property
    def total(self) -> Spent:
        """Settled, lost and held together: what the limits are compared with."""
        total = Spent(
            self.settled.calls + self.lost.calls,
            self.settled.prompt_tokens + self.lost.prompt_tokens,
            self.settled.completion_tokens + self.lost.completion_tokens,
        )
        for item in self.held:
            total = total.plus(item.usage)
        return total

    @property
    def money(self) -> Decimal:
        """What ``total`` costs."""
        return self.budget.prices.of(_usage(self.total))

    def _without(self, ask: Ask) -> tuple[Held, ...]:
        return tuple(item for item in self.held if item.path != ask.path.text)


def _usage(spent: Spent) -> Usage:
    return Usage(spent.prompt_tokens, spent.completion_tokens)
