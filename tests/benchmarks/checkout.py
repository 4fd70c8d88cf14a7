"""The peer's checkout: which commit would run, and whether it is what it says."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

PEER_FILES: Final = ("trainer_PPO_trXL.py", "transformerXL.py", "rel_multi_head.py", "wrappers.py")
"""The files that run."""


class NoPeer(ValueError):
    """The path is no checkout of the peer; the message says how to get one."""


def commit(path: str) -> str:
    """The commit that a checkout's files are of.

    Raises:
        NoPeer: if this is no checkout of the peer, or its files are not those of its commit.
    """
    remedy = "run git clone https://github.com/Reytuag/transformerXL_PPO_JAX and give the folder it makes as --peer"
    missing = [name for name in PEER_FILES if not (Path(path) / name).is_file()]
    if missing:
        raise NoPeer(f"{path} is no checkout of transformerXL_PPO_JAX: it has no {missing[0]}; {remedy}")
    head = _git(path, "rev-parse", "HEAD")
    if head is None:
        raise NoPeer(f"{path} is no git checkout, so the code that would run has no name; {remedy}")
    for name in PEER_FILES:
        if _git(path, "hash-object", name) != _git(path, "rev-parse", f"HEAD:./{name}"):
            raise NoPeer(f"{name} in {path} is not that of commit {head[:12]}: restore it, or {remedy}")
    return head


def _git(path: str, *arguments: str) -> str | None:
    done = subprocess.run(["git", "-C", path, *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None
