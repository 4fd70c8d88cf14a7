"""The language page is made from the compiler's tables, covers them, and its own example compiles."""

from __future__ import annotations

import re
from pathlib import Path

from engine.sharp.callables.functions import available
from engine.sharp.callables.tables import BUILTINS, JNP, LAX, LINALG, METHODS
from engine.sharp.editions import LATEST
from engine.sharp.grammar import EXPRESSIONS, STATEMENTS, meanings
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.reference import TEMPLATE, language_core, language_page
from engine.sharp.scope import field_paths
from engine.worlds.craftax_classic.schema import SCHEMA as CLASSIC
from tests.engine.sharp.invented import SCHEMA
from tests.engine.sharp.language_doc import page

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "language.md"


def test_the_document_is_what_the_tables_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == page(), "run python -m tests.engine.sharp.language_doc"


def test_every_table_entry_is_on_the_page() -> None:
    core = language_core()
    for functions in (BUILTINS, JNP, LAX, LINALG):
        for name in available(functions, LATEST):
            assert re.search(rf"`{name}[(`]", core), name
    for name in available(METHODS, LATEST):
        assert re.search(rf"`\.{name}[(`]", core), name
    for meaning in (*meanings(STATEMENTS, LATEST), *meanings(EXPRESSIONS, LATEST)):
        assert f"- {meaning}\n" in core
    assert f"{LATEST.limits.iterations:,} loop iterations" in core


def test_the_example_is_a_program() -> None:
    program = parse_program(TEMPLATE, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    assert len(program.conditions) == 2
    assert program.warnings == ()


def test_a_world_lists_all_its_names() -> None:
    for schema in (SCHEMA, CLASSIC):
        text = language_page(schema)
        for path, leaf in field_paths(schema.state).items():
            assert f"`{'.'.join(path)}`: {leaf.dtype}" in text
            assert leaf.meaning in text
        for name in (*schema.enums, *schema.constants):
            assert f"`{name}`" in text
        for name in schema.helpers:
            assert f"`{name}(" in text
    assert "`stamina`: int32 — strength left (points, 0 to 9)" in language_page(SCHEMA)


def test_the_world_independent_part_names_no_real_world() -> None:
    core = language_core().lower()
    assert not [word for word in ("craftax", "xland", "blocktype", "zombie", "pickaxe", "diamond") if word in core]
