"""Functions of ``jnp`` and ``jax.lax`` that arrange or pick elements, and the array methods of the same kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.sharp.callables.array_functions import dtype_of, shape_of, spread
from engine.sharp.callables.functions import JNP, LAX, METHODS, table
from engine.sharp.refusals import Refused
from engine.sharp.values import Items, Traced, kind_of

if TYPE_CHECKING:
    from engine.sharp.lower import Compiler


@table(JNP, "stack")
def _stack(c: Compiler, arrays: Any, axis: Any = 0) -> Any:
    stacked = c.numeric.stack(c.elements(arrays))
    rank = len(stacked.shape)
    place = c.numeric.whole(axis, "an axis")
    if not -rank <= place < rank:
        raise Refused("shape", f"axis {place} does not exist")
    order = list(range(1, rank))
    order.insert(place % rank, 0)
    return _transposed(c, stacked, tuple(order))


@table(JNP, "concatenate")
def _concatenate(c: Compiler, arrays: Any, axis: Any = 0) -> Any:
    parts = c.numeric.promoted(*(c.numeric.lift(item) for item in c.numeric.fixed(c.elements(arrays))))
    if not parts or not parts[0].shape:
        raise Refused("shape", "concatenate joins arrays, not scalars", "use jnp.array([...])")
    return concatenated(c, parts, c.numeric.one_axis(parts[0], axis))


def concatenated(c: Compiler, parts: Sequence[Traced], place: int) -> Traced:
    """Arrays of one dtype joined along an axis, masks too.

    Raises:
        Refused: if they differ in another axis.
    """
    rest = {part.shape[:place] + part.shape[place + 1 :] for part in parts}
    if len(rest) > 1 or len({len(part.shape) for part in parts}) > 1:
        raise Refused("shape", "concatenate joins arrays that agree in all other axes")
    c.meter.hold(sum(part.node.size for part in parts))
    node = c.nodes.concat([part.node for part in parts], place)
    if all(part.mask is None for part in parts):
        return Traced(node)
    return Traced(node, c.nodes.concat([c.numeric.mask_of(part) for part in parts], place))


@table(JNP, "isin")
def _isin(c: Compiler, element: Any, test_elements: Any) -> Any:
    candidates = c.numeric.lift(test_elements)
    flat = reshaped(c, candidates, (candidates.node.size,))
    result: Any = None
    value = c.numeric.lift(element)
    for item in c.elements(flat).items:
        same = c.numeric.traced("==", value, c.numeric.lift(item))
        result = same if result is None else c.numeric.traced("|", result, same)
    return Traced(c.nodes.like(False, value.node)) if result is None else result


@table(JNP, "array_equal")
def _array_equal(c: Compiler, a1: Any, a2: Any) -> Any:
    left, right = c.numeric.lift(a1), c.numeric.lift(a2)
    if left.shape != right.shape:
        return False
    return c.numeric.reduce("all", c.numeric.traced("==", left, right))


@table(JNP, "squeeze")
@table(METHODS, "squeeze")
def _squeeze(c: Compiler, a: Any) -> Any:
    value = c.numeric.lift(a)
    return reshaped(c, value, tuple(size for size in value.shape if size != 1))


@table(JNP, "expand_dims")
def _expand_dims(c: Compiler, a: Any, axis: Any) -> Any:
    value = c.numeric.lift(a)
    rank = len(value.shape) + 1
    place = c.numeric.whole(axis, "an axis")
    if not -rank <= place < rank:
        raise Refused("shape", f"axis {place} does not exist")
    shape = list(value.shape)
    shape.insert(place % rank, 1)
    return reshaped(c, value, tuple(shape))


@table(JNP, "reshape")
def _reshape(c: Compiler, a: Any, shape: Any) -> Any:
    return _reshape_method(c, a, shape)


@table(METHODS, "reshape")
def _reshape_method(c: Compiler, a: Any, *shape: Any) -> Any:
    value = c.numeric.lift(a)
    given = shape[0] if len(shape) == 1 else Items(list(shape))
    parts = c.numeric.fixed(given) if isinstance(given, Items) else [given]
    sizes = [c.numeric.whole(part, "a shape") for part in parts]
    if sizes.count(-1) == 1:
        rest = math.prod(size for size in sizes if size != -1)
        if rest > 0 and value.node.size % rest == 0:
            sizes[sizes.index(-1)] = value.node.size // rest
    if any(size < 0 for size in sizes) or math.prod(sizes) != value.node.size:
        raise Refused("shape", f"shape {list(value.shape)} cannot be reshaped to {sizes}")
    return reshaped(c, value, tuple(sizes))


@table(JNP, "ravel")
@table(METHODS, "ravel", "flatten")
def _ravel(c: Compiler, a: Any) -> Any:
    value = c.numeric.lift(a)
    return reshaped(c, value, (value.node.size,))


@table(JNP, "transpose")
@table(METHODS, "transpose")
def _transpose(c: Compiler, a: Any) -> Any:
    value = c.numeric.lift(a)
    return _transposed(c, value, tuple(reversed(range(len(value.shape)))))


@table(JNP, "broadcast_to")
def _broadcast_to(c: Compiler, array: Any, shape: Any) -> Any:
    return spread(c, c.numeric.lift(array), shape_of(c, shape))


@table(JNP, "take")
def _take(c: Compiler, a: Any, indices: Any, axis: Any = None) -> Any:
    value = c.numeric.lift(a)
    if axis is None:
        return c.indexing.subscript(_ravel(c, value), indices)
    place = c.numeric.one_axis(value, axis)
    if isinstance(indices, Items):
        indices = c.numeric.lift(indices)
    return c.indexing.subscript(value, Items([c.whole_axis()] * place + [indices]))


def reshaped(c: Compiler, x: Traced, shape: tuple[int, ...]) -> Traced:
    """Elements in row-major order as another shape, the mask with them."""
    return Traced(c.nodes.reshape(x.node, shape), None if x.mask is None else c.nodes.reshape(x.mask, shape))


def _transposed(c: Compiler, x: Traced, axes: tuple[int, ...]) -> Traced:
    return Traced(c.nodes.transpose(x.node, axes), None if x.mask is None else c.nodes.transpose(x.mask, axes))


@table(LAX, "dynamic_slice")
def _dynamic_slice(c: Compiler, operand: Any, start_indices: Any, slice_sizes: Any) -> Any:
    return c.indexing.dynamic_slice(operand, start_indices, slice_sizes)


@table(METHODS, "astype")
def _astype(c: Compiler, x: Any, dtype: Any) -> Any:
    return c.numeric.convert(c.numeric.lift(x), dtype_of(c, dtype) or "float32")


@table(METHODS, "item")
def _item(c: Compiler, x: Any) -> Any:
    value = c.numeric.lift(x)
    if value.node.size != 1:
        raise Refused("shape", f".item() needs one element, not {kind_of(value)}")
    return reshaped(c, value, ())


@table(METHODS, "round")
def _round_method(c: Compiler, x: Any) -> Any:
    return c.numeric.rounded("round", x)


@table(METHODS, "copy")
def _copy(c: Compiler, x: Any) -> Any:
    return x


@table(METHODS, "tolist")
def _tolist(c: Compiler, x: Any) -> Any:
    items = c.elements(x)
    return c.new_list(
        [_tolist(c, item) if isinstance(item, Traced) and item.shape else item for item in items.items], None
    )
