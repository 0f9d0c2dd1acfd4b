"""`forky` as a shell calls it at a press of TAB, in a process that has imported it: tests/killing.py forks it."""

from __future__ import annotations

import os

from forky_core.cli.completion import complete_if_asked
from forky_core.cli.parser import parser


def main(folder: str, *environment: str) -> None:
    """Answer on the standard output and end; each of `environment` is NAME=VALUE."""
    os.chdir(folder)
    for one in environment:
        name, _, value = one.partition("=")
        os.environ[name] = value
    complete_if_asked(parser())
