"""Flat reward programs: a skill as the fixed chain of skills that leads to it (paper 000, section 3, CODE-FRP).

A flat program shares name, description and success condition with the archived skill that it is named after, and lists
the whole chain of prerequisites instead of conditions. Nothing of the text is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import field, frozen

from engine.sharp.editions import LATEST, Edition
from engine.sharp.forms import FLAT, FORM_LIMITS, FORM_MEANINGS, Form
from engine.sharp.grammar import canonical
from engine.sharp.other_forms.choices import is_name
from engine.sharp.other_forms.naming import NamingCompiler
from engine.sharp.outline import read_members, read_module
from engine.sharp.program import Used, hash_of, read_source, used_by
from engine.sharp.refusals import Refused, settled
from engine.sharp.scope import Env
from engine.sharp.values import Items, Named, SelfValue, kind_of
from engine.worlds.schema import Schema
from ledger.vocabulary.vet import Known, Refusal


@frozen
class CompiledFlat:
    """An accepted flat reward program.

    ``chain`` are names of archived skills, of which the last is ``name``. ``source_hash`` identifies the canonical
    syntax tree, ``meaning`` the chain (both SHA-256 in hexadecimal). ``description`` is the docstring, which says no
    more than that of the archived skill.
    """

    name: str
    description: str
    source: str
    source_hash: str
    meaning: str
    chain: tuple[str, ...]
    normalisations: tuple[str, ...]
    warnings: tuple[str, ...]
    used: Used = field(eq=False)


# --- execution -------------------------------------------------------------------------------------------------------


def advance(pointer: Any, fired: Any, length: Any) -> Any:
    """The pointer after a step: one further if the success condition of the active skill fired, and never back.

    Args:
        pointer: int32, any shape: the position in the chain of the active skill, 0 at the start of an episode.
        fired: bool, the shape of ``pointer``: whether the success condition of ``chain[pointer]`` held after the step.
        length: int or int32 of that shape: the number of skills in the chain.

    Returns:
        int32 of that shape. The last skill of the chain stays active. Works on arrays of numpy and of JAX.
    """
    return pointer + (fired & (pointer < length - 1)).astype(pointer.dtype)


# --- compilation -----------------------------------------------------------------------------------------------------


def parse_flat(
    text: str, schema: Schema, archive: Sequence[Known], edition: Edition = LATEST
) -> CompiledFlat | Refusal:
    """Read a flat reward program of a skill of ``archive``, by an edition of the language. Pure; needs no JAX.

    No property of the text makes it raise; a text that is no flat reward program comes back as a ``Refusal``.
    """
    return settled(lambda: _compiled(text, FlatCompiler(schema, archive, edition)), edition)


def _compiled(text: str, compiler: FlatCompiler) -> CompiledFlat:
    source, tree = read_source(compiler, text)
    definition = read_module(compiler, tree)
    listed = read_members(compiler, definition)
    if listed is None:
        raise Refused(
            "grammar", f"{definition.name} has no chain", f"write {compiler.usage}",
            definition.lineno, definition.col_offset + 1,
        )  # fmt: skip
    chain = compiler.chain(listed)
    compiler.check_dead_names(tree)
    edition = compiler.edition
    return CompiledFlat(
        name=definition.name,
        description=ast.get_docstring(definition) or "",
        source=source,
        source_hash=hash_of(edition, "source", canonical(tree)),
        meaning=hash_of(edition, "flat", *chain),
        chain=chain,
        normalisations=tuple(compiler.normalisations),
        warnings=(*compiler.warnings, *chain_warnings(chain, compiler.archive)),
        used=used_by(compiler, text),
    )


class FlatCompiler(NamingCompiler):
    """Reads one flat reward program. Not reusable."""

    form: ClassVar[Form] = FLAT
    usage: ClassVar[str] = 'chain = ["FirstSkill", "SecondSkill"]'

    def check_class_name(self, name: str) -> None:
        """Refuse a class that is not named after a skill."""
        if name not in self.archive:
            raise self.unknown(name)

    def chain(self, node: ast.expr) -> tuple[str, ...]:
        """The names of the list, ending in the skill itself.

        Raises:
            Refused: if it is no list of archived skills within the budget.
        """
        try:
            value = self.expression(node, Env(names=dict(self.class_values), parent=self.module))
            if not isinstance(value, Items) or value.kind == "set":
                hint = f"write {self.usage}" if not is_name(value) else "a single name still needs the list around it"
                raise Refused("type", f"chain is a list of names, not {kind_of(value)}", hint)
            names = [self._name_of(item, number) for number, item in enumerate(self.numeric.fixed(value))]
            if not names or names[-1] != self.class_name:
                names.append(self.class_name)
                self.note(f"{self.class_name} added at the end of chain")
            if len(names) > FORM_LIMITS.chain:
                reason = f"{len(names):,} {FORM_MEANINGS['chain']} are over the budget of {FORM_LIMITS.chain}"
                raise Refused("budget", reason, "a skill stays active until it succeeds: name it once for each success")
        except Refused as refused:
            raise refused.placed(node.lineno, node.col_offset + 1) from None
        return tuple(names)

    def _name_of(self, item: Any, number: int) -> str:
        if isinstance(item, SelfValue):
            return self.class_name
        if not isinstance(item, Named):
            hint = "join lists with +" if isinstance(item, Items) else 'name a skill, such as "DigClay"'
            raise Refused("type", f"chain[{number}] is {kind_of(item)}, not the name of a skill", hint)
        if item not in self.archive:
            raise self.unknown(item).placed(item.line, item.column) if item.line else self.unknown(item)
        return str(item)


def chain_warnings(chain: Sequence[str], archive: Mapping[str, Known]) -> list[str]:
    """What to know of a chain, by the prerequisites that the archive has."""
    warnings = []
    last = len(chain) - 1
    first = {name: number for number, name in reversed(list(enumerate(chain)))}
    for number, name in enumerate(chain):
        if name == chain[last] and number < last:
            warnings.append(f"chain[{number}]: {name} itself stands before the end of its chain")
        if first[name] < number:
            continue
        for prerequisite in dict.fromkeys(archive[name].requires):
            if first.get(prerequisite, number) >= number:
                warnings.append(f"chain[{number}]: {prerequisite}, which {name} requires, never occurs before it")
    return warnings
