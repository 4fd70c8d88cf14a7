"""What a world's package says about itself: version, hash of its source, and the source a model may read."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from pathlib import Path

from attrs import frozen

from engine.worlds.stripping import Origin, strip


@frozen
class Part:
    """One stripped source file."""

    name: str
    text: str


@frozen
class Description:
    """A world as installed; ``source_sha256`` covers its unstripped source, so that an edit of the game shows."""

    package: str
    version: str
    source_sha256: str
    parts: tuple[Part, ...]


def describe_package(distribution: str, module: str, shown: tuple[str, ...], origin: Origin) -> Description:
    """Describe the game whose Python files lie in the package ``module`` of the installed ``distribution``.

    ``shown`` are the files (relative to the module, ``/`` between folders) that a model sees, in this order, stripped
    together. The hash covers every ``.py`` file of the module, by relative path, each with its path and length.
    Nothing is imported but the packages around ``module``.

    Raises:
        ModuleNotFoundError: if the module is not installed.
        StrippingFailed: if the installed source differs so much that rewards cannot be taken out safely.
    """
    folder = _folder(module)
    files = sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).as_posix())
    digest = hashlib.sha256()
    for file in files:
        raw = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()}\0{len(raw)}\0".encode())
        digest.update(raw)
    stripped = strip({name: (folder / name).read_text("utf-8") for name in shown}, origin)
    last = module.rpartition(".")[2]
    return Description(
        package=distribution,
        version=importlib.metadata.version(distribution),
        source_sha256=digest.hexdigest(),
        parts=tuple(Part(f"{last}/{name}", stripped.texts[name]) for name in shown),
    )


def _folder(module: str) -> Path:
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"the package {module} is not installed; install the project with its dependencies")
    return Path(next(iter(found.submodule_search_locations)))
