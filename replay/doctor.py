"""A look at everything a run leans on: packages, device, caches, endpoint, embedder, disk.

Each check answers on its own, so that one trouble does not hide another. Nothing is changed but a probe file that is
written and removed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata, util
from pathlib import Path
from typing import Literal

from attrs import asdict, frozen

from fm.endpoint import Endpoint, Limits, RejectedError
from fm.errors import FmError
from ledger.vocabulary.config import Config
from replay.exit_codes import ExitCode
from replay.fingerprint import facts, fingerprint, versions
from replay.memory import available, footprint, size
from replay.operational import Operational, compile_cache

Status = Literal["ok", "warning", "failed", "skipped"]

ROOMY_BYTES = 2 * 1024**3
"""Free space below which a run of laptop scale may fill the disk."""

TIGHT_BYTES = 64 * 1024**2
"""Free space below which nothing useful can be recorded."""

PROBE_SECONDS = 10.0


@frozen
class Check:
    """One look: what was looked at, what was found, and what to do about it (empty where nothing is to be done)."""

    name: str
    status: Status
    found: str
    advice: str = ""


@frozen
class Report:
    """All checks in the order in which they were made."""

    checks: tuple[Check, ...]

    @property
    def exit_code(self) -> ExitCode:
        """``NO`` if a check failed; warnings and skipped checks let a run go on."""
        return ExitCode.NO if any(check.status == "failed" for check in self.checks) else ExitCode.OK

    def text(self) -> str:
        """One line per check, with advice below it."""
        width = max(len(check.name) for check in self.checks)
        lines = []
        for check in self.checks:
            lines.append(f"{check.status:<8} {check.name:<{width}}  {check.found}")
            if check.advice:
                lines.append(f"{'':<8} {'':<{width}}  -> {check.advice}")
        return "\n".join(lines)

    def json(self) -> str:
        """The same as a JSON object: ``{"exit_code": …, "checks": [{"name", "status", "found", "advice"}, …]}``."""
        checks = [asdict(check) for check in self.checks]
        return json.dumps({"exit_code": int(self.exit_code), "checks": checks}, indent=2)


def doctor(
    operational: Operational = Operational(),
    folder: Path = Path(),
    constraints: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    config: Config | None = None,
) -> Report:
    """Look at everything. ``folder`` is where runs are to be written; ``constraints`` the file of pinned versions.

    With a ``config``, what its training will hold in memory is counted too.

    The endpoint is asked for its list of models only if the environment names an address or a key for it.
    """
    pins = constraints or Path(__file__).resolve().parent.parent / "constraints.txt"
    checks: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("packages", lambda: check_packages(pins)),
        ("device", check_device),
        ("compile cache", lambda: check_compile_cache(compile_cache(operational, environ))),
        ("endpoint", lambda: check_endpoint(operational, environ)),
        ("embedder", check_embedder),
        ("disk space", lambda: check_space(folder)),
        ("writing", lambda: check_writing(folder)),
    )
    if config is not None:
        checks = (*checks, ("memory", lambda: check_memory(config)))
    return Report(tuple(_guarded(name, look) for name, look in checks))


def _guarded(name: str, look: Callable[[], Check]) -> Check:
    """A check that breaks is a finding about that check, not the end of the report."""
    try:
        return look()
    except Exception as error:
        text = " ".join(str(error).split())
        return Check(name, "failed", f"{type(error).__name__}: {text}", "mend this, then run doctor again")


def check_packages(constraints: Path) -> Check:
    """Installed versions against the pinned ones; another version of a package is a warning, not a failure."""
    name = "packages"
    if not constraints.is_file():
        return Check(name, "skipped", f"no file of pinned versions at {constraints}")
    pinned = dict(_pins(constraints.read_text(encoding="utf-8")))
    installed = versions(tuple(pinned))
    needed = _required()
    missing = sorted(set(needed) - versions(needed).keys())
    if missing:
        return Check(
            name, "failed", f"not installed: {', '.join(missing)}", "pip install -c constraints.txt -e . installs them"
        )
    other = [
        f"{each} {installed[each]} (pinned {pinned[each]})" for each in installed if installed[each] != pinned[each]
    ]
    if other:
        advice = "pip install -c constraints.txt -e . restores them; training may give other bits meanwhile"
        return Check(name, "warning", "other versions than pinned: " + ", ".join(other), advice)
    return Check(name, "ok", f"{len(installed)} packages as pinned")


def _pins(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        package, equal, version = line.partition("#")[0].strip().partition("==")
        if equal:
            yield package.strip(), version.strip()


def _required() -> tuple[str, ...]:
    """The packages that this one needs at run time, by its own metadata; empty where it is not installed."""
    try:
        wanted = metadata.requires("code-sharp-replay") or []
    except metadata.PackageNotFoundError:
        return ()
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in wanted if "extra ==" not in line)
    return tuple(match[0] for match in names if match)


def check_device() -> Check:
    """Whether JAX starts, on what, and the fingerprint that decides whether bits can be compared."""
    known = {fact.name: fact.value for fact in facts()}
    found = f"{known['device']}, {known['cpu/visible_cores']} cores, fingerprint {fingerprint(facts())[:16]}"
    return Check("device", "ok", found)


def check_memory(config: Config) -> Check:
    """What training under ``config`` holds, counted from shapes, against what the device has."""
    held = footprint(config)
    there = available()
    if there is not None and held.total > there:
        advice = "set ppo.environments lower, or ppo.minibatches higher; what the compiler needs comes on top"
        return Check("memory", "warning", f"{held.text()}; {size(there)} available", advice)
    return Check("memory", "ok", held.text() + (f"; {size(there)} available" if there is not None else ""))


def check_compile_cache(folder: Path) -> Check:
    """Where compiled functions are kept, and how much they take."""
    name = "compile cache"
    if not folder.exists():
        return Check(name, "ok", f"{folder} (empty: the first run compiles everything)")
    if not os.access(folder, os.W_OK):
        advice = "make it writable, or set operational.compile_cache_dir to another folder"
        return Check(name, "warning", f"{folder} is not writable", advice)
    files = [file for file in folder.rglob("*") if file.is_file()]
    return Check(name, "ok", f"{folder} ({len(files)} files, {_size(sum(file.stat().st_size for file in files))})")


def check_endpoint(operational: Operational, environ: Mapping[str, str]) -> Check:
    """Ask a configured endpoint for its list of models."""
    name, names = "endpoint", operational.endpoint
    if operational.transport != "http":
        return Check(name, "skipped", f"the transport is {operational.transport}")
    if not environ.get(names.base_url_env) and not environ.get(names.key_env):
        return Check(
            name,
            "skipped",
            f"neither {names.base_url_env} nor {names.key_env} is set",
            "set them to run with a foundation model; audits and replays need none",
        )
    limits = Limits(timeout_seconds=PROBE_SECONDS, connect_seconds=PROBE_SECONDS, retries=0, concurrency=1)
    try:
        endpoint = Endpoint(
            url_variable=names.base_url_env, key_variable=names.key_env, limits=limits, environment=environ
        )
    except FmError as error:
        return Check(name, "failed", str(error))
    try:
        listed = endpoint.post(lambda client: client.models.with_raw_response.list()).get("data")
    except FmError as error:
        return Check(name, "failed", str(error))
    except RejectedError as error:
        return Check(name, "warning", f"{endpoint.base_url} lists no models ({error.message})")
    finally:
        endpoint.close()
    models = [str(one["id"]) for one in listed or () if isinstance(one, dict) and "id" in one]
    wanted = environ.get(names.model_env)
    if wanted and models and wanted not in models:
        return Check(
            name,
            "warning",
            f"{endpoint.base_url} answers, but does not list {wanted!r}",
            f"set {names.model_env} to one of: {', '.join(sorted(models)[:8])}",
        )
    return Check(name, "ok", f"{endpoint.base_url} answers and lists {len(models)} models")


def check_embedder() -> Check:
    """Whether the offline embedding model lies in its package."""
    name = "embedder"
    found = util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        return Check(name, "failed", "wordllama is not installed", "pip install -c constraints.txt -e .")
    weights = [file for place in found.submodule_search_locations for file in Path(place).glob("weights/*.safetensors")]
    if not weights:
        return Check(name, "failed", "wordllama has no weights in its package", "reinstall wordllama")
    return Check(name, "ok", f"wordllama with {', '.join(sorted(file.stem for file in weights))}")


def check_space(folder: Path) -> Check:
    """Free space where runs are to be written."""
    free = shutil.disk_usage(_existing(folder)).free
    if free < TIGHT_BYTES:
        return Check("disk space", "failed", f"{_size(free)} free", "make room before starting a run")
    if free < ROOMY_BYTES:
        return Check("disk space", "warning", f"{_size(free)} free", "make room: checkpoints take the most")
    return Check("disk space", "ok", f"{_size(free)} free")


def check_writing(folder: Path) -> Check:
    """Write, sync, rename and remove a probe file, as the ledger does."""
    place = _existing(folder)
    try:
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=place) as probe:
            first, second = Path(probe) / "a", Path(probe) / "b"
            with first.open("wb") as file:
                file.write(b"probe")
                file.flush()
                os.fsync(file.fileno())
            first.rename(second)
            if second.read_bytes() != b"probe":
                return Check("writing", "failed", f"{place} gave back other bytes", "do not record on this disk")
    except OSError as error:
        advice = "name a folder that you may write to"
        return Check("writing", "failed", f"{place}: {error.strerror or error}", advice)
    return Check("writing", "ok", f"{place} takes files and keeps them")


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that exists: a run's folder is made later."""
    folder = folder.absolute()
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def _size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
