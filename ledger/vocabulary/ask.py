"""Ask: one call of a foundation model, and the reply it gave."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.body import Body
from ledger.vocabulary.effect import Effect


@frozen
class Part:
    """A named piece of a prompt; equal pieces of many prompts are stored once."""

    name: str
    text: Body


@frozen
class Sampling:
    """Decoding parameters that are part of a call's value; ``None`` leaves one to the endpoint."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


@frozen
class Reply:
    """What came back, kept raw; parsed values are derived and never stored in its place.

    ``finish`` is the endpoint's own word (``stop``, ``length``, ``content_filter``, …) or ``unknown``.
    ``reasoning`` is text that the endpoint delivered apart from the content. ``refusal`` is its refusal text, if any.
    """

    content: Body | None
    finish: str
    reasoning: Body | None = None
    refusal: str | None = None
    model: str | None = None


@frozen
class Ask(Effect[Reply]):
    """One request to a foundation model.

    ``role`` is the place in the method (``propose``, ``implement``, ``judge``, …); ``template`` names the released
    prompt version (``propose@1``); ``schema`` is a JSON schema (as text) that the answer must obey, or ``None``.
    """

    role: str
    template: str
    parts: tuple[Part, ...]
    model: str
    sampling: Sampling
    schema: str | None = None
