"""The command ``python -m tests.benchmarks.training``: measures the training core and prints every figure."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from attrs import frozen

from replay.commands.environment import prepare
from tests.benchmarks.checkout import NoPeer, commit
from tests.benchmarks.options import Options
from tests.benchmarks.results import Row, as_json, table
from tests.benchmarks.workers import ROOT, WorkerFailed

NETWORKS: Final = ("mlp", "transformer", "gru")
MEASURED: Final = ("mlp", "transformer")


@frozen
class Figure:
    """One figure: what it compares, how its bound is defined, and the function that measures it, imported when used."""

    title: str
    definition: str
    where: str
    by_network: bool = False

    def measure(self) -> Callable[..., list[Row]]:
        """The function ``(options) -> rows``."""
        module, _, name = self.where.partition(":")
        function: Callable[..., list[Row]] = getattr(importlib.import_module(f"tests.benchmarks.{module}"), name)
        return function


FIGURES: Final[dict[str, Figure]] = {
    "peer": Figure(
        "training steps/s against Reytuag/transformerXL_PPO_JAX",
        "Both sides train the paper's network (2 layers, width 256, 8 heads, memory and window of 128, gated) on "
        "Craftax-Classic with symbolic observations, 64 environments, 128 rollout steps, 4 epochs of 8 minibatches. "
        "A measurement is one rollout with its update; the two take turns, each in a process of its own. Ours is "
        "TrainingCore.train with 10 skills, host work included. The peer's is the body of its own scan over updates, "
        "with its own optimistic resets, without its network's and its worlds' beginning. Target: ratio >= 2.5.",
        "speed:against_peer",
    ),
    "update": Figure(
        "the update against the machine's matrix products",
        "Operations of the update's matrix products and their gradients, counted by hand and without what masks "
        "discard, over its seconds. Peak: the fastest of large float32 squares and of the network's own products in "
        "their own shapes. Bound: the sum of the own products' times, each measured alone. "
        "Target: >= 70 % of the peak.",
        "limits:update",
    ),
    "rollout": Figure(
        "the rollout against its environment and its matrix products",
        "Seconds per step of a rollout of the paper's network over the sum of two bounds: the environment alone "
        "(random actions in one scan, observations kept, resets where episodes end), and the products of acting, "
        "each measured alone in its own shape, with keys and values of earlier steps kept. Target: <= 1.5.",
        "limits:rollout",
    ),
    "small": Figure(
        "steps/s of the small agents",
        "Whole phases of the profile cpu (256 environments, 32 rollout steps, 2 epochs of 4 minibatches) through "
        "TrainingCore.train, from the call to the packed checkpoint, compiled before. Target: >= 9,000 for the mlp.",
        "speed:small_agents",
    ),
    "growth": Figure(
        "from a changed archive to training again",
        "An archive of real programs grows by one skill. Seconds from the call of TrainingCore.train until its first "
        "rollout has been learned from, less those of the same phase once more. Cold: in the process that trained on "
        "the smaller archive, nothing cached on disk. Warm: in a fresh process, with the command line's cache of "
        "compiled functions that the first one filled. Targets: <= 12 s cold, <= 4 s warm.",
        "changes:growth",
        by_network=True,
    ),
    "skills": Figure(
        "what 90 skills cost per step",
        "Seconds of one rollout with its update on 90 skills over those on 1 skill, same network, in turns, through "
        "TrainingCore.train. Target: <= 5 % more.",
        "changes:skills",
        by_network=True,
    ),
    "evaluation": Figure(
        "evaluation against rollouts",
        "Steps that episodes take in TrainingCore.evaluate (128 episodes of each target, all host work included) per "
        "second, over steps per second of a rollout alone with the same network, archive and world. Target: >= 1.",
        "evaluation:evaluation",
        by_network=True,
    ),
    "memory": Figure(
        "memory of the paper's profile",
        "Peak resident memory of a fresh process that makes one rollout and update of 512 environments; bytes per "
        "environment from the shapes of what is held, and the compiler's own figure for temporaries. The estimate is "
        "what is held at once times the number of environments. Target: < 8 GiB on CPU.",
        "memory:memory",
    ),
    "determinism": Figure(
        "equal bits, whatever the process",
        "The same tiny phase in fresh processes (as many as there are pairs), twice in each: how many distinct digests "
        "of the parameters there are within a setting (target: one), over all settings, and the time each takes.",
        "determinism:determinism",
        by_network=True,
    ),
}


def parser() -> argparse.ArgumentParser:
    """The command's arguments and its help."""
    figures = "\n".join(
        f"  {name:<12} {figure.title}{' (--network)' if figure.by_network else ''}" for name, figure in FIGURES.items()
    )
    made = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.training",
        description="Measure the training core. Every figure prints what it compares, both sides measured in this\n"
        "run, and its bound; a closing table says which targets were met. Nothing is asserted, and the\n"
        "exit status does not depend on the targets.",
        epilog=f"figures, each of one to five minutes on two cores:\n{figures}\n\n"
        "Times are of this machine: keep it quiet, and compare numbers of one run only. ^C ends the run and\n"
        "prints the table of the figures that were complete by then.\n\n"
        "examples:\n"
        "  python -m tests.benchmarks.training --peer ../transformerXL_PPO_JAX\n"
        "  python -m tests.benchmarks.training --figure growth --network mlp\n"
        "  python -m tests.benchmarks.training --figure update --figure rollout --pairs 9 --json limits.json\n\n"
        "exit status: 0 measured, 1 a figure failed, 2 wrong arguments, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--peer",
        metavar="PATH",
        help="a git checkout of https://github.com/Reytuag/transformerXL_PPO_JAX; needed for the figure peer only",
    )
    made.add_argument(
        "--figure",
        action="append",
        choices=FIGURES,
        metavar="NAME",
        help="measure this figure only; may be given several times (default: all)",
    )
    made.add_argument(
        "--network",
        action="append",
        choices=NETWORKS,
        help="for figures marked (--network): measure this network only; may be given several times (default: mlp and "
        "transformer)",
    )
    made.add_argument(
        "--pairs", type=_positive, default=5, metavar="N", help="measurements of each side, in turns (default: 5)"
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the rows with all samples to this file")
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("give a number of at least 1")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for; the exit status."""
    command = parser()
    given = command.parse_args(arguments)
    chosen = list(dict.fromkeys(given.figure or FIGURES))
    if "peer" in chosen and given.peer is None:
        command.error("the figure peer needs --peer PATH; choose others with --figure to do without")
    if given.json is not None and not given.json.parent.is_dir():
        command.error(f"--json: there is no folder {given.json.parent}")
    if "peer" in chosen:
        try:
            commit(given.peer)
        except NoPeer as wrong:
            command.error(str(wrong))
    prepare(environ=os.environ)
    # On an accelerator several processes share the memory: none may take all of it.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    facts = about()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()))
    rows: list[Row] = []
    status = _measure(chosen, given, rows)
    if rows:
        print(f"\n{table(rows)}")
    if given.json is not None:
        text = json.dumps({"machine": facts, "status": status, "rows": as_json(rows)}, indent=2, ensure_ascii=False)
        given.json.write_text(text + "\n", encoding="utf-8")
    return status


def _measure(chosen: Sequence[str], given: argparse.Namespace, rows: list[Row]) -> int:
    """Measure figure by figure; what was measured before a failure or an interrupt stays in ``rows``."""
    networks = tuple(given.network or MEASURED)
    options = Options(peer=given.peer or "", pairs=given.pairs, networks=networks, say=_say)
    status = 0
    for name in chosen:
        figure = FIGURES[name]
        print(f"\n{name}: {figure.title}\n{textwrap.fill(figure.definition, 100)}", flush=True)
        began = time.perf_counter()
        try:
            found = figure.measure()(options)
        except KeyboardInterrupt:
            _say("interrupted")
            return 130
        except WorkerFailed as failure:
            _say(f"{name} failed: {failure}")
            status = 1
            continue
        rows += found
        _say(f"measured in {time.perf_counter() - began:.0f} s")
        if len(chosen) > 1:
            print(table(found), flush=True)
    return status


def about() -> dict[str, str]:
    """What the numbers depend on: machine, packages and our own commit."""
    versions = " ".join(f"{name} {metadata.version(name)}" for name in ("jax", "jaxlib", "flax", "craftax"))
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": platform.platform(),
        "packages": versions,
        "commit": commit.stdout.strip() or "unknown",
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
