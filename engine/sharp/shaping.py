"""Nodes that pick, arrange or reduce elements, in canonical form. All shapes are static."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from engine.sharp.algebra import Algebra
from engine.sharp.graph import Node
from engine.sharp.limits import INT_MAX, INT_MIN
from engine.sharp.refusals import Refused

Span = int | tuple[int, int, int]
"""Of one axis: a position (the axis goes), or ``(start, count, step)``."""


def _composed(inner: Sequence[Span], outer: Sequence[Span]) -> list[Span]:
    """The spans of a slice of a slice."""
    found = list(inner)
    places = [axis for axis, span in enumerate(inner) if not isinstance(span, int)]
    for axis, span in zip(places, outer, strict=True):
        start, _, step = inner[axis]  # type: ignore[misc]
        found[axis] = (
            start + span * step if isinstance(span, int) else (start + span[0] * step, span[1], span[2] * step)
        )
    return found


def _tidy(span: Span) -> Span:
    if isinstance(span, int):
        return span
    start, count, step = span
    return (start, count, step) if count > 1 else (start if count else 0, count, 1)


class Shaping(Algebra):
    """Constructors of shape operations and reductions."""

    def reshape(self, x: Node, shape: tuple[int, ...]) -> Node:
        """The elements of ``x`` in row-major order as ``shape``."""
        if x.shape == shape:
            return x
        if x.op == "broadcast" and x.operands[0].shape == ():
            return self.broadcast(x.operands[0], shape)
        source = x.operands[0] if x.op == "reshape" else x
        if source.shape == shape:
            return source
        return self.graph.make("reshape", (source,), x.dtype, shape, (shape,), x.bounds)

    def transpose(self, x: Node, axes: tuple[int, ...]) -> Node:
        """Axes permuted."""
        if axes == tuple(range(len(axes))):
            return x
        shape = tuple(x.shape[axis] for axis in axes)
        if x.op == "broadcast" and x.operands[0].shape == ():
            return self.broadcast(x.operands[0], shape)
        return self.graph.make("transpose", (x,), x.dtype, shape, (axes,), x.bounds)

    def slice(self, x: Node, spans: Sequence[Span]) -> Node:
        """Static positions and spans, one per axis of ``x``; a slice of a slice is one slice.

        A position along the axis of a concatenation lies in one part of it, however deep concatenations are nested.
        """
        while True:
            if x.op == "slice":
                x, spans = x.operands[0], _composed(x.attributes[0], spans)  # type: ignore[arg-type]
            tidy = [_tidy(span) for span in spans]
            if not tidy:
                return x
            place = tidy[0]
            if x.op != "concat" or x.attributes[0] != 0 or not isinstance(place, int):
                return self._sliced(x, tidy)
            for part in x.operands:
                if place < part.shape[0]:
                    break
                place -= part.shape[0]
            stacked = part.op == "reshape" and part.shape == (1, *part.operands[0].shape)
            x, spans = (part.operands[0], tidy[1:]) if stacked else (part, [place, *tidy[1:]])

    def _sliced(self, x: Node, spans: list[Span]) -> Node:
        shape = tuple(span[1] for span in spans if not isinstance(span, int))
        if spans == [(0, size, 1) for size in x.shape]:
            return x
        if x.op == "broadcast" and x.operands[0].shape == ():
            return self.broadcast(x.operands[0], shape)
        return self.graph.make("slice", (x,), x.dtype, shape, (tuple(spans),), x.bounds)

    def gather(self, x: Node, axes: tuple[int, ...], indices: tuple[Node, ...]) -> Node:
        """Elements at traced positions along ``axes``; indices are int32, of one shape, and inside the axes."""
        shape = indices[0].shape
        rest = [size for axis, size in enumerate(x.shape) if axis not in axes]
        adjacent = all(after - before == 1 for before, after in pairwise(axes))
        start = axes[0] if adjacent else 0
        result = (*rest[:start], *shape, *rest[start:])
        if x.op == "broadcast" and x.operands[0].shape == ():
            return self.broadcast(x.operands[0], result)
        if x.op == "gather" and shape == () and x.operands[1].shape == ():
            inner: tuple[int, ...] = x.attributes[0]  # type: ignore[assignment]
            source = x.operands[0]
            left = [axis for axis in range(len(source.shape)) if axis not in inner]
            pairs = [
                *zip(inner, x.operands[1:], strict=True),
                *zip([left[axis] for axis in axes], indices, strict=True),
            ]
            pairs.sort(key=lambda pair: pair[0])
            x, axes, indices = source, tuple(axis for axis, _ in pairs), tuple(index for _, index in pairs)
        return self.graph.make("gather", (x, *indices), x.dtype, result, (axes,), x.bounds)

    def window(self, x: Node, axes: tuple[int, ...], starts: tuple[Node, ...], sizes: tuple[int, ...]) -> Node:
        """Spans of static size at traced starts; cells outside repeat the edge and must be masked."""
        shape = list(x.shape)
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        return self.graph.make("window", (x, *starts), x.dtype, tuple(shape), (axes, sizes), x.bounds)

    def concat(self, parts: Sequence[Node], axis: int) -> Node:
        """Arrays of one dtype joined along ``axis``."""
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        known = [part.bounds for part in parts if part.bounds is not None]
        bounds = None
        if len(known) == len(parts):
            bounds = (min(low for low, _ in known), max(high for _, high in known))
        operands = tuple(self.materialise(part) for part in parts)
        return self.graph.make("concat", operands, parts[0].dtype, tuple(shape), (axis,), bounds)

    def stack(self, parts: Sequence[Node]) -> Node:
        """Arrays of one dtype and shape along a new first axis."""
        self.graph.meter.hold(len(parts) * parts[0].size)
        return self.concat([self.reshape(part, (1, *part.shape)) for part in parts], 0)

    def reduce(self, op: str, x: Node, axes: tuple[int, ...]) -> Node:
        """``sum``, ``prod``, ``any``, ``all``, ``reduce_max`` or ``reduce_min`` over ``axes``, which go."""
        if not axes:
            return x
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        count = math.prod(x.shape[axis] for axis in axes)
        if op in ("reduce_max", "reduce_min") and count == 0:
            raise Refused("shape", "the largest or smallest of no elements does not exist")
        uniform = x.op == "broadcast" and x.operands[0].shape == ()
        if uniform and count and op in ("any", "all", "reduce_max", "reduce_min"):
            return self.broadcast(x.operands[0], shape)
        bounds = None
        if x.bounds is not None:
            low, high = x.bounds
            if op == "sum":
                bounds = (count * low, count * high)
            elif op in ("reduce_max", "reduce_min"):
                bounds = x.bounds
        if uniform and x.operands[0].op == "constant":
            x = self.materialise(x)
        return self.graph.make(op, (x,), x.dtype, shape, (axes,), bounds)

    def locate(self, op: str, x: Node, axis: int) -> Node:
        """``argmax`` or ``argmin`` along one axis, which goes; the first of equals."""
        size = x.shape[axis]
        if size == 0:
            raise Refused("shape", f"{op} of no elements does not exist")
        shape = tuple(length for place, length in enumerate(x.shape) if place != axis)
        return self.graph.make(
            op,
            (self.materialise(x) if x.op == "broadcast" and x.operands[0].op == "constant" else x,),
            "int32",
            shape,
            (axis,),
            (0, size - 1),
        )

    def along(self, op: str, x: Node, axis: int) -> Node:
        """``sort`` or ``cumsum`` along one axis, which stays."""
        bounds = x.bounds
        if op == "cumsum" and bounds is not None:
            count = x.shape[axis]
            bounds = (min(bounds[0], count * bounds[0]), max(bounds[1], count * bounds[1]))
        if x.op == "broadcast" and x.operands[0].op == "constant":
            x = self.materialise(x)
        return self.graph.make(op, (x,), x.dtype, x.shape, (axis,), bounds)

    def inside(self, index: Node, size: int) -> tuple[Node, bool]:
        """A traced index as Python reads it (negative counts from the end), kept inside; whether it had to be kept."""
        if index.bounds is not None and 0 <= index.bounds[0] and index.bounds[1] < size:
            return index, False
        safe = index.bounds is not None and -size <= index.bounds[0] and index.bounds[1] < size
        if index.bounds is None or index.bounds[0] < 0:
            wrapped = self.add(index, self.like(size, index))
            index = self.select(self.lt(index, self.like(0, index)), wrapped, index)
        index = self.extreme("max", index, self.like(0, index))
        return self.extreme("min", index, self.like(size - 1, index)), not safe

    def least(self, dtype: str) -> bool | int | float:
        """The neutral element of max."""
        return {"bool": False, "int32": INT_MIN, "float32": float("-inf")}[dtype]

    def greatest(self, dtype: str) -> bool | int | float:
        """The neutral element of min."""
        return {"bool": True, "int32": INT_MAX, "float32": float("inf")}[dtype]
