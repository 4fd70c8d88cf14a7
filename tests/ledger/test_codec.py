"""Nothing is lost in encoding, and nothing but the declared type is taken (guarantee L9)."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import lines
from ledger.blobs import Reference, StoredBody, StoredData
from ledger.codec import MAX_NODES, canonical, dump, is_reported, parse, plain, structure
from ledger.errors import Undecodable, Unencodable, UnknownFormat
from ledger.lines import Record
from ledger.schema import SCHEMA, Schema
from ledger.vocabulary.ask import Ask, Part, Reply, Sampling
from ledger.vocabulary.body import BLOB_THRESHOLD_BYTES, Body, Data
from ledger.vocabulary.config import Config, Ppo
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.evaluate import Evaluated
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Event, Metric, Session, Started, Step, Usage
from ledger.vocabulary.note import Decision, Noted
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.train import Trained
from tests.strategies import events, sources, texts, usages, values

NO_BLOBS: dict[str, bytes] = {}
TIME = "2026-01-02T03:04:05.000006Z"


def stored(event: Event) -> dict[str, bytes]:
    return {body.digest: lines.read_blob(lines.write_blob(body.digest, body.raw)) for body in lines.bodies(event)}


def of(cls: Any, *values: Any) -> Any:
    """A value that no type checker would let pass."""
    return cls(*values)


def same(one: Any, other: Any) -> bool:
    """Equality that tells -0.0 from 0.0 and knows that a NaN is one: ``repr`` is exact for primitives."""
    if isinstance(one, Body | Data):
        return type(one).__mro__[-2] is type(other).__mro__[-2] and one.raw == other.raw
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    if attrs.has(type(one)):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in attrs.fields(type(one))
        )
    return type(one) is type(other) and repr(one) == repr(other)


@given(events, sources, usages)
def test_every_event_comes_back_exactly(event: Event, source: str, usage: Usage | None) -> None:
    record = Record(7, TIME, source, usage, event)
    line = lines.write(record)
    assert line.isascii()
    assert b"\n" not in line
    back = lines.read(line, SCHEMA.version, SCHEMA, stored(event).__getitem__)
    assert same(back, record)
    assert lines.write(back) == line
    assert lines.event_bytes(line) == canonical(event)
    assert lines.starts_with(line, 7)
    assert not lines.starts_with(line, 70)


@pytest.mark.parametrize("member", [m for union in (Event, AnyEffect, AnyOutcome, Decision) for m in get_args(union)])
def test_every_member_of_every_union_is_tagged_and_comes_back(member: type) -> None:
    @settings(max_examples=10)
    @given(values(member))
    def check(value: Any) -> None:
        tree = plain(value)
        assert next(iter(tree.items())) == ("kind", member.__name__)
        lines.put_back(tree, lines.reported(value))
        blobs = stored(value)
        back = structure(parse(dump(tree), blobs.__getitem__), member)
        assert same(back, value)

    check()


@given(texts)
def test_any_text_comes_back(text: str) -> None:
    for value in (Session(text, ()), Step(Settings(Path("a")), Reply(Body(text), text, Body(text), text, None))):
        back = lines.read(lines.write(Record(1, TIME, "live", None, value)), 1, SCHEMA, stored(value).__getitem__)
        assert same(back.event, value)


def test_two_surrogates_are_not_one_character() -> None:
    pair, character = "\ud83d\ude00", "\U0001f600"
    assert canonical(Session(pair, ())) != canonical(Session(character, ()))
    for text in (pair, character):
        assert structure(parse(canonical(Session(text, ()))), Event).purpose == text


def test_ten_megabytes_come_back() -> None:
    text = "bell é\x00\ud800" * 1_000_000
    blob = Body(text)
    assert lines.read_blob(lines.write_blob(blob.digest, blob.raw)).decode("utf-8", "surrogatepass") == text
    assert same(structure(parse(canonical(Session(text, ()))), Session), Session(text, ()))


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 5e-324, 1.7976931348623157e308]
)
def test_every_float_comes_back(value: float) -> None:
    assert repr(structure(parse(canonical(Metric("x", value))), Metric).value) == repr(value)


def test_texts_that_name_special_floats_stay_texts() -> None:
    assert structure(parse(canonical(Session("NaN", ()))), Session).purpose == "NaN"


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (of(Metric, "x", 1), "Metric.value: expected float, got int"),
        (of(Metric, "x", True), "Metric.value: expected float, got bool"),
        (of(Metric, "x", "1.0"), "Metric.value: expected float, got str"),
        (of(Metric, None, 1.0), "Metric.name: expected str, got NoneType"),
        (of(Drawn, (True,)), "Drawn.indices: expected int, got bool"),
        (of(Drawn, (5.7,)), "Drawn.indices: expected int, got float"),
        (of(Drawn, [1]), "Drawn.indices: expected a tuple, got list"),
        (Started("l", "1", Config(ppo=Ppo(learning_rate=1))), "Started.config: Config.ppo: Ppo.learning_rate"),
        (of(Step, Noted(), Noted()), "Step.effect: expected one of Settings"),
        (of(Reply, "text", "stop"), "Reply.content: expected Body, got str"),
        (of(Part, "x", Data(b"y")), "Part.text: expected Body, got Data"),
        (of(Settings, "a"), "Settings.path: expected Path, got str"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(value: Any, where: str) -> None:
    with pytest.raises(Unencodable, match=re.escape(where)):
        canonical(value)


@pytest.mark.parametrize(
    ("tree", "type_"),
    [
        ({"indices": [5.7]}, Drawn),
        ({"indices": [True]}, Drawn),
        ({"indices": "12"}, Drawn),
        ({"indices": {"0": 1}}, Drawn),
        ({"indices": None}, Drawn),
        ({"name": "x", "value": "no"}, Metric),
        ({"name": "x", "value": True}, Metric),
        ({"name": "x", "value": 2**53 + 1}, Metric),
        ({"name": 1, "value": 1.0}, Metric),
        ({"name": "x"}, Metric),
        ({"name": "x", "value": 1.0, "unit": "m"}, Metric),
        ({"kind": "Drawn", "name": "x", "value": 1.0}, Metric),
        ([], Config),
        ("", Config),
        ({"gating": "no"}, type(Config().agent)),
        ({"gating": 1}, type(Config().agent)),
        ({"text": "x"}, Data),
        ({"base64": "x"}, Data),
        ({"base64": "eA==", "text": "x"}, Body),
        ({"blob": "../../secret"}, Body),
        ({"blob": "AB" * 32}, Body),
        ({"kind": "Nobody"}, Event),
        ({"kind": ["Step"]}, Event),
        ({"kind": "Ask"}, AnyOutcome),
        ({}, Event),
        ("../up", Path),
        (1, Path),
    ],
)
def test_a_tree_of_another_form_is_refused(tree: Any, type_: Any) -> None:
    with pytest.raises(Undecodable):
        structure(tree, type_)


@pytest.mark.parametrize(
    "text",
    [
        b"NaN",
        b"[Infinity]",
        b'{"a":1,"a":2}',
        b"{",
        b"\xff",
        "é".encode(),
        b"[" * 200_000,
        b"[" + b"[]," * (MAX_NODES // 2) + b"[]]",
        b"1" * 5000,
    ],
)
def test_json_that_we_never_write_is_refused(text: bytes) -> None:
    with pytest.raises(Undecodable):
        parse(text)


def test_an_event_that_could_not_be_read_is_not_written() -> None:
    huge = Step(Draw(Path("a"), "p", 0, (0.5,) * (MAX_NODES + 1)), Drawn((0,)))
    with pytest.raises(Unencodable, match="larger than"):
        lines.write(Record(1, TIME, "live", None, huge))
    with pytest.raises(Unencodable):
        canonical(Drawn((10**5000,)))


def test_missing_fields_take_their_defaults_so_that_schemas_can_grow() -> None:
    assert structure({}, Config) == Config()
    assert structure({"kind": "Settings", "path": "a"}, AnyEffect) == Settings(Path("a"))
    old = {key: value for key, value in plain(Sampling(seed=3)).items() if key != "temperature"}
    assert structure(old, Sampling) == Sampling(seed=3)


def test_whole_numbers_from_people_become_floats() -> None:
    assert repr(structure({"learning_rate": 1}, Ppo).learning_rate) == "1.0"


def test_the_form_is_this_one() -> None:
    ask = Ask(Path("a/b"), "propose", "propose@1", (Part("world", Body("x" * 1025)),), "m", Sampling(0.5), None)
    assert canonical(Step(ask, Reply(Body('"é\n'), "stop"))) == (
        b'{"kind":"Step","effect":{"kind":"Ask","path":"a/b","role":"propose","template":"propose@1","parts":[{"name":'
        b'"world","text":{"blob":"'
        + Body("x" * 1025).digest.encode()
        + b'"}}],"model":"m","sampling":{"temperature":0.5'
        b',"top_p":null,"max_tokens":null,"seed":null},"schema":null},"outcome":{"kind":"Reply","content":{"text":"\\"\\u00e9'
        b'\\n"},"finish":"stop","reasoning":null,"refusal":null,"model":null}}'
    )
    assert canonical((1, None, "a", 0.1, True)) == b'[1,null,"a",0.1,true]'
    assert canonical(Data(b"\x00\x01")) == b'{"base64":"AAE="}'


# --- bodies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [BLOB_THRESHOLD_BYTES - 1, BLOB_THRESHOLD_BYTES, BLOB_THRESHOLD_BYTES + 1])
def test_bodies_above_the_threshold_and_no_others_are_blobs(length: int) -> None:
    is_blob = length > BLOB_THRESHOLD_BYTES
    assert ("blob" in plain(Body("x" * length))) is is_blob
    assert ("blob" in plain(Data(b"x" * length))) is is_blob
    assert len(list(lines.bodies(Session(Body("x" * length), ())))) == is_blob  # type: ignore[arg-type]


def test_a_stored_body_behaves_like_the_text() -> None:
    text = "bell " * 500
    here = Body(text)
    looks = []

    def load(digest: str) -> bytes:
        looks.append(digest)
        return here.raw

    there = StoredBody.at(Reference(here.digest, load))
    assert there == here
    assert here == there
    assert there != Body(text + "!")
    assert Body(text + "!") != there
    assert there != text
    assert canonical(there) == canonical(here)
    assert there.digest == here.digest
    assert repr(there) == f"StoredBody({here.digest})"
    assert looks == []  # none of this needed the text
    assert there.text == text
    assert there.raw == here.raw
    assert hash(there) == hash(here)
    assert {here: 1}[there] == 1
    assert Part("x", there) == Part("x", here)
    assert hash(Part("x", there)) == hash(Part("x", here))
    assert type(copy.deepcopy(there)) is Body
    assert pickle.loads(pickle.dumps(there)) == here
    assert "bell" not in str(vars(there))  # and the text was not kept


def test_stored_data_behaves_like_the_bytes() -> None:
    here = Data(bytes(range(256)) * 5)
    there = StoredData.at(Reference(here.digest, lambda digest: here.raw))
    assert there == here
    assert here == there
    assert hash(there) == hash(here)
    assert there != Body("x")
    assert canonical(there) == canonical(here)
    assert pickle.loads(pickle.dumps(there)) == here
    assert repr(there) == f"StoredData({here.digest})"


def test_a_body_without_its_ledger_says_so_when_looked_at() -> None:
    body = structure(plain(Body("x" * 2000)), Body)
    assert body == Body("x" * 2000)
    with pytest.raises(Undecodable, match=r"ledger\.reader"):
        _ = body.text


def test_a_blob_that_is_no_text_is_refused_as_text() -> None:
    with pytest.raises(Undecodable, match="is no text"):
        _ = StoredBody.at(Reference("00" * 32, lambda digest: b"\xff" * 2000)).text


@given(
    st.binary(min_size=BLOB_THRESHOLD_BYTES + 1, max_size=BLOB_THRESHOLD_BYTES + 9)
    | texts.map(lambda t: Body(t * 1025).raw)
)
def test_every_blob_line_comes_back(raw: bytes) -> None:
    if len(raw) > BLOB_THRESHOLD_BYTES:
        line = lines.write_blob(Data(raw).digest, raw)
        assert lines.read_blob(line) == raw


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"blob":"00"}',
        lines.write_blob("00" * 32, b"x" * 2000),
        lines.write_blob(Data(b"short").digest, b"short"),
        lines.write_blob(Data(b"x" * 2000).digest, b"x" * 2000).replace(b"text", b"Text"),
        lines.write_blob(Data(b"x" * 2000).digest, b"x" * 2000)[:-1],
        lines.write_blob(Data(b"x" * 2000).digest, b"x" * 2000)[:-1] + b',"more":1}',
        lines.write_blob(Data(b"\xff" * 2000).digest, b"\xff" * 2000).replace(b"/", b"!"),
        b'{"blob":"' + b"0" * 64 + b'","text":[[[]]]}',
        b'{"blob":"' + b"0" * 64 + b'"}',
    ],
)
def test_a_blob_line_of_another_form_is_refused(line: bytes) -> None:
    with pytest.raises(Undecodable):
        lines.read_blob(line)


# --- reported fields -------------------------------------------------------------------------------------------------


def reported_below(type_: Any, inside_tuple: bool) -> list[str]:
    """Reported fields of a type that a tuple lies above."""
    if attrs.has(type_):
        attrs.resolve_types(type_)
        return [
            f"{type_.__name__}.{field.name}" for field in attrs.fields(type_) if is_reported(field) and inside_tuple
        ] + [name for field in attrs.fields(type_) for name in reported_below(field.type, inside_tuple)]
    is_tuple = type_ is tuple or getattr(type_, "__origin__", None) is tuple
    return [name for member in get_args(type_) for name in reported_below(member, inside_tuple or is_tuple)]


def test_no_reported_field_stands_inside_a_tuple() -> None:
    assert reported_below(Event, inside_tuple=False) == []
    assert reported_below(tuple[Trained, ...], inside_tuple=False) == ["Trained.seconds"]  # the check can fail


def test_reported_fields_stand_in_the_envelope_and_nowhere_else() -> None:
    fast = Step(Settings(Path("a")), Evaluated((), steps=5, seconds=1.5))
    slow = Step(Settings(Path("a")), Evaluated((), steps=6, seconds=float("inf")))
    assert canonical(fast) == canonical(slow)
    line = lines.write(Record(1, TIME, "live", None, slow))
    assert b'"reported":{"outcome.steps":6,"outcome.seconds":"Infinity"},"event":' in line
    assert lines.read(line, 1, SCHEMA, NO_BLOBS.__getitem__).event == slow


@pytest.mark.parametrize(
    "envelope",
    [
        b'{"seq":1,"time":"%s","source":"live","reported":{"outcome.rows":[]}',
        b'{"seq":1,"time":"%s","source":"live","reported":{"effect.path.x":1}',
        b'{"seq":1,"time":"%s","source":"live","reported":{"nowhere.x":1}',
        b'{"seq":1,"time":"%s","source":"live","reported":[]',
        b'{"seq":1,"time":"%s","source":"live","usage":{"prompt_tokens":1}',
        b'{"seq":1,"time":"%s","source":"dream"',
        b'{"seq":1,"time":"%s\\n","source":"live"',
        b'{"seq":true,"time":"%s","source":"live"',
        b'{"seq":1,"time":"%s"',
        b'{"seq":1,"time":"%s","source":"live","more":1',
    ],
)
def test_an_envelope_of_another_form_is_refused(envelope: bytes) -> None:
    event = canonical(Step(Settings(Path("a")), Evaluated((), 1)))
    with pytest.raises(Undecodable):
        lines.read(envelope % TIME.encode() + b',"event":' + event + b"}", 1, SCHEMA, NO_BLOBS.__getitem__)


def test_a_line_without_an_event_is_refused() -> None:
    with pytest.raises(Undecodable):
        lines.event_bytes(b'{"seq":1}')
    with pytest.raises(Unencodable, match="dream"):
        lines.write(Record(1, TIME, "dream", None, Session("x", ())))


# --- versions --------------------------------------------------------------------------------------------------------


def test_events_of_an_older_schema_are_brought_up_step_by_step() -> None:
    def name_the_purpose(tree: dict[str, Any]) -> dict[str, Any]:
        return {"purpose" if key == "goal" else key: value for key, value in tree.items()}

    def list_the_facts(tree: dict[str, Any]) -> dict[str, Any]:
        facts = [{"name": name, "value": value} for name, value in tree["facts"].items()]
        return {**tree, "facts": facts}

    schema = Schema(version=3, upcasters={1: name_the_purpose, 2: list_the_facts})
    envelope = f'{{"seq":1,"time":"{TIME}","source":"live","event":'.encode()
    written = [
        b'{"kind":"Session","goal":"run","facts":{"cores":"2"}}',
        b'{"kind":"Session","purpose":"run","facts":{"cores":"2"}}',
        b'{"kind":"Session","purpose":"run","facts":[{"name":"cores","value":"2"}]}',
    ]
    read = [lines.read(envelope + e + b"}", v, schema, NO_BLOBS.__getitem__).event for v, e in enumerate(written, 1)]
    assert len(set(read)) == 1
    with pytest.raises(UnknownFormat, match="version 4"):
        lines.read(envelope + written[2] + b"}", 4, schema, NO_BLOBS.__getitem__)
    with pytest.raises(UnknownFormat, match="version 0"):
        lines.read(envelope + written[2] + b"}", 0, schema, NO_BLOBS.__getitem__)


def test_every_older_version_has_its_upcaster() -> None:
    assert sorted(SCHEMA.upcasters) == list(range(1, SCHEMA.version))
