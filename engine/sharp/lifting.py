"""From values to nodes: lifting, promotion, broadcasting, and the masks of windows.

Promotion is bool < int32 < float32 and happens here, so that graphs hold operations on equal dtypes and shapes only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.sharp.graph import Node, scalar_of, topological
from engine.sharp.hints import listed
from engine.sharp.limits import INT_MAX, INT_MIN, LARGEST, Meter
from engine.sharp.refusals import Mismatch, Refused
from engine.sharp.shaping import Shaping
from engine.sharp.values import Items, StateValue, Static, Traced, Unusable, kind_of

ORDER = {"bool": 0, "int32": 1, "float32": 2}

MAX_NESTED_ITEMS = 16


def is_number(value: Any) -> bool:
    """Whether a value is a known number or truth value."""
    return isinstance(value, (bool, int, float))


def checked(value: Any) -> Any:
    """A known number, refused if an integer leaves 32 bits."""
    if isinstance(value, int) and not isinstance(value, bool) and not INT_MIN <= value <= INT_MAX:
        raise Refused("budget", "integers must fit into 32 bits", LARGEST)
    if isinstance(value, complex) or (isinstance(value, float) and math.isnan(value)):
        raise Refused("type", "this computes something that is no number")
    return value


class Lifting:
    """Nodes for values over one graph."""

    def __init__(self, shaping: Shaping, meter: Meter) -> None:
        self.nodes = shaping
        self.meter = meter
        self.rows: dict[bytes, str] = {}
        """By digest, what ``grid[position]`` has picked, and how the one cell is picked that was probably meant."""

    # --- from values to nodes ----------------------------------------------------------------------------------------

    def lift(self, value: Any, what: str = "a number or an array") -> Traced:
        """A number, array, or tuple of them as a traced value."""
        if isinstance(value, Traced):
            return value
        if is_number(value):
            dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
            return Traced(self.nodes.constant(checked(value if dtype == "float32" else int(value)), dtype))
        if isinstance(value, Items):
            return self.stack(value)
        if isinstance(value, Unusable):
            raise value.refused()
        if isinstance(value, StateValue):
            advice = f"name one of its fields: {listed(value.members, 6)}"
            raise Refused("type", f"{what} is needed, not {kind_of(value)}", advice)
        raise Refused("type", f"{what} is needed, not {kind_of(value)}")

    def stack(self, items: Items) -> Traced:
        """A tuple of equal-shaped values as an array."""
        if items.kind == "set":
            raise Refused("type", "a set has no order", "use a tuple")
        if items.present is not None:
            raise Refused(
                "shape",
                "how many items this list has depends on the state, so it is no array",
                "count with sum(...), or test with any(...) or all(...)",
            )
        if items.depth > MAX_NESTED_ITEMS:
            raise Refused("budget", f"tuples nested deeper than {MAX_NESTED_ITEMS}")
        self.meter.hold(items.total)
        self.meter.step(items.total // 8)
        known = self._known_array(items)
        if known is not None:
            return Traced(known)
        if not items.items:
            return Traced(self.nodes.constant(np.zeros((0,)), "float32"))
        parts = [self.lift(item) for item in items.items]
        dtype = max((part.dtype for part in parts), key=ORDER.__getitem__)
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise Refused(
                "shape",
                "the items of an array must have one shape: here they are "
                + " and ".join(str(list(shape)) for shape in sorted(shapes)),
            )
        node = self.nodes.stack([self.nodes.cast(part.node, dtype) for part in parts])
        if all(part.mask is None for part in parts):
            return Traced(node)
        return Traced(node, self.nodes.stack([self.mask_of(part) for part in parts]))

    def _known_array(self, items: Items) -> Node | None:
        def plain(value: Any) -> Any:
            if isinstance(value, Items):
                return [plain(item) for item in value.items]
            if not is_number(value):
                raise LookupError
            return checked(value)

        try:
            array = np.array(plain(items))
        except LookupError:
            return None
        except ValueError:
            raise Refused("shape", "the rows of an array must have equal lengths") from None
        if array.dtype == np.bool_:
            return self.nodes.constant(array, "bool")
        return self.nodes.constant(array, "int32" if np.issubdtype(array.dtype, np.integer) else "float32")

    def static(self, value: Any) -> Static | Traced | Any:
        """The Python number, where a traced value turns out to be known."""
        if isinstance(value, Traced) and value.shape == () and value.mask is None:
            known = scalar_of(value.node)
            return value if known is None else known
        return value

    def whole(self, value: Any, what: str, suggestion: str | None = None) -> int:
        """A known integer, or a refusal that says what it was needed for."""
        known = self.static(value)
        if isinstance(known, int):
            return int(known)
        if isinstance(known, Traced):
            raise Refused(
                "static", f"{what} must be known before the program runs; this depends on the state", suggestion
            )
        raise Refused("type", f"{what} must be an integer, not {kind_of(known)}", suggestion)

    # --- rows that were meant as cells -------------------------------------------------------------------------------

    def rows_of(self, *values: Traced) -> str | None:
        """How a cell is picked, if values rest on rows that were picked by the parts of a position."""
        if not self.rows:
            return None
        found = (self.rows.get(node.digest) for node in topological(value.node for value in values))
        return next((advice for advice in found if advice is not None), None)

    # --- windows -----------------------------------------------------------------------------------------------------

    def mask_of(self, x: Traced) -> Node:
        """Which cells lie inside, as a node."""
        return self.nodes.broadcast(self.nodes.constant(True, "bool"), x.shape) if x.mask is None else x.mask

    def fill(self, x: Traced, value: bool | int | float) -> Node:
        """The node of ``x`` with cells outside the map replaced."""
        if x.mask is None:
            return x.node
        return self.nodes.select(x.mask, x.node, self.nodes.like(value, x.node))

    def masks(self, values: Sequence[Traced], shape: tuple[int, ...]) -> Node | None:
        """Which elements of a result rest on cells inside the map only."""
        found = [self.nodes.broadcast(x.mask, shape) for x in values if x.mask is not None]
        return self.nodes.and_(*found) if found else None

    # --- broadcasting ------------------------------------------------------------------------------------------------

    def together(self, *values: Traced) -> tuple[tuple[Node, ...], tuple[int, ...]]:
        """Nodes broadcast to one shape."""
        try:
            shape = np.broadcast_shapes(*(x.shape for x in values))
        except ValueError:
            raise Mismatch([x.shape for x in values], self.rows_of(*values)) from None
        self.meter.hold(math.prod(shape))
        return tuple(self.nodes.broadcast(x.node, shape) for x in values), shape

    def promoted(self, *values: Traced, least: str = "bool") -> tuple[Traced, ...]:
        """Values cast to their common dtype, at least ``least``."""
        dtype = max((*(x.dtype for x in values), least), key=ORDER.__getitem__)
        return tuple(Traced(self.nodes.cast(x.node, dtype), x.mask) for x in values)
