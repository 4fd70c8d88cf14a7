"""Policies in code: from a text that names the skill to follow to one operation graph (paper 000, section 4).

The graph is one int32 scalar of the current and the previous state, an index into the sorted names of the skills that
the policy can name. Nothing of the text is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from attrs import field, frozen

from engine.sharp.editions import LATEST, Edition
from engine.sharp.forms import POLICY, Form
from engine.sharp.grammar import canonical
from engine.sharp.graph import Node
from engine.sharp.other_forms.choices import Choosing, conditions, is_name
from engine.sharp.other_forms.naming import NamingCompiler
from engine.sharp.outline import read_members, read_module
from engine.sharp.program import Used, hash_of, read_source, used_by
from engine.sharp.refusals import Refused, settled
from engine.sharp.scope import UNSET, Env
from engine.sharp.values import Unusable, kind_of
from engine.worlds.schema import Schema
from ledger.vocabulary.vet import Known, Refusal

Literal = tuple[Node, bool]
"""A boolean scalar and the value that it must have."""

MAX_VISITS = 64
"""A test that loops evaluate more often than this is not followed on sampled states."""


@frozen(eq=False)
class Branch:
    """One side of an ``if`` or a conditional expression on values of the state.

    ``visits`` has an entry for each evaluation (loops, calls of helpers): what must hold for a state to get there, and
    last the test itself. Where a loop was left by ``break`` is not among it.
    """

    line: int
    column: int
    holds: bool
    visits: tuple[tuple[Literal, ...], ...]


@frozen
class SampledChoices:
    """How often each skill was named, in the order of ``CompiledPolicy.skills``: on first and on later states."""

    resets: int
    chosen_at_reset: tuple[int, ...]
    visited: int
    chosen_visited: tuple[int, ...]


@frozen
class CompiledPolicy:
    """An accepted policy.

    ``choice`` is the root of its operation graph, an int32 scalar: the index into ``skills`` of the skill to follow.
    ``skills`` are the names that it can come to, sorted. ``source_hash`` identifies the canonical syntax tree,
    ``meaning`` the graph with its names (both SHA-256 in hexadecimal). ``sampled`` is there if states were given.
    """

    name: str
    description: str
    source: str
    source_hash: str
    meaning: str
    skills: tuple[str, ...]
    normalisations: tuple[str, ...]
    warnings: tuple[str, ...]
    choice: Node
    branches: tuple[Branch, ...] = field(eq=False, repr=False)
    used: Used = field(eq=False)
    sampled: SampledChoices | None = None


def parse_policy(
    text: str, schema: Schema, archive: Sequence[Known], edition: Edition = LATEST
) -> CompiledPolicy | Refusal:
    """Compile a policy over the skills of ``archive``, by an edition of the language. Pure; needs no JAX.

    No property of the text makes it raise; a text that is no policy comes back as a ``Refusal``.
    """
    return settled(lambda: _compiled(text, PolicyCompiler(schema, archive, edition)), edition)


def _compiled(text: str, compiler: PolicyCompiler) -> CompiledPolicy:
    source, tree = read_source(compiler, text)
    definition = read_module(compiler, tree)
    read_members(compiler, definition)
    choice = compiler.condition(compiler.methods["skill"], "skill")
    compiler.check_dead_names(tree)
    description = ast.get_docstring(definition) or ""
    if not description:
        compiler.warn("the class has no docstring, so the policy has no description")
    edition = compiler.edition
    return CompiledPolicy(
        name=definition.name,
        description=description,
        source=source,
        source_hash=hash_of(edition, "source", canonical(tree)),
        meaning=hash_of(edition, "policy", choice.digest.hex(), *compiler.skills),
        skills=compiler.skills,
        normalisations=tuple(compiler.normalisations),
        warnings=tuple(compiler.warnings),
        choice=choice,
        branches=compiler.branches(),
        used=used_by(compiler, text),
    )


class PolicyCompiler(NamingCompiler):
    """Compiles one policy. Not reusable."""

    form: ClassVar[Form] = POLICY
    numeric: Choosing

    def __init__(self, schema: Schema, archive: Sequence[Known], edition: Edition) -> None:
        super().__init__(schema, archive, edition)
        self.skills: tuple[str, ...] = ()
        self._path: tuple[Literal, ...] = ()
        self._visits: dict[tuple[int, int, bool], list[tuple[Literal, ...]]] = {}

    def check_class_name(self, name: str) -> None:
        """Refuse a class name that means something else."""
        if name in self.archive:
            raise Refused("archive", f"the archive has a skill called {name}", "choose another name for the policy")
        super().check_class_name(name)

    def check_dead_names(self, tree: ast.Module) -> None:
        """Refuse names in code that no path reaches, if nothing has them; returned strings are names of skills."""
        super().check_dead_names(tree)
        for node in ast.walk(tree):
            value = node.value if isinstance(node, ast.Return) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                if value.value.strip() not in self.archive:
                    raise self.unknown(value.value.strip()).placed(value.lineno, value.col_offset + 1)

    def condition(self, source: ast.FunctionDef | ast.Lambda, what: str) -> Node:
        """The int32 scalar that the skill method computes."""
        try:
            return super().condition(source, what)
        except Refused as refused:
            raise refused.placed(source.lineno, source.col_offset + 1) from None

    # --- what is returned --------------------------------------------------------------------------------------------

    def output(self, value: Any, what: str) -> Node:
        """The index of the chosen name among the names that can be chosen, in sorted order."""
        when = conditions(self._name_of(value, what))
        for name in when:
            if name not in self.archive:
                raise self.unknown(name).placed(name.line, name.column)
        names = sorted(when)
        self.skills = tuple(str(name) for name in names)
        if len(names) == 1:
            self.warn(f"the policy always names {names[0]}: it does not depend on the state")
        chosen = self.nodes.constant(len(names) - 1, "int32")
        for number in range(len(names) - 2, -1, -1):
            test = self.numeric.node_of(when[names[number]])
            chosen = self.nodes.select(test, self.nodes.constant(number, "int32"), chosen)
        return chosen

    def _name_of(self, value: Any, what: str) -> Any:
        if is_name(value):
            return value
        advice = "the archive has no skill yet"
        if self.archive:
            advice = f'return the name of an archived skill on every path, such as "{min(self.archive)}"'
        raise Refused("output", f"{what} returns {kind_of(value)}, not the name of a skill", advice)

    def _return(self, node: ast.Return, env: Env) -> None:
        super()._return(node, env)
        if len(self.calls) == 1 and not isinstance(env.result, Unusable):
            self._name_of(env.result, self.calls[0].name)

    def results(self, test: Node, yes: Any, no: Any) -> Any:
        """What two branches have returned; a name counts where its branch was taken."""
        if is_name(yes) and no is UNSET:
            return self.numeric.only(test, yes)
        if yes is UNSET and is_name(no):
            return self.numeric.only(self.nodes.not_(test), no)
        return super().results(test, yes, no)

    def returning(self, value: Any, env: Env) -> Any:
        """The result after a return; a name that was returned before counts first."""
        if isinstance(env.returned, Node) and is_name(env.result) and is_name(value):
            return self.numeric.or_else(env.result, value)
        return super().returning(value, env)

    def result_of(self, definition: ast.FunctionDef, env: Env) -> Any:
        """What a function has returned at its end; one that names skills names one on every path."""
        if env.returned is not True and is_name(env.result) and self.numeric.always(env.result):
            return env.result
        if env.returned is not True and (is_name(env.result) or definition is self.methods.get("skill")):
            node, how = open_end(definition)
            raise Refused(
                "output",
                f"{definition.name} can end without naming a skill: {how}",
                "end with the return of a skill to follow otherwise",
                node.lineno,
                node.col_offset + 1,
            )
        return super().result_of(definition, env)

    # --- branches ----------------------------------------------------------------------------------------------------

    @contextmanager
    def arm(self, node: ast.If | ast.IfExp, test: Node, holds: bool, env: Env) -> Iterator[None]:
        """Remembers what must hold for a state to get to one side of a test."""
        before = self._path
        self._path = (*before, *_unreturned(env), (test, holds))
        self._visits.setdefault((node.lineno, node.col_offset + 1, holds), []).append(self._path)
        try:
            yield
        finally:
            self._path = before

    def _inline(self, definition: ast.FunctionDef, arguments: list[Any], keywords: dict[str, Any], parent: Env) -> Any:
        before = self._path
        self._path = (*before, *_unreturned(self.env))
        try:
            return super()._inline(definition, arguments, keywords, parent)
        finally:
            self._path = before

    def branches(self) -> tuple[Branch, ...]:
        """The branches met so far, in the order of the text."""
        kept = ((key, visits) for key, visits in sorted(self._visits.items()) if len(visits) <= MAX_VISITS)
        return tuple(Branch(*key, tuple(visits)) for key, visits in kept)


def _unreturned(env: Env) -> tuple[Literal, ...]:
    return ((env.returned, False),) if isinstance(env.returned, Node) else ()


def open_end(definition: ast.FunctionDef) -> tuple[ast.stmt, str]:
    """The statement after which a function can end without ``return``, and how to say it."""
    found = _open_end(definition.body)
    return (definition.body[-1], f"after line {definition.body[-1].lineno}") if found is None else found


def _open_end(body: Sequence[ast.stmt]) -> tuple[ast.stmt, str] | None:
    """The first way through a block that reaches its end, as its syntax shows; None if every way returns."""
    if any(isinstance(item, ast.Return) for item in body):
        return None
    last = body[-1]
    if isinstance(last, ast.If):
        inside = _open_end(last.body)
        if inside is not None:
            return inside
        return _open_end(last.orelse) if last.orelse else (last, f"where the condition of line {last.lineno} is false")
    if isinstance(last, ast.For):
        return last, f"after the loop of line {last.lineno}"
    return last, f"after line {last.lineno}"
