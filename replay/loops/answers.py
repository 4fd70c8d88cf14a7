"""Asking a foundation model and reading the answer, with at most so many re-asks when it cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import frozen

from fm.library import Library
from fm.parse import Fault
from fm.roles import repair
from ledger.vocabulary.ask import Ask, Part, Reply
from ledger.vocabulary.config import Config
from ledger.vocabulary.effect import Loop, do

T = TypeVar("T")


@frozen
class Inputs:
    """What a loop is given besides its view: prompt templates and the user's auxiliary documents."""

    library: Library
    documents: tuple[Part, ...] = ()


@frozen
class Answer(Generic[T]):
    """A read answer or the last fault, with the last exchange: what a later repair goes on from."""

    value: T | Fault
    ask: Ask
    reply: Reply


def answered(first: Ask, read: Callable[[Reply], T | Fault], config: Config, inputs: Inputs) -> Loop[Answer[T]]:
    """Ask; while the answer cannot be read, ask again with the reason, at most ``max_repairs`` times."""
    ask = first
    reply = yield from do(ask)
    value = read(reply)
    for attempt in range(1, config.discovery.max_repairs + 1):
        if not isinstance(value, Fault):
            break
        path = first.path / f"repair={attempt}"
        ask = repair.ask(path, ask, reply, value.reason, inputs.library, config.foundation_model)
        reply = yield from do(ask)
        value = read(reply)
    return Answer(value, ask, reply)
