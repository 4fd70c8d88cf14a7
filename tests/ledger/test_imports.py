"""The ledger stands alone: reading a run needs neither JAX nor any other package of ours."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import ledger

PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
heavy = {"jax", "jaxlib", "flax", "optax", "numpy", "openai", "engine", "fm", "replay"}
print(*sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


def test_no_module_of_the_ledger_imports_jax_or_the_other_packages() -> None:
    names = [module.name for module in pkgutil.walk_packages(ledger.__path__, "ledger.")]
    assert {"ledger.writer", "ledger.reader", "ledger.verify", "ledger.vocabulary.events"} <= set(names)
    done = subprocess.run([sys.executable, "-c", PROGRAM, *names], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
