"""Verdicts and the table, and what the command says without measuring anything."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks import training
from tests.benchmarks.checkout import PEER_FILES, NoPeer, commit
from tests.benchmarks.results import Row, Target, as_json, median_row, shown, table
from tests.benchmarks.workers import OURS, Worker, WorkerFailed


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """The command sets variables for the processes that it starts."""
    with mock.patch.dict(os.environ):
        yield


@pytest.mark.parametrize(
    ("comparison", "below", "at", "above"),
    [("≥", False, True, True), ("≤", True, True, False), ("<", True, False, False), ("=", False, True, False)],
)
def test_targets(comparison: str, below: bool, at: bool, above: bool) -> None:
    target = Target(comparison, 2.5)
    assert [target.met_by(value) for value in (2.4999, 2.5, 2.5001)] == [below, at, above]
    assert not target.met_by(math.nan)


def test_a_verdict_is_of_the_measurement_not_of_its_rounded_print() -> None:
    row = Row("peer", "ratio", 2.4999, "x", Target("≥", 2.5))
    assert (row.verdict, shown(row.measured, row.unit)) == ("missed", "2.50 x")


def test_what_is_no_measurement_is_refused() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="came out as"):
            Row("peer", "ratio", value, "x")
    with pytest.raises(ValueError, match="nothing was measured"):
        median_row("peer", "ratio", [], "x")
    with pytest.raises(ValueError, match="comparison"):
        Target("~", 1)


def test_a_table() -> None:
    rows = [
        median_row("small", "mlp", [9_500, 8_000, 9_100], "steps/s", Target("≥", 9_000)),
        Row("growth", "cold", 12.345, "s", Target("≤", 12)),
        Row("rollout", "bound", 0.0321, "µs/step"),
    ]
    assert table(rows) == (
        "figure   what   measured        spread               target           verdict\n"
        "-------  -----  --------------  -------------------  ---------------  -------\n"
        "small    mlp    9,100 steps/s   8,000 to 9,500 of 3  ≥ 9,000 steps/s  met\n"
        "growth   cold   12.3 s                               ≤ 12 s           missed\n"
        "rollout  bound  0.0321 µs/step                       -                -"
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_the_median_is_judged(samples: list[float]) -> None:
    row = median_row("any", "any", samples, "", Target("≥", 0))
    assert min(samples) <= row.measured <= max(samples)
    assert (row.verdict == "met") == (row.measured >= 0)
    assert json.loads(json.dumps(as_json([row])))[0]["samples"] == samples


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        training.main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert all(name in said and figure.title in said for name, figure in training.FIGURES.items())
    assert max(len(line) for line in said.splitlines()) <= 120


def test_every_figure_has_its_function() -> None:
    assert all(callable(figure.measure()) for figure in training.FIGURES.values())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "needs --peer PATH"),
        (["--figure", "speed"], "invalid choice"),
        (["--figure", "small", "--pairs", "0"], "at least 1"),
        (["--figure", "small", "--json", "no/such/folder/x.json"], "no folder"),
        (["--figure", "peer", "--peer", "no/such/folder"], "git clone"),
    ],
)
def test_wrong_arguments(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        training.main(arguments)
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_checkout_is_known_by_its_commit_and_its_unchanged_files(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    for name in PEER_FILES:
        (tmp_path / name).write_text(name)
    with pytest.raises(NoPeer, match="no git checkout"):
        commit(str(tmp_path))
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    assert commit(str(tmp_path)) == git("rev-parse", "HEAD")
    (tmp_path / PEER_FILES[0]).write_text("edited")
    with pytest.raises(NoPeer, match="is not that of commit"):
        commit(str(tmp_path))
    (tmp_path / PEER_FILES[0]).unlink()
    with pytest.raises(NoPeer, match=f"has no {PEER_FILES[0]}"):
        commit(str(tmp_path))


def test_a_worker_that_fails_tells_why() -> None:
    with Worker(OURS, {"setup": "paper", "skills": 1, "task": "nonsense"}) as worker:
        with pytest.raises(WorkerFailed, match="no task 'nonsense'"):
            worker.ready()
        with pytest.raises(WorkerFailed):
            worker.turn()


def test_a_failure_and_an_interrupt_keep_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def measured(_: object) -> list[Row]:
        return [Row("small", "mlp", 9_500, "steps/s", Target("≥", 9_000))]

    def failed(_: object) -> list[Row]:
        raise WorkerFailed("core_worker ended")

    def interrupted(_: object) -> list[Row]:
        raise KeyboardInterrupt

    functions = {"small": measured, "growth": failed, "memory": interrupted}
    monkeypatch.setattr(
        training.Figure,
        "measure",
        lambda self: next(functions[name] for name in functions if training.FIGURES[name] is self),
    )
    file = tmp_path / "rows.json"
    arguments = [part for name in functions for part in ("--figure", name)]
    assert training.main([*arguments, "--json", str(file)]) == 130
    said = capsys.readouterr()
    assert "growth failed: core_worker ended" in said.err
    assert said.out.rstrip().endswith("met")
    written = json.loads(file.read_text(encoding="utf-8"))
    assert [row["verdict"] for row in written["rows"]] == ["met"]
    assert written["status"] == 130
    assert training.main(["--figure", "small", "--figure", "growth"]) == 1
    assert training.main(["--figure", "small"]) == 0
