"""What one acting step of any network yields."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax


class Step(NamedTuple):
    """``logits [B, actions]``, ``value [B]``, the next cache, and a record of the step to learn from."""

    logits: jax.Array
    value: jax.Array
    cache: Any
    record: Any
