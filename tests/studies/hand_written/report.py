"""The study's result: every count as JSON, tables as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen

from replay.config_file import to_toml
from tests.studies.hand_written.counts import Counts, arms, curve, rates, skills
from tests.studies.hand_written.loop import EVALUATED, FLAT_EVALUATED, FLAT_TRAINED, NAME_ONLY, ROUTED
from tests.studies.hand_written.material import given
from tests.studies.hand_written.statistics import LEVEL, RESAMPLES, SEED, Estimate, difference_of_iqms, estimate

TITLES: Mapping[str, str] = {
    ROUTED: "trained and evaluated with routing by T",
    FLAT_EVALUATED: "agents of routed, along fixed chains",
    NAME_ONLY: "agents of routed, on the target's name alone",
    FLAT_TRAINED: "trained and evaluated on success conditions alone",
}

ALL, DEEP = "all skills", "skills with prerequisites"


@frozen
class Result:
    """Counts with their estimates. ``groups`` are named sets of skills, as columns."""

    found: tuple[Counts, ...]
    names: tuple[str, ...]
    arms: tuple[str, ...]
    groups: Mapping[str, tuple[int, ...]]
    by_skill: Mapping[str, tuple[Estimate, ...]]
    over: Mapping[str, Mapping[str, Estimate]]
    minus: Mapping[str, Mapping[str, Estimate]]
    minus_by_skill: Mapping[str, tuple[Estimate, ...]]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that every arm has."""
        return tuple(sorted({counts.seed for counts in self.found}))


def result(found: tuple[Counts, ...], requires: Mapping[str, tuple[str, ...]]) -> Result:
    """Estimate everything; ``requires`` gives each skill's prerequisites."""
    names, present = skills(found), arms(found)
    deep = tuple(column for column, name in enumerate(names) if requires[name])
    groups = {ALL: tuple(range(len(names)))} | ({DEEP: deep} if deep else {})
    values = {arm: rates(found, arm) for arm in present}
    others = [arm for arm in present if arm != ROUTED] if ROUTED in present else []
    pairs = {arm: np.stack([values[ROUTED], values[arm]], axis=1) for arm in others}
    return Result(
        found,
        names,
        present,
        groups,
        {arm: tuple(estimate(values[arm][:, column]) for column in groups[ALL]) for arm in present},
        {arm: {group: estimate(values[arm][:, columns]) for group, columns in groups.items()} for arm in present},
        {
            arm: {group: estimate(pair[:, :, columns], difference_of_iqms) for group, columns in groups.items()}
            for arm, pair in pairs.items()
        },
        {
            arm: tuple(estimate(pair[:, :, column], difference_of_iqms) for column in groups[ALL])
            for arm, pair in pairs.items()
        },
    )


# --- text ------------------------------------------------------------------------------------------------------------


def text(done: Result) -> str:
    """The tables, in Markdown."""
    seeds = len(done.seeds)
    episodes = done.found[0].last[0].episodes
    lines = [
        f"Interquartile mean of {seeds} seeds ({episodes} episodes each), with {LEVEL:.0%} bootstrap intervals.",
        "",
        f"| skill | {' | '.join(done.arms)} |",
        f"|---|{'---|' * len(done.arms)}",
    ]
    for column, name in enumerate(done.names):
        cells = (_shown(done.by_skill[arm][column]) for arm in done.arms)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for group, columns in done.groups.items():
        cells = (_shown(done.over[arm][group]) for arm in done.arms)
        lines.append(f"| **{group} ({len(columns)})** | {' | '.join(cells)} |")
    if done.minus:
        lines += [
            "",
            "Routed minus the other arm, the same seeds drawn for both:",
            "",
            f"| routed minus | {' | '.join(done.groups)} |",
            f"|---|{'---|' * len(done.groups)}",
        ]
        lines += [
            f"| {arm} | {' | '.join(_signed(estimates[group]) for group in done.groups)} |"
            for arm, estimates in done.minus.items()
        ]
        lines += ["", "By skill, without a correction for their number:", ""]
        for arm in done.minus:
            lines += [f"- `{arm}`: {sentence}" for sentence in verdicts(done, arm)]
    lines += ["", "Arms:", "", *(f"- `{arm}`: {TITLES[arm]}" for arm in done.arms)]
    return "\n".join(lines) + "\n"


def verdicts(done: Result, arm: str) -> list[str]:
    """Where the paired interval of routed minus ``arm`` lies above 0, below 0, or holds 0."""
    kinds: dict[str, list[str]] = {"routed is above in": [], "routed is below in": [], "no difference is shown in": []}
    above, below, neither = kinds.values()
    for name, value in zip(done.names, done.minus_by_skill[arm], strict=True):
        (above if value.low > 0 else below if value.high < 0 else neither).append(name)
    return [f"{words} {', '.join(names) or 'no skill'}" for words, names in kinds.items()]


def _shown(value: Estimate) -> str:
    return f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"


def _signed(value: Estimate) -> str:
    return f"{value.value:+.2f} ({value.low:+.2f} to {value.high:+.2f})"


# --- data ------------------------------------------------------------------------------------------------------------


def data(done: Result) -> dict[str, Any]:
    """Every count and every estimate, as JSON takes them."""
    machines: list[dict[str, str]] = []
    for counts in done.found:
        machine = _machine(counts)
        if machine not in machines:
            machines.append(machine)
    return {
        "arms": {arm: TITLES[arm] for arm in done.arms},
        "seeds": list(done.seeds),
        "skills": list(done.names),
        "groups": {group: [done.names[column] for column in columns] for group, columns in done.groups.items()},
        "configuration": to_toml(done.found[0].config),
        "machines": machines,
        "runs": [_run(counts) | {"machine": machines.index(_machine(counts))} for counts in done.found],
        "interquartile_means": {
            "level": LEVEL,
            "resamples": RESAMPLES,
            "bootstrap_seed": SEED,
            "by_skill": {
                arm: {name: _estimate(each) for name, each in zip(done.names, estimates, strict=True)}
                for arm, estimates in done.by_skill.items()
            },
            "over_skills": {arm: {g: _estimate(e) for g, e in each.items()} for arm, each in done.over.items()},
            "routed_minus": {arm: {g: _estimate(e) for g, e in each.items()} for arm, each in done.minus.items()},
            "routed_minus_by_skill": {
                arm: {name: _estimate(each) for name, each in zip(done.names, estimates, strict=True)}
                for arm, estimates in done.minus_by_skill.items()
            },
        },
    }


def _machine(counts: Counts) -> dict[str, str]:
    return {fact.name: fact.value for fact in counts.facts}


def _run(counts: Counts) -> dict[str, Any]:
    return {
        "trained": counts.arm,
        "seed": counts.seed,
        "ledger_head": counts.head,
        "evaluations": [
            {"arm": each.arm, "steps": each.steps, "episodes": each.episodes, "successes": dict(each.successes)}
            for each in (*counts.underway, *counts.last)
        ],
        "epochs": [
            {
                "steps": epoch.steps,
                "as_target": {row.name: [row.successes, row.attempts] for row in epoch.attempts},
                "as_active": {row.name: [row.active_successes, row.active_steps] for row in epoch.attempts},
            }
            for epoch in counts.epochs
        ],
    }


def _estimate(value: Estimate) -> list[float]:
    return [round(each, 6) for each in (value.value, value.low, value.high)]


def curves(done: Result) -> dict[str, tuple[list[int], np.ndarray]]:
    """Steps and rates ``[seeds, points, skills]`` of the arms that were evaluated on the way."""
    return {arm: curve(done.found, arm) for arm in EVALUATED if arm in done.arms}


def requirements(counts_documents: Any) -> dict[str, tuple[str, ...]]:
    """Each skill's prerequisites by the material of a run: those that its text names."""
    _, material = given(counts_documents)
    return {item.name: tuple(other.name for other in material if f'"{other.name}"' in item.skill) for item in material}
