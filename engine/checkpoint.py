"""Checkpoints: pytrees as safetensors bytes that are equal whenever the values are.

A checkpoint is a mapping of groups (``parameters``, ``optimiser``, …) to pytrees; a leaf's name is its group and its
place inside, joined by slashes. One group can be read without the others: evaluation reads ``parameters`` only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from engine.randomness import IMPLEMENTATION

T = TypeVar("T")

FORMAT = "checkpoint@1"


class CheckpointError(ValueError):
    """Bytes that are no checkpoint, or one of another agent, world or phase."""


def _is_key(leaf: Any) -> bool:
    return bool(jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _named(tree: Any) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in leaves]


def _array(leaf: Any) -> np.ndarray[Any, Any]:
    if isinstance(leaf, jax.Array) and _is_key(leaf):
        leaf = jax.random.key_data(leaf)
    return np.array(leaf, order="C")


def pack(groups: Mapping[str, Any], about: Mapping[str, str | int]) -> bytes:
    """The bytes of a checkpoint. ``about`` says whose it is and is readable without any tensor.

    Typed random keys are kept as their raw words.
    """
    tensors = {name: _array(leaf) for name, leaf in sorted(_named(dict(groups)))}
    # One metadata entry only: the format's writer does not promise an order for several.
    text = json.dumps({"format": FORMAT, **about}, sort_keys=True, separators=(",", ":"))
    return bytes(save(tensors, metadata={"about": text}))


def about(data: bytes) -> dict[str, Any]:
    """What ``pack`` was told about the checkpoint.

    Raises:
        CheckpointError: if the bytes are no checkpoint of this project.
    """
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        result: dict[str, Any] = json.loads(header["__metadata__"]["about"])
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            "these bytes are no checkpoint of this project; give the file that training wrote"
        ) from error
    if result.get("format") != FORMAT:
        raise CheckpointError(
            f"checkpoint format {result.get('format')!r} is not {FORMAT!r}; read it with the release that wrote it"
        )
    return result


def unpack(data: bytes, group: str, template: T) -> T:
    """Read one group back into the structure of ``template`` (arrays or ``jax.ShapeDtypeStruct`` leaves).

    Raises:
        CheckpointError: if the bytes are damaged, or names, shapes or dtypes are not the template's.
    """
    about(data)
    try:
        stored = load(data)
    except (SafetensorError, ValueError) as error:
        raise CheckpointError(f"the checkpoint is damaged ({error}); restore it from a copy") from error
    names = [name for name, _ in _named({group: template})]
    present = {name for name in stored if name.split("/", 1)[0] == group}
    if present != set(names):
        odd = ", ".join(sorted(present ^ set(names))[:4])
        raise CheckpointError(f"{group} of the checkpoint belong to another configuration (they differ in {odd})")
    leaves = []
    for name, want in _named({group: template}):
        have: Any = stored[name]
        if _is_key(want):
            have = jax.random.wrap_key_data(jax.numpy.asarray(have), impl=IMPLEMENTATION)
        if have.shape != want.shape or have.dtype != want.dtype:
            raise CheckpointError(
                f"{name} is {have.dtype}{list(have.shape)} in the checkpoint but {want.dtype}{list(want.shape)} here: "
                "network, world and embedding must be those of the training"
            )
        leaves.append(have if isinstance(want, np.ndarray | np.generic) else jax.numpy.asarray(have))
    result: T = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(template), leaves)
    return result


def parameters_sha256(parameters: Any) -> str:
    """SHA-256 over names, dtypes, shapes and bytes of all parameters in the order of their names."""
    digest = hashlib.sha256()
    for name, leaf in sorted(_named(parameters)):
        array = _array(leaf)
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
