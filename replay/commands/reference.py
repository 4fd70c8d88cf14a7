"""The command reference, generated from the parser: ``python -m replay.commands.reference > docs/commands.md``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator

from replay.cli import DESCRIPTION, PROGRAM, parser
from replay.exit_codes import ExitCode
from replay.report import RETRAINING, SHOWS, SHOWS_NOT
from replay.reproduce import Level


def markdown() -> str:
    """The text of ``docs/commands.md``."""
    made = parser()
    lines = [
        "# Commands",
        "",
        "Generated from the program: `python -m replay.commands.reference > docs/commands.md`.",
        "",
        "```text",
        *DESCRIPTION.strip().splitlines(),
        "```",
        "",
        f"Also installed as `code-sharp-replay`, the same as `{PROGRAM}`. Options of every command:",
        "",
        *_options(made),
        "",
    ]
    for name, command in _commands(made).items():
        lines += [
            f"## {name}",
            "",
            "```text",
            _usage(name, command),
            "```",
            "",
            *_described(command),
            "",
            *_options(command),
            "",
        ]
    lines += [*_levels(), ""]
    lines += [
        "## Exit codes",
        "",
        "Codes below 20 answer the question that was asked; 20 and above say why it could not be.",
        "",
    ]
    lines += ["| code | name | meaning |", "|---|---|---|"]
    lines += [f"| {int(code)} | {code.name.lower().replace('_', '-')} | {code.meaning} |" for code in ExitCode]
    return "\n".join(lines) + "\n"


LEVELS_INTRODUCTION = """\
`reproduce` names the last level that was reached; each includes those before it. A difference between the recording and
what is recomputed has a class, and each class its own exit code. `report.json` holds everything that is printed, and
figures are drawn of the archive, of what became of proposals, of success rates over iterations, and of skills and
achievements as recorded and as reproduced."""


def _levels() -> list[str]:
    rows = [f"| {level.value} | {SHOWS[level]} | {SHOWS_NOT[level]} |" for level in Level]
    return [
        "## Levels of a reproduction",
        "",
        *LEVELS_INTRODUCTION.splitlines(),
        "",
        "| level | it shows | it does not show |",
        "|---|---|---|",
        *rows,
        "",
        f"Any profile but cpu and smoke is {RETRAINING}. A phase keeps the number of epochs that was recorded, each",
        "takes its share of the steps that the profile gives to the whole phase.",
    ]


def _commands(made: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise LookupError("the parser has no commands")


def _usage(name: str, command: argparse.ArgumentParser) -> str:
    """Usage in one line, made here because the standard library's wording changes between versions."""
    return " ".join([PROGRAM, name, *(_used(action) for action in _shown(command))])


def _used(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"{action.metavar}…" if action.nargs == "+" else str(action.metavar)
    text = _option(action)
    return text if action.required else f"[{text}]"


def _option(action: argparse.Action) -> str:
    name = action.option_strings[-1]
    if action.nargs == 0:
        return name
    value = "|".join(map(str, action.choices)) if action.choices else action.metavar
    return f"{name} {value}"


def _described(command: argparse.ArgumentParser) -> list[str]:
    """The description: paragraphs as they are, indented blocks as code."""
    lines: list[str] = []
    for block in (command.description or "").strip().split("\n\n"):
        if all(line.startswith(" ") for line in block.splitlines()):
            lines += ["```text", *textwrap.dedent(block).splitlines(), "```", ""]
        else:
            lines += [*block.splitlines(), ""]
    return lines[:-1]


def _options(command: argparse.ArgumentParser) -> list[str]:
    rows = ["| argument | meaning |", "|---|---|"]
    for action in _shown(command):
        name = _option(action) if action.option_strings else str(action.metavar)
        escaped = name.replace("|", "\\|")
        rows.append(f"| `{escaped}` | {action.help} |")
    return rows


def _shown(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    hidden = (argparse._HelpAction, argparse._SubParsersAction)
    for action in command._actions:
        if action.help is not argparse.SUPPRESS and not isinstance(action, hidden):
            yield action


if __name__ == "__main__":
    sys.stdout.write(markdown())
