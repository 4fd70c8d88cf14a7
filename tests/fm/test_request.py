from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fm import request
from ledger.vocabulary.ask import Part
from ledger.vocabulary.body import Body
from tests.fm.conftest import MakeAsk


def test_parts_come_in_order_under_their_names(make_ask: MakeAsk) -> None:
    ask = make_ask("a", ("World", "A lighthouse.\n"), ("Task", "Light the lamp."))
    assert request.text(ask) == "# World\n\nA lighthouse.\n\n# Task\n\nLight the lamp.\n"
    assert request.messages(ask) == [{"role": "user", "content": request.text(ask)}]


def test_schema_is_shown_last_unless_it_is_sent_apart(make_ask: MakeAsk) -> None:
    ask = make_ask("a", ("Task", "Light the lamp."), schema={"type": "object"})
    assert request.text(ask).endswith('satisfies this JSON schema:\n\n```json\n{"type": "object"}\n```\n')
    assert request.messages(ask)[0]["content"] == request.text(ask)
    assert request.messages(ask, schema_in_text=False)[0]["content"] == "# Task\n\nLight the lamp.\n"
    assert request.schema(ask) == {"type": "object"}


def test_schema_must_be_an_object(make_ask: MakeAsk) -> None:
    assert request.schema(make_ask()) is None
    with pytest.raises(ValueError, match="write it as one"):
        request.schema(evolve(make_ask(), schema="[1]"))


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=200)), min_size=1, max_size=5))
def test_every_part_is_in_the_one_message_and_no_name_breaks_its_line(
    make_ask: MakeAsk, parts: list[tuple[str, str]]
) -> None:
    ask = evolve(make_ask(), parts=tuple(Part(name, Body(text)) for name, text in parts))
    (message,) = request.messages(ask)
    position = 0
    for name, text in parts:
        section = f"# {' '.join(name.split())}\n\n{text.strip()}"
        position = message["content"].index(section, position) + len(section)
    assert request.messages(ask) == [message]
