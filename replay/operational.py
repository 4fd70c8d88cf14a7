"""Operational settings: how a run is carried out, as against what it is.

Nothing here may change an outcome that is compared on replay, so none of it is recorded as configuration: a run can be
resumed or replayed elsewhere with another endpoint, another budget, another folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import Attribute, evolve, field, frozen
from attrs.validators import ge, gt, in_, optional

from ledger.vocabulary.config import Config, FoundationModel
from replay.fingerprint import compiled_for

TRANSPORTS = ("http", "mailbox")
KEPT_CHECKPOINTS = ("all", "archive", "last")
UNDECLARED = FoundationModel().model
"""The model name of a configuration that leaves the model to the environment, or to whoever answers the mailbox."""

_PATH: dict[str, Any] = {"path": True}


@frozen
class Endpoint:
    """Names of the environment variables that hold an OpenAI-compatible endpoint's base URL, key and model.

    Only names are written in files: keys and addresses stay in the environment.
    """

    base_url_env: str = "OPENAI_BASE_URL"
    key_env: str = "OPENAI_API_KEY"
    model_env: str = "OPENAI_MODEL"


@frozen
class Spending:
    """Limits that stop a run before the call that could exceed them; ``None`` sets none. Resuming continues the run.

    ``tokens`` counts prompt and completion together. ``money`` is in the currency of the two prices, which are per
    million tokens.
    """

    calls: int | None = field(default=None, validator=optional(ge(0)))
    tokens: int | None = field(default=None, validator=optional(ge(0)))
    money: float | None = field(default=None, validator=optional(ge(0)))
    prompt_price: float = field(default=0.0, validator=ge(0))
    completion_price: float = field(default=0.0, validator=ge(0))

    @money.validator
    def _priced(self, _: Attribute[float | None], money: float | None) -> None:
        if money is not None and self.prompt_price == 0 and self.completion_price == 0:
            raise ValueError("'money' is limited but both prices are 0: set prompt_price and completion_price too")


@frozen
class Operational:
    """The ``[operational]`` table of an experiment file.

    ``timeout_seconds`` bounds one attempt of a call; ``retries`` counts further attempts after transport failures.
    ``mailbox`` is the folder of prompt and answer files (by default inside the run). ``prompts_dir`` holds the user's
    own templates; ``documents`` are files shown to the foundation model. A training phase writes a checkpoint
    every ``checkpoint_seconds``; ``keep_checkpoints`` says which of a run's agents keep theirs: ``all``, those that an
    iteration passed on (``archive``), or only what the run still needs (``last``). Relative paths are relative to the
    file that sets them.
    """

    transport: str = field(default="http", validator=in_(TRANSPORTS))
    concurrency: int = field(default=4, validator=ge(1))
    timeout_seconds: float = field(default=600.0, validator=gt(0))
    retries: int = field(default=4, validator=ge(0))
    endpoint: Endpoint = Endpoint()
    embedding_endpoint: Endpoint = Endpoint()
    budget: Spending = Spending()
    mailbox: str | None = field(default=None, metadata=_PATH)
    prompts_dir: str | None = field(default=None, metadata=_PATH)
    documents: tuple[str, ...] = field(default=(), metadata=_PATH)
    checkpoint_seconds: float = field(default=300.0, validator=gt(0))
    keep_checkpoints: str = field(default="all", validator=in_(KEPT_CHECKPOINTS))
    compile_cache_dir: str | None = field(default=None, metadata=_PATH)


def compile_cache(operational: Operational, environ: Mapping[str, str] = os.environ) -> Path:
    """Where compiled functions are kept between processes.

    Compiled code holds instructions of the processor it was made on and is divided among its cores, so each kind of
    machine has its own folder, except in a folder that ``JAX_COMPILATION_CACHE_DIR`` names.
    """
    if operational.compile_cache_dir is not None:
        base = Path(operational.compile_cache_dir)
    elif configured := environ.get("JAX_COMPILATION_CACHE_DIR"):
        return Path(configured)
    else:
        base = _user_caches(environ) / "code-sharp-replay" / "jax"
    return base / compiled_for(environ)[:16]


def _user_caches(environ: Mapping[str, str]) -> Path:
    """The platform's folder for what can be made again."""
    if sys.platform == "win32" and (local := environ.get("LOCALAPPDATA")):
        return Path(local)
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches"))
    chosen = Path(environ.get("XDG_CACHE_HOME", ""))
    # a relative path is to be ignored by the rules of the variable; "~" stays as it is for someone without a home
    return chosen if chosen.is_absolute() else Path(os.path.expanduser("~/.cache"))


def with_model(config: Config, operational: Operational, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration with its model taken from the environment, if it names none and a run asks over HTTP.

    The model is part of the value of every call, so it is recorded; only its source is the environment.
    """
    named = environ.get(operational.endpoint.model_env)
    if config.foundation_model.model != UNDECLARED or operational.transport != "http" or not named:
        return config
    return evolve(config, foundation_model=evolve(config.foundation_model, model=named))
