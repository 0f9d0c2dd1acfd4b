"""The text of `forky --help`: every command on one screen, grouped by what a person wants to do."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from itertools import zip_longest

GROUPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "talk and look",
        (
            ("chat", "talk to a model"),
            ("say, ask", "say something; and ask"),
            ("search", "find messages by words"),
            ("status", "what is open, and where"),
            ("read", "messages, whole"),
            ("report", "what a branch has answered"),
            ("continue", "a branch in another program"),
            ("list", "list the conversations"),
            ("log", "show one, also as a graph"),
            ("context", "what a model would be sent"),
            ("memory", "how much of it is sent"),
            ("pin", "always send some messages"),
            ("exclude", "never send some messages"),
            ("documents", "what answers may quote"),
        ),
    ),
    (
        "branch and merge",
        (
            ("fork", "begin a branch anywhere"),
            ("branch", "list, rename, delete them"),
            ("merge", "merge branches into another"),
            ("plan, land", "see a merge; land that one"),
            ("propose", "a branch, for others"),
            ("review", "a proposal, by quoting it"),
            ("approve", "a proposal, as planned"),
            ("graft", "merge another conversation"),
            ("fuse", "make one answer of several"),
            ("resolve", "settle what merges left"),
            ("request", "propose a branch, answer"),
            ("rebase", "move a branch onto another"),
            ("revert", "take messages back"),
            ("bisect", "find where it went wrong"),
            ("undo, redo", "the last step of anybody"),
            ("stash, tag", "put aside; name a message"),
            ("history", "what was done, and by whom"),
            ("trash", "throw one away, or not"),
        ),
    ),
    (
        "compare and decide",
        (
            ("compare", "branches side by side"),
            ("experiment", "ask many models, and check"),
            ("polls", "open polls, count votes"),
            ("vote", "vote, or change your vote"),
            ("inbox", "what you have not read yet"),
        ),
    ),
    (
        "bring and take",
        (
            ("import", "bring conversations"),
            ("export", "write one as a file"),
            ("publish", "a comparison, poll or merge"),
            ("link", "let others read one thing"),
            ("diff", "how two of its files differ"),
            ("merge-file", "unite two of its files"),
            ("tables", "write tables for analysis"),
            ("sql", "ask the database in SQL"),
        ),
    ),
    (
        "serve and administer",
        (
            ("up, serve", "start the app"),
            ("token", "tokens of programs"),
            ("mcp", "tools for an agent"),
            ("password", "for browsers elsewhere"),
            ("admin", "a team's people and copies"),
            ("verify", "check that all is whole"),
            ("repair", "open a damaged database"),
            ("move", "move all to a new database"),
            ("erase", "erase a message for good"),
            ("completion", "complete words in a shell"),
        ),
    ),
)
"""Every command with half a line; `tests/cli/test_up.py` compares the list with the parser's commands."""
_NAME = 11
_COLUMN = 40


class TopParser(argparse.ArgumentParser):
    """The parser of `forky`, whose help lists the commands by `GROUPS`."""

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        top = formatter.format_help()
        options = self._get_formatter()
        options.start_section(self._optionals.title)
        options.add_arguments(self._optionals._group_actions)
        options.end_section()
        commands = "\n".join(_lines(two_columns=shutil.get_terminal_size().columns >= 2 * _COLUMN))
        rest = "`forky COMMAND --help` explains a command."
        return f"{top}\n{commands}\n\n{options.format_help()}\n{rest}\n"


def _lines(*, two_columns: bool) -> Iterator[str]:
    for title, commands in GROUPS:
        yield f"{title}:"
        cells = [f"  {name:{_NAME}}{about}" for name, about in commands]
        if not two_columns:
            yield from cells
            continue
        half = -(-len(cells) // 2)
        for left, right in zip_longest(cells[:half], cells[half:], fillvalue=""):
            yield f"{left:{_COLUMN}}{right}".rstrip()
