"""The compiler of texts that name archived skills: strings are names, and archived names stand bare, too."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from engine.sharp.editions import Edition
from engine.sharp.indexing import Indexing
from engine.sharp.lower import Compiler
from engine.sharp.names import check_names
from engine.sharp.numeric import Numeric
from engine.sharp.other_forms.choices import ADVICE, Choosing, ChoosingIndex, holds_names, is_name
from engine.sharp.refusals import Refused, did_you_mean
from engine.sharp.scope import Env
from engine.sharp.values import Items, Named, SelfValue
from engine.worlds.schema import Schema
from ledger.vocabulary.vet import Known

LISTED_SKILLS = 24


class NamingCompiler(Compiler):
    """Compiles one class that names skills of an archive."""

    numeric_type: ClassVar[type[Numeric]] = Choosing
    indexing_type: ClassVar[type[Indexing]] = ChoosingIndex

    def __init__(self, schema: Schema, archive: Sequence[Known], edition: Edition) -> None:
        super().__init__(schema, edition)
        self.archive: Mapping[str, Known] = {known.name: known for known in archive}
        self.scope = {**{name: Named(name) for name in self.archive}, **self.scope}
        self.guarded |= frozenset(self.archive)

    def unknown(self, name: str) -> Refused:
        """The refusal of a name that no archived skill has."""
        return Refused("archive", f"{name or 'an empty name'} is no skill of the archive", self._instead(name))

    def _instead(self, name: str) -> str:
        listed = sorted(self.archive)
        if not listed:
            return "the archive has no skill yet"
        shown = ", ".join(listed[:LISTED_SKILLS]) + (", …" if len(listed) > LISTED_SKILLS else "")
        return did_you_mean(name, listed) or f"the skills are: {shown}"

    def check_dead_names(self, tree: ast.Module) -> None:
        """Refuse names in code that no path reaches, if nothing has them."""
        names, members = {*self.form.spellings, *self.archive}, {*self.class_values, *self.methods}
        check_names(tree, self.schema, self.edition, names, members)

    # --- names in expressions ----------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant, env: Env) -> Any:
        value = super()._constant(node, env)
        return Named(value.strip(), node.lineno, node.col_offset + 1) if isinstance(value, str) else value

    def _comparison(self, op: str, left: Any, right: Any) -> Any:
        if op not in ("is", "is not"):
            for value in (left, right):
                if isinstance(value, Items):
                    self.meter.hold(value.total)
                if holds_names(value):
                    raise Refused("type", "names of skills cannot be compared", "test the state instead")
        return super()._comparison(op, left, right)

    def _lambda(self, node: ast.Lambda, env: Env) -> Any:
        raise Refused("grammar", f"a lambda is not part of {self.form.noun}", "define a helper method")

    def attribute(self, value: Any, name: str) -> Any:
        """``value.name``; a hint where a skill's name is meant."""
        here = name in self.class_values or name in self.methods
        if isinstance(value, SelfValue) and name in self.archive and not here:
            raise Refused("attribute", f"the class has no {name}", f'write "{name}"')
        if is_name(value):
            raise Refused("attribute", f"the name of a skill has no {name}", ADVICE)
        return super().attribute(value, name)

    def call(self, function: Any, arguments: list[Any], keywords: dict[str, Any], env: Env) -> Any:
        """A call with evaluated arguments; a hint where a skill is called."""
        if is_name(function):
            hint = f'write "{function}"' if isinstance(function, Named) else "return the name"
            raise Refused("call", "a skill is named, not called", hint)
        return super().call(function, arguments, keywords, env)
