"""What a run was made with: facts about software and machine, and the part of them that decides bits.

No fact names a person, a host or a folder: facts are stored in ledgers that others read.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from ledger.vocabulary.events import Fact

PACKAGES = (
    "attrs",
    "cattrs",
    "craftax",
    "flax",
    "jax",
    "jaxlib",
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "numpy",
    "openai",
    "optax",
    "safetensors",
    "wordllama",
    "xminigrid",
    "zstandard",
)
"""Distributions whose versions are recorded; one that is not installed is no fact."""

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NPROC",
    "PJRT_NPROC",
    "TF_NUM_INTRAOP_THREADS",
)
"""Recorded where they are set. Two were measured to decide bits: XLA on a CPU takes the size of its pool from them."""

JAX_SETTINGS = (
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_threefry_partitionable",
)

DECIDES_BITS = (
    "machine",
    "package/craftax",
    "package/flax",
    "package/jax",
    "package/jaxlib",
    "package/jax-cuda12-plugin",
    "package/jax-cuda13-plugin",
    "package/optax",
    "package/xminigrid",
    "device",
    "cpu/model",
    "cpu/flags_sha256",
    "cpu/visible_cores",
    "threads/NPROC",
    "threads/PJRT_NPROC",
    "xla_flags",
    "jax/jax_default_matmul_precision",
    "jax/jax_default_prng_impl",
    "jax/jax_enable_x64",
    "jax/jax_threefry_partitionable",
)
"""The facts of which the fingerprint is made: those that were measured to change bits (docs/determinism.md), and the
versions of everything that compiles or is compiled. A fact that is absent changes nothing. Our own code is not among
them: it is what a replay puts to the test.
"""


def facts() -> tuple[Fact, ...]:
    """Everything recorded about this process, sorted by name. Imports JAX and starts its backend."""
    found: dict[str, str] = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {' '.join(platform.libc_ver())}".strip(),
        "machine": platform.machine(),
        "cpu/model": _cpu_field("model name", "Model") or platform.processor() or "unknown",
        "cpu/flags_sha256": cpu_digest(),
        "cpu/visible_cores": str(_visible_cores()),
        "xla_flags": _without_paths(os.environ.get("XLA_FLAGS", "")),
    }
    for name in THREAD_VARIABLES:
        if name in os.environ:
            found[f"threads/{name}"] = _without_paths(os.environ[name])
    found.update({f"package/{name}": version for name, version in versions(PACKAGES).items()})
    found.update(_source())
    found.update(_jax())
    return tuple(Fact(name, value) for name, value in sorted(found.items()))


def fingerprint(recorded: Sequence[Fact]) -> str:
    """SHA-256, in hexadecimal, over the facts that decide bits: equal fingerprints promise equal bits of training."""
    values = {fact.name: fact.value for fact in recorded}
    lines = (f"{name}={values[name]}\n" for name in DECIDES_BITS if name in values)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def versions(names: Sequence[str]) -> dict[str, str]:
    """The installed version of each named distribution that is installed."""
    installed: dict[str, str] = {}
    for name in names:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed


@cache
def cpu_digest() -> str:
    """SHA-256, in hexadecimal, of the processor's instruction set: compiled code must not cross it."""
    flags = _cpu_field("flags", "Features") or platform.processor()
    return hashlib.sha256(f"{platform.machine()} {' '.join(sorted(flags.split()))}".encode()).hexdigest()


def compiled_for(environ: Mapping[str, str] = os.environ) -> str:
    """SHA-256, in hexadecimal, of what compiled code rests on that its compiler's own key does not cover.

    XLA divides work among as many threads as it finds cores for, and the order of sums follows.
    """
    threads = [f"{name}={environ[name]}" for name in THREAD_VARIABLES if name in environ]
    return hashlib.sha256("\n".join([cpu_digest(), str(_visible_cores()), *threads]).encode()).hexdigest()


def _cpu_field(*names: str) -> str:
    """The first of the named fields in Linux's description of the processor; empty elsewhere."""
    description = Path("/proc/cpuinfo")
    if not description.exists():
        return ""
    for line in description.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in names:
            return value.strip()
    return ""


def _visible_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_PATH_LIKE = re.compile(r"[^\s=,:]*[/\\][^\s,]*")


def _without_paths(text: str) -> str:
    return _PATH_LIKE.sub("<path>", " ".join(sorted(text.split())))


def _source() -> dict[str, str]:
    """The commit of our own code and whether the tree differs from it, where the code lies in its repository."""
    root = Path(__file__).resolve().parent.parent

    def git(*arguments: str) -> str | None:
        command = ("git", "-C", str(root), *arguments)
        try:
            done = subprocess.run(command, capture_output=True, check=True, timeout=30)
        except (FileNotFoundError, subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
        return done.stdout.decode("utf-8", "replace").strip()

    found = {"source/sha256": _source_digest(root)}
    top, commit = git("rev-parse", "--show-toplevel"), git("rev-parse", "HEAD")
    if top is None or commit is None or Path(top).resolve() != root:
        return found
    found["source/commit"] = commit
    packages = ("ledger", "fm", "engine", "replay")
    status, diff = git("status", "--porcelain", "--", *packages), git("diff", "HEAD", "--", *packages)
    if status is not None and diff is not None:
        digest = hashlib.sha256(f"{status}\n{diff}".encode()).hexdigest()
        found["source/tree"] = f"modified {digest}" if status else "clean"
    return found


def _source_digest(root: Path) -> str:
    digest = hashlib.sha256()
    for package in ("engine", "fm", "ledger", "replay"):
        for file in sorted((root / package).rglob("*.py")):
            digest.update(f"{file.relative_to(root).as_posix()}\n".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _jax() -> dict[str, str]:
    import jax

    devices = jax.devices()
    kinds = sorted({f"{device.platform} {device.device_kind}" for device in devices})
    found = {"device": f"{len(devices)} x {' + '.join(kinds)}"}
    for name in JAX_SETTINGS:
        found[f"jax/{name}"] = str(getattr(jax.config, name))
    return found


# --- what changed since a recording ----------------------------------------------------------------------------------

_ABSENT = "none"


def changes(recorded: Sequence[Fact], present: Sequence[Fact]) -> tuple[str, ...]:
    """Each difference between two sets of facts, as a sentence with what is known of its consequence.

    Facts that decide bits come first, in the order of ``DECIDES_BITS``; equal facts are not mentioned.
    """
    before = {fact.name: fact.value for fact in recorded}
    now = {fact.name: fact.value for fact in present}
    names = [name for name in DECIDES_BITS if name in before or name in now]
    names += sorted((before.keys() | now.keys()) - set(names))
    return tuple(
        _sentence(name, before.get(name, _ABSENT), now.get(name, _ABSENT))
        for name in names
        if before.get(name, _ABSENT) != now.get(name, _ABSENT)
    )


def _sentence(name: str, before: str, now: str) -> str:
    kind, _, rest = name.partition("/")
    what = rest if kind == "package" and rest else name.replace("_", " ").replace("/", " ")
    if kind == "package":
        text = f"recorded with {what} {before}, you have {now}"
    else:
        text = f"recorded with {what} {before or _ABSENT!r}, here it is {now or _ABSENT!r}"
    explain = _CONSEQUENCES.get(name) or _CONSEQUENCES.get(kind)
    consequence = explain(before, now) if explain else ""
    return f"{text}: {consequence}" if consequence else text


def _always(consequence: str) -> Callable[[str, str], str]:
    return lambda _before, _now: consequence


_CRAFTAX: tuple[tuple[str, str], ...] = (
    ("1.6.0", "1.6.0 made health stop at 0 at a death: the world's own death reward and the health seen then differ"),
    ("1.6.1", "1.6.1 changed textures and drawing only"),
)
"""What we found by comparing releases: from this version on, against the release before it."""


def _craftax(before: str, now: str) -> str:
    try:
        low, high = sorted((_release(before), _release(now)))
    except ValueError:
        return "the rules of the world may differ"
    known = [text for version, text in _CRAFTAX if low < _release(version) <= high]
    if low < _release("1.5.0") or high > _release(_CRAFTAX[-1][0]):
        known.append("other rules of the world may differ too")
    return "; ".join(known)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


_ARITHMETIC = "the bits of training may differ, decisions do not"

_CONSEQUENCES: Mapping[str, Callable[[str, str], str]] = {
    "package/craftax": _craftax,
    "package/xminigrid": _always("the rules of the world may differ"),
    "package/jax": _always(_ARITHMETIC),
    "package/jaxlib": _always(_ARITHMETIC),
    "package/jax-cuda12-plugin": _always(_ARITHMETIC),
    "package/jax-cuda13-plugin": _always(_ARITHMETIC),
    "package/flax": _always(_ARITHMETIC),
    "package/optax": _always(_ARITHMETIC),
    "package/numpy": _always("no consequence is known: draws use their own sampler, training its own arithmetic"),
    "package/wordllama": _always("no consequence for a replay: embeddings are recorded"),
    "package/openai": _always("no consequence for a replay: answers are recorded"),
    "package/zstandard": _always("new batches may compress to other bytes; recorded ones are read as they are"),
    "machine": _always(_ARITHMETIC),
    "device": _always(_ARITHMETIC),
    "cpu": _always(_ARITHMETIC),
    "cpu/visible_cores": _always("work is divided among cores differently, so " + _ARITHMETIC),
    "threads/NPROC": _always("work is divided among threads differently, so " + _ARITHMETIC),
    "threads/PJRT_NPROC": _always("work is divided among threads differently, so " + _ARITHMETIC),
    "threads": _always(_ARITHMETIC),
    "xla_flags": _always(_ARITHMETIC),
    "jax/jax_default_prng_impl": _always("other random numbers on the device: training differs from its first step"),
    "jax/jax_threefry_partitionable": _always("other random numbers on the device: training differs from the start"),
    "jax": _always(_ARITHMETIC),
    "python": _always("no consequence is known"),
    "system": _always("no consequence is known"),
    "source/commit": _always("our own code moved on; a difference in decisions is a finding, not noise"),
    "source": _always("our own code differs; a difference in decisions is a finding, not noise"),
}
"""What a change means, by the fact's name or else by the part of it before the slash."""
