"""The language in figures: ``python -m tests.engine.sharp.figures``.

Prints acceptance of the honest corpora, lowering times, what sharing saves in operations, in XLA's compile time and in
evaluation, each measured with and without in this one run. Times are of this machine; nothing is asserted.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from engine.sharp.editions import EDITIONS, LATEST, Edition
from engine.sharp.emit import predicates
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.sharing import archive_work, operation_count
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from engine.worlds.registry import world
from engine.worlds.sampling import sampled_views
from engine.worlds.schema import Schema
from tests.engine.sharp import honest_classic, honest_invented
from tests.engine.sharp.authored import HERE, WORLDS, answers
from tests.engine.sharp.invented import SCHEMA as INVENTED

BATCH = 1_024

NEAR_TABLE = '''class MakeThing{index}(Sharp):
    """Make thing {index} near a crafting table."""

    def success(self, state, previous):
        return state.inventory.wood + {index} < previous.inventory.wood + {index} - {least} and self.near_table(state)

    def near_table(self, state):
        row, column = state.player_position
        around = state.map[row - 4 : row + 5, column - 4 : column + 5]
        return (around == BlockType.CRAFTING_TABLE).any()

    def has_wood(self, state):
        return state.inventory.wood >= {index} % 9 + 1

    requires = [(has_wood, "CollectWood"), (near_table, "PlaceTable")]
'''


def accepted(texts: dict[str, str], schema: Schema, edition: Edition) -> tuple[list[CompiledProgram], Counter[str]]:
    """The programs among texts, and the kinds of the other texts' refusals."""
    programs, refusals = [], Counter[str]()
    for text in texts.values():
        verdict = parse_program(text, schema, edition)
        if isinstance(verdict, CompiledProgram):
            programs.append(verdict)
        else:
            refusals[verdict.kind] += 1
    return programs, refusals


def corpora() -> dict[str, tuple[dict[str, str], Schema]]:
    """Every honest corpus with its schema."""
    own = {
        "our own, Classic": ({str(i): text for i, text in enumerate(honest_classic.PROGRAMS)}, CLASSIC),
        "our own, invented world": ({str(i): text for i, text in enumerate(honest_invented.PROGRAMS)}, INVENTED),
    }
    written = {f"authored, {name}": (answers(name), world(name_).schema) for name, name_ in WORLDS.items()}
    return {**own, **written}


def timed(function: Callable[[], Any], repeat: int = 1) -> float:
    """The shortest of ``repeat`` runs, in seconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        jax.block_until_ready(function())
        best = min(best, time.perf_counter() - start)
    return best


def lowering(texts: Sequence[tuple[str, Schema]]) -> list[tuple[float, str]]:
    """Seconds to parse, check and lower each text, with nothing kept from before."""
    from engine.sharp.program import _parse

    found = []
    for text, schema in texts:
        times = []
        for _ in range(3):
            _parse.cache_clear()
            start = time.perf_counter()
            verdict = parse_program(text, schema)
            times.append(time.perf_counter() - start)
        name = verdict.name if isinstance(verdict, CompiledProgram) else verdict.reason
        found.append((min(times), name))
    return sorted(found)


def compare(title: str, programs: list[CompiledProgram], schema: Schema, views: Any) -> None:
    """One function for all programs against one function each, on the same states."""
    count = operation_count(programs)
    together = archive_work(programs, schema)
    apart = sum(archive_work([program], schema) for program in programs)
    joint = jax.jit(jax.vmap(predicates(programs, schema)))
    single = [jax.jit(jax.vmap(predicates([program], schema))) for program in programs]
    compiled_joint = timed(lambda: joint(*views))
    compiled_single = timed(lambda: [function(*views) for function in single])
    ran_joint = timed(lambda: joint(*views), 20)
    ran_single = timed(lambda: [function(*views) for function in single], 20)
    print(f"{title}: {len(programs)} programs, batch {BATCH}")
    print(f"  {'':28}{'each alone':>14}{'shared':>14}")
    print(f"  {'operations':28}{count.before:>14,}{count.after:>14,}")
    print(f"  {'elements × operations':28}{apart:>14,}{together:>14,}")
    print(f"  {'trace and compile, s':28}{compiled_single:>14.2f}{compiled_joint:>14.2f}")
    print(f"  {'evaluate the batch, ms':28}{ran_single * 1e3:>14.2f}{ran_joint * 1e3:>14.2f}")


def main() -> None:
    """Print everything."""
    found = corpora()
    first_try = json.loads((HERE / "first_try.json").read_text("utf-8"))
    print("honest programs accepted")
    for name, (texts, schema) in found.items():
        row = []
        for edition in EDITIONS.values():
            programs, refusals = accepted(texts, schema, edition)
            row.append(f"{edition.label} {len(programs)} of {len(texts)} {dict(refusals) or ''}".rstrip())
        print(f"  {name:28}{'; '.join(row)}")
    for name, figures in first_try.items():
        print(f"  {name:28}at first try, before any tuning: {figures['accepted']} of {figures['answers']}")
    every = [(text, schema) for texts, schema in found.values() for text in texts.values()]
    times = lowering(every)
    median = statistics.median(seconds for seconds, _ in times)
    print(f"parse, check and lower: {len(times)} programs, median {median * 1e3:.1f} ms, worst", end=" ")
    print(", ".join(f"{seconds * 1e3:.0f} ms ({name})" for seconds, name in times[:-4:-1]))
    classic = world("craftax_classic")
    states = sampled_views(classic, 0)
    views = jax.tree.map(
        lambda leaf: jnp.asarray(np.resize(leaf, (BATCH, *leaf.shape[1:]))), (states.current, states.previous)
    )
    near = [parse_program(NEAR_TABLE.format(index=index, least=index % 3), CLASSIC) for index in range(30)]
    compare("near-table skills", [each for each in near if isinstance(each, CompiledProgram)], CLASSIC, views)
    authored, _ = accepted(answers("classic"), CLASSIC, LATEST)
    compare("authored Classic skills", authored, CLASSIC, views)


if __name__ == "__main__":
    main()
