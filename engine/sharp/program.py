"""From text to a compiled program or a refusal. The text is parsed and interpreted abstractly; it is never executed."""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache

from attrs import field, frozen

from engine.sharp.editions import LATEST, Edition
from engine.sharp.grammar import canonical, parse
from engine.sharp.graph import Node
from engine.sharp.lower import Compiler
from engine.sharp.names import check_names
from engine.sharp.normalise import normalise
from engine.sharp.outline import read_class, read_module
from engine.sharp.refusals import Refused, settled
from engine.worlds.schema import Identified, Schema
from ledger.vocabulary.vet import Refusal, Requirement

CACHED_PROGRAMS = 512


@frozen
class Used:
    """What of its budgets a program used."""

    source_bytes: int
    iterations: int
    steps: int
    operations: int
    work: int


@frozen
class CompiledProgram:
    """An accepted program: its graphs, its hashes, and what was noted on the way.

    ``success`` and ``conditions`` are roots of operation graphs, boolean scalars of the current and previous state.
    ``source_hash`` identifies the canonical syntax tree, ``meaning`` the success graph, ``requires_meaning`` the
    ordered pairs of condition meaning and prerequisite (all SHA-256 in hexadecimal).
    """

    name: str
    description: str
    source: str
    source_hash: str
    meaning: str
    requires: tuple[Requirement, ...]
    requires_meaning: str
    normalisations: tuple[str, ...]
    warnings: tuple[str, ...]
    success: Node
    conditions: tuple[Node, ...]
    used: Used = field(eq=False)


def parse_program(source: str, schema: Schema, edition: Edition = LATEST) -> CompiledProgram | Refusal:
    """Compile ``source`` for the world of ``schema``, by an edition of the language. Pure; needs no JAX.

    No property of the text makes it raise; a text that is no program comes back as a ``Refusal``.
    """
    return _parse(source, Identified(schema), edition)


@lru_cache(maxsize=CACHED_PROGRAMS)
def _parse(text: str, key: Identified, edition: Edition) -> CompiledProgram | Refusal:
    return settled(lambda: _compiled(text, key.schema, edition), edition)


def _compiled(text: str, schema: Schema, edition: Edition) -> CompiledProgram:
    compiler = Compiler(schema, edition)
    source, tree = read_source(compiler, text)
    definition = read_module(compiler, tree)
    pairs = read_class(compiler, definition)
    success = compiler.condition(compiler.methods["success"], "success")
    conditions = [compiler.condition(source, what) for source, what, _ in pairs]
    check_names(tree, schema, edition)
    requires = tuple(
        Requirement(what, meaning_of(node, edition), prerequisite)
        for node, (_, what, prerequisite) in zip(conditions, pairs, strict=True)
    )
    description = ast.get_docstring(definition) or ""
    if not description:
        compiler.warn("the class has no docstring, so the skill has no description")
    return CompiledProgram(
        name=definition.name,
        description=description,
        source=source,
        source_hash=hash_of(edition, "source", canonical(tree)),
        meaning=meaning_of(success, edition),
        requires=requires,
        requires_meaning=hash_of(edition, "requires", *(f"{item.meaning}>{item.prerequisite}" for item in requires)),
        normalisations=tuple(compiler.normalisations),
        warnings=tuple(compiler.warnings),
        success=success,
        conditions=tuple(conditions),
        used=used_by(compiler, text),
    )


def read_source(compiler: Compiler, text: str) -> tuple[str, ast.Module]:
    """The source inside a text and its tree, in the grammar and within the budgets; the compiler notes what went.

    Raises:
        Refused: if there is none.
    """
    limits, form = compiler.edition.limits, compiler.form
    normalised = normalise(text, limits)
    if not normalised.source:
        raise Refused("syntax", "the text is empty", f"write {form.least}")
    try:
        tree = parse(normalised.source, limits)
    except Refused as refused:
        raise form.retold(refused) from None
    for step in normalised.steps:
        compiler.note(step)
    if limits.strict:  # an import that no path reaches stays in the source all the same
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                compiler.check_import(node)
    return normalised.source, tree


def used_by(compiler: Compiler, text: str) -> Used:
    """What a compilation has used."""
    meter = compiler.meter
    size = len(text.encode("utf-8", "surrogatepass"))
    return Used(size, meter.iterations, meter.steps, meter.operations, meter.work)


def meaning_of(node: Node, edition: Edition) -> str:
    """The hash of a condition's meaning: of its canonical graph, under an edition of the language."""
    return hash_of(edition, "meaning", node.digest.hex())


def hash_of(edition: Edition, *parts: str) -> str:
    """SHA-256 of parts under an edition of the language, in hexadecimal."""
    return hashlib.sha256("\n".join((edition.label, *parts)).encode("utf-8", "surrogatepass")).hexdigest()
