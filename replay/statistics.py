"""Prediction intervals for success rates over training seeds: what "statistically reproduced" means, and no more.

For m training seeds with rates x_1 … x_m (each from n evaluation episodes), a further run's rate lies in

    mean ± t(1 - a/2, m - 1) * s * sqrt(1 + 1/m),   s² = max(sample variance, p(1 - p)/n),   p = (sum + 1/2)/(total + 1)

with probability about 1 - a (the usual normal-theory prediction interval). The floor under s² is the binomial variance
at the pooled rate: five equal counts do not prove a rate without noise. With k skills judged at once each interval
takes a = family_error / k (Bonferroni), so that a faithful run misses *any* of them with probability at most about
``family_error``.
"""

from __future__ import annotations

import math
import pathlib
import tomllib
from collections.abc import Mapping, Sequence

from attrs import frozen

from ledger.vocabulary.note import Rate


class BadExpected(ValueError):
    """An ``expected.toml`` that cannot be used."""


@frozen
class Interval:
    """A prediction interval for one skill's success rate, clipped to [0, 1]."""

    low: float
    high: float

    def holds(self, rate: Rate) -> bool:
        """Whether a rate lies inside; a rate without episodes never does."""
        if not rate.episodes:
            return False
        value = rate.successes / rate.episodes
        return self.low <= value <= self.high


@frozen
class Expected:
    """Rates of a forced history under several training seeds, with the family-wise error of the intervals."""

    seeds: tuple[int, ...]
    family_error: float
    rates: Mapping[str, tuple[Rate, ...]]

    @property
    def intervals(self) -> dict[str, Interval]:
        """One interval per skill, Bonferroni-corrected over all skills."""
        error = self.family_error / max(1, len(self.rates))
        return {name: prediction_interval(rates, error) for name, rates in self.rates.items()}


def prediction_interval(rates: Sequence[Rate], error: float) -> Interval:
    """The interval of the module's formula for one skill.

    Args:
        rates: at least two rates, one per training seed, all with episodes.
        error: probability that a faithful further run falls outside.

    Raises:
        ValueError: with fewer than two rates, a rate without episodes, or an error outside (0, 1).
    """
    if len(rates) < 2 or any(rate.episodes < 1 for rate in rates) or not 0 < error < 1:
        raise ValueError("a prediction interval needs two or more rates with episodes and an error between 0 and 1")
    from scipy.stats import t  # takes most of a second to import; replays without expected.toml never need it

    values = [rate.successes / rate.episodes for rate in rates]
    count = len(values)
    mean = math.fsum(values) / count
    sample = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    total = sum(rate.episodes for rate in rates)
    pooled = (sum(rate.successes for rate in rates) + 0.5) / (total + 1)
    floor = pooled * (1 - pooled) / min(rate.episodes for rate in rates)
    half = float(t.ppf(1 - error / 2, count - 1)) * math.sqrt(max(sample, floor) * (1 + 1 / count))
    return Interval(max(0.0, mean - half), min(1.0, mean + half))


def success_interval(rate: Rate, error: float = 0.05) -> Interval:
    """The exact (Clopper-Pearson) interval of a success probability from one agent's episodes, at level 1 - ``error``.

    Raises:
        ValueError: for a rate without episodes, or an error outside (0, 1).
    """
    if rate.episodes < 1 or not 0 < error < 1:
        raise ValueError("an interval needs episodes and an error between 0 and 1")
    from scipy.stats import beta  # takes most of a second to import

    done, missed = rate.successes, rate.episodes - rate.successes
    low = float(beta.ppf(error / 2, done, missed + 1)) if done else 0.0
    high = float(beta.ppf(1 - error / 2, done + 1, missed)) if missed else 1.0
    return Interval(low, high)


def read_expected(file: pathlib.Path) -> Expected:
    """Read an ``expected.toml``.

    Raises:
        BadExpected: if it is not of the written form, naming the key.
    """
    try:
        table = tomllib.loads(file.read_text("utf-8"))
        rates = {
            name: tuple(Rate(_count(s, name), _count(table["episodes"], "episodes")) for s in successes)
            for name, successes in table["successes"].items()
        }
        seeds = tuple(_count(seed, "seeds") for seed in table["seeds"])
        error = float(table["family_error"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as problem:
        raise BadExpected(f"{file}: {problem}; make it anew with `python -m replay expect`") from problem
    if any(len(values) != len(seeds) for values in rates.values()):
        raise BadExpected(f"{file}: every skill needs one count per seed; make it anew with `python -m replay expect`")
    return Expected(seeds, error, rates)


def _count(value: object, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadExpected(f"{key}: {value!r} is no count")
    return value


def expected_toml(expected: Expected, note: str) -> str:
    """The text of an ``expected.toml``: integers only, intervals as comments for readers.

    Raises:
        ValueError: if the rates do not all have the same number of episodes.
    """
    episodes = {rate.episodes for rates in expected.rates.values() for rate in rates}
    if len(episodes) > 1:
        raise ValueError("expected rates must all come from the same number of episodes")
    lines = [f"# {line}" for line in note.splitlines()]
    lines += [
        f"seeds = {list(expected.seeds)}",
        f"family_error = {expected.family_error}",
        f"episodes = {episodes.pop() if episodes else 0}",
        "",
        "[successes]",
    ]
    for name, interval in expected.intervals.items():
        counts = [rate.successes for rate in expected.rates[name]]
        lines.append(f"{name} = {counts}  # a further run: {interval.low:.3f} to {interval.high:.3f}")
    return "\n".join(lines) + "\n"
