"""Vectors for texts: offline from a small word-vector model, or from an OpenAI-compatible endpoint.

Texts are embedded as they are given. Vectors come out with unit length as little-endian float32, and a text's vector
does not depend on the texts beside it. They are recorded, so a replay needs none of this.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import openai
from numpy.typing import NDArray

from fm.endpoint import Endpoint, RejectedError
from fm.errors import EmbeddingFailure
from ledger.vocabulary.body import Data
from ledger.vocabulary.embed import Embed, Embedded

WORDLLAMA: Final = "wordllama"
WORDLLAMA_DIMENSIONS: Final = 256
BATCH_TEXTS: Final = 64


class Embedder(Protocol):
    """A model that embeds texts."""

    def embed(self, effect: Embed) -> Embedded:
        """One unit-length vector per text of ``effect``.

        Raises:
            EmbeddingFailure: if another model is asked for, or a text has no direction (an empty text).
            TransportFailure: if an endpoint is needed and fails.
        """
        ...


class WordLlamaEmbedder:
    """Mean of static word vectors (``wordllama``, 256 dimensions) from the installed package; never downloads."""

    def __init__(self) -> None:
        import wordllama  # type: ignore[import-untyped]

        # Only the packaged files are used, so a machine's own cache cannot change a vector.
        self._model: Any = wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, dim=WORDLLAMA_DIMENSIONS, disable_download=True
        )

    def embed(self, effect: Embed) -> Embedded:
        """See ``Embedder``; the model's name is ``wordllama``."""
        if effect.model != WORDLLAMA:
            raise EmbeddingFailure(
                f"{effect.path} asks for embeddings by {effect.model!r}, not {WORDLLAMA!r}: "
                "name an endpoint that serves that model"
            )
        # One at a time: a batch is padded, and sums over padding may round differently.
        rows = [np.asarray(self._model.embed(text)[0], dtype=np.float64) for text in effect.texts]
        return _embedded(effect, rows, WORDLLAMA_DIMENSIONS)


class OpenAiEmbedder:
    """``/v1/embeddings`` of an endpoint; the effect's model is asked for unless ``model`` names another."""

    def __init__(self, endpoint: Endpoint, *, model: str | None = None) -> None:
        self._endpoint = endpoint
        self._model = model

    def embed(self, effect: Embed) -> Embedded:
        """See ``Embedder``; texts are sent in batches of 64."""
        rows: list[NDArray[np.float64]] = []
        for start in range(0, len(effect.texts), BATCH_TEXTS):
            rows.extend(self._batch(effect, effect.texts[start : start + BATCH_TEXTS]))
        return _embedded(effect, rows, len(rows[0]) if rows else 0)

    def _batch(self, effect: Embed, texts: tuple[str, ...]) -> list[NDArray[np.float64]]:
        def call(client: openai.OpenAI) -> Any:
            return client.embeddings.with_raw_response.create(
                model=self._model or effect.model, input=list(texts), encoding_format="float"
            )

        try:
            body = self._endpoint.post(call)
        except RejectedError as rejected:
            raise EmbeddingFailure(
                f"{self._endpoint.base_url} rejects the embeddings of {effect.path} with {rejected.status} "
                f"({rejected.message}): change the embedding model, then resume"
            ) from None
        return self._rows(effect, body, len(texts))

    def _rows(self, effect: Embed, body: dict[str, Any], count: int) -> list[NDArray[np.float64]]:
        data = body.get("data")
        vectors: dict[Any, Any] = {}
        if isinstance(data, list) and all(isinstance(item, dict) for item in data):
            vectors = {item.get("index"): item.get("embedding") for item in data}
        try:
            rows = [np.asarray(vectors[index], dtype=np.float64) for index in range(count)]
        except (KeyError, TypeError, ValueError):
            rows = []
        if len(rows) != count or any(row.ndim != 1 or not row.size for row in rows):
            raise EmbeddingFailure(
                f"{self._endpoint.base_url} did not answer {effect.path} with one vector per text: "
                "check that its model is an embedding model, then resume"
            )
        return rows


def _embedded(effect: Embed, rows: list[NDArray[np.float64]], dimensions: int) -> Embedded:
    """Unit vectors of ``rows`` (each of shape ``(dimensions,)``)."""
    vectors = []
    for text, row in zip(effect.texts, rows, strict=True):
        length = float(np.sqrt(np.sum(row * row)))
        if len(row) != dimensions or not np.isfinite(length) or length == 0.0:
            raise EmbeddingFailure(
                f"{effect.path}: the text {text[:60]!r} has no vector of {dimensions} dimensions with a direction: "
                "embed a text with words in it, then resume"
            )
        vectors.append(Data((row / length).astype("<f4").tobytes()))
    return Embedded(dimensions, tuple(vectors))
