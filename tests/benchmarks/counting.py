"""How many floating-point operations acting and learning need, counted by hand from the network's definition.

Counted are matrix products only, a multiplication and an addition as two operations, and only what the mathematics
needs: a query meets the ``memory_window`` + 1 keys in its reach, not all keys of its window; the memory and the
observation are data, so no gradient flows into them. An implementation that computes more gets no credit for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from ledger.vocabulary.config import Agent, Ppo


@frozen
class Product:
    """``times`` products ``[batch, rows, inner] @ [batch, inner, columns]``, and which gradients it has when learning.

    ``left``: the gradient of the left factor is needed, ``[rows, columns] @ [columns, inner]``; ``right``: that of the
    right one, ``[inner, rows] @ [rows, columns]``. Each costs as much as the product.
    """

    name: str
    rows: int
    inner: int
    columns: int
    batch: int = 1
    times: int = 1
    left: bool = False
    right: bool = False

    @property
    def forward(self) -> int:
        """Operations of the products alone."""
        return 2 * self.batch * self.rows * self.inner * self.columns * self.times

    @property
    def operations(self) -> int:
        """Operations of the products and of their gradients."""
        return self.forward * (1 + self.left + self.right)


@frozen
class Sizes:
    """What the world and the archive decide: lengths of observation and embedding, actions, capacity for skills."""

    observation: int
    vector: int
    actions: int
    skills: int


def operations(products: Sequence[Product]) -> int:
    """Operations of all products with the gradients that they need."""
    return sum(product.operations for product in products)


def learning(agent: Agent, sizes: Sizes, sequences: int, window: int) -> tuple[Product, ...]:
    """The products of one gradient over ``sequences`` windows of ``window`` steps.

    Raises:
        ValueError: if this kind of network is not counted.
    """
    steps = sequences * window
    width = _width(agent)
    counted = [
        Product("embeddings", sizes.skills, sizes.vector, width, right=True),
        Product("observations", steps, sizes.observation, width, right=True),
    ]
    if agent.kind == "gtrxl":
        counted += _attending(agent, sequences, window)
    return (*counted, *_heads(agent, sizes, steps, gradients=True))


def acting(agent: Agent, sizes: Sizes, batch: int) -> tuple[Product, ...]:
    """The products of one step of ``batch`` environments with keys and values of earlier steps kept.

    Products that a rollout makes once (embeddings, positions) are left out.

    Raises:
        ValueError: if this kind of network is not counted.
    """
    counted = [Product("observations", batch, sizes.observation, _width(agent))]
    if agent.kind == "gtrxl":
        depth, reach, heads = agent.qkv_size // agent.heads, agent.memory_window + 1, agent.heads
        counted += [
            Product("query, key, value", batch, agent.embedding_size, agent.qkv_size, times=3 * agent.layers),
            Product("content scores", 1, depth, reach, batch=batch * heads, times=agent.layers),
            Product("position scores", batch, depth, reach, batch=heads, times=agent.layers),
            Product("attended values", 1, reach, depth, batch=batch * heads, times=agent.layers),
            *_after_attention(agent, batch, gradients=False),
        ]
    return (*counted, *_heads(agent, sizes, batch, gradients=False))


def update(agent: Agent, ppo: Ppo, sizes: Sizes) -> tuple[Product, ...]:
    """The products of one of the ``update_epochs * minibatches`` gradients of an update.

    Raises:
        ValueError: if this kind of network is not counted.
    """
    window = min(agent.gradient_window, ppo.rollout_steps) if agent.kind == "gtrxl" else 1
    sequences = ppo.environments * ppo.rollout_steps // window // ppo.minibatches
    return learning(agent, sizes, sequences, window)


def update_operations(agent: Agent, ppo: Ppo, sizes: Sizes) -> int:
    """Operations of a whole update: all epochs, all minibatches."""
    return ppo.update_epochs * ppo.minibatches * operations(update(agent, ppo, sizes))


def _width(agent: Agent) -> int:
    if agent.kind not in ("gtrxl", "mlp"):
        raise ValueError(f"operations of the network {agent.kind} are not counted; there are gtrxl and mlp")
    return agent.embedding_size if agent.kind == "gtrxl" else agent.hidden_size


def _attending(agent: Agent, sequences: int, window: int) -> Iterator[Product]:
    size, qkv, heads, layers = agent.embedding_size, agent.qkv_size, agent.heads, agent.layers
    depth, reach, steps = qkv // heads, agent.memory_window + 1, sequences * window
    yield Product("query, key, value", steps, size, qkv, times=3 * layers, left=True, right=True)
    yield Product(
        "keys and values of the memory", sequences * agent.memory_window, size, qkv, 1, 2 * layers, right=True
    )
    yield Product("positions", reach, size, qkv, times=layers, right=True)
    yield Product("content scores", window, depth, reach, sequences * heads, layers, left=True, right=True)
    yield Product("position scores", steps, depth, reach, heads, layers, left=True, right=True)
    yield Product("attended values", window, reach, depth, sequences * heads, layers, left=True, right=True)
    yield from _after_attention(agent, steps, gradients=True)


def _after_attention(agent: Agent, steps: int, *, gradients: bool) -> Iterator[Product]:
    """Output of attention, feed-forward part and, with gating, two gates of six products each."""
    size, layers = agent.embedding_size, agent.layers
    both = {"left": gradients, "right": gradients}
    yield Product("attention output", steps, agent.qkv_size, size, 1, layers, **both)
    yield Product("feed-forward in", steps, size, agent.hidden_size, 1, layers, **both)
    yield Product("feed-forward out", steps, agent.hidden_size, size, 1, layers, **both)
    if agent.gating:
        yield Product("gates", steps, size, size, 1, 2 * 6 * layers, **both)


def _heads(agent: Agent, sizes: Sizes, steps: int, *, gradients: bool) -> Iterator[Product]:
    """Policy and value: two hidden layers each after a transformer, ``layers`` - 1 after the shared layer of an MLP."""
    both = {"left": gradients, "right": gradients}
    width, hidden = _width(agent), agent.hidden_size
    deep = 2 if agent.kind == "gtrxl" else agent.layers - 1
    if deep:
        yield Product("heads, first hidden", steps, width, hidden, 1, 2, **both)
    if deep > 1:
        yield Product("heads, further hidden", steps, hidden, hidden, 1, 2 * (deep - 1), **both)
    yield Product("policy", steps, hidden if deep else width, sizes.actions, **both)
    yield Product("value", steps, hidden if deep else width, 1, **both)
