"""One environment for every test: JAX on the CPU, strict about ranks and types, compiling each function once.

The settings are environment variables, set before anything imports JAX: processes started by tests have them too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

from replay.fingerprint import cpu_digest

if "jax" in sys.modules:
    raise RuntimeError("JAX was imported before its test settings were made; find the plugin that imports it")

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
os.environ["JAX_NUMPY_DTYPE_PROMOTION"] = "strict"

# Compiled code holds instructions of this processor: another one gets a folder of its own. A size limit makes JAX take
# a file lock, without which two test processes could read each other's half-written entries.
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(__file__).parent.parent / ".jax_cache" / cpu_digest()[:16])
os.environ["JAX_COMPILATION_CACHE_MAX_SIZE"] = str(2 * 1024**3)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.5"

# A test must not depend on the credentials or endpoints of whoever runs it.
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
    os.environ.pop(name, None)

# Compilation makes first examples slow, so there is no deadline. Continuous integration repeats the same examples.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))
