from __future__ import annotations

import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from fm import request
from fm.endpoint import Endpoint, Limits, Secret
from fm.errors import Cancelled, EndpointDown, FmError, NoKey, TransportFailure
from fm.parse import Fault, answer_text, json_object
from fm.transports.openai_api import OpenAiTransport
from fm.transports.port import Transport
from ledger.vocabulary.ask import Reply, Sampling
from ledger.vocabulary.body import Body
from ledger.vocabulary.events import Usage
from tests.fm.conftest import CANARY, MakeAsk
from tests.fm.servers import Answer, Script, chat, serving

SCHEMA = {
    "type": "object",
    "properties": {"skill": {"enum": ["LightLamp", "TrimWick"]}, "sure": {"type": "boolean"}},
    "required": ["skill", "sure"],
    "additionalProperties": False,
}


@contextmanager
def reaching(
    url: str,
    *,
    key: str | None = CANARY,
    limits: Limits | None = None,
    cancelled: threading.Event | None = None,
    model: str | None = None,
) -> Iterator[OpenAiTransport]:
    environment = {"FM_URL": url} if key is None else {"FM_URL": url, "FM_KEY": key}
    endpoint = Endpoint(
        url_variable="FM_URL",
        key_variable="FM_KEY",
        limits=limits or Limits(retries=0),
        environment=environment,
        cancelled=cancelled,
    )
    transport = OpenAiTransport(endpoint, model=model)
    try:
        yield transport
    finally:
        transport.close()


@contextmanager
def scripted(*answers: Answer, **options: Any) -> Iterator[tuple[OpenAiTransport, Script]]:
    with serving(*answers) as script, reaching(script.url, **options) as transport:
        yield transport, script


def everything_told(error: BaseException) -> str:
    """Traceback, chained errors, and the local variables of every frame that is not a test's own."""
    told = "".join(traceback.format_exception(error)) + repr(vars(error))
    chain: list[BaseException | None] = [error]
    while (link := chain.pop()) is not None:
        told += repr(link)
        frames = [frame for frame, _ in traceback.walk_tb(link.__traceback__)]
        told += repr([frame.f_locals for frame in frames if not frame.f_globals["__name__"].startswith("tests.")])
        chain.append(link.__cause__ or link.__context__)
    return told


def check_failure(error: FmError, *words: str) -> None:
    message = str(error)
    assert "\n" not in message
    for word in words:
        assert word in message
    assert CANARY not in everything_told(error)


# --- a real server ---------------------------------------------------------------------------------------------------


def test_a_real_model_answers(local_server: str, make_ask: MakeAsk) -> None:
    with reaching(local_server) as transport:
        port: Transport = transport
        ask = make_ask(sampling=Sampling(temperature=0.0, max_tokens=8, seed=1))
        reply, usage = port.ask(ask)
        assert port.find(ask) is None
    assert reply.finish in ("length", "stop")
    assert reply.content is not None
    assert reply.content.text
    assert reply.model
    assert usage is not None
    assert usage.prompt_tokens > 10
    assert 1 <= usage.completion_tokens <= 8


def test_a_real_model_is_held_to_a_schema(local_server: str, make_ask: MakeAsk) -> None:
    with reaching(local_server) as transport:
        ask = make_ask(schema=SCHEMA, sampling=Sampling(temperature=1.5, max_tokens=40, seed=3))
        text = answer_text(transport.ask(ask)[0])
        assert ("schema_sent_as", "response_format") in [(fact.name, fact.value) for fact in transport.facts()]
    assert isinstance(text, str)
    value = json_object(text, SCHEMA)
    assert not isinstance(value, Fault)
    assert value["skill"] in ("LightLamp", "TrimWick")


def test_a_real_server_takes_four_calls_at_once(local_server: str, make_ask: MakeAsk) -> None:
    asks = [make_ask(f"call={index}", sampling=Sampling(max_tokens=4, temperature=0.0)) for index in range(4)]
    with reaching(local_server, limits=Limits(concurrency=4)) as transport, ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(transport.ask, asks))
    assert all(reply.content is not None and usage is not None for reply, usage in replies)


@pytest.mark.parametrize("key", ["sk-a-wrong-key-0123456789", None])
def test_a_real_server_refuses_a_wrong_key(local_server: str, make_ask: MakeAsk, key: str | None) -> None:
    with reaching(local_server, key=key) as transport, pytest.raises(NoKey) as caught:
        transport.ask(make_ask())
    check_failure(caught.value, "401", "FM_KEY", Secret(key or "").fingerprint, "then resume")
    assert "sk-a-wrong" not in everything_told(caught.value)


def test_a_real_server_that_is_too_slow(local_server: str, make_ask: MakeAsk) -> None:
    with reaching(local_server, limits=Limits(timeout_seconds=0.05, retries=0)) as transport:
        with pytest.raises(EndpointDown) as caught:
            transport.ask(make_ask(sampling=Sampling(max_tokens=2000)))
        check_failure(caught.value, "within 0.05 s in 1 tries", "timeout_seconds")


# --- what is sent ----------------------------------------------------------------------------------------------------


def test_the_request_holds_the_recorded_settings_and_nothing_else(make_ask: MakeAsk) -> None:
    with scripted(Answer(chat(content="x"))) as (transport, script):
        ask = make_ask(schema=SCHEMA, sampling=Sampling(0.5, 0.9, 77, 5))
        transport.ask(ask)
        transport.ask(make_ask())
    first, second = script.bodies
    assert first == {
        "model": "tiny",
        "messages": request.messages(ask, schema_in_text=False),
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 77,
        "seed": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "propose", "schema": SCHEMA, "strict": True},
        },
    }
    assert second == {"model": "tiny", "messages": request.messages(make_ask())}
    assert script.authorisations == [f"Bearer {CANARY}"] * 2


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"type": "array", "items": [{"type": "object"}]}, False),
    ],
)
def test_strict_decoding_is_asked_for_closed_schemas_only(
    make_ask: MakeAsk, schema: dict[str, Any], strict: bool
) -> None:
    with scripted(Answer(chat(content="x"))) as (transport, script):
        transport.ask(make_ask(schema=schema))
    assert script.bodies[0]["response_format"]["json_schema"]["strict"] is strict


def test_the_served_name_may_differ_but_must_exist(make_ask: MakeAsk) -> None:
    with scripted(Answer(chat(content="x")), model="served") as (transport, script):
        transport.ask(make_ask(model="undeclared"))
        assert script.bodies[0]["model"] == "served"
    with scripted(Answer(chat(content="x"))) as (transport, script):
        with pytest.raises(TransportFailure, match=r"foundation_model\.model"):
            transport.ask(make_ask(model="undeclared"))
        assert script.bodies == []


def test_concurrency_is_limited(make_ask: MakeAsk) -> None:
    gate = threading.Event()
    asks = [make_ask(f"call={index}") for index in range(6)]
    answer = Answer(chat(content="x"), held=gate)
    with scripted(answer, limits=Limits(concurrency=2)) as (transport, script), ThreadPoolExecutor(6) as pool:
        coming = [pool.submit(transport.ask, ask) for ask in asks]
        while script.most_under_way < 2:
            gate.wait(0.01)
        gate.wait(0.2)
        assert len(script.bodies) == 2
        gate.set()
        assert all(future.result(10)[0].content == Body("x") for future in coming)
    assert script.most_under_way <= 2
    assert len(script.bodies) == 6


# --- what comes back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ({"content": "hi"}, Reply(Body("hi"), "stop", model="scripted")),
        ({"content": ""}, Reply(Body(""), "stop", model="scripted")),
        ({"content": None}, Reply(None, "stop", model="scripted")),
        (
            {"content": None, "reasoning_content": "hm"},
            Reply(None, "stop", reasoning=Body("hm"), model="scripted"),
        ),
        ({"content": "hi", "reasoning": "hm"}, Reply(Body("hi"), "stop", reasoning=Body("hm"), model="scripted")),
        (
            {"content": None, "refusal": "I will not."},
            Reply(None, "stop", refusal="I will not.", model="scripted"),
        ),
        ({"content": "hal", "finish_reason": "length"}, Reply(Body("hal"), "length", model="scripted")),
        ({"content": "hi", "finish_reason": None}, Reply(Body("hi"), "unknown", model="scripted")),
        (
            {"content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}, {"type": "image"}]},
            Reply(Body("hi"), "stop", model="scripted"),
        ),
        ({"content": "lone \ud800 surrogate"}, Reply(Body("lone \ud800 surrogate"), "stop", model="scripted")),
        ({"content": f"your key is {CANARY}"}, Reply(Body("your key is [key]"), "stop", model="scripted")),
        (
            {"content": None, "refusal": f"not for {CANARY}", "reasoning": CANARY},
            Reply(None, "stop", reasoning=Body("[key]"), refusal="not for [key]", model="scripted"),
        ),
    ],
)
def test_replies_are_kept_as_they_came_save_the_key(make_ask: MakeAsk, message: dict[str, Any], reply: Reply) -> None:
    with scripted(Answer(chat(**message))) as (transport, _):
        assert transport.ask(make_ask()) == (reply, Usage(7, 3))


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": 1},
        {"prompt_tokens": "1", "completion_tokens": 2},
        {"prompt_tokens": -1, "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": 2},
    ],
)
def test_usage_that_is_none_is_none(make_ask: MakeAsk, usage: Any) -> None:
    with scripted(Answer({**chat(content="x"), "usage": usage})) as (transport, _):
        assert transport.ask(make_ask())[1] is None


def test_a_withheld_answer_is_a_reply(make_ask: MakeAsk) -> None:
    body = {"error": {"code": "content_filter", "message": "The prompt was filtered."}}
    with scripted(Answer(body, 400)) as (transport, _):
        reply, usage = transport.ask(make_ask(schema=SCHEMA))
    assert reply == Reply(None, "content_filter", refusal="The prompt was filtered.")
    assert usage is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"choices": [', "answered no JSON object"),
        ("", "answered no JSON object"),
        ("<html>login " + CANARY + "</html>", "login [key]"),
        ("[1]", "answered no JSON object"),
        ("[" * 100_000, "answered no JSON object"),
        ({}, "without a chat message"),
        ({"choices": []}, "without a chat message"),
        ({"choices": [{"message": None}]}, "without a chat message"),
        ({"choices": "none"}, "without a chat message"),
        ({"error": {"message": f"bad {CANARY}", "code": 7}}, "reports an error (7 bad [key])"),
    ],
)
def test_what_is_no_chat_completion_stops_the_run(make_ask: MakeAsk, body: Any, words: str) -> None:
    with scripted(Answer(body)) as (transport, _):
        with pytest.raises(TransportFailure) as caught:
            transport.ask(make_ask())
        check_failure(caught.value, words, "then resume")


# --- faults ----------------------------------------------------------------------------------------------------------


def test_passing_faults_are_tried_again(make_ask: MakeAsk) -> None:
    answers = [Answer({}, 500), Answer({}, 503), Answer({}, 429), Answer(chat(content="x"))]
    with scripted(*answers, limits=Limits(retries=3)) as (transport, script):
        assert transport.ask(make_ask())[0].content == Body("x")
        assert len(script.bodies) == 4
        assert script.bodies.count(script.bodies[0]) == 4


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, NoKey, ["401", "FM_KEY"]),
        (403, NoKey, ["403", "FM_KEY"]),
        (400, TransportFailure, ["rejects the call iteration=1/propose with 400", "fork"]),
        (404, TransportFailure, ["404", "model's name"]),
        (418, TransportFailure, ["418", "resume"]),
        (422, TransportFailure, ["422", "fork"]),
        (429, TransportFailure, ["429", "quota"]),
        (500, EndpointDown, ["500", "in 2 tries"]),
    ],
)
@pytest.mark.parametrize("form", ["openai", "flat", "text", "detail", "list"])
def test_lasting_faults_stop_the_run_and_never_show_the_key(
    make_ask: MakeAsk,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    status: int,
    kind: type[FmError],
    words: Sequence[str],
    form: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    told = "x" * 280 + f" the key {CANARY} is bad\nfor you"  # cut in the middle of the key, were it not removed first
    body: Any = {
        "openai": {"error": {"message": told, "type": told, "code": None}},
        "flat": {"error": told},
        "text": told,
        "detail": {"detail": told},
        "list": [told],
    }[form]
    with scripted(Answer(body, status), limits=Limits(retries=1)) as (transport, _):
        with pytest.raises(kind) as caught:
            transport.ask(make_ask())
        check_failure(caught.value, *words)
        shown = everything_told(caught.value) + caplog.text + "".join(capfd.readouterr())
        shown += repr(transport.facts()) + repr(vars(transport)) + repr(vars(transport._endpoint))
    for length in (len(CANARY), len(CANARY) // 2):
        assert CANARY[:length] not in shown


def test_nothing_listens(make_ask: MakeAsk) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with reaching(f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as transport:
            with pytest.raises(EndpointDown) as caught:
                transport.ask(make_ask())
            check_failure(caught.value, "cannot reach http://127.0.0.1:", "start it")


def test_a_slow_answer_is_given_up(make_ask: MakeAsk) -> None:
    answer = Answer(chat(content="x"), held=threading.Event())
    with scripted(answer, limits=Limits(timeout_seconds=0.1, retries=1)) as (transport, script):
        with pytest.raises(EndpointDown) as caught:
            transport.ask(make_ask())
        check_failure(caught.value, "within 0.1 s in 2 tries")
        while len(script.bodies) < 2:  # the server may read the second try after it was given up
            time.sleep(0.01)


def test_a_call_can_be_called_off(make_ask: MakeAsk) -> None:
    cancelled = threading.Event()
    answer = Answer(chat(content="x"), held=threading.Event())
    with scripted(answer, limits=Limits(concurrency=1), cancelled=cancelled) as (transport, script):
        with ThreadPoolExecutor(2) as pool:
            coming = [pool.submit(transport.ask, make_ask(f"call={index}")) for index in range(2)]
            while not script.bodies:
                cancelled.wait(0.01)
            cancelled.set()
            for future in coming:
                with pytest.raises(Cancelled, match="resume asks again"):
                    future.result(10)
        assert len(script.bodies) == 1
        assert answer.held is not None
        answer.held.set()


def test_a_closed_transport_asks_nothing(make_ask: MakeAsk) -> None:
    with scripted(Answer(chat(content="x"))) as (transport, script):
        transport.close()
        transport.close()
        with pytest.raises(Cancelled):
            transport.ask(make_ask())
        assert script.bodies == []


# --- endpoints that know less ----------------------------------------------------------------------------------------


def test_a_rejected_response_format_moves_the_schema_into_the_text_for_good(make_ask: MakeAsk) -> None:
    rejected = Answer({"error": {"message": "response_format is not supported"}}, 400)
    ask = make_ask(schema=SCHEMA)
    with scripted(rejected, Answer(chat(content="x"))) as (transport, script):
        assert transport.ask(ask)[0].content == Body("x")
        transport.ask(ask)
        facts = {fact.name: fact.value for fact in transport.facts()}
    assert ["response_format" in body for body in script.bodies] == [True, False, False]
    assert script.bodies[1]["messages"] == script.bodies[2]["messages"] == request.messages(ask)
    assert json.dumps(SCHEMA) in script.bodies[1]["messages"][0]["content"]
    assert facts["schema_sent_as"].startswith("prompt text")


def test_a_request_that_is_rejected_either_way_changes_nothing(make_ask: MakeAsk) -> None:
    rejected = Answer({"error": {"message": "prompt too long"}}, 400)
    with scripted(rejected, rejected, Answer(chat(content="x"))) as (transport, script):
        with pytest.raises(TransportFailure, match="prompt too long"):
            transport.ask(make_ask(schema=SCHEMA))
        transport.ask(make_ask(schema=SCHEMA))
        facts = {fact.name: fact.value for fact in transport.facts()}
    assert ["response_format" in body for body in script.bodies] == [True, False, True]
    assert facts["schema_sent_as"] == "response_format"


def test_the_other_name_of_the_token_limit_is_learnt(make_ask: MakeAsk) -> None:
    rejected = Answer({"error": {"message": "Use 'max_completion_tokens' instead of 'max_tokens'."}}, 400)
    ask = make_ask(schema=SCHEMA, sampling=Sampling(max_tokens=9))
    with scripted(rejected, Answer(chat(content="x"))) as (transport, script):
        transport.ask(ask)
        transport.ask(ask)
    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in script.bodies] == [
        (9, None),
        (None, 9),
        (None, 9),
    ]
    assert all("response_format" in body for body in script.bodies)


# --- the address and the key -----------------------------------------------------------------------------------------


def test_facts_name_the_endpoint_and_not_the_key() -> None:
    with reaching("http://localhost:1/v1/", limits=Limits(concurrency=3), model="served") as transport:
        facts = {fact.name: fact.value for fact in transport.facts()}
        assert CANARY not in repr((transport, vars(transport), vars(transport._endpoint)))
    assert facts == {
        "transport": "openai",
        "base_url": "http://localhost:1/v1",
        # printf sk-canary-7f3a9c51e0d2 | sha256sum
        "key_fingerprint": "3809bb78",
        "concurrency": "3",
        "served_model": "served",
        "schema_sent_as": "response_format",
    }


def test_a_key_is_needed_away_from_this_machine() -> None:
    for url in ("https://fm.example/v1", None):
        with pytest.raises(NoKey, match="set the environment variable OPENAI_API_KEY"):
            Endpoint(url, environment={"OPENAI_API_KEY": " "})
    for url in ("http://localhost:8080/v1", "http://127.0.0.1/v1", "http://[::1]:8080/v1"):
        endpoint = Endpoint(url, environment={})
        assert endpoint.facts()[1].value == "none"
        endpoint.close()


def test_the_address_comes_from_argument_then_environment_then_default() -> None:
    environment = {"OPENAI_BASE_URL": "https://fm.example/v1", "OPENAI_API_KEY": CANARY}
    for argument, variables, expected in (
        ("https://other.example/v1", environment, "https://other.example/v1"),
        (None, environment, "https://fm.example/v1"),
        (None, {"OPENAI_API_KEY": CANARY}, "https://api.openai.com/v1"),
    ):
        endpoint = Endpoint(argument, environment=variables)
        assert endpoint.base_url == expected
        endpoint.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("fm.example/v1", "no web address"),
        ("ftp://fm.example", "no web address"),
        ("http://", "no web address"),
        ("http://fm.example:notaport", "no web address"),
        ("http://[::1", "no web address"),
        (f"https://user:{CANARY}@fm.example/v1", "credentials"),
        (f"https://fm.example/v1?key={CANARY}", "a query"),
    ],
)
def test_an_address_with_a_secret_or_without_a_host_is_refused_unseen(url: str, words: str) -> None:
    with pytest.raises(TransportFailure, match=words) as caught:
        Endpoint(url, environment={"OPENAI_API_KEY": CANARY})
    assert CANARY not in str(caught.value)
    assert "environment variable" in str(caught.value)


@pytest.mark.parametrize("key", [f'"{CANARY}\n"', f"{CANARY} two", CANARY + "é"])
def test_a_key_that_no_header_can_hold_is_refused(key: str) -> None:
    with pytest.raises(NoKey, match="bare key") as caught:
        Endpoint("https://fm.example/v1", environment={"OPENAI_API_KEY": key})
    assert CANARY not in str(caught.value)


def test_short_placeholders_are_no_secrets() -> None:
    assert Secret("none").redact("none of it") == "none of it"
    assert Secret(CANARY).redact(f"{CANARY}{CANARY}") == "[key][key]"
    assert repr(Secret(CANARY)) == "Secret(…)"
