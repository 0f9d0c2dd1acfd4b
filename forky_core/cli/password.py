"""`forky password`: set the password for browsers on other machines; it replaces the printed secret."""

from __future__ import annotations

import argparse
import getpass
import sys

from forky_core.cli.plain import plain
from forky_core.gateway.access.credentials import PasswordFile, hashed
from forky_core.model.errors import BadContent
from forky_core.process.settings import password_file


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "password",
        help="set the password for browsers beyond this machine",
        description="Set the password for browsers beyond this machine. It is asked for twice, or read from a pipe.",
    )
    choice = command.add_mutually_exclusive_group()
    choice.add_argument(
        "--clear", action="store_true", help="take it away: a secret is printed at each start again"
    )
    choice.add_argument(
        "--hash", action="store_true", help="set nothing, print the hash for FORKY_PASSWORD_HASH"
    )
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    file = PasswordFile(password_file())
    if options.clear:
        text = "The password is taken away." if file.clear() else "No password was set."
    elif options.hash:
        text = hashed(_typed())
    else:
        file.save(hashed(_typed()))
        text = f"The password is set, in {file.path}. Browsers that are signed in have to sign in again."
    print(plain(text))
    return 0


def _typed() -> str:
    """Ask for the new password, which is typed twice without being shown, or read as one line from a pipe."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("New password: ")
    if getpass.getpass("Once more: ") != password:
        raise BadContent("The two are not the same.", "Nothing was changed.")
    return password
