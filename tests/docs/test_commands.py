"""Commands and flags that the documentation shows exist, and pages made from the code are current."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from documented import ROOT

from workbench.cli.app import app

PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(page for name in ("how-to", "explanation") for page in (ROOT / "docs" / name).glob("*.md")),
]
SHOWN = re.compile(r"^workbench ([^\n#]+)|`workbench ([^`]+)`", re.M)
PLACEHOLDER = re.compile(r"[A-Z]+$|-")
"""What stands where a command does not: COMMAND, or a flag of the program."""


def unknown(text: str) -> list[str]:
    """The commands and flags of a text that the command line does not have."""
    group, wrong = typer.main.get_command(app), []
    for match in SHOWN.finditer(text):
        words = shlex.split((match[1] or match[2]).replace("'", ""))
        command = group
        while hasattr(command, "commands") and words and not PLACEHOLDER.match(words[0]):
            name = words.pop(0)
            command = command.commands.get(name)
            if command is None:
                wrong.append(f"workbench {name}")
                break
        if command is None:
            continue
        flags = {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
        given = [word for word in words if re.match(r"--?[a-z]", word)]
        wrong += [f"{command.name} {flag}" for flag in given if flag not in flags | {"--help"}]
    return wrong


def test_unknown_finds_a_command_and_a_flag_that_do_not_exist():
    text = (
        "workbench fit kos --engine cgs\nand `workbench fits kos`, `workbench fit kos --engin cgs`"
    )
    assert unknown(text) == ["workbench fits", "fit --engin"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_a_page_exist(page: Path):
    assert unknown(page.read_text(encoding="utf-8")) == []


def helps(command) -> list[str]:
    """The help of a command, of its options and arguments, and of the commands in it."""
    return [
        command.help or "",
        *(getattr(each, "help", None) or "" for each in command.params),
        *(text for each in getattr(command, "commands", {}).values() for text in helps(each)),
    ]


def test_no_help_cites_a_file_that_an_installed_package_does_not_have():
    texts = helps(typer.main.get_command(app))
    assert len(texts) > 300
    assert [text for text in texts if re.search(r"docs/|\.md\b", text)] == []


def test_generated_files_are_current(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    from generated import choices, engines_table

    for name, text in (("docs/engines.md", engines_table), ("workbench/choices.pyi", choices)):
        written = (ROOT / name).read_text(encoding="utf-8")
        assert written == text(), "run python docs/site/generated.py"
