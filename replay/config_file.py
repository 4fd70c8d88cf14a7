"""Experiment files: TOML in, one frozen configuration out; whatever is not understood is refused with its place.

Three layers, each overriding the one before: the experiment file, ``profiles/<name>.toml`` beside it, and overrides of
the form ``discovery.iterations=3``. The table ``[operational]`` holds what does not belong to the experiment itself.
"""

from __future__ import annotations

import difflib
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import tomli_w
from attrs import NOTHING, fields, frozen, has
from cattrs import AttributeValidationNote, BaseValidationError, Converter, IterableValidationNote

from ledger.vocabulary.config import Config
from replay.operational import Operational

Tree = dict[str, Any]

OPERATIONAL = "operational"


class ConfigError(Exception):
    """A configuration that cannot be used; ``problems`` holds one line each, with file, line, setting and remedy."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@frozen
class Loaded:
    """An experiment file as read: what the run is, and how it is carried out."""

    config: Config
    operational: Operational


def load(path: Path, profile: str | None = None, overrides: Sequence[str] = ()) -> Config:
    """The configuration in ``path`` (an experiment file, or the folder of ``experiment.toml``).

    Raises:
        ConfigError: for a missing file or profile, bad TOML, an unknown setting, a wrong type or a value out of range.
    """
    return load_all(path, profile, overrides).config


def load_all(path: Path, profile: str | None = None, overrides: Sequence[str] = ()) -> Loaded:
    """Like ``load``, with the operational settings."""
    file = path / "experiment.toml" if path.is_dir() else path
    layers = [_file_layer(file)]
    if profile is not None:
        layers.append(_file_layer(_profile_file(file, profile)))
    layers.extend(_override_layer(text) for text in overrides)
    return _structure(layers)


def loads(text: str, name: str = "configuration") -> Config:
    """The configuration in a TOML text; ``name`` stands for the file in messages."""
    return _structure([_text_layer(text, name)]).config


def profiles(path: Path) -> tuple[str, ...]:
    """The names of the profiles beside an experiment file, sorted."""
    folder = (path if path.is_dir() else path.parent) / "profiles"
    return tuple(sorted(file.stem for file in folder.glob("*.toml")))


def to_toml(config: Config | Operational) -> str:
    """A TOML text that ``loads`` reads back as the same configuration; settings without a value are left out."""
    return tomli_w.dumps(_without_none(_CONVERTER.unstructure(config)))


# --- layers ----------------------------------------------------------------------------------------------------------


@frozen
class _Layer:
    """One source of settings: its tree and the place of each dotted key in it."""

    name: str
    tree: Tree
    lines: Mapping[str, int]

    def place(self, key: str) -> str:
        """``name, line n`` of a dotted key, or of the nearest table around it."""
        parts = key.split(".")
        while parts:
            if line := self.lines.get(".".join(parts)):
                return f"{self.name}, line {line}"
            parts.pop()
        return self.name

    def holds(self, key: str) -> bool:
        node: Any = self.tree
        for part in key.split("."):
            if not isinstance(node, dict) or part not in node:
                return False
            node = node[part]
        return True


def _file_layer(file: Path) -> _Layer:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(
            f"{file}: there is no such file; give an experiment file or a folder that holds one"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    layer = _text_layer(text, str(file))
    operational = layer.tree.get(OPERATIONAL)
    if isinstance(operational, dict):
        for attribute in fields(Operational):
            if attribute.metadata.get("path") and attribute.name in operational:
                operational[attribute.name] = _beside(file.parent, operational[attribute.name])
    return layer


def _text_layer(text: str, name: str) -> _Layer:
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from None
    return _Layer(name, tree, _lines(text))


def _profile_file(file: Path, profile: str) -> Path:
    known = profiles(file)
    if profile not in known:
        listed = f"there are {', '.join(known)}" if known else "there are none"
        raise ConfigError(f"{file}: no profile {profile!r} beside it; {listed}{_meant(profile, known)}")
    return file.parent / "profiles" / f"{profile}.toml"


def _override_layer(text: str) -> _Layer:
    key, equals, value = (part.strip() for part in text.partition("="))
    name = f"--set {text}"
    if not equals or not key:
        raise ConfigError(f"{name}: write setting=value, for example discovery.iterations=3")
    tree: Tree = {}
    node = tree
    *tables, last = key.split(".")
    for part in tables:
        node = node.setdefault(part, {})
    node[last] = _override_value(name, key, value)
    return _Layer(name, tree, {})


def _override_value(name: str, key: str, value: str) -> Any:
    wanted = _LEAVES.get(key)
    if str in _alternatives(wanted) and not value.startswith(('"', "'")):
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        if wanted is None:
            return value  # the unknown setting is what the message will be about
        raise ConfigError(f"{name}: {value!r} is no TOML value; {key} takes {_described(wanted)}") from None


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9_\"'.\- ]+?)\s*=")


def _lines(text: str) -> dict[str, int]:
    """The line of each table header and assignment, by dotted key; used in messages only."""
    places: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _plain(header[1])
            places.setdefault(table, number)
        elif assignment := _ASSIGNMENT.match(line):
            key = _plain(assignment[1])
            places.setdefault(f"{table}.{key}" if table else key, number)
    return places


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


def _beside(folder: Path, value: Any) -> Any:
    if isinstance(value, str):
        return str(folder / value)
    if isinstance(value, list):
        return [_beside(folder, item) for item in value]
    return value


def _merged(below: Tree, above: Tree) -> Tree:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


# --- from a tree to a configuration ----------------------------------------------------------------------------------


def _structure(layers: Sequence[_Layer]) -> Loaded:
    tree: Tree = {}
    for layer in layers:
        tree = _merged(tree, layer.tree)

    def place(key: str) -> str:
        return next((layer.place(key) for layer in reversed(layers) if layer.holds(key)), layers[0].name)

    operational = tree.pop(OPERATIONAL, {})
    problems = [f"{place(key)}: {text}" for key, text in _misfits(Config, tree, "")]
    problems += [f"{place(key)}: {text}" for key, text in _misfits(Operational, {OPERATIONAL: operational}, None)]
    if problems:
        raise ConfigError(*problems)
    config = _convert(tree, Config, "", place)
    result = Loaded(config, _convert(operational, Operational, OPERATIONAL, place))
    if refused := _no_fraction(config):
        raise ConfigError(f"{place('discovery.learning_progress')}: {refused}")
    return result


def _misfits(cls: type, tree: Tree, prefix: str | None) -> Iterator[tuple[str, str]]:
    """Unknown settings and tables that are none, with their dotted keys; ``prefix`` None: ``tree`` wraps the table."""
    if prefix is None:
        value = tree[OPERATIONAL]
        if not isinstance(value, dict):
            yield OPERATIONAL, f"{OPERATIONAL} is a table of settings, not {_shown(value)}: write [{OPERATIONAL}]"
        else:
            yield from _misfits(cls, value, f"{OPERATIONAL}.")
        return
    hints = typing.get_type_hints(cls)
    for key, value in tree.items():
        dotted = f"{prefix}{key}"
        if key not in hints:
            siblings = (*hints, OPERATIONAL) if cls is Config else tuple(hints)
            yield dotted, f"there is no setting {dotted}{_remedy(prefix, key, siblings)}"
        elif has(hints[key]):
            if isinstance(value, dict):
                yield from _misfits(hints[key], value, f"{dotted}.")
            else:
                yield dotted, f"{dotted} is a table of settings, not {_shown(value)}: write [{dotted}]"


def _remedy(prefix: str, key: str, siblings: Sequence[str]) -> str:
    by_last_part: dict[str, list[str]] = {}
    for dotted in _LEAVES:
        by_last_part.setdefault(dotted.rpartition(".")[2], []).append(dotted)
    near = [f"{prefix}{name}" for name in difflib.get_close_matches(key, siblings, n=1)]
    for name in difflib.get_close_matches(key, by_last_part, n=1, cutoff=0.6 if not near else 1.0):
        near = by_last_part[name]
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; settings here are {', '.join(siblings)}"


def _meant(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _convert(tree: Tree, cls: Any, prefix: str, place: Any) -> Any:
    try:
        return _CONVERTER.structure(tree, cls)
    except BaseValidationError as error:
        problems = (_problem(key, cause) for key, cause in _causes(error, prefix))
        raise ConfigError(*(f"{place(key)}: {text}" for key, text in problems)) from None


def _causes(error: BaseException, key: str) -> Iterator[tuple[str, BaseException]]:
    """The single errors inside a group, each with its dotted key."""
    if not isinstance(error, BaseValidationError):
        yield key, error
        return
    for inner in error.exceptions:
        within = key
        for note in getattr(inner, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                within = f"{key}.{note.name}" if key else note.name
            elif isinstance(note, IterableValidationNote):
                within = f"{key}[{note.index}]"
        yield from _causes(inner, within)


def _problem(key: str, cause: BaseException) -> tuple[str, str]:
    message = str(cause.args[0]) if cause.args else str(cause)
    # a validator of attrs names its own attribute, and the group does not say which attribute it was
    if named := re.match(r"'(\w+)' (.*)", message, re.DOTALL):
        key = f"{key}.{named[1]}" if key else named[1]
        message = named[2]
    return key.partition("[")[0], f"{key} {message}"


def _no_fraction(config: Config) -> str | None:
    text = config.discovery.learning_progress
    try:
        if 0 <= Fraction(text) <= 1:
            return None
    except (ValueError, ZeroDivisionError):
        pass
    return f'discovery.learning_progress is an exact fraction from 0 to 1, such as "0.05" or "1/20", not {text!r}'


# --- strict conversion -----------------------------------------------------------------------------------------------


def _alternatives(wanted: Any) -> tuple[Any, ...]:
    return typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)


_WORDS = {int: "an integer", float: "a number", str: "a text in quotes", bool: "true or false"}


def _described(wanted: Any) -> str:
    if _is_tuple(wanted):
        return "a list of texts"
    return " or ".join(_WORDS[one] for one in _alternatives(wanted) if one in _WORDS)


def _shown(value: Any) -> str:
    return "a table" if isinstance(value, dict) else f"{tomli_w.dumps({'v': value}).strip().removeprefix('v = ')}"


def _exactly(wanted: type) -> Any:
    def hook(value: Any, _: Any) -> Any:
        if type(value) is wanted:
            return value
        if wanted is float and type(value) is int and int(float(value)) == value:
            return float(value)
        hint = ""
        if wanted is int and isinstance(value, float) and value.is_integer():
            hint = f"; write {int(value)}"
        if wanted is str and type(value) in (int, float):
            hint = f'; write "{value}"'
        raise TypeError(f"takes {_WORDS[wanted]}, not {_shown(value)}{hint}")

    return hook


def _is_tuple(wanted: Any) -> bool:
    return typing.get_origin(wanted) is tuple


def _strict_tuple(value: Any, wanted: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError(f"takes {_described(wanted)}, not {_shown(value)}")
    item = typing.get_args(wanted)[0]
    return tuple(_CONVERTER.structure(one, item) for one in value)


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    for wanted in _WORDS:
        converter.register_structure_hook(wanted, _exactly(wanted))
    converter.register_structure_hook_func(_is_tuple, _strict_tuple)
    return converter


_CONVERTER = _converter()


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    return list(value) if isinstance(value, tuple) else value


def _leaves(cls: type, prefix: str) -> Iterator[tuple[str, Any]]:
    hints = typing.get_type_hints(cls)
    for attribute in fields(cls):
        dotted, wanted = f"{prefix}{attribute.name}", hints[attribute.name]
        if attribute.default is NOTHING:
            raise TypeError(f"{dotted} has no default: every setting must have one")
        if has(wanted):
            yield from _leaves(wanted, f"{dotted}.")
        else:
            yield dotted, wanted


_LEAVES: Mapping[str, Any] = types.MappingProxyType(
    dict([*_leaves(Config, ""), *_leaves(Operational, f"{OPERATIONAL}.")])
)
