"""Completion as a shell asks for it: the printed script is loaded, and TAB is pressed, once in each shell. Of what else
there is to complete Forky is asked as bash asks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from forky_core.cli.completion import SHELLS, completer_of
from forky_core.cli.parser import parser
from forky_core.conversation.session import short
from forky_core.forky import Forky
from tests.builders import ScriptedModels, talk
from tests.cli.completing import main
from tests.cli.conftest import Run, environment
from tests.hangs import HANG
from tests.killing import victim

Complete = Callable[[str], list[str]]

# Each prints what the shell is offered for $LINE, with the $SCRIPT that forky prints for it; bash and zsh call the
# function that they call where TAB is pressed.
SCRIPTS = {
    "bash": r"""
eval "$SCRIPT"
COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9
_python_argcomplete forky
printf '%s\n' "${COMPREPLY[@]}"
""",
    "zsh": r"""
compdef() { :; }
_describe() { print -rl -- "${(@P)2}"; }
eval "$SCRIPT"
words=(forky) BUFFER=$LINE CURSOR=${#LINE}
_python_argcomplete
""",
    "fish": "forky completion fish | source; complete -C $LINE",
}
WITHOUT_RC = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}


@pytest.fixture
def titles(database: Path) -> dict[str, str]:
    """A database with two conversations of one title and others; ids by title."""
    with Forky.open(database, models=ScriptedModels()) as forky:
        ids: dict[str, str] = {}
        for title in (
            "Naming the CLI",
            "Naming: the 'library'",
            "Twice",
            "Twice",
            "-m is no title",
            "\x1b[31mred",
        ):
            ids[title] = forky.create(title).id
        forky.create("Thrown away").trash()
        chat = talk(forky.conversation(ids["Naming the CLI"]), "a name?", "grove")
        chat.fork("debug")
        chat.fork("die zweite Idee")
        return ids


@pytest.fixture
def folder(tmp_path: Path, database: Path) -> Path:
    """A folder with the command `forky` in it, which stands on the PATH."""
    where = tmp_path / "bin"
    where.mkdir()
    command = where / "forky"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m forky_core "$@"\n', "utf-8")
    command.chmod(0o755)
    return where


@pytest.fixture
def world(folder: Path, database: Path) -> dict[str, str]:
    return environment() | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "FORKY_DATABASE": str(database),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }


@cache
def printed(shell: str) -> str:
    """The script that `forky completion` prints for this shell."""
    command = [sys.executable, "-m", "forky_core", "completion", shell]
    return subprocess.run(
        command, env=environment(), capture_output=True, text=True, encoding="utf-8", timeout=HANG, check=True
    ).stdout


def press(shell: str, line: str, world: dict[str, str], folder: Path) -> list[str]:
    """What this shell is offered for a line that ends where TAB is pressed."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"There is no {shell}.")
    done = subprocess.run(
        [program, *WITHOUT_RC[shell], "-c", SCRIPTS[shell]],
        env=world | {"LINE": line, "SCRIPT": printed(shell)},
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANG,
        check=True,
    )
    # Where a shell cannot be told that a word is finished, the word ends in a space.
    return [word.rstrip() for word in done.stdout.splitlines() if word]


def answered(line: str, world: dict[str, str], folder: Path) -> list[str]:
    """What Forky offers bash for a line that ends where TAB is pressed."""
    asked = world | {
        "COMP_LINE": line,
        "COMP_POINT": str(len(line.encode())),
        "COMP_TYPE": "9",
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_COMP_WORDBREAKS": " \t\n\"'><=;|&(:",
        "_ARGCOMPLETE_STDOUT_FILENAME": "/dev/stdout",
    }
    with victim(main, str(folder), *(f"{name}={value}" for name, value in asked.items())) as (_, said):
        return [word for word in said.read().split("\013") if word]


@pytest.fixture
def complete(world: dict[str, str], tmp_path: Path) -> Complete:
    return lambda line: answered(line, world, tmp_path)


def test_bash_completes_conversations_and_files(
    world: dict[str, str], titles: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "export.json").write_text("{}", "utf-8")
    for line, words in (
        ("forky log Naming\\ ", ["Naming\\ the\\ CLI"]),
        ("forky import exp", ["export.json"]),
    ):
        assert press("bash", line, world, tmp_path) == answered(line, world, tmp_path) == words


def test_commands_options_and_choices_are_completed(complete: Complete) -> None:
    assert complete("forky comp") == ["compare", "completion"]
    assert complete("forky log --gr") == ["--graph"]
    assert complete("forky completion ") == list(SHELLS)
    assert "three-way" in complete("forky merge debug --strategy ")
    assert "markdown" in complete("forky export x --as ")


def test_conversations_are_completed_by_title(complete: Complete, titles: dict[str, str]) -> None:
    assert complete("forky log Naming\\ ") == ["Naming\\ the\\ CLI"]
    offered = complete("forky log ")
    assert {"Naming\\ the\\ CLI", "Naming:\\ the\\ \\'library\\'"} < set(offered)
    assert {titles["Twice"], titles["-m is no title"]} < set(offered)
    assert not {"Twice", "Thrown\\ away", titles["Naming the CLI"]} & set(offered)
    assert not any("\x1b" in word for word in offered)


def test_an_id_that_is_begun_and_letters_of_either_case_are_completed(
    complete: Complete, titles: dict[str, str]
) -> None:
    id = titles["Naming the CLI"]
    assert complete(f"forky export {id[:-1]}") == [id]
    assert complete("forky verify naming\\ ") == ["Naming\\ the\\ CLI"]


def test_branches_of_the_conversation_that_is_meant_are_completed(
    complete: Complete, titles: dict[str, str]
) -> None:
    assert complete("forky log Naming\\ the\\ CLI --branch d") == ["debug", "die\\ zweite\\ Idee"]
    assert complete("forky graft Naming\\ the\\ CLI --conversation Twice --from de") == ["debug"]
    assert set(complete("forky merge ")) == {"main", "debug", "die\\ zweite\\ Idee"}


def test_messages_and_files_are_completed(complete: Complete, titles: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text("{}", "utf-8")
    (tmp_path / "exports").mkdir()
    assert set(complete("forky import exp")) == {"export.json", "exports/"}
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        path = forky.conversation(titles["Naming the CLI"], "main").path()
    assert set(complete("forky fork new --branch main --at ")) == {short(one.id) for one in path}


def test_fish_shows_what_each_word_is(world: dict[str, str], titles: dict[str, str], tmp_path: Path) -> None:
    offered = press("fish", "forky log Naming", world, tmp_path)
    assert {line.partition("\t")[0] for line in offered} == {"Naming the CLI", "Naming: the 'library'"}
    assert any("2 messages" in line for line in offered)


def test_zsh_shows_what_each_word_is(world: dict[str, str], titles: dict[str, str], tmp_path: Path) -> None:
    offered = press("zsh", "forky log Naming", world, tmp_path)
    assert len(offered) == 2
    assert any(line.startswith("Naming\\ the\\ CLI:2 messages") for line in offered)


def test_where_there_is_no_database_none_is_made(complete: Complete, database: Path) -> None:
    assert complete("forky log ") == []
    assert not database.exists()


def test_a_database_that_is_in_use_offers_nothing(
    complete: Complete, titles: dict[str, str], database: Path
) -> None:
    with Forky.open(database, models=ScriptedModels()):
        assert complete("forky log ") == []


def test_completing_leaves_the_file_as_it_is(
    complete: Complete, titles: dict[str, str], database: Path
) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    assert complete("forky merge ") != []
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before


def arguments(top: argparse.ArgumentParser, name: str = "forky") -> Iterator[tuple[str, argparse.Action]]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                yield from arguments(below, f"{name} {word}")
        else:
            yield name, action


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_for_each_shell(forky: Run, shell: str, database: Path) -> None:
    said = forky("completion", shell)
    assert said.code == 0 and "forky" in said.out and said.err == ""
    assert not database.exists()


def test_every_argument_that_names_a_conversation_or_branch_is_completed() -> None:
    """A new command with such an argument gets it by its `dest` or `metavar`."""
    left = [
        f"{name} {action.dest}"
        for name, action in arguments(parser())
        if action.metavar in {"CONVERSATION", "BRANCH", "SOURCE"} and completer_of(action) is None
    ]
    assert left == []
