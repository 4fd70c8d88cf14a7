"""Checkpoints: equal values give equal bytes, everything comes back, foreign ones are refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from engine.checkpoint import CheckpointError, about, pack, parameters_sha256, unpack


class Pair(NamedTuple):
    left: Any
    right: Any


def tree() -> dict[str, Any]:
    return {
        "parameters": {"b": jnp.arange(6.0).reshape(2, 3), "a": jnp.float32(1.5)},
        "episodes": Pair(jax.random.split(jax.random.key(3), 4), (jnp.array([True, False]), jnp.uint32(2**32 - 1))),
        "lineage": np.int64(2**40) * np.ones((), np.int64),
        "nothing": (),
    }


def test_everything_comes_back() -> None:
    groups = tree()
    raw = pack(groups, {"kind": "test", "done": 3})
    assert about(raw) == {"format": "checkpoint@1", "kind": "test", "done": 3}
    for name, value in groups.items():
        back = unpack(raw, name, value)
        assert jax.tree.structure(back) == jax.tree.structure(value)
        for have, want in zip(jax.tree.leaves(back), jax.tree.leaves(value), strict=True):
            assert have.dtype == want.dtype
            assert have.shape == want.shape
            if jax.dtypes.issubdtype(want.dtype, jax.dtypes.prng_key):
                have, want = jax.random.key_data(have), jax.random.key_data(want)
            assert np.asarray(have).tobytes() == np.asarray(want).tobytes()


def test_not_a_number_and_negative_zero_survive() -> None:
    value = {"x": jnp.array([jnp.nan, -0.0, jnp.inf], jnp.float32)}
    assert np.asarray(unpack(pack({"g": value}, {}), "g", value)["x"]).tobytes() == np.asarray(value["x"]).tobytes()


def test_bytes_do_not_depend_on_the_order_of_insertion() -> None:
    groups = tree()
    parameters = groups["parameters"]
    other = {name: groups[name] for name in reversed(groups)}
    other["parameters"] = {name: parameters[name] for name in reversed(parameters)}
    assert pack(groups, {"a": 1, "b": 2}) == pack(other, {"b": 2, "a": 1})


def test_one_group_is_read_by_shapes_alone() -> None:
    groups = tree()
    template = jax.eval_shape(lambda: groups["parameters"])
    assert float(unpack(pack(groups, {}), "parameters", template)["a"]) == 1.5


def test_another_shape_or_name_is_refused() -> None:
    raw = pack(tree(), {})
    with pytest.raises(CheckpointError, match="parameters/b is float32"):
        unpack(raw, "parameters", {"a": jnp.float32(0), "b": jnp.zeros((3, 2))})
    with pytest.raises(CheckpointError, match="belong to another configuration"):
        unpack(raw, "parameters", {"a": jnp.float32(0)})


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_damaged_bytes_are_refused(cut: int) -> None:
    groups = tree()
    with pytest.raises(CheckpointError):
        unpack(pack(groups, {})[:cut], "parameters", groups["parameters"])


def test_parameter_digest_sees_names_shapes_and_bits() -> None:
    base = {"a": jnp.zeros(4), "b": jnp.ones(2)}
    others = [
        {"a": jnp.zeros(4), "c": jnp.ones(2)},
        {"a": jnp.zeros((2, 2)), "b": jnp.ones(2)},
        {"a": -jnp.zeros(4), "b": jnp.ones(2)},
        {"b": jnp.zeros(4), "a": jnp.ones(2)},
    ]
    digests = [parameters_sha256(value) for value in (base, *others)]
    assert len(set(digests)) == 5
    assert parameters_sha256({"b": jnp.ones(2), "a": jnp.zeros(4)}) == digests[0]
