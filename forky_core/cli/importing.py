"""`forky import`: import files of other programs and of Forky, after a preview if that is wanted."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.piped_input import lasting
from forky_core.cli.plain import one_line, plain, print_outcome
from forky_core.cli.titles import conversation_called
from forky_core.formats.forky_file.adopting import AdoptResult, fork_or_pull
from forky_core.formats.forky_file.files import load
from forky_core.formats.importing.following import follow
from forky_core.formats.importing.import_record import (
    ImportedFile,
    ImportRecord,
    broken_off,
    import_of,
    imports,
    keep_import,
    source_of,
)
from forky_core.formats.importing.landing import Imported, ImportProgress, PreviewLine, import_file, preview
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, ImportBrokenOff, NotFound
from forky_core.model.parts import Json
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.forky import Forky


_ADDRESS = re.compile(r"(https?):/+(.*)")
"""The address of a link, in which a path has joined the slashes."""
INCOMPLETE = 3
"""The exit code if something was imported, but not all of it, or not all was understood."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "import",
        help="bring conversations from a file of any known format, or from all files of a folder",
        epilog="Exit code 3: it came, but not all of it, or parts were kept without being understood.",
    )
    command.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="or a folder, the address of a link, or - for what comes in by a pipe",
    )
    either = command.add_mutually_exclusive_group()
    either.add_argument(
        "--preview", dest="only_looks", action="store_true", help="list what is in it; write nothing"
    )
    command.add_argument(
        "--only", metavar="N,N-N", type=_numbers, help="these of the conversations that --preview lists"
    )
    either.add_argument(
        "--fork", action="store_true", help="a Forky file: as a conversation of your own that remembers it"
    )
    either.add_argument(
        "--pull",
        metavar="CONVERSATION",
        help="a Forky file: what is new in it, into the conversation forked from it, or as a proposal into its original",
    )
    either.add_argument(
        "--follow",
        action="store_true",
        help="bring what is new whenever the file, or one in the folder, changes, until Ctrl+C",
    )
    either.add_argument(
        "--list", dest="lists", action="store_true", help="list the imports, those that were broken off too"
    )
    either.add_argument(
        "--finish", metavar="NUMBER", type=int, help="go on with an import that was broken off"
    )
    either.add_argument(
        "--keep", metavar="NUMBER", type=int, help="leave an import that was broken off as it is"
    )
    either.add_argument(
        "--undo", metavar="NUMBER", type=int, help="take an import back, whole or as far as it came"
    )
    command.add_argument("--json", action="store_true", help="one JSON object a line")
    while_open = "While the app runs, its Library imports, and it does what --follow does."
    command.set_defaults(run=run, makes_database=True, while_open=while_open)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    if options.lists:
        _list_imports(forky, options, out)
        return 0
    if options.undo is not None:
        gone = undo_import(forky, options.undo)
        sentence = f"Took {count(gone, 'conversation')} back; what was new is in the trash."
        return print_outcome(options, {"import": options.undo, "taken_back": gone}, sentence, out)
    if options.keep is not None:
        keep_import(forky.store, options.keep)
        record = import_of(forky.store, options.keep)
        if options.json:
            print(json.dumps(_record_as_json(record), ensure_ascii=False), file=out)
        else:
            print(plain(f"Kept: {_described_record(record)}"), file=out)
        return 0
    code = _import(forky, options, out)
    print_interrupted_imports(forky)
    return code


def _import(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    if options.finish is not None:
        record = import_of(forky.store, options.finish)
        if record.state != "broken off":
            raise NotFound(f"Import {record.number} was not broken off.")
        if not record.can_be_read_again:
            raise NotFound(
                f"Forky keeps no copy of “{one_line(record.source.file)}”.",
                "`forky import FILE` with the same file finishes this import.",
            )
        source = source_of(Path(record.source.path))
        if source.identity != record.source.identity:
            raise BadContent(
                f"{one_line(record.source.path)} has changed since.",
                "`forky import FILE` brings what is in it now, as an import of its own.",
            )
        options.only = record.chosen
        with _stopped_by_ctrl_c() as asked:
            return _take(forky, Path(source.path), source, options, out, asked)
    if not options.files:
        raise BadContent("Which file?", "forky import FILE …")
    if options.follow:
        return _follow(forky, options, out)
    codes: list[int] = []
    with lasting(options.files) as paths, _stopped_by_ctrl_c() as asked:
        for named, path in zip(options.files, paths, strict=True):
            try:
                _go_on_unless(asked)
                codes.append(_read(forky, path, options, out, asked, is_copy=path != named))
            except BadContent as error:
                if len(paths) == 1:
                    raise
                print(plain(str(error)), file=sys.stderr)
                codes.append(1)
            except KeyboardInterrupt:
                if len(paths) > 1:
                    came = f"{len(codes)} of {len(paths)} files were read"
                    print(f"Stopped: {came}. The same command goes on with the others.", file=sys.stderr)
                raise
    return 1 if 1 in codes else max(codes)


def _go_on_unless(asked: Event) -> None:
    if asked.is_set():
        raise KeyboardInterrupt


@contextmanager
def _stopped_by_ctrl_c() -> Iterator[Event]:
    """Yield an event that the first Ctrl+C sets, so that an import ends after a conversation and not in the middle of a
    query. The second Ctrl+C interrupts at once.
    """
    asked = Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if current_thread() is not main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def print_interrupted_imports(forky: Forky) -> None:
    """Print one line to standard error for each interrupted import."""
    for record in broken_off(forky.store):
        print(
            plain(
                f"Import {record.number} of “{one_line(record.source.file)}” was broken off: {record.how_far}. "
                f"{_ways_on(record)}"
            ),
            file=sys.stderr,
        )


def _ways_on(record: ImportRecord) -> str:
    finish = "Importing the same file"
    if record.source.follows:
        finish = f"forky import --follow {one_line(record.source.follows)}"
    elif record.can_be_read_again:
        finish = f"forky import --finish {record.number}"
    return f"{finish} goes on with it, forky import --undo {record.number} takes all of it back."


def _list_imports(forky: Forky, options: argparse.Namespace, out: TextIO) -> None:
    for record in imports(forky.store):
        if options.json:
            print(json.dumps(_record_as_json(record), ensure_ascii=False), file=out)
        else:
            print(plain(_described_record(record)), file=out)
            if record.state == "broken off":
                print(plain(f"       {_ways_on(record)}"), file=out)


def _described_record(record: ImportRecord) -> str:
    how_far = (
        record.how_far if record.state != "finished" else count(len(record.conversations), "conversation")
    )
    size = f"{how_far}, {count(record.messages, 'message')}"
    return f"{record.number:>5}  {stamp(record.began):>16}  {record.state:>10}  {one_line(record.source.file)}: {size}"


def _record_as_json(record: ImportRecord) -> dict[str, Json]:
    return {
        "import": record.number,
        "file": record.source.file,
        "began": record.began,
        "state": record.state,
        "conversations": list(record.conversations),
        "messages": record.messages,
        "expected": record.expected,
        "path": record.source.path or None,
    }


def _read(
    forky: Forky, path: Path, options: argparse.Namespace, out: TextIO, asked: Event, *, is_copy: bool
) -> int:
    """Preview, adopt or import one file, as the options say; `is_copy` if `path` is a temporary copy of a pipe."""
    if (address := _ADDRESS.fullmatch(path.as_posix())) is not None:
        from forky_core.people.links.original import take_from_link  # noqa: PLC0415 - it loads a client for HTTP

        if options.only_looks or options.only is not None:
            raise BadContent("What a link shows comes whole.", "forky import ADDRESS")
        link, into = f"{address[1]}://{address[2]}", _pulled_into(forky, options)
        _print_adopted(take_from_link(forky, link, into=into, anew=options.fork), options, out)
        return 0
    if options.fork or options.pull:
        chat, through, into = load(path), f"the file {one_line(path.name)}", _pulled_into(forky, options)
        _print_adopted(fork_or_pull(forky, chat, through=through, into=into, anew=options.fork), options, out)
        return 0
    if options.only_looks:
        return _list(forky, path, options, out, asked)
    return _take(forky, path, source_of(path, lies_there=not is_copy), options, out, asked)


def _follow(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    if len(options.files) != 1 or options.only is not None:
        raise BadContent("One file or folder is followed, and all of it.", "forky import --follow FILE")
    path: Path = options.files[0]

    def tell(done: Imported) -> None:
        if options.json:
            print(json.dumps(_outcome(path, done), ensure_ascii=False), file=out, flush=True)
        elif done.conversations:
            _report(path, done, out)
            out.flush()

    with suppress(KeyboardInterrupt):
        follow(forky, path, tell, stop=Event())
    return 0


def _pulled_into(forky: Forky, options: argparse.Namespace) -> ConversationId | None:
    return conversation_called(forky, options.pull).id if options.pull else None


def _print_adopted(done: AdoptResult, options: argparse.Namespace, out: TextIO) -> None:
    if options.json:
        print(json.dumps(asdict(done)), file=out)
    elif done.outcome == "unchanged":
        print("Nothing is new in it.", file=out)
    else:
        print(f"{count(done.messages, 'message')} → {done.conversation}", file=out)
    for remark in done.remarks if not options.json else ():
        print(f"  {remark}", file=out)


def _list(forky: Forky, path: Path, options: argparse.Namespace, out: TextIO, asked: Event) -> int:
    """List the conversations of a file; return 1 if none of them can be imported."""
    wanted: Collection[int] | None = options.only
    code = 1
    for line in preview(forky, path):
        _go_on_unless(asked)
        code = code if line.problem else 0
        if wanted is not None and line.number not in wanted:
            continue
        if options.json:
            print(json.dumps(_as_json(line), ensure_ascii=False), file=out)
        else:
            print(plain(_described(line)), file=out)
    return code


def _described(line: PreviewLine) -> str:
    if line.problem:
        return f"{line.number:>5}  {one_line(line.title)}: {line.problem}"
    when = stamp(line.created) if line.created else "no date"
    size = f"{count(line.messages, 'message')}, {count(line.branches, 'branch')}"
    here = "  (imported before)" if line.known else ""
    here += f"  (a fork of “{one_line(line.home)}”, proposed there)" if line.home else ""
    here += f"  ({count(line.account.not_understood, 'part')} not understood)" if line.account.unread else ""
    return f"{line.number:>5}  {when:>16}  {size:>26}  {one_line(title_or_placeholder(line.title))}  [{line.label}]{here}"


def _as_json(line: PreviewLine) -> dict[str, Json]:
    return {
        "number": line.number,
        "label": line.label,
        "title": line.title,
        "created": line.created,
        "messages": line.messages,
        "branches": line.branches,
        "account": line.account.stored(),
        "problem": line.problem,
        "known": line.known,
        "home": line.home or None,
        "forks": [{"conversation": fork.id, "title": fork.title} for fork in line.forks],
    }


def _take(
    forky: Forky,
    path: Path,
    source: ImportedFile,
    options: argparse.Namespace,
    out: TextIO,
    asked: Event,
) -> int:
    wanted: Collection[int] | None = options.only
    shows = sys.stderr.isatty() and not options.json
    number = 0

    def progress(now: ImportProgress) -> None:
        nonlocal number
        number = now.number
        _go_on_unless(asked)
        if shows and now.done % 20 == 0:
            print(
                f"\r{count(now.done, 'conversation')}, {count(now.account.imported, 'message')} ",
                end="",
                file=sys.stderr,
            )

    try:
        done = import_file(forky, path, chosen=wanted, on_progress=progress, source=source)
    except ImportBrokenOff as error:
        if options.json:
            print(
                json.dumps(_record_as_json(import_of(forky.store, error.number)), ensure_ascii=False),
                file=out,
            )
        raise
    except KeyboardInterrupt:
        _print_interruption(forky, number)
        raise
    finally:
        if shows:
            print("\r\033[K", end="", file=sys.stderr)
    beyond = min((one for one in wanted or () if not 1 <= one <= done.found), default=None)
    if options.json:
        print(json.dumps(_outcome(path, done), ensure_ascii=False), file=out)
    else:
        _report(path, done, out)
    if beyond is not None:
        holds = count(done.found, "conversation")
        print(f"{one_line(path.name)} holds {holds}; it has no number {beyond}.", file=sys.stderr)
        return 1
    if done.problems and not (done.conversations or done.unchanged):
        return 1
    return 0 if done.whole else INCOMPLETE


def _print_interruption(forky: Forky, number: int) -> None:
    if any(record.number == number for record in broken_off(forky.store)):
        print_interrupted_imports(forky)
    else:
        print("Nothing had come in yet.", file=sys.stderr)


def _outcome(path: Path, done: Imported) -> dict[str, Json]:
    return {
        "file": path.name,
        "import": done.number,
        "finishes": done.finishes,
        "conversations": list(done.conversations),
        "unchanged": done.unchanged,
        "problems": [{"what": one.label, "why": one.why} for one in done.problems],
        "account": done.account.stored(),
        "whole": done.whole,
    }


def _report(path: Path, done: Imported, out: TextIO) -> None:
    account = done.account
    print(
        f"{one_line(path.name)}: {count(len(done.conversations), 'conversation')} imported, {done.unchanged} unchanged.",
        file=out,
    )
    print(
        f"  of {count(account.seen, 'node')}: {account.imported} messages, {account.already} here before, "
        f"{account.collapsed} said the same twice, {sum(account.skipped.values())} left out",
        file=out,
    )
    for why, number in {**account.skipped, **account.notes}.items():
        print(f"  {number:>6} × {why}", file=out)
    for what, number in account.unread.items():
        print(f"  {number:>6} × {one_line(what)}; kept as it is", file=out)
    for problem in done.problems:
        print(plain(f"  not imported: {one_line(problem.label)}: {problem.why}"), file=out)
    if not done.whole:
        print(f"  {account.missing(len(done.problems))}", file=out)
    if done.finishes:
        print(
            f"  This finishes import {done.number}, which was broken off: {count(done.finishes, 'conversation')} had come in.",
            file=out,
        )
    if done.number:
        print(f"  forky import --undo {done.number} takes it back.", file=out)


def _numbers(text: str) -> Collection[int]:
    """Read a list of numbers and ranges, such as `1,4-6`."""
    found: set[int] = set()
    for piece in text.split(","):
        first, dash, last = piece.partition("-")
        try:
            low, high = int(first), int(last if dash else first)
        except ValueError:
            raise argparse.ArgumentTypeError(f"“{piece}” is no number or range") from None
        if high < low:
            raise argparse.ArgumentTypeError(f"“{piece}” runs backwards")
        if high - low > 1_000_000:
            raise argparse.ArgumentTypeError(f"“{piece}” is too long a range")
        found.update(range(low, high + 1))
    return found
