"""What must be settled before JAX is used: where compiled functions are kept, and settings that decide bits.

Only variables that are unset are set: whoever sets one means it, and the fingerprint of the session records it.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from importlib import util
from pathlib import Path

from engine.worlds.compiler import settle_compiler
from replay.operational import Operational, compile_cache
from replay.output import note

CACHE_BYTES = 4 * 1024**3

PINNED = {
    "JAX_DEFAULT_PRNG_IMPL": "threefry2x32",
    "JAX_THREEFRY_PARTITIONABLE": "true",
    "JAX_ENABLE_X64": "false",
}
"""JAX's own defaults today, written down so that another default tomorrow changes no recording."""

GPU_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")
GPU_DETERMINISM = "--xla_gpu_deterministic_ops=true"


def prepare(operational: Operational = Operational(), environ: MutableMapping[str, str] | None = None) -> None:
    """Set what is unset. Compiled functions of more than half a second are kept between processes.

    They are kept in a store of our own (``engine.compile_cache``), unless ``JAX_COMPILATION_CACHE_DIR`` names a folder:
    then JAX keeps them itself, in its own way.

    A known fault of the compiler is kept out by a flag (``engine.worlds.compiler``). On a GPU sums are only repeatable
    with another, at some cost of speed.
    """
    variables = os.environ if environ is None else environ
    by_jax = operational.compile_cache_dir is None and bool(variables.get("JAX_COMPILATION_CACHE_DIR"))
    if by_jax and util.find_spec("filelock"):
        # A limit makes JAX lock the cache, without which two processes could read each other's half-written entries.
        variables.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(CACHE_BYTES))
    variables.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")
    for name, value in PINNED.items():
        variables.setdefault(name, value)
    settle_compiler(variables)
    flags = variables.get("XLA_FLAGS", "")
    if "xla_gpu_deterministic_ops" not in flags and any(util.find_spec(name) for name in GPU_PLUGINS):
        variables["XLA_FLAGS"] = f"{flags} {GPU_DETERMINISM}".strip()
    if environ is None and not by_jax:
        _keep(compile_cache(operational, variables))


def _keep(folder: Path) -> None:
    """Keep compiled functions in the folder; a JAX that has no place for another's store costs time only."""
    try:
        from engine.compile_cache import keep_compiled  # the first import of JAX: everything is set
    except ImportError as error:
        note(
            f"warning: compiled functions are not kept between processes, starting takes longer ({error}); "
            "set JAX_COMPILATION_CACHE_DIR to have JAX keep them in a folder"
        )
        return
    keep_compiled(folder, lambda text: note(f"warning: {text}"), CACHE_BYTES)
