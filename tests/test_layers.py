"""The architecture, enforced: one-way imports, and loops that could not be other than deterministic."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PURE = ("replay/loops", "engine/archive", "engine/curriculum")
"""Folders of loops and folds: no clock, no randomness, no input or output (design, house rule 2)."""

BANNED_MODULES = (
    "asyncio",
    "datetime",
    "io",
    "jax.random",
    "multiprocessing",
    "numpy.random",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "uuid",
)
BANNED_NAMES = ("open", "input", "print", "hash", "id", "exec", "eval", "__import__")


def impurities(source: str) -> list[str]:
    """What in a module could make two runs of it differ: banned imports, built-ins, iteration over sets."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names):
                modules = [module, *(f"{module}.{alias.name}" for alias in names)]
            case ast.Attribute(value=ast.Name(id=package), attr=attribute):
                modules = [
                    f"{package}.{attribute}",
                    f"{ {'np': 'numpy', 'jnp': 'jax'}.get(package, package) }.{attribute}",
                ]
            case ast.Call(func=ast.Name(id=name)) if name in BANNED_NAMES:
                found.append(f"line {node.lineno}: {name}()")
                continue
            case ast.For(iter=over) | ast.comprehension(iter=over) if _is_set(over):
                found.append(f"line {over.lineno}: iteration over a set")
                continue
            case _:
                continue
        hits = {each for each in BANNED_MODULES for module in modules if f"{module}.".startswith(f"{each}.")}
        found += [f"line {node.lineno}: {hit}" for hit in sorted(hits)]
    return found


def _is_set(node: ast.expr) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    return called or isinstance(node, (ast.Set, ast.SetComp))


@pytest.mark.parametrize("folder", PURE)
def test_loops_and_folds_are_pure(folder: str) -> None:
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules
    assert {str(file.relative_to(ROOT)): impurities(file.read_text("utf-8")) for file in modules} == {
        str(file.relative_to(ROOT)): [] for file in modules
    }


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "import os.path",
        "from datetime import datetime",
        "from numpy import random",
        "import numpy as np\nx = np.random.default_rng()",
        "import numpy.random as r",
        "from jax import random",
        "from pathlib import Path",
        "open('x')",
        "hash('x')",
        "for x in {1, 2}: pass",
        "y = [x for x in set(z)]",
        "def f():\n    import random",
    ],
)
def test_an_impurity_is_seen(source: str) -> None:
    assert impurities(source)


def test_what_is_pure_is_let_through() -> None:
    assert impurities("from ledger.vocabulary.path import Path\nfor x in sorted({1, 2}): pass\nx in {1, 2}") == []


def test_imports_go_one_way() -> None:
    """The contracts of ``pyproject.toml``; a process of its own, since the linter keeps hold of the output stream."""
    command = "import sys, importlinter.cli as cli; sys.exit(cli.lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("package", "absent"), [("ledger", "jax"), ("fm", "jax"), ("replay.exit_codes", "jax"), ("engine", "openai")]
)
def test_importing_a_package_whole_does_not_bring_what_it_may_not_have(package: str, absent: str) -> None:
    """A contract sees imports that are written down; this sees what really happens, imports by name included."""
    command = f"""
import importlib, pkgutil, sys
package = importlib.import_module({package!r})
for module in pkgutil.walk_packages(getattr(package, "__path__", []), {package!r} + "."):
    importlib.import_module(module.name)
print([name for name in sys.modules if name == {absent!r} or name.startswith({absent!r} + ".")])
"""
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_continuous_check_runs_what_the_readme_says() -> None:
    """Both use the same line, so that what a newcomer types is what was checked."""
    line = "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e '.[test]' && .venv/bin/pytest"
    assert line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert line in (ROOT / "README.md").read_text("utf-8")


def test_every_pin_is_a_plain_version() -> None:
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        name, equal, version = line.partition("==")
        assert equal, line
        assert not set(name + version) & set(" /@;:[]"), line
