"""Hypothesis strategies for every value of the vocabulary, made from its own annotations."""

from __future__ import annotations

import types
from functools import cache
from typing import Any, Union, get_args, get_origin

import attrs
from hypothesis import strategies as st

from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import SOURCES, Event, OperationalEvent, SemanticEvent, Usage
from ledger.vocabulary.path import Path

texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    [
        "",
        "\x00",
        "\ud800",
        "\udfff",
        "\ud83d\ude00",
        "\U0001f600",
        "\x85\u2028\n",
        '"},"event":{"kind":"Step",',
        "é" * 600,
    ]
)
"""Any text, lone and paired surrogates and JSON look-alikes included."""
integers = st.integers() | st.sampled_from([0, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**100])
floats = st.floats(allow_subnormal=True) | st.sampled_from(
    [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1e16]
)
paths = st.lists(st.from_regex(r"[a-z]{1,3}(\[[0-9]\]|=[0-9]{1,2})?", fullmatch=True), min_size=1, max_size=4).map(
    lambda segments: Path("/".join(segments))
)
long_texts = st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=8), st.integers(1025, 1400))
bodies = st.builds(Body, texts | long_texts)
data = st.builds(Data, st.binary(max_size=40) | st.binary(min_size=1, max_size=4).map(lambda raw: raw * 1025))
configs = st.builds(
    Config, world=texts, seed=st.integers(min_value=0) | st.just(2**63), grammar=texts, embedding_model=texts
)

_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: integers,
    float: floats,
    str: texts,
    type(None): st.none(),
    Path: paths,
    Body: bodies,
    Data: data,
    Config: configs,
}


@cache
def values(type_: Any) -> st.SearchStrategy[Any]:
    """Values of a vocabulary type: a class, a union, a tuple of any length, or a primitive.

    Classes of the configuration have validators; those inside an effect keep their defaults.
    """
    if type_ in _LEAVES:
        return _LEAVES[type_]
    if isinstance(type_, types.UnionType) or get_origin(type_) is Union:
        return st.one_of([values(member) for member in get_args(type_)])
    if get_origin(type_) is tuple:
        return st.lists(values(get_args(type_)[0]), max_size=3).map(tuple)
    if type_.__module__ == Config.__module__:
        return st.builds(type_)
    attrs.resolve_types(type_)
    return st.builds(type_, **{field.name: values(field.type) for field in attrs.fields(type_)})


events: st.SearchStrategy[Any] = values(Event)
semantic_events: st.SearchStrategy[Any] = values(SemanticEvent)
operational_events: st.SearchStrategy[Any] = values(OperationalEvent)
sources = st.sampled_from(SOURCES)
usages = st.none() | st.builds(Usage, integers, integers)
