"""Coverage-guided fuzzing of the compiler: ``python -m tests.engine.sharp.fuzz FOLDER --minutes 30``.

The inputs are texts, begun from the honest and hostile corpora and changed token by token. A finding is an escaped
exception, a refusal of the kind ``internal`` or without a line or reason, an accepted program whose graph has other
shapes or dtypes than the compiler inferred, a parse of more than a minute (instrumented code is several times slower),
or more than 2 GiB. Findings, corpus and figures are kept in FOLDER. Needs the extra ``fuzz`` (``atheris``, Linux).
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["engine.sharp"], enable_loader_override=False):
    from engine.sharp.program import CompiledProgram, parse_program
from ledger.vocabulary.vet import Refusal
from tests.engine.sharp.concrete import graph_truths
from tests.engine.sharp.fuzz_edits import mutated
from tests.engine.sharp.honest_invented import PROGRAMS
from tests.engine.sharp.hostile import HOSTILE
from tests.engine.sharp.invented import SCHEMA, inner_views

SECONDS_PER_INPUT = 60
MEGABYTES = 2_048
EVALUATED_EVERY = 8


class Tally:
    """Counts verdicts, and checks each."""

    def __init__(self) -> None:
        self.inputs = 0
        self.accepted = 0
        self.refused: collections.Counter[str] = collections.Counter()
        self.reasons: set[str] = set()

    def __call__(self, data: bytes) -> None:
        """One input."""
        text = data.decode("utf-8", "surrogateescape")
        verdict = parse_program(text, SCHEMA)
        self.inputs += 1
        if isinstance(verdict, Refusal):
            lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
            placed = 1 <= verdict.line <= lines + 1 and verdict.column >= 1
            if verdict.kind == "internal" or not verdict.reason or not placed:
                raise AssertionError(f"a fault of the compiler, or a refusal without a proper place: {verdict}")
            self.refused[verdict.kind] += 1
            return
        assert isinstance(verdict, CompiledProgram)
        self.accepted += 1
        if self.accepted % EVALUATED_EVERY == 0:
            graph_truths(verdict, *inner_views()[:2], SCHEMA)

    def figures(self) -> dict[str, Any]:
        """What was counted."""
        return {"inputs": self.inputs, "accepted": self.accepted, "refused": dict(self.refused.most_common())}


def main() -> None:
    """Fuzz for the time given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    corpus, findings = given.folder / "corpus", given.folder / "findings"
    for each in (corpus, findings):
        each.mkdir(parents=True, exist_ok=True)
    texts = [*PROGRAMS, *(text for group in HOSTILE.values() for text in group if len(text) < 4_000)]
    for index, text in enumerate(texts):
        (corpus / f"seed{index:04}").write_bytes(text.encode("utf-8", "surrogatepass"))
    tally = Tally()
    report = given.folder / "figures.json"

    def one(data: bytes) -> None:
        tally(data)
        if tally.inputs % 500 == 0:
            report.write_text(json.dumps(tally.figures(), indent=1) + "\n", "utf-8")

    arguments = [
        sys.argv[0], str(corpus), f"-max_total_time={round(given.minutes * 60)}", f"-timeout={SECONDS_PER_INPUT}",
        f"-rss_limit_mb={MEGABYTES}", "-max_len=6000", f"-seed={given.seed}", f"-artifact_prefix={findings}/",
        "-print_final_stats=1", "-len_control=0",
    ]  # fmt: skip
    atheris.Setup(arguments, one, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
