"""Keep a known fault of the XLA compiler out of every world: on some CPUs it repeats every eighth world of a batch.

jaxlib 0.10.2 and 0.11 hand sums of products to a library (YNNPACK) by default. In a batch of more than eight worlds the
noise of world ``i`` is then computed with the angles of world ``i % 8``, silently; training would see eight landscapes,
and an episode's world would depend on its place in the batch (public report: jax-ml/jax issue 39103). One compiler flag
turns the hand-over off. It must be in place before anything is compiled, and a check finds out whether it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping
from functools import cache
from importlib import metadata
from typing import Final

import numpy as np

SWITCH: Final = "xla_cpu_experimental_ynn_fusion_type"
FLAG: Final = f"--{SWITCH}="
"""An empty list of operations to hand over; jaxlib 0.10.1 knows the flag already."""

AFFECTED: Final = ((0, 10, 2), (0, 12))
"""First affected version of jaxlib, and the first that is not assumed to be; XLA aborts at a flag it does not know."""

BATCH: Final = 16


class CompilerFault(RuntimeError):
    """The compiler computes batches wrongly; the message says which flag to set."""


def settle_compiler(environ: MutableMapping[str, str] | None = None, version: str | None = None) -> None:
    """Add the flag to ``XLA_FLAGS`` where jaxlib is affected, unless it is there; before anything is compiled."""
    variables = os.environ if environ is None else environ
    numbers = tuple(int(part) for part in (version or metadata.version("jaxlib")).split(".")[:3] if part.isdigit())
    flags = variables.get("XLA_FLAGS", "")
    if AFFECTED[0] <= numbers < AFFECTED[1] and SWITCH not in flags:
        variables["XLA_FLAGS"] = f"{flags} {FLAG}".strip()


def check_compiler(batched: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
    """Compute a batch of noise compiled, and on the host; once per process.

    Raises:
        CompilerFault: if the two differ: the flag came too late, or another compiler has the same fault.
    """
    if batched is None:
        _checked()
    else:
        _compare(batched)


@cache
def _checked() -> None:
    _compare(_compiled)


def _compare(batched: Callable[[np.ndarray], np.ndarray]) -> None:
    angles = np.linspace(0, 40, BATCH * 25, dtype=np.float32).reshape(BATCH, 5, 5)
    if not np.allclose(batched(angles), _on_the_host(angles), atol=1e-4):
        raise CompilerFault(
            f"this machine's XLA computes batches of worlds wrongly; start the process with XLA_FLAGS='{FLAG}' in its "
            "environment, or import engine before anything uses JAX; if that does not help, install another jaxlib"
        )


def _compiled(angles: np.ndarray) -> np.ndarray:
    import jax
    import jax.numpy as jnp

    def ramps(angle: jax.Array) -> jax.Array:
        grid = jnp.asarray(_grid())
        gradients = jnp.stack((jnp.cos(angle), jnp.sin(angle)), -1).repeat(16, 0).repeat(16, 1)
        return (grid * gradients[:-16, :-16]).sum(2) + ((grid - 1) * gradients[16:, :-16]).sum(2)

    return np.asarray(jax.jit(jax.vmap(ramps))(angles))


def _on_the_host(angles: np.ndarray) -> np.ndarray:
    grid = _grid()
    gradients = np.stack((np.cos(angles), np.sin(angles)), -1).repeat(16, 1).repeat(16, 2)
    first = (grid * gradients[:, :-16, :-16]).sum(3)
    return np.asarray(first + ((grid - 1) * gradients[:, 16:, :-16]).sum(3))


def _grid() -> np.ndarray:
    ramp = np.arange(64, dtype=np.float32) / 16 % 1
    return np.stack(np.meshgrid(ramp, ramp, indexing="ij"), -1)
