"""Subscripts: static ones as Python reads them, traced positions that select, and windows around a traced centre.

A window ``grid[i - r : i + r + 1, …]`` has a static width and a traced place. Its cells outside the grid belong to it
but equal nothing and count as false, 0 or absent: Python would wrap or shorten here, which no program means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from engine.sharp.graph import Node, scalar_of
from engine.sharp.lifting import is_number
from engine.sharp.numeric import Numeric
from engine.sharp.refusals import Refused
from engine.sharp.shaping import Span
from engine.sharp.values import Items, Traced, kind_of


@frozen
class SliceValue:
    """An evaluated ``start:stop:step``."""

    start: Any
    stop: Any
    step: Any


ELLIPSIS = object()


def picks_rows(value: Any, index: Any) -> int | None:
    """Where in an index an array of integers stands, if it has one number for each axis that it could be for.

    Numpy picks a row for each number; whoever writes ``grid[position]`` means the one cell at that position.
    """
    parts = list(index.items) if isinstance(index, Items) and index.kind == "tuple" else [index]
    arrays = [(number, size) for number, part in enumerate(parts) if (size := _count(part))]
    if not isinstance(value, Traced) or len(arrays) != 1:
        return None
    ((place, size),) = arrays
    if not all(_is_scalar(part) for number, part in enumerate(parts) if number != place):
        return None
    return place if size == len(value.shape) - len(parts) + 1 >= 2 else None


def _is_scalar(value: Any) -> bool:
    return is_number(value) or (isinstance(value, Traced) and value.shape == ())


def _count(part: Any) -> int:
    """How many integers an index has that is an array of them, or a list some of which depend on the state; else 0."""
    if isinstance(part, Traced):
        return part.shape[0] if part.dtype == "int32" and len(part.shape) == 1 else 0
    if isinstance(part, Items) and part.kind == "list" and all(_is_scalar(item) for item in part.items):
        return len(part.items) if any(isinstance(item, Traced) for item in part.items) else 0
    return 0


def _range_of(size: int) -> str:
    if size <= 1:
        return "the only index is 0" if size else "it has no elements"
    return f"indices go from 0 to {size - 1}"


def _fewer(x: Traced) -> str:
    rank = len(x.shape)
    if rank == 0:
        return f"this is one {'truth value' if x.dtype == 'bool' else 'number'}: leave the index out"
    return f"give {'one index' if rank == 1 else f'at most {rank} indices'}"


class Indexing:
    """Subscripts of arrays and tuples."""

    ellipsis = ELLIPSIS

    def __init__(self, numeric: Numeric, warn: Callable[[str], None]) -> None:
        self.numeric = numeric
        self.nodes = numeric.nodes
        self.warn = warn

    def subscript(self, value: Any, index: Any) -> Any:
        """``value[index]``."""
        if isinstance(value, Items):
            return self._of_items(value, index)
        if is_number(value):
            raise Refused("type", f"{kind_of(value)} has no elements")
        x = self.numeric.lift(value, "an array")
        parts = list(index.items) if isinstance(index, Items) and index.kind == "tuple" else [index]
        return self._of_array(x, parts)

    def _of_items(self, value: Items, index: Any) -> Any:
        items = self.numeric.fixed(value)
        if isinstance(index, SliceValue):
            bounds = [
                None if part is None else self.numeric.whole(part, "a bound of a tuple's slice")
                for part in (index.start, index.stop, index.step)
            ]
            if bounds[2] == 0:
                raise Refused("type", "a slice's step cannot be 0")
            chosen = Items(items[slice(*bounds)], value.kind)
            self.numeric.meter.hold(chosen.total)
            return chosen
        known = self.numeric.static(index)
        if isinstance(known, int):
            if not -len(items) <= known < len(items):
                raise Refused("shape", f"index {int(known)} is outside {kind_of(value)}", _range_of(len(items)))
            return items[known]
        if isinstance(index, Items):
            return self._of_array(self.numeric.stack(value), list(index.items))
        return self._of_array(self.numeric.stack(value), [index])

    # --- arrays ------------------------------------------------------------------------------------------------------

    def _of_array(self, x: Traced, parts: Sequence[Any]) -> Traced:
        parts = self._without_ellipsis(list(parts), len(x.shape))
        spans: list[Span] = []
        traced: list[tuple[int, Node]] = []
        windows: list[tuple[int, Node, int]] = []
        fresh: list[int] = []
        axis = kept = 0
        for part in parts:
            if part is None:
                fresh.append(kept)
                kept += 1
                continue
            if axis >= len(x.shape):
                raise Refused("shape", f"too many indices for shape {list(x.shape)}", _fewer(x))
            size = x.shape[axis]
            if isinstance(part, SliceValue):
                span, start = self._span(part, size)
                if start is not None:
                    windows.append((kept, start, span[1]))
                spans.append((0, size, 1) if start is not None else span)
                kept += 1
            else:
                place = self._position(part, size)
                if isinstance(place, int):
                    spans.append(place)
                else:
                    traced.append((kept, place))
                    spans.append((0, size, 1))
                    kept += 1
            axis += 1
        spans.extend((0, size, 1) for size in x.shape[axis:])
        if fresh and traced:
            reason = "a new axis and an index that depends on the state do not go together"
            raise Refused("shape", reason, "index first, then add the axis")
        offsets = [sum(1 for place in fresh if place <= position) for position, _, _ in windows]
        windows = [
            (position - offset, start, size) for (position, start, size), offset in zip(windows, offsets, strict=True)
        ]
        node = self._pick(x.node, spans, windows, traced)
        mask = None if x.mask is None else self._pick(x.mask, spans, windows, traced)
        for position, start, size in windows:
            inside = self._inside(node.shape, position, start, size, self._length(x.node, spans, position), traced)
            mask = inside if mask is None else self.nodes.and_(mask, inside)
        if fresh:
            shape = list(node.shape)
            for place in fresh:
                shape.insert(place, 1)
            node = self.nodes.reshape(node, tuple(shape))
            mask = None if mask is None else self.nodes.reshape(mask, tuple(shape))
        return Traced(node, mask)

    def _without_ellipsis(self, parts: list[Any], rank: int) -> list[Any]:
        count = sum(1 for part in parts if part is ELLIPSIS)
        if count == 0:
            return parts
        if count > 1:
            raise Refused("shape", "an index can hold one ... only")
        place = next(index for index, part in enumerate(parts) if part is ELLIPSIS)
        used = sum(1 for part in parts if part is not None) - 1
        return parts[:place] + [SliceValue(None, None, None)] * max(rank - used, 0) + parts[place + 1 :]

    def _position(self, part: Any, size: int) -> int | Node:
        """A position along one axis: known, or a traced one kept inside."""
        known = self.numeric.static(part)
        if isinstance(known, bool) or isinstance(known, float):
            raise Refused("type", f"{kind_of(known)} is no index")
        if isinstance(known, int):
            if not -size <= known < size:
                raise Refused("shape", f"index {int(known)} is outside an axis of {size}", _range_of(size))
            return int(known) % size
        index = self.numeric.lift(part, "an index")
        if index.dtype == "bool":
            raise Refused(
                "shape",
                "an array cannot be picked by a mask: its size would depend on the state",
                "count with (a & b).sum(), or use jnp.where(mask, array, 0)",
            )
        if index.dtype == "float32":
            raise Refused("type", "an index must be an integer", "use int(...) or .astype(jnp.int32)")
        if size == 0:
            raise Refused("shape", "an axis of 0 elements has none to pick")
        node, clamped = self.nodes.inside(self.numeric.fill(index, 0), size)
        if clamped:
            self.warn(f"an index may leave its axis of {size}: negative ones count from the end, others are clamped")
        return node

    def _span(self, part: SliceValue, size: int) -> tuple[tuple[int, int, int], Node | None]:
        """A static span, or the start of a window with its static width."""
        numeric = self.numeric
        bounds = [numeric.static(bound) for bound in (part.start, part.stop, part.step)]
        if all(bound is None or isinstance(bound, int) for bound in bounds):
            if bounds[2] == 0:
                raise Refused("type", "a slice's step cannot be 0")
            start, stop, step = slice(*bounds).indices(size)
            return (start, len(range(start, stop, step)), step), None
        if bounds[2] not in (None, 1):
            raise Refused("shape", "a window around a place that depends on the state has step 1", "leave the step out")
        width = self._width(bounds[0], bounds[1])
        if width is None:
            raise Refused(
                "shape",
                "a slice whose bound depends on the state needs a known width, as grid[i - 2 : i + 3] has; "
                "clipped bounds have none",
                "leave out max and min: cells outside the grid count as nothing. Or use jax.lax.dynamic_slice",
            )
        numeric.meter.hold(width)
        return (0, width, 1), numeric.fill(numeric.lift(bounds[0]), 0)

    def _width(self, start: Any, stop: Any) -> int | None:
        if start is None or stop is None:
            return None
        first, last = self.numeric.lift(start, "a bound"), self.numeric.lift(stop, "a bound")
        for bound in (first, last):
            if bound.dtype == "float32":
                raise Refused("type", "the bounds of a slice must be integers", "use // instead of /")
            if bound.shape != ():
                raise Refused("shape", "the bounds of a slice must be scalars")
        first, last = self.numeric.promoted(first, last, least="int32")
        width = scalar_of(self.nodes.sub(last.node, first.node))
        return int(width) if width is not None and width > 0 else None

    def _length(self, x: Node, spans: Sequence[Span], position: int) -> int:
        sizes = [x.shape[axis] for axis, span in enumerate(spans) if not isinstance(span, int)]
        return sizes[position]

    def _pick(
        self,
        x: Node,
        spans: Sequence[Span],
        windows: Sequence[tuple[int, Node, int]],
        traced: Sequence[tuple[int, Node]],
    ) -> Node:
        nodes = self.nodes
        x = nodes.slice(x, spans)
        if windows:
            x = nodes.window(
                x,
                tuple(item[0] for item in windows),
                tuple(item[1] for item in windows),
                tuple(item[2] for item in windows),
            )
        if traced:
            indices, _ = self.numeric.together(*(Traced(index) for _, index in traced))
            x = nodes.gather(x, tuple(axis for axis, _ in traced), indices)
        return x

    def _inside(
        self,
        shape: tuple[int, ...],
        position: int,
        start: Node,
        size: int,
        length: int,
        traced: Sequence[tuple[int, Node]],
    ) -> Node:
        """Which cells of a window lie inside along one axis, spread over the picked shape."""
        nodes = self.nodes
        places = nodes.add(nodes.broadcast(start, (size,)), nodes.constant(np.arange(size), "int32"))
        inside = nodes.and_(nodes.le(nodes.like(0, places), places), nodes.lt(places, nodes.like(length, places)))
        place = position
        if traced:
            if any(index.shape != () for _, index in traced):
                raise Refused("shape", "a window and an index array do not go together", "take the window first")
            place -= sum(1 for axis, _ in traced if axis < position)
        spread = tuple(size if axis == place else 1 for axis in range(len(shape)))
        return nodes.broadcast(nodes.reshape(inside, spread), shape)

    def dynamic_slice(self, value: Any, starts: Any, sizes: Any) -> Traced:
        """``jax.lax.dynamic_slice``: starts are shifted so that the slice lies inside."""
        x = self.numeric.lift(value, "an array")
        if x.mask is not None:
            raise Refused("shape", "take the slice of the whole grid, not of a window")
        if isinstance(sizes, Items):
            widths = [self.numeric.whole(size, "a slice size") for size in self.numeric.fixed(sizes)]
        else:
            widths = [self.numeric.whole(sizes, "a slice size")]
        if isinstance(starts, Items):
            places = [self.numeric.lift(start, "a start") for start in self.numeric.fixed(starts)]
        else:
            corner = self.numeric.lift(starts, "starts")
            if len(corner.shape) != 1:
                raise Refused("shape", "dynamic_slice needs one start per axis")
            places = [self._of_array(corner, [axis]) for axis in range(corner.shape[0])]
        if len(widths) != len(x.shape) or len(places) != len(x.shape):
            raise Refused("shape", f"dynamic_slice of shape {list(x.shape)} needs {len(x.shape)} starts and sizes")
        chosen = []
        for place, width, size in zip(places, widths, x.shape, strict=True):
            if not 0 < width <= size:
                raise Refused("shape", f"a slice of {width} does not fit into an axis of {size}")
            if place.dtype != "int32" or place.shape != ():
                raise Refused("type", "the starts of dynamic_slice must be integers")
            start = self.numeric.fill(place, 0)
            if start.bounds is None or start.bounds[0] < 0:
                self.warn("a negative start of dynamic_slice counts from the end, as JAX does it; a window does not")
                moved = self.nodes.add(start, self.nodes.constant(size, "int32"))
                start = self.nodes.select(self.nodes.lt(start, self.nodes.constant(0, "int32")), moved, start)
            low = self.nodes.extreme("max", start, self.nodes.constant(0, "int32"))
            chosen.append(self.nodes.extreme("min", low, self.nodes.constant(size - width, "int32")))
        if all(scalar_of(start) is not None for start in chosen):
            return Traced(
                self.nodes.slice(
                    x.node,
                    [(int(scalar_of(start) or 0), width, 1) for start, width in zip(chosen, widths, strict=True)],
                )
            )
        return Traced(self.nodes.window(x.node, tuple(range(len(widths))), tuple(chosen), tuple(widths)))
