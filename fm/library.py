"""Prompt templates: released ones never change in place, a user's own ones replace them by name.

A run records which set of released templates it used (``code_sharp@1``) and the text of every template of the user's
own, so a replay renders the same prompts years later. ``RELEASED.toml`` lists each set and the SHA-256 of each
template; a template whose text no longer has that digest is refused. To change one, add ``propose@2.md`` beside
``propose@1.md`` and list it in a new set.

A template is Markdown with ``$placeholder`` or ``${placeholder}``; ``$$`` is a dollar sign. Its placeholders are
fixed by the released template of the same name: none may be missing, none may be unknown.
"""

from __future__ import annotations

import difflib
import hashlib
import string
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

from attrs import define, evolve, frozen

from ledger.vocabulary.body import Body
from ledger.vocabulary.events import UserTemplate

Origin = Literal["package", "user"]

LOCK_FILE: Final = "RELEASED.toml"
SUFFIX: Final = ".md"


class TemplateError(ValueError):
    """A prompt template or a set of them cannot be used; the message says what to change."""


def normalised(text: str) -> str:
    """A template's text as it is hashed, recorded and rendered: no byte-order mark, line feeds only."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def nearest(name: str, names: Iterable[str]) -> str:
    """`` (did you mean …?)`` with the most similar of ``names``, or an empty text if none is similar."""
    similar = difflib.get_close_matches(name, sorted(names), n=1)
    return f" (did you mean {similar[0]}?)" if similar else ""


@define(frozen=True, slots=False)
class Template:
    """One prompt template: ``version`` counts a released one's releases and is 0 for a user's own."""

    name: str
    version: int
    text: str
    origin: Origin

    @property
    def label(self) -> str:
        """What a call records as its template: ``propose@1``, or ``propose@user``."""
        return f"{self.name}@{self.version if self.origin == 'package' else 'user'}"

    @property
    def sha256(self) -> str:
        """SHA-256 of the text in UTF-8, in hexadecimal."""
        return Body(self.text).digest

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """The names that ``fill`` needs.

        Raises:
            TemplateError: if a ``$`` begins no placeholder.
        """
        for match in string.Template.pattern.finditer(self.text):
            if match.group("invalid") is not None:
                line = self.text.count("\n", 0, match.start()) + 1
                raise TemplateError(
                    f"template {self.label}, line {line}: '$' begins no placeholder; write '$$' for '$'"
                )
        return frozenset(string.Template(self.text).get_identifiers())

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with each placeholder replaced once; what is put in is never expanded again.

        Raises:
            TemplateError: if a value is missing, or there is one that no placeholder takes.
        """
        if missing := sorted(self.placeholders - values.keys()):
            raise TemplateError(f"template {self.label} needs values for {', '.join(missing)}")
        if unknown := sorted(values.keys() - self.placeholders):
            raise TemplateError(f"template {self.label} has no placeholder {', '.join(unknown)}")
        return string.Template(self.text).substitute(values)


@frozen
class Library:
    """The templates in force: one per name."""

    prompts: str
    templates: tuple[Template, ...]

    @classmethod
    def released(cls, prompts: str = "code_sharp@1") -> Library:
        """The released set ``prompts``, as it was released.

        Raises:
            TemplateError: if there is no such set, or an installed template differs from its release.
        """
        return _released(prompts)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the templates, in the order of the set."""
        return tuple(template.name for template in self.templates)

    def get(self, name: str) -> Template:
        """The template of that name.

        Raises:
            TemplateError: if the set has none.
        """
        for template in self.templates:
            if template.name == name:
                return template
        raise TemplateError(f"{self.prompts} has no template {name}{nearest(name, self.names)}")

    def with_user(self, templates: tuple[UserTemplate, ...]) -> Library:
        """This library with ``templates`` in the place of the released ones of the same names.

        Raises:
            TemplateError: for an unknown name, a name given twice, or placeholders other than the released ones.
        """
        own: dict[str, Template] = {}
        for given in templates:
            if given.name not in self.names:
                raise TemplateError(
                    f"{given.name!r} is no template of {self.prompts}{nearest(given.name, self.names)}; "
                    f"its templates are {', '.join(self.names)}"
                )
            if given.name in own:
                raise TemplateError(f"template {given.name!r} is given twice; keep one of the two")
            own[given.name] = _checked(given, self.get(given.name))
        return evolve(self, templates=tuple(own.get(template.name, template) for template in self.templates))


def from_directory(directory: Path, prompts: str = "code_sharp@1") -> tuple[UserTemplate, ...]:
    """A user's own templates: every ``<name>.md`` in ``directory`` (``prompts_dir``), in the order of their names.

    Hidden files are left out. What is returned has been checked against the set ``prompts`` and is ready for
    ``Library.with_user``.

    Raises:
        TemplateError: if the folder cannot be read or holds anything else, or for whatever ``with_user`` refuses.
    """
    library = Library.released(prompts)
    try:
        entries = sorted(entry for entry in directory.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise TemplateError(f"prompts_dir {directory} cannot be listed: {error.strerror}") from error
    allowed = [name + SUFFIX for name in library.names]
    found = []
    for entry in entries:
        if entry.name not in allowed or not entry.is_file():
            raise TemplateError(
                f"{entry} is no template of {prompts}{nearest(entry.name, allowed)}; "
                f"prompts_dir may hold {', '.join(allowed)}"
            )
        try:
            text = entry.read_bytes().decode("utf-8")
        except OSError as error:
            raise TemplateError(f"{entry} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise TemplateError(f"{entry} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
        found.append(UserTemplate(entry.name.removesuffix(SUFFIX), Body(normalised(text))))
    library.with_user(tuple(found))
    return tuple(found)


def _checked(given: UserTemplate, released: Template) -> Template:
    template = Template(given.name, 0, normalised(given.text.text), "user")
    if not template.text.strip():
        raise TemplateError(f"template {template.label} is empty; remove its file to use {released.label}")
    wanted = released.placeholders
    for name in sorted(template.placeholders - wanted):
        known = ", ".join(f"${each}" for each in sorted(wanted)) or "none"
        raise TemplateError(
            f"template {template.label} uses ${name}{nearest(name, wanted)}; "
            f"the placeholders of {given.name} are {known}"
        )
    if missing := sorted(wanted - template.placeholders):
        raise TemplateError(
            f"template {template.label} lacks {', '.join(f'${name}' for name in missing)}: "
            "without it the model would not see what it must answer to"
        )
    return template


@cache
def _lock() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files("fm").joinpath("prompts", LOCK_FILE).read_text("utf-8"))


@cache
def _released(prompts: str) -> Library:
    sets = _lock()["sets"]
    if prompts not in sets:
        raise TemplateError(
            f"there is no released set of prompts {prompts!r}{nearest(prompts, sets)}; "
            f"there are: {', '.join(sorted(sets))}"
        )
    folder = prompts.partition("@")[0]
    return Library(prompts, tuple(load_template(folder, label, _lock()["sha256"]) for label in sets[prompts]))


def load_template(folder: str, label: str, digests: Mapping[str, str]) -> Template:
    """The packaged template ``label`` (``propose@1``) of the sets in ``folder``, checked against its released digest.

    Raises:
        TemplateError: if its text is not the released one, or no digest is listed for it.
    """
    name, _, version = label.partition("@")
    raw = resources.files("fm").joinpath("prompts", folder, label + SUFFIX).read_bytes()
    template = Template(name, int(version), normalised(raw.decode("utf-8")), "package")
    released = digests.get(f"{folder}/{label}")
    if released != hashlib.sha256(template.text.encode("utf-8")).hexdigest():
        raise TemplateError(
            f"{folder}/{label}{SUFFIX} is not the text that was released: restore it; to change a prompt, release "
            f"{name}@{int(version) + 1} in a new set, or put your own {name}{SUFFIX} into prompts_dir"
        )
    return template
