"""Operation graphs: what a program means, free of its text. Equal graphs have equal digests, so sharing is free.

A node's digest covers operation, attributes, dtype, shape and the digests of its operands: it identifies the whole
graph below it. Operands are put in canonical order before a node is made (``algebra``), never here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable

import numpy as np
from attrs import define, field, frozen

from engine.sharp.kernels import FOLDED, KERNELS
from engine.sharp.limits import INT_MAX, INT_MIN, LARGEST, Meter
from engine.sharp.refusals import Refused

Attributes = tuple[object, ...]
Bounds = tuple[int, int]

NUMPY = {"bool": np.dtype(np.bool_), "int32": np.dtype("<i4"), "float32": np.dtype("<f4")}


@frozen(eq=False, repr=False)
class Node:
    """An operation on operands. ``dtype`` is ``bool``, ``int32`` or ``float32``; ``shape`` is static.

    ``bounds`` are inclusive integer bounds of every element where they are known, ``level`` is the length of the
    longest chain of operations that it rests on, itself included; both are derived, not identity.
    """

    op: str
    operands: tuple[Node, ...]
    attributes: Attributes
    dtype: str
    shape: tuple[int, ...]
    digest: bytes
    bounds: Bounds | None
    level: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Node({self.op} {self.dtype}{list(self.shape)} {self.digest.hex()[:8]})"

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


def constant_array(node: Node) -> np.ndarray:
    """The array of a ``constant`` node."""
    return np.frombuffer(bytes.fromhex(str(node.attributes[0])), NUMPY[node.dtype]).reshape(node.shape)


def is_constant(node: Node) -> bool:
    """Whether the value is known: a constant, or a constant spread over a shape."""
    return node.op == "constant" or (node.op == "broadcast" and node.operands[0].op == "constant")


def scalar_of(node: Node) -> bool | int | float | None:
    """The Python number of a constant scalar, or of a scalar spread over a shape; None for anything else."""
    if node.op == "broadcast":
        node = node.operands[0]
    if node.op != "constant" or node.shape != ():
        return None
    value: bool | int | float = constant_array(node).item()
    return value


def topological(roots: Iterable[Node]) -> list[Node]:
    """Every node under ``roots`` once, operands before users, in an order that only the graphs decide."""
    order: list[Node] = []
    done: set[bytes] = set()
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if node.digest in done:
            continue
        if ready:
            done.add(node.digest)
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((operand, False) for operand in reversed(node.operands) if operand.digest not in done)
    return order


def reads(roots: Iterable[Node]) -> frozenset[str]:
    """Which states a graph depends on: ``state``, ``previous``, both or none."""
    found: set[str] = set()
    for node in topological(roots):
        if node.op == "input":
            found.add(str(node.attributes[0]))
        elif node.op == "helper":
            found.update(str(item) for item in node.attributes[1:])
    return frozenset(found)


def operations(roots: Iterable[Node]) -> list[Node]:
    """The nodes that compute something: no inputs, no constants, no mere broadcasts."""
    return [node for node in topological(roots) if node.op not in ("input", "constant", "broadcast")]


def work(node: Node) -> int:
    """Element operations of one node: what budgets count."""
    if node.op in PASSIVE:
        return 0
    if node.op == "helper":
        return 0  # charged by the schema's own figure
    if node.op in REDUCTIONS:
        return node.operands[0].size
    if node.op in ("sort", "cumsum"):
        return node.size * max(1, node.shape[int(str(node.attributes[0]))].bit_length())
    return node.size * max(1, len(node.operands) - 1)


PASSIVE = frozenset({"input", "constant", "broadcast", "reshape"})
"""Operations that compute nothing."""

REDUCTIONS = frozenset({"sum", "prod", "any", "all", "reduce_max", "reduce_min", "argmax", "argmin"})


def describe(roots: Iterable[Node]) -> list[str]:
    """A graph as numbered lines, for people."""
    order = topological(roots)
    number = {node.digest: index for index, node in enumerate(order)}
    lines = []
    for index, node in enumerate(order):
        if node.op == "constant" and node.size <= 16:
            detail = str(constant_array(node).tolist())
        elif node.op == "constant":
            detail = f"<{node.size} elements>"
        elif node.op == "input":
            detail = ".".join(str(item) for item in node.attributes)
        else:
            operands = [f"%{number[operand.digest]}" for operand in node.operands]
            detail = ", ".join(operands + [str(item) for item in node.attributes])
        shape = f"[{','.join(str(item) for item in node.shape)}]" if node.shape else ""
        lines.append(f"%{index} = {node.op}({detail}) : {node.dtype}{shape}")
    return lines


@define
class Graph:
    """Makes nodes: interns equal ones, folds constant ones, charges the rest to the meter."""

    meter: Meter
    _nodes: dict[bytes, Node] = field(factory=dict)

    def make(
        self,
        op: str,
        operands: tuple[Node, ...],
        dtype: str,
        shape: tuple[int, ...],
        attributes: Attributes = (),
        bounds: Bounds | None = None,
        cost: int | None = None,
    ) -> Node:
        """The node of this operation. Folded where all operands are constants and every machine folds alike."""
        self.meter.step()
        self.meter.shape(shape)
        if op in FOLDED and all(operand.op == "constant" for operand in operands):
            if dtype != "float32" or op not in ("sum", "prod", "cumsum"):
                return self._fold(op, operands, dtype, shape, attributes)
        parts = [op, dtype, repr(shape), repr(attributes)]
        head = hashlib.sha256("\x00".join(parts).encode())
        for operand in operands:
            head.update(operand.digest)
        digest = head.digest()
        known = self._nodes.get(digest)
        if known is not None:
            return known
        if dtype == "bool":
            bounds = (0, 1)
        if bounds is not None and not INT_MIN <= bounds[0] <= bounds[1] <= INT_MAX:
            bounds = None
        level = max((operand.level for operand in operands), default=0) + (op not in PASSIVE)
        self.meter.rest(level)
        node = Node(op, operands, attributes, dtype, shape, digest, bounds, level)
        charge = work(node) if cost is None else cost
        if op not in ("input", "constant", "broadcast"):
            self.meter.operate(charge)
        self._nodes[digest] = node
        return node

    def constant(self, values: object, dtype: str, shape: tuple[int, ...] | None = None) -> Node:
        """A constant from nested Python numbers or an array."""
        try:
            with np.errstate(over="ignore"):  # a float beyond 32 bits is infinite
                array = np.asarray(values, NUMPY[dtype])
        except (OverflowError, ValueError) as error:
            raise Refused("budget", "integers must fit into 32 bits", LARGEST) from error
        if shape is not None:
            array = array.reshape(shape)
        self.meter.hold(array.size)
        if dtype == "float32":
            array = np.where(array == 0, np.float32(0), array).astype(NUMPY[dtype])  # -0.0 and 0.0 mean one thing
        bounds = None
        if dtype == "int32" and array.size:
            bounds = (int(array.min()), int(array.max()))
        attributes = (np.ascontiguousarray(array).tobytes().hex(),)
        return self.make("constant", (), dtype, tuple(array.shape), attributes, bounds)

    def _fold(
        self, op: str, operands: tuple[Node, ...], dtype: str, shape: tuple[int, ...], attributes: Attributes
    ) -> Node:
        self.meter.operate(max(math.prod(shape), *(operand.size for operand in operands)))
        with np.errstate(all="ignore"):
            result = KERNELS[op](np, attributes, *(constant_array(operand) for operand in operands))
        return self.constant(np.asarray(result).astype(NUMPY[dtype]), dtype, shape)
