"""What one acting step of any network yields, and how a module is called."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
from flax import linen as nn


def applied(module: nn.Module, parameters: Any, *arguments: Any, method: str | None = None) -> Any:
    """``module.apply``, whose declared result covers changed variables; ours have none."""
    return module.apply(parameters, *arguments, method=method)


class Step(NamedTuple):
    """``logits [B, actions]``, ``value [B]``, the next cache, and a record of the step to learn from."""

    logits: jax.Array
    value: jax.Array
    cache: Any
    record: Any
