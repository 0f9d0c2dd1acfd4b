"""The arguments of `forky`, and its error handling: a sentence on standard error and an exit code, no stack trace.

Exit codes: 0 done, 1 it failed or found something wrong, 2 invalid arguments, 3 an import is incomplete or not all of
it was understood, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata
from io import TextIOWrapper
from typing import TYPE_CHECKING

from forky_core.cli.help_screen import TopParser
from forky_core.cli.opened_team import team_beside
from forky_core.cli.plain import plain
from forky_core.forky import Forky
from forky_core.model.errors import ForkyError, NotFound, RequestError, StoreBusy
from forky_core.process.lazy_names import import_when_used
from forky_core.process.log_setup import set_up_logging
from forky_core.process.settings import Settings, gone_settings

if TYPE_CHECKING:
    from forky_core.people.views import operator_view
else:
    import_when_used(globals(), __spec__)

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "up": ("up", "serve"),
    "chat": ("chat",),
    "listing": ("list",),
    "log": ("log",),
    "branching": ("fork", "branch"),
    "verbs": (
        "search",
        "read",
        "report",
        "status",
        "compare",
        "say",
        "ask",
        "undo",
        "redo",
        "stash",
        "tag",
        "trash",
        "history",
        "plan",
        "propose",
        "review",
        "land",
        "approve",
        "mcp",
    ),
    "contexts": ("context", "memory", "pin", "exclude"),
    "documenting": ("documents",),
    "merging": ("merge", "graft"),
    "settling": ("fuse", "resolve"),
    "requesting": ("request",),
    "voting": ("vote", "polls"),
    "rebasing": ("rebase", "revert"),
    "bisecting": ("bisect",),
    "experimenting": ("experiment",),
    "importing": ("import",),
    "exporting": ("export",),
    "continuing": ("continue",),
    "publishing": ("publish",),
    "linking": ("link",),
    "merge_file": ("merge-file", "diff"),
    "analysing": ("tables", "sql"),
    "token": ("token",),
    "erasing": ("erase",),
    "verify": ("verify",),
    "repair": ("repair",),
    "moving": ("move",),
    "password": ("password",),
    "admin": ("admin",),
    "inbox": ("inbox",),
    "completion": ("completion",),
}
"""The commands by the modules of this package that have them, in the order in which shells offer them; help_screen.py
has the order of the help.
"""


def parser(named: str = "") -> argparse.ArgumentParser:
    """The parser of all commands, or only of those in the module of the command `named`, which alone is imported."""
    top = TopParser(prog="forky", description="Version control for conversations with language models.")
    top.add_argument("--version", action="version", version=f"forky {_version()}")
    top.add_argument("--database", metavar="FILE", help="default: FORKY_DATABASE, or one in your data folder")
    top.add_argument(
        "--workspace",
        dest="in_workspace",
        metavar="NAME",
        help="one of those in a PostgreSQL database (default: FORKY_WORKSPACE, or main)",
    )
    commands = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    for module, names in COMMANDS.items():
        if not named or named in names:
            import_module(f"forky_core.cli.{module}").add_to(commands)
    return top


COMPLETES = "_ARGCOMPLETE"
"""The variable by which a shell asks for completions."""
INTERRUPTED = "Query interrupted"
"""The message of the RuntimeError that DuckDB raises instead of a KeyboardInterrupt."""


def main(arguments: Sequence[str] | None = None) -> int:
    _replace_unprintable_characters()
    given = sys.argv[1:] if arguments is None else arguments
    named = next((one for one in given if any(one in names for names in COMMANDS.values())), "")
    try:
        top = parser("" if COMPLETES in os.environ or _asks_for_all(given, named) else named)
        if COMPLETES in os.environ:
            import_module("forky_core.cli.completion").complete_if_asked(top)
        options = top.parse_args(arguments)
        _set_up_logging()
        return _run(options)
    except RequestError as error:
        print(plain(str(error)), file=sys.stderr)
        return 2
    except ForkyError as error:
        print(plain(str(error)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has closed the pipe; nothing may be written to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _asks_for_all(given: Sequence[str], named: str) -> bool:
    """Whether anything but options with their values stands before the command."""
    before = list(given[: given.index(named)]) if named else list(given)
    while before:
        option = before.pop(0)
        if option in {"--database", "--workspace"} and before:
            before.pop(0)
        elif not option.startswith(("--database=", "--workspace=")):
            return True
    return not named


def _set_up_logging() -> None:
    """Log as FORKY_LOG says. By default a command logs nothing, because it prints its errors as sentences."""
    settings = Settings.from_environment()
    if settings.log is not None:
        set_up_logging(settings.log.form, settings.log.level, settings.slow)


def _run(options: argparse.Namespace) -> int:
    if options.makes_database is None:
        return int(options.run(options))
    for sentence in gone_settings():
        print(plain(sentence), file=sys.stderr)
    place = options.database
    if not _is_there(place):
        if not options.makes_database:
            raise _missing(place)
        if getattr(options, "only_looks", False) or getattr(options, "lists", False):
            place = ":memory:"
    with _opened(place, options) as forky:
        with _with_team(forky, place, options) as workspace_of_operator:
            code = int(options.run(workspace_of_operator, options, sys.stdout))
        # Flush here, where a closed pipe is still handled, and not at exit.
        sys.stdout.flush()
        return code


def _opened(place: str | None, options: argparse.Namespace) -> Forky:
    """Open the database. If a running app has it open, all goes through the app; a command that cannot says what else
    can be done.
    """
    try:
        return Forky.open(place, workspace=options.in_workspace, by_app=getattr(options, "by_app", True))
    except StoreBusy as error:
        error.hint = getattr(options, "while_open", "") or error.hint
        raise


@contextmanager
def _with_team(forky: Forky, place: str | None, options: argparse.Namespace) -> Iterator[Forky]:
    """Yield the workspace as the operator of its team sees it, with people's names; unchanged if it has no team."""
    named = options.in_workspace
    with team_beside(place, named) as team:
        if (
            named
            and not options.makes_database
            and not (forky.conversations() or forky.conversations(trashed=True))
            and not (team is not None and team.members.all())
        ):
            raise NotFound(
                f"Nobody has begun a workspace “{named[:60]}” in this database.",
                "`Forky.open(…, workspace=…)` begins one by its first conversation.",
            )
        yield operator_view(forky, team) if team is not None else forky


def _is_there(option: str | None) -> bool:
    """Whether the database exists already. A mistyped path must not create an empty one."""
    place = _place(option)
    return place == ":memory:" or "://" in place or os.path.exists(os.path.expanduser(place))  # noqa: PTH110, PTH111 - they answer for any text


def _missing(option: str | None) -> NotFound:
    return NotFound(
        f"There is no database {_place(option)}.", "`forky chat` makes one; --database names another."
    )


def _place(option: str | None) -> str:
    return str(option or Settings.from_environment().database)


def _replace_unprintable_characters() -> None:
    """Print “?” for characters that the terminal cannot show, instead of ending the program with an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _version() -> str:
    try:
        return metadata.version("forky")
    except metadata.PackageNotFoundError:
        return "from a checkout"
