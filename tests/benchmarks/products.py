"""How fast this machine multiplies matrices: large squares, and a network's own shapes, each measured alone."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
from attrs import frozen

from tests.benchmarks.counting import Product

SQUARES: Final = (512, 1024, 2048, 3072)
"""Sides of the large squares."""

ENOUGH_SECONDS: Final = 0.03
TRIES: Final = 5


@frozen
class Bound:
    """Products measured alone: how many operations they are, and how long all of them take one after the other.

    ``fastest`` is the speed of the fastest single shape, in operations per second.
    """

    operations: int
    seconds: float
    fastest: float

    @property
    def speed(self) -> float:
        """Operations per second: the sum of the operations over the sum of the times."""
        return self.operations / self.seconds


def best_square() -> float:
    """Operations per second of the fastest large square, float32 at the default precision."""
    return max(2 * side**3 / _alone("bij,bjk->bik", (1, side, side), (1, side, side)) for side in SQUARES)


def bound(products: Sequence[Product], *, gradients: bool) -> Bound:
    """Every product, and with ``gradients`` those that give its gradients, in its own shape and layout.

    The time of a shape is the shortest of several tries in a warm loop: a bound, not what a program reaches.
    """
    known: dict[tuple[str, tuple[int, ...], tuple[int, ...]], float] = {}
    total, done, fastest = 0.0, 0, 0.0
    for product in products:
        batch, rows, inner, columns = product.batch, product.rows, product.inner, product.columns
        left, right, out = (batch, rows, inner), (batch, inner, columns), (batch, rows, columns)
        cases = [("bij,bjk->bik", left, right)]
        if gradients and product.left:
            cases.append(("bik,bjk->bij", out, right))
        if gradients and product.right:
            cases.append(("bij,bik->bjk", left, out))
        for case in cases:
            if case not in known:
                known[case] = _alone(*case)
            total += product.times * known[case]
            done += product.forward
            fastest = max(fastest, product.forward / product.times / known[case])
    return Bound(done, total, fastest)


def _alone(equation: str, left: tuple[int, ...], right: tuple[int, ...]) -> float:
    """Seconds of one product: the shortest of several runs of a loop of them."""
    keys = jax.random.split(jax.random.key(0))
    factors = jax.random.normal(keys[0], left), jax.random.normal(keys[1], right)
    if left[0] == 1:
        # One product is measured as programs write it, without a batch axis.
        equation = equation.replace("b", "")
        factors = factors[0][0], factors[1][0]

    @jax.jit
    def loop(count: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        def again(
            _: jax.Array, carry: tuple[jax.Array, jax.Array, jax.Array]
        ) -> tuple[jax.Array, jax.Array, jax.Array]:
            # The barrier makes the factors depend on the turn before, so that no product is moved out of the loop.
            a, b, _ = jax.lax.optimization_barrier(carry)
            return a, b, jnp.einsum(equation, a, b)

        result: jax.Array = jax.lax.fori_loop(0, count, again, (a, b, jnp.einsum(equation, a, b)))[2]
        return result

    once = shortest(lambda: loop(jnp.int32(1), *factors), 2)
    count = max(math.ceil(ENOUGH_SECONDS / once), 2)
    # Two lengths, so that what a call costs besides its products cancels.
    short = shortest(lambda: loop(jnp.int32(count), *factors), TRIES)
    long = shortest(lambda: loop(jnp.int32(3 * count), *factors), TRIES)
    return max(long - short, 1e-9) / (2 * count)


def shortest(function: Callable[[], Any], tries: int) -> float:
    """Seconds of the shortest of ``tries`` calls after one that compiles."""
    jax.block_until_ready(function())
    best = math.inf
    for _ in range(tries):
        start = time.perf_counter()
        jax.block_until_ready(function())
        best = min(best, time.perf_counter() - start)
    return best
