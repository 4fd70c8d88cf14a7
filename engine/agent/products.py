"""Matrix products of the networks with memory, whose gradients the compiler must not merge with what surrounds them.

Left alone, XLA on a CPU computes the elementwise backward pass anew inside the transposed operand of every weight
gradient, element by element and out of order. A barrier on the operands keeps the products pure; the arithmetic is that
of the plain product.
"""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

held = lax.optimization_barrier


@jax.custom_vjp
def product(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """``[..., k]`` times ``[k, n]``: ``[..., n]``."""
    return lax.dot_general(x, kernel, (((x.ndim - 1,), (0,)), ((), ())))


def _forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return product(x, kernel), (x, kernel)


def _backward(saved: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, kernel = saved
    size, features = kernel.shape
    gradient = held(gradient.reshape(-1, features))
    to_x = lax.dot_general(gradient, kernel, (((1,), (1,)), ((), ())))
    to_kernel = lax.dot_general(held(x.reshape(-1, size)), gradient, (((0,), (0,)), ((), ())))
    return to_x.reshape(x.shape), to_kernel


product.defvjp(_forward, _backward)


def dense_product(
    x: jax.Array, kernel: jax.Array, dimension_numbers: Any, precision: Any = None, **options: Any
) -> jax.Array:
    """``product`` in the place of ``jax.lax.dot_general`` in ``flax.linen.Dense``.

    Raises:
        ValueError: if anything but a dense layer's product is asked for.
    """
    if dimension_numbers != (((x.ndim - 1,), (0,)), ((), ())) or precision is not None:
        raise ValueError(f"only the product of a dense layer: {dimension_numbers}, precision {precision}")
    del options
    return product(x, kernel)
