from __future__ import annotations

import socket
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fm.embed import OpenAiEmbedder, WordLlamaEmbedder
from fm.endpoint import Endpoint
from fm.errors import EmbeddingFailure, TransportFailure
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.path import Path
from tests.fm.servers import Answer, serving


def call(*texts: str, model: str = "wordllama") -> Embed:
    return Embed(Path("iteration=0/names"), model, texts)


def arrays(embedded: Embedded) -> list[NDArray[np.float32]]:
    return [np.frombuffer(data.raw, dtype="<f4") for data in embedded.vectors]


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_near_meanings_are_near(wordllama: WordLlamaEmbedder) -> None:
    embedded = wordllama.embed(call("collect a diamond", "mine diamond ore", "eat a cow"))
    assert embedded.dimensions == 256
    first, near, far = arrays(embedded)
    assert first.shape == (256,)
    assert float(first @ near) == pytest.approx(0.70, abs=0.01)
    assert float(first @ far) == pytest.approx(-0.09, abs=0.01)


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(categories=["L", "Nd"]), min_size=1), min_size=1, max_size=4))
def test_vectors_have_unit_length_and_ignore_their_neighbours(wordllama: WordLlamaEmbedder, texts: list[str]) -> None:
    together = wordllama.embed(call(*texts))
    assert together == Embedded(256, tuple(wordllama.embed(call(text)).vectors[0] for text in texts))
    assert all(abs(float(np.linalg.norm(row)) - 1) < 1e-6 for row in arrays(together))


def test_no_text_no_vector_and_an_empty_text_is_refused(wordllama: WordLlamaEmbedder) -> None:
    assert wordllama.embed(call()) == Embedded(256, ())
    with pytest.raises(EmbeddingFailure, match="with words in it"):
        wordllama.embed(call("lamp", ""))
    with pytest.raises(EmbeddingFailure, match="'other', not 'wordllama'"):
        wordllama.embed(call("lamp", model="other"))


def test_loading_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", denied)
    assert WordLlamaEmbedder().embed(call("lamp")).dimensions == 256


def vectors(*rows: list[float]) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]}


def test_an_endpoint_answers_in_any_order_and_length() -> None:
    body = vectors([3.0, 4.0], [0.0, 2.0])
    body["data"].reverse()
    with serving(Answer(body)) as script:
        endpoint = Endpoint(script.url)
        embedded = OpenAiEmbedder(endpoint, model="served").embed(call("a", "b", model="named"))
        endpoint.close()
    assert embedded.dimensions == 2
    assert [row.tolist() for row in arrays(embedded)] == [
        [float(np.float32(0.6)), float(np.float32(0.8))],
        [0.0, 1.0],
    ]
    assert script.bodies == [{"model": "served", "input": ["a", "b"], "encoding_format": "float"}]


def test_many_texts_go_in_batches() -> None:
    with serving(Answer(vectors(*[[1.0]] * 64)), Answer(vectors(*[[-1.0]] * 6))) as script:
        endpoint = Endpoint(script.url)
        embedded = OpenAiEmbedder(endpoint).embed(call(*"x" * 70, model="named"))
        endpoint.close()
    assert [row.tolist() for row in arrays(embedded)] == [[1.0]] * 64 + [[-1.0]] * 6
    assert [len(body["input"]) for body in script.bodies] == [64, 6]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (vectors([1.0]), 200, "one vector per text"),
        ({"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}, 200, "one vector per text"),
        ({"data": None}, 200, "one vector per text"),
        (vectors([1.0], [[1.0]]), 200, "one vector per text"),  # type: ignore[list-item]
        (vectors([1.0], [1.0, 2.0]), 200, "no vector of 1 dimensions"),
        (vectors([1.0], [0.0]), 200, "with a direction"),
        ('{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}', 200, "with a direction"),
        ({"error": {"message": "not an embedding model"}}, 400, "not an embedding model"),
    ],
)
def test_what_is_no_vector_is_refused(body: Any, status: int, words: str) -> None:
    with serving(Answer(body, status)) as script:
        endpoint = Endpoint(script.url)
        with pytest.raises(EmbeddingFailure, match=words):
            OpenAiEmbedder(endpoint).embed(call("a", "b"))
        endpoint.close()


def test_a_silent_endpoint_is_a_transport_failure() -> None:
    with serving(Answer("no json")) as script:
        endpoint = Endpoint(script.url)
        with pytest.raises(TransportFailure, match="answered no JSON object"):
            OpenAiEmbedder(endpoint).embed(call("a"))
        endpoint.close()
