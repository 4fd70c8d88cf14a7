"""Chat completions of any OpenAI-compatible endpoint."""

from __future__ import annotations

import re
import threading
from typing import Any, Final

import openai
from attrs import evolve, frozen

from fm import request
from fm.endpoint import Endpoint, RejectedError
from fm.errors import TransportFailure
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import FoundationModel
from ledger.vocabulary.events import Fact, Usage

UNDECLARED: Final = FoundationModel().model


@frozen
class _Manner:
    """What the endpoint has been found to understand; only ever moves away from these defaults."""

    schema_apart: bool = True
    max_tokens_name: str = "max_tokens"


class OpenAiTransport:
    """Sends each call as one chat completion.

    A JSON schema goes along as ``response_format``. If the endpoint rejects a request that has one and accepts the same
    request without, schemas are put into the prompt's text from then on, and ``facts`` says so. The same holds for
    endpoints that want ``max_completion_tokens`` for ``max_tokens``.

    Args:
        endpoint: where to send calls; closed together with the transport.
        model: name under which the endpoint serves the experiment's model, if it is another than the call's own.
    """

    name = "openai"
    answers_persist = False

    def __init__(self, endpoint: Endpoint, *, model: str | None = None) -> None:
        self._endpoint = endpoint
        self._model = model
        self._manner = _Manner()
        self._lock = threading.Lock()

    def facts(self) -> tuple[Fact, ...]:
        """Transport, address, key fingerprint, concurrency, served model, and how schemas are sent."""
        how = "response_format" if self._manner.schema_apart else "prompt text (the endpoint rejects response_format)"
        return (
            Fact("transport", self.name),
            *self._endpoint.facts(),
            Fact("served_model", self._model or "as recorded"),
            Fact("schema_sent_as", how),
        )

    def find(self, ask: Ask) -> Reply | None:
        """``None``: an endpoint keeps no answers."""
        return None

    def ask(self, ask: Ask) -> tuple[Reply, Usage | None]:
        """Send the call and wait; see ``fm.transports.port.Transport``."""
        manner = self._manner
        while True:
            try:
                body = self._send(ask, manner)
            except RejectedError as rejected:
                withheld = _withheld(rejected)
                if withheld is not None:
                    return withheld, None
                other = _other_manner(manner, ask, rejected)
                if other is None:
                    raise self._failure(ask, rejected) from None
                manner = other
            else:
                break
        if manner != self._manner:
            with self._lock:
                self._manner = _Manner(
                    self._manner.schema_apart and manner.schema_apart,
                    manner.max_tokens_name,
                )
        return self._reply(ask, body), _usage(body)

    def close(self) -> None:
        """Call off every wait and close the connections."""
        self._endpoint.close()

    def _send(self, ask: Ask, manner: _Manner) -> dict[str, Any]:
        parameters = self._parameters(ask, manner)

        def call(client: openai.OpenAI) -> Any:
            return client.chat.completions.with_raw_response.create(**parameters)

        return self._endpoint.post(call)

    def _parameters(self, ask: Ask, manner: _Manner) -> dict[str, Any]:
        model = self._model or ask.model
        if model == UNDECLARED:
            raise TransportFailure("no model is named: set foundation_model.model in the configuration and start again")
        parameters: dict[str, Any] = {
            "model": model,
            "messages": request.messages(ask, schema_in_text=not manner.schema_apart),
        }
        sampling = ask.sampling
        for name, value in (
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
            ("seed", sampling.seed),
            (manner.max_tokens_name, sampling.max_tokens),
        ):
            if value is not None:
                parameters[name] = value
        schema = request.schema(ask)
        if schema is not None and manner.schema_apart:
            parameters["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": re.sub(r"[^A-Za-z0-9_-]", "_", ask.role)[:64] or "answer",
                    "schema": schema,
                    "strict": _is_closed(schema),
                },
            }
        return parameters

    def _failure(self, ask: Ask, rejected: RejectedError) -> TransportFailure:
        return TransportFailure(
            f"{self._endpoint.base_url} rejects the call {ask.path} with {rejected.status} ({rejected.message}): "
            "change the model, its sampling or the prompt's length, then resume or fork"
        )

    def _reply(self, ask: Ask, body: dict[str, Any]) -> Reply:
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise TransportFailure(
                f"{self._endpoint.base_url} answered {ask.path} without a chat message: check its URL, then resume"
            )
        finish, model = choice.get("finish_reason"), body.get("model")
        refusal = _text(message.get("refusal"))
        return Reply(
            content=self._body(message.get("content")),
            finish=finish if isinstance(finish, str) and finish else "unknown",
            reasoning=self._body(message.get("reasoning_content")) or self._body(message.get("reasoning")),
            refusal=None if refusal is None else self._endpoint.redact(refusal),
            model=self._endpoint.redact(model) if isinstance(model, str) else None,
        )

    def _body(self, value: Any) -> Body | None:
        text = _text(value)
        return None if text is None else Body(self._endpoint.redact(text))


def _text(value: Any) -> str | None:
    """A text field, also where it comes as a list of text parts."""
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str)) or None
    return value if isinstance(value, str) else None


def _usage(body: dict[str, Any]) -> Usage | None:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int or prompt < 0 or completion < 0:
        return None
    return Usage(prompt, completion)


def _withheld(rejected: RejectedError) -> Reply | None:
    """Some endpoints answer 400 where a filter withholds an answer; that is a reply, and reaches the loop."""
    if rejected.code not in ("content_filter", "content_policy_violation"):
        return None
    return Reply(content=None, finish="content_filter", refusal=rejected.message)


def _other_manner(manner: _Manner, ask: Ask, rejected: RejectedError) -> _Manner | None:
    if manner.max_tokens_name == "max_tokens" and "max_completion_tokens" in rejected.message:
        return evolve(manner, max_tokens_name="max_completion_tokens")
    if manner.schema_apart and ask.schema is not None:
        return evolve(manner, schema_apart=False)
    return None


def _is_closed(schema: Any) -> bool:
    """Whether every object in the schema lists all its properties as required and allows no others.

    Strict decoding is only offered for such schemas; the others are sent as a wish.
    """
    if isinstance(schema, list):
        return all(_is_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    return all(_is_closed(item) for item in schema.values())
