"""Let a third-party game be traced under its own rules when the process is strict about ranks and types."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def permissive() -> Iterator[None]:
    """Allow implicit rank and type promotion while tracing inside; whatever is compiled stays the same either way."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield
