"""How a rollout is cut into learning sequences by a network with memory."""

from __future__ import annotations


def learning_window(steps: int, gradient_window: int) -> int:
    """How many steps form one sequence: the gradient window, or the whole rollout of ``steps`` if that is shorter.

    Raises:
        ValueError: if a longer rollout is not a multiple of the gradient window.
    """
    if steps <= gradient_window:
        return steps
    if steps % gradient_window:
        raise ValueError(f"rollout_steps {steps} must be a multiple of gradient_window {gradient_window}")
    return gradient_window
