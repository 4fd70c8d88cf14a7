"""Vetting of flat reward programs and policies: text in, the compiled thing or a refusal out. No code of the text runs.

Which skills may be named is what the archive holds: a smaller archive restricts a policy to the skills that an earlier
iteration had (paper 000, Figure 5b).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jax
import numpy as np
from attrs import evolve

from engine.sharp.editions import LATEST, Edition
from engine.sharp.emit import scalars
from engine.sharp.other_forms.flat import CompiledFlat, parse_flat
from engine.sharp.other_forms.policy import Branch, CompiledPolicy, SampledChoices, parse_policy
from engine.sharp.sampled import SampledViews
from engine.worlds.schema import Schema
from ledger.vocabulary.vet import Known, Refusal


def vet_flat(text: str, schema: Schema, archive: Sequence[Known], edition: Edition = LATEST) -> CompiledFlat | Refusal:
    """The verdict on a flat reward program of one of the skills of ``archive``."""
    return parse_flat(text, schema, archive, edition)


def vet_policy(
    text: str,
    schema: Schema,
    archive: Sequence[Known],
    edition: Edition = LATEST,
    states: SampledViews | None = None,
) -> CompiledPolicy | Refusal:
    """The verdict on a policy over the skills of ``archive``. Statistics are taken only if ``states`` are given."""
    policy = parse_policy(text, schema, archive, edition)
    if states is None or isinstance(policy, Refusal):
        return policy
    sampled, warnings = sample(policy, schema, states)
    return evolve(policy, sampled=sampled, warnings=(*policy.warnings, *warnings))


def sample(policy: CompiledPolicy, schema: Schema, states: SampledViews) -> tuple[SampledChoices, list[str]]:
    """How often each skill is named, and what to know of it: branches never taken, skills never named.

    At a reset the previous state is the reset state itself.
    """
    tests = {test.digest: test for branch in policy.branches for visit in branch.visits for test, _ in visit}
    evaluate = jax.jit(jax.vmap(scalars([policy.choice, *tests.values()], schema)))
    at_reset = [np.asarray(values) for values in evaluate(states.resets, states.resets)]
    visited = [np.asarray(values) for values in evaluate(states.current, states.previous)]
    counts = [np.bincount(values[0], minlength=len(policy.skills)) for values in (at_reset, visited)]
    sampled = SampledChoices(
        resets=len(at_reset[0]),
        chosen_at_reset=tuple(int(count) for count in counts[0]),
        visited=len(visited[0]),
        chosen_visited=tuple(int(count) for count in counts[1]),
    )
    every = [np.concatenate(pair) for pair in zip(at_reset[1:], visited[1:], strict=True)]
    values = dict(zip(tests, every, strict=True))
    return sampled, [*_unchosen(policy, sampled), *_untaken(policy.branches, values)]


def _unchosen(policy: CompiledPolicy, sampled: SampledChoices) -> list[str]:
    total = sampled.resets + sampled.visited
    if len(policy.skills) == 1 or not total:
        return []
    counts = [sum(pair) for pair in zip(sampled.chosen_at_reset, sampled.chosen_visited, strict=True)]
    if max(counts) == total:
        return [f"{policy.skills[counts.index(total)]} is named on all {total:,} sampled states"]
    named = zip(policy.skills, counts, strict=True)
    return [f"{name} is never named on {total:,} sampled states" for name, count in named if not count]


def _untaken(branches: Sequence[Branch], values: Mapping[bytes, np.ndarray]) -> list[str]:
    """Sides of a test that no sampled state takes, though some get to the test."""
    warnings = []
    for branch in branches:
        arrived, followed = _states_at(branch, values)
        if arrived and not followed:
            word = "never" if branch.holds else "always"
            states = "the one sampled state that gets" if arrived == 1 else f"the {arrived:,} sampled states that get"
            warnings.append(f"line {branch.line}: the condition {word} holds on {states} to it")
    return warnings


def _states_at(branch: Branch, values: Mapping[bytes, np.ndarray]) -> tuple[int, int]:
    """How many states get to a test, and how many go on to this side of it."""
    arrived = np.zeros((), np.bool_)
    followed = np.zeros((), np.bool_)
    for *before, (test, wanted) in branch.visits:
        here = np.ones_like(values[test.digest])
        for node, holds in before:
            here = here & (values[node.digest] == holds)
        arrived = arrived | here
        followed = followed | (here & (values[test.digest] == wanted))
    return int(arrived.sum()), int(followed.sum())
