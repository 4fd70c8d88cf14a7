"""Vocabulary values to canonical JSON and back: exact, strict, one byte form per value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args, get_origin

import attrs
from cattrs import Converter, transform_error
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn
from cattrs.strategies import configure_tagged_union

from ledger import hooks
from ledger.blobs import Load, Reference, nowhere
from ledger.errors import Undecodable, Unencodable
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.comparison import KEY, REPORTED
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Event
from ledger.vocabulary.note import Decision
from ledger.vocabulary.path import Path

KIND = "kind"
MAX_NODES = 1_000_000
"""Structural characters allowed in one event: parsed objects are far larger than their text."""


# --- the converter ---------------------------------------------------------------------------------------------------


def _is_tuple(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _tuple_structurer(type_: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    (item, _) = get_args(type_)
    hook = converter.get_structure_hook(item)

    def structure_tuple(value: Any, _: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise ValueError(f"expected a list, got {type(value).__name__} {value!r:.80}")
        return tuple(hook(element, item) for element in value)

    return structure_tuple


def _tuple_unstructurer(type_: Any, converter: Converter) -> Callable[[Any], Any]:
    (item, _) = get_args(type_)
    hook = converter.get_unstructure_hook(item)

    def unstructure_tuple(value: Any) -> list[Any]:
        if type(value) is not tuple:
            raise Unencodable(f"expected a tuple, got {type(value).__name__} {value!r:.80}. Convert it with tuple(…).")
        return [hook(element) for element in value]

    return unstructure_tuple


def is_reported(attribute: Any) -> bool:
    return bool(attribute.metadata.get(KEY) == REPORTED)


def _class_structurer(cls: type, converter: Converter) -> Callable[[Any, Any], Any]:
    inner: Callable[[Any, Any], Any] = make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True)

    def structure_class(value: Any, type_: Any) -> Any:
        if type(value) is not dict:
            raise ValueError(f"expected an object, got {type(value).__name__} {value!r:.80}")
        return inner(value, type_)

    return structure_class


def _class_unstructurer(cls: type, converter: Converter) -> Callable[[Any], Any]:
    attrs.resolve_types(cls)
    written = [(a.name, converter.get_unstructure_hook(a.type)) for a in attrs.fields(cls) if not is_reported(a)]

    def unstructure_class(value: Any) -> Any:
        if type(value) is not cls:
            raise Unencodable(f"expected {cls.__name__}, got {type(value).__name__} {value!r:.80}")
        tree = {}
        for name, hook in written:
            try:
                tree[name] = hook(getattr(value, name))
            except Unencodable as error:
                raise Unencodable(f"{cls.__name__}.{name}: {error}") from None
        return tree

    return unstructure_class


def _register_union(converter: Converter, union: Any) -> None:
    configure_tagged_union(union, converter, tag_name=KIND)
    members = get_args(union)
    tag_last = converter.get_unstructure_hook(union)
    tagged = converter.get_structure_hook(union)

    def unstructure_union(value: Any) -> Any:
        if type(value) not in members:
            raise Unencodable(f"expected one of {_names(members)}, got {type(value).__name__} {value!r:.80}.")
        # The kind comes first, so that stored bytes tell it without being parsed.
        return {KIND: type(value).__name__, **tag_last(value)}

    def structure_union(value: Any, type_: Any) -> Any:
        if type(value) is not dict or value.get(KIND) not in {member.__name__ for member in members}:
            raise ValueError(f"expected an object whose kind is one of {_names(members)}, got {value!r:.80}")
        return tagged(value, type_)

    converter.register_unstructure_hook(union, unstructure_union)
    converter.register_structure_hook(union, structure_union)


def _names(members: tuple[type, ...]) -> str:
    return ", ".join(member.__name__ for member in members)


_UNIONS = (Decision, AnyEffect, AnyOutcome, Event)
_TAGGED = {member for union in _UNIONS for member in get_args(union)}


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    converter.register_unstructure_hook_factory(attrs.has, _class_unstructurer)
    converter.register_structure_hook_factory(attrs.has, _class_structurer)
    converter.register_unstructure_hook_factory(_is_tuple, _tuple_unstructurer)
    converter.register_structure_hook_factory(_is_tuple, _tuple_structurer)
    for kind in (int, bool):
        converter.register_unstructure_hook(kind, hooks.put_exactly(kind))
        converter.register_structure_hook(kind, hooks.get_exactly(kind))
    converter.register_unstructure_hook(float, hooks.put_float)
    converter.register_structure_hook(float, hooks.get_float)
    converter.register_unstructure_hook(str, hooks.put_str)
    converter.register_structure_hook(str, hooks.get_str)
    converter.register_unstructure_hook(Path, hooks.put_path)
    converter.register_structure_hook(Path, hooks.get_path)
    converter.register_unstructure_hook(Body, hooks.put_body)
    converter.register_structure_hook(Body, hooks.get_body)
    converter.register_unstructure_hook(Data, hooks.put_data)
    converter.register_structure_hook(Data, hooks.get_data)
    for union in _UNIONS:  # last: a tagged union keeps the hooks of its members as they are now
        _register_union(converter, union)
    return converter


_CONVERTER = _converter()


# --- plain values ----------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A vocabulary value as JSON-like dictionaries and lists; long bodies by digest, reported fields left out.

    A value that belongs to a tagged union carries its ``kind`` first.

    Raises:
        Unencodable: if a field holds anything but its declared type (``True`` is no int, ``1`` no float).
    """
    if isinstance(value, tuple | list):
        return [plain(element) for element in value]
    if value is None:
        return None
    body = _CONVERTER.unstructure(value)
    return {KIND: type(value).__name__, **body} if type(value) in _TAGGED else body


def canonical(value: Any) -> bytes:
    """The one JSON text of a vocabulary value, in ASCII; what replay compares. See :func:`plain`."""
    return dump(plain(value))


def dump(tree: Any) -> bytes:
    """JSON text of a plain value: ASCII, no spaces, keys in the order given."""
    try:
        return json.dumps(tree, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    except ValueError as error:  # an integer of thousands of digits
        raise Unencodable(f"{error}. Store a smaller number.") from error


def structure(tree: Any, type_: Any) -> Any:
    """The value of ``type_`` (a class or a tagged union) that ``tree`` is the plain form of.

    Fields that are missing take their defaults; unknown ones are refused. Reported fields without a default must be
    put back first, because :func:`plain` leaves them out (``lines.put_back(tree, lines.reported(value))``).

    Raises:
        Undecodable: if ``tree`` is not of that form.
    """
    if type_ in _TAGGED and type(tree) is dict and KIND in tree:
        if tree[KIND] != type_.__name__:
            raise Undecodable(f"expected kind {type_.__name__}, got {tree[KIND]!r:.80}.")
        tree = {key: value for key, value in tree.items() if key != KIND}
    try:
        return _CONVERTER.structure(tree, type_)
    except (Exception, ExceptionGroup) as error:
        raise Undecodable("; ".join(transform_error(error, format_exception=_explain))) from error


def _explain(error: BaseException, type_: type | None) -> str:
    if isinstance(error, KeyError):
        return "a required field is missing"
    if isinstance(error, ForbiddenExtraKeysError):
        return f"unknown fields {', '.join(sorted(error.extra_fields))}"
    return str(error) or type(error).__name__


def parse(text: bytes, load: Load = nowhere) -> Any:
    """JSON text as a plain value, in which blobs are references that ``load`` resolves.

    Raises:
        Undecodable: if it is not JSON as :func:`dump` writes it, or repeats a key, or nests or branches beyond reason.
    """
    check_size(text, Undecodable)

    def make(pairs: list[tuple[str, Any]]) -> Any:
        if len(pairs) == 1 and pairs[0][0] == "blob" and type(pairs[0][1]) is str:
            return Reference(pairs[0][1], load)
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a key is repeated")
        return made

    try:
        return json.loads(text.decode("ascii"), object_pairs_hook=make, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"no JSON of this ledger: {error}") from error


def check_size(text: bytes, error: type[Unencodable] | type[Undecodable]) -> None:
    """Raise ``error`` if a text could become far more objects than any honest event has."""
    nodes = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if nodes > MAX_NODES:
        raise error(f"an event of {nodes} commas and brackets is larger than {MAX_NODES}. Keep long texts in a Body.")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
