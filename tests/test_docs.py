"""Documentation against the program: commands parse, links and paths lead somewhere, examples are accepted."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from engine.sharp.program import CompiledProgram, parse_program
from engine.worlds.craftax_classic.schema import SCHEMA
from replay.cli import parser
from replay.config_file import load_all

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "CHANGELOG.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md")))
TUTORIAL = "docs/tutorial.md"

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_OUTSIDE = re.compile(r"[a-z]+:")
_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"(?:docs|engine|fm|ledger|replay|reproductions|tests)(?:/[A-Za-z0-9_.@-]+)*/?")


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The contents of fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", read(page), re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """The arguments of every ``python -m replay …`` in shell blocks and in inline code."""
    lines = [line for block in blocks(page, "sh") for line in block.replace("\\\n", " ").splitlines()]
    prose = re.sub(r"^```.*?^```", "", read(page), flags=re.DOTALL | re.MULTILINE)
    found = []
    for line in (*lines, *_CODE.findall(prose)):
        _, mark, rest = line.partition("python -m replay ")
        if mark:
            found.append(shlex.split(rest, comments=True))
    return found


@pytest.mark.parametrize("page", ["README.md", TUTORIAL])
def test_every_command_is_understood(page: str) -> None:
    found = commands(page)
    assert len(found) >= 5
    for arguments in found:
        assert parser().parse_args(arguments).name == arguments[0], arguments


def test_a_command_that_is_none_is_seen() -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["reproduce", "x", "--levels", "programs"])


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for link in _LINK.findall(read(page)):
        if _OUTSIDE.match(link):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        assert target.exists(), f"{page} links to {link}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}, link


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md", TUTORIAL])
def test_every_path_named_in_code_exists(page: str) -> None:
    named = [code for code in _CODE.findall(read(page)) if "/" in code and _FILE.fullmatch(code)]
    assert named
    assert [code for code in named if not (ROOT / code).exists()] == []


def test_the_tutorials_runs_can_be_configured() -> None:
    """Its profiles and overrides exist, and none of its runs takes over what another recording says of its answerer."""
    runs = [parser().parse_args(arguments) for arguments in commands(TUTORIAL) if arguments[0] == "run"]
    assert [given.dry_run for given in runs] == [True, False, False]
    for given in runs[1:]:
        copied = load_all(ROOT / given.config, given.profile).config.foundation_model
        own = load_all(ROOT / given.config, given.profile, given.overrides).config.foundation_model
        assert own.model != copied.model
        assert (own.tools, own.isolation) == ("unknown", "unknown") or given.transport == "http"


def test_the_tutorials_settings_are_settings(tmp_path: Path) -> None:
    (text,) = blocks(TUTORIAL, "toml")
    (tmp_path / "experiment.toml").write_text(text, encoding="utf-8")
    operational = load_all(tmp_path / "experiment.toml").operational
    assert operational.prompts_dir == str(tmp_path / "my_prompts")
    assert operational.documents == (str(tmp_path / "manual.md"),)
    assert set(tomllib.loads(text)) == {"operational"}


def test_the_tutorials_skill_is_a_program() -> None:
    (source,) = blocks(TUTORIAL, "python")
    program = parse_program(source, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    assert program.name == "CollectWood"
    assert program.warnings == ()
