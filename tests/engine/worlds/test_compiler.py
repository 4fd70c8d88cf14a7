"""A batch of worlds is computed rightly, or the process says so."""

from __future__ import annotations

import numpy as np
import pytest

from engine.worlds.compiler import FLAG, CompilerFault, check_compiler, settle_compiler


def ramps(angles: np.ndarray) -> np.ndarray:
    """The noise that the check computes, one world and one cell at a time: shape ``(worlds, 64, 64)``."""
    result = np.zeros((len(angles), 64, 64), np.float32)
    for world, angle in enumerate(angles):
        for row in range(64):
            for column in range(64):
                at = np.array([row % 16, column % 16]) / 16
                first, second = angle[row // 16, column // 16], angle[row // 16 + 1, column // 16]
                result[world, row, column] = at @ [np.cos(first), np.sin(first)]
                result[world, row, column] += (at - 1) @ [np.cos(second), np.sin(second)]
    return result


def test_this_process_computes_batches_rightly() -> None:
    check_compiler()
    check_compiler(ramps)


def test_a_batch_that_repeats_every_eighth_world_is_a_fault() -> None:
    with pytest.raises(CompilerFault, match=f"XLA_FLAGS='{FLAG}'"):
        check_compiler(lambda angles: np.tile(ramps(angles[:8]), (2, 1, 1)))


@pytest.mark.parametrize(
    ("version", "before", "after"),
    [
        ("0.10.2", {}, {"XLA_FLAGS": FLAG}),
        ("0.11.0", {"XLA_FLAGS": "--xla_dump_to=x"}, {"XLA_FLAGS": f"--xla_dump_to=x {FLAG}"}),
        ("0.10.2", {"XLA_FLAGS": f"{FLAG}-reduce"}, {"XLA_FLAGS": f"{FLAG}-reduce"}),
        ("0.10.1", {}, {}),
        ("0.12.0", {}, {}),
        ("0.12.0.dev20261001", {}, {}),
    ],
)
def test_the_flag_is_set_for_affected_versions_only(
    version: str, before: dict[str, str], after: dict[str, str]
) -> None:
    environ = dict(before)
    settle_compiler(environ, version)
    assert environ == after
    settle_compiler(environ, version)
    assert environ == after
