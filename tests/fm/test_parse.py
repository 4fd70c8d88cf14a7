from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import SchemaError

from fm.parse import MAX_DEPTH, Fault, answer_text, code_block, json_object
from ledger.vocabulary.ask import Reply
from ledger.vocabulary.body import Body


def reply(content: str | None, finish: str = "stop", reasoning: str | None = None, refusal: str | None = None) -> Reply:
    return Reply(
        None if content is None else Body(content), finish, None if reasoning is None else Body(reasoning), refusal
    )


def reason(value: object) -> str:
    assert isinstance(value, Fault), value
    return value.reason


# --- the answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("the answer", "the answer"),
        ("\ufeff the answer \n", "the answer"),
        ("<think>hm</think>the answer", "the answer"),
        ("<think>\nhm\n</think>\n\nthe answer", "the answer"),
        ("<THINKING>hm</THINKING> the answer", "the answer"),
        ("hm, no opening tag</think>the answer", "the answer"),
        ("<think>should I write <think> here?</think> no.</think>the answer", "the answer"),
        ("a thought</think>the <think>second thought</think>answer", "the answer"),
        ("a draft <think>one</think> more</think>the answer", "the answer"),
    ],
)
def test_thinking_text_is_dropped(content: str, answer: str) -> None:
    assert answer_text(reply(content)) == answer


plain = st.text(st.characters(exclude_characters="<>\ufeff"), min_size=1).filter(lambda text: text.strip())


@given(plain, plain)
def test_any_thought_leaves_any_answer_untouched(thought: str, answer: str) -> None:
    for content in (f"<think>{thought}</think>{answer}", f"{thought}</think>{answer}", answer):
        assert answer_text(reply(content)) == answer.strip()
    assert "thinking" in reason(answer_text(reply(f"{answer}<think>{thought}")))


def test_text_in_the_reasoning_field_alone_is_the_answer() -> None:
    for content in (None, "", " \n"):
        assert answer_text(reply(content, reasoning="hm</think>the answer")) == "the answer"
        assert answer_text(reply(content, reasoning="the answer")) == "the answer"
    assert answer_text(reply("the answer", reasoning="a thought")) == "the answer"


@pytest.mark.parametrize(
    ("given_reply", "words"),
    [
        (reply(None), "empty"),
        (reply(" \n", finish="unknown"), "empty"),
        (reply("<think>hm</think>  "), "nothing else"),
        (reply("<think>hm"), "still thinking"),
        (reply("<think>hm", finish="length"), "still thinking"),
        (reply("{", finish="length"), "cut off at the token limit after 1 characters"),
        (reply("hm</think>{", finish="length"), "cut off"),
        (reply(None, finish="length", reasoning="hm"), "still thinking"),
        (reply(None, reasoning="<think>hm"), "still thinking"),
        (reply(None, refusal="I can't help\nwith that."), "You refused to answer (I can't help with that.)"),
        (reply("half an ans", finish="content_filter"), "filter"),
    ],
)
def test_useless_replies_are_faults_that_say_why(given_reply: Reply, words: str) -> None:
    assert words in reason(answer_text(given_reply))


@given(
    st.one_of(st.none(), st.text(st.sampled_from("<think>/ab \n"))),
    st.sampled_from(["stop", "length", "unknown", "content_filter", ""]),
    st.one_of(st.none(), st.text(st.sampled_from("<think>/ab \n"))),
)
def test_answer_text_is_total(content: str | None, finish: str, reasoning: str | None) -> None:
    answer = answer_text(reply(content, finish, reasoning))
    assert isinstance(answer, Fault) or answer == answer.strip() != ""


# --- JSON ------------------------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "needs": {"type": "array", "items": {"enum": ["LightLamp", "TrimWick"]}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "A", "needs": []}',
        'Here it is: {"name": "A", "needs": []}. I hope that\'s fine {really}.',
        '```json\n{"name": "A", "needs": []}\n```',
        'Sure!\n  ~~~~JSON\n  {"name": "A",\n   "needs": []}\n  ~~~~\nDone.',
        '```\r\n{"name": "A",\r\n"needs": []}\r\n```\r\n',
        '```json {"name": "A", "needs": []} ```',
        '```json\n{"name": "A", "needs": []}',
        "{'name': 'A', 'needs': [],}",
        '{name: "A", needs: [] // none\n}',
        '{"name": "A", # a comment with a brace }\n"needs": [/* nothing */]}',
        '{"name": "draft"}\n```json\n{"name": "A", "needs": []}\n```',
        '```json\n{"name": "draft"}\n```\nBetter:\n```json\n{"name": "A", "needs": []}\n```',
        '{"name": "A", "needs": []}\nNote that {"needs": ["Fly"]} would not do, and {} neither.',
        'use { to open. {"name": "A", "needs": []}',
        '```json\n{"name": "broken",, }\n```\n```json\n{"name": "A", "needs": []}\n```',
        '```json\n{"name": "A", "needs": []}\n```\n```json\n{"name": "B", "nee',
    ],
)
def test_the_object_is_found(text: str) -> None:
    assert json_object(text, SCHEMA) == {"name": "A", "needs": []}


def test_repairs_know_words_and_line_breaks() -> None:
    assert json_object("{'a': True, 'b': False, 'c': None, 'd': 'True # not a comment'}") == {
        "a": True,
        "b": False,
        "c": None,
        "d": "True # not a comment",
    }
    assert json_object("""{'a': 'it\\'s "quoted" \\\\ here\\n'}""") == {"a": 'it\'s "quoted" \\ here\n'}
    assert json_object("{'true': true, 'ten': .5}") == Fault(
        "Your JSON object is not valid: line 1 of it: Expecting property name enclosed in double quotes, "
        "at `'true': true, 'ten': .5}`. Send the whole object again as strict JSON."
    )
    assert json_object('{"a": "one\ntwo"}') == {"a": "one\ntwo"}
    assert json_object('{"code": "before\n```\nafter"}') == {"code": "before\n```\nafter"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no object", "found no JSON object"),
        ("", "found no JSON object"),
        ('{"name": "A"', "never closed"),
        ('{"name": {"name": "inner"}, "needs": [', "never closed"),
        ('{"name": [1 2], "needs": {"name": "inner"}}', "line 1 of it: Expecting ',' delimiter, at `2], "),
        ('[{"name": "A"}, {"name": "B"}]', "JSON array"),
        ('{"name": "A", "name": "B"}', 'the key "name" occurs twice'),
        ("{'name': 'A', 'name': 'B'}", 'the key "name" occurs twice'),
        ('{"name": NaN}', "NaN is no JSON number"),
        ('{"name": 1e999}', "1e999 is too large"),
        ("{'name': 1e999}", "1e999 is too large"),
        ("{'name': Infinity}", "Infinity is no JSON number"),
        ('{"name": "A", "needs": ["Fly"]}', '$.needs[0]: "Fly" is not one of ["LightLamp", "TrimWick"]'),
        ('{"name": 1}', '$.name: 1 is not of type "string"'),
        ("{}", "'name' is a required property"),
        ('{"name": "A", "wings": 2}', "'wings' was unexpected"),
    ],
)
def test_no_usable_object_is_a_fault_that_says_what_to_mend(text: str, words: str) -> None:
    assert words in reason(json_object(text, SCHEMA))


def test_many_schema_errors_are_counted_not_listed() -> None:
    text = json.dumps({"name": "A", "needs": ["Fly" * 500] * 9})
    told = reason(json_object(text, SCHEMA))
    assert "and 4 more" in told
    assert len(told) < 2500


def test_depth_is_bounded() -> None:
    fits = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    assert json_object(fits) == json.loads(fits)
    for deep in (MAX_DEPTH + 1, 100_000):
        assert "deep" in reason(json_object('{"a":' * deep + "1" + "}" * deep))
        assert "deep" in reason(json_object("{a:" * deep + "1" + "}" * deep))


@pytest.mark.parametrize(
    "piece",
    ["{", "[{", "{'", '{"', "/*", "{/*", "<think>", "{a:", "```\n", "`", "{ ", "[[", "'", "{#", "class A:\n", "class"],
)
def test_long_nonsense_is_no_trouble(piece: str) -> None:
    text = piece * 50_000
    reason(json_object(text, SCHEMA))
    answer_text(reply(text + "</think>" + text))
    code_block(text)


def test_a_bad_schema_is_the_callers_fault() -> None:
    with pytest.raises(SchemaError):
        json_object("{}", {"type": "nonsense"})


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**60), 2**60),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda children: st.one_of(st.lists(children, max_size=3), st.dictionaries(st.text(), children, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), values, min_size=1, max_size=4)
prose = st.text(st.characters(exclude_characters="{}[]`~"))


@given(
    objects,
    prose,
    prose,
    st.sampled_from(["{}", "```json\n{}\n```", "\n~~~\n{}\n~~~\n"]),
    st.sampled_from([None, 1, 4]),
)
def test_every_object_survives_prose_and_fences(
    value: dict[str, Any], before: str, after: str, form: str, indent: int | None
) -> None:
    shown = json.dumps(value, indent=indent, ensure_ascii=False)
    text = before + "\n" + form.replace("{}", shown) + "\n" + after
    assert json_object(text) == value


@given(objects)
@example({"a": 'it\'s "quoted" // no comment'})
def test_a_trailing_comma_and_a_comment_change_no_value(value: dict[str, Any]) -> None:
    shown = json.dumps(value)
    assert json_object(shown[:-1] + ", // done\n}") == value


@given(st.text(st.sampled_from("{}[]\"':,ab1\\/*#\n` -")))
def test_json_object_is_total(text: str) -> None:
    assert isinstance(json_object(text), (dict, Fault))


@given(objects)
def test_single_quotes_and_bare_keys_change_no_value(value: dict[str, Any]) -> None:
    def shown(item: Any) -> str:
        if isinstance(item, str):
            return "'" + json.dumps(item)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
        if isinstance(item, list):
            return "[" + "".join(shown(child) + "," for child in item) + "]"
        if isinstance(item, dict):
            return "{" + "".join(f"{shown(key)}: {shown(child)}," for key, child in item.items()) + "}"
        return repr(item)

    assert json_object("{key: " + shown(value) + "}") == {"key": value}


@given(objects, st.data())
def test_a_cut_object_is_never_completed(value: dict[str, Any], data: st.DataObject) -> None:
    shown = json.dumps({"first": {"inner": 1}, **value})
    cut = data.draw(st.integers(1, len(shown) - 1))
    assert isinstance(json_object(shown[:cut]), Fault)


# --- Python source ---------------------------------------------------------------------------------------------------

PROGRAM = '''class LightLamp(Sharp):
    """Light it."""

    def success(self, state, previous):
        return state.lit
'''
OTHER = "class TrimWick(Sharp):\n    pass\n"


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{PROGRAM}```",
        f"Here:\n```python\n{PROGRAM}```\nIt lights the lamp.",
        f"```\n{PROGRAM}\n\n```",
        f"~~~py\n{PROGRAM}~~~",
        "1. So:\n   ```python\n" + "".join(f"   {line}\n" for line in PROGRAM.splitlines()) + "   ```\n",
        f"```python\n{PROGRAM}```".replace("\n", "\r\n"),
        f"```python\n{OTHER}```\nBetter:\n```python\n{PROGRAM}```",
        f"```python\n{PROGRAM}```\nRun it so:\n```python\nx = LightLamp()\n```",
        f"```python\n{PROGRAM}```\nIn another language:\n```java\nclass Lamp {{}}\n```",
        f"```python\n{PROGRAM}```\n```\n",
        PROGRAM,
        f"Here is the class of my choice:\n\n{PROGRAM}\nThis class lights the lamp.",
    ],
)
def test_the_program_is_found(text: str) -> None:
    assert code_block(text) == PROGRAM


def test_lines_that_belong_to_a_bare_program_stay_with_it() -> None:
    source = f"# Lamps.\n{PROGRAM}\n\nLIMIT = 3\n"
    assert code_block("My answer:\n" + source + "\nThat is all.") == source


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "found no program"),
        ("I would subclass: class of lamps.", "found no program"),
        ("```python\nx = 1\n```", "holds no class"),
        (f"```python\n{PROGRAM}", "never closed"),
        (f"```python\n{OTHER}```\nBetter:\n```python\n{PROGRAM}", "never closed"),
        ("```python\ndef f():\n    retu", "never closed"),
    ],
)
def test_no_usable_program_is_a_fault(text: str, words: str) -> None:
    assert words in reason(code_block(text))


@given(st.text(st.sampled_from("class A:\n`~ \t\r#=")))
def test_code_block_is_total(text: str) -> None:
    found = code_block(text)
    assert isinstance(found, Fault) or "class" in found
