"""`forky experiment`: run a grid of questions and models from a file, show its results, write them as a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.plain import one_line, plain, print_pieces
from forky_core.experiments.checks.registry import title
from forky_core.experiments.experiments import Experiments
from forky_core.experiments.exporting.data import as_json
from forky_core.experiments.exporting.facts import dollars, seconds, share, state
from forky_core.experiments.exporting.registry import WRITERS, experiment_writer
from forky_core.experiments.files.experiment_file import read_experiment
from forky_core.experiments.plan import title_of
from forky_core.formats.reports.publishing import write_report
from forky_core.formats.reports.registry import FORMS, form_for_file
from forky_core.formats.reports.things.experiment import experiment_report
from forky_core.model.errors import BadContent, NotFound, NothingToDo, there_are
from forky_core.model.experiment import EXPERIMENTS, Experiment, ExperimentColumn, experiments_in
from forky_core.text.counting import counted

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.experiments.experiment_run import ExperimentRun
    from forky_core.experiments.results import ExperimentResult
    from forky_core.forky import Forky

_EVERY = 0.5
"""Seconds between two lines of progress."""
_MOST_FAILURES = 20
"""How many cells that do not pass are listed."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "experiment", help="ask many questions of many models and check the answers"
    )
    acts = command.add_subparsers(dest="act", required=True, metavar="ACT")
    run_it = acts.add_parser(
        "run", help="run an experiment from a file; run it again to go on where it ended"
    )
    run_it.add_argument(
        "file", type=Path, metavar="FILE", help="YAML, JSON (also promptfoo's), CSV, JSON Lines"
    )
    run_it.add_argument("--name", help="default: what the file says, or its name")
    run_it.add_argument(
        "--model", action="append", default=[], metavar="MODEL", help="a further column (may be repeated)"
    )
    run_it.add_argument("--judge", metavar="MODEL", help="the model that judges")
    run_it.add_argument("--rows", type=int, metavar="N", help="only the first N rows")
    run_it.add_argument("--parallel", type=int, metavar="N", help="so many calls at once")
    run_it.add_argument(
        "--dollars", type=float, metavar="AMOUNT", help="the most that all its calls may cost"
    )
    run_it.add_argument("--reuse", action="store_true", help="take stored answers to identical calls")
    run_it.add_argument("--again", choices=("all",), help="ask also what is answered")
    run_it.add_argument("--dry-run", action="store_true", help="say what would be asked, and ask nothing")
    _add_place(run_it)
    run_it.set_defaults(run=run_file, makes_database=True)
    listing = acts.add_parser("list", help="list the experiments")
    _add_place(listing)
    listing.set_defaults(run=run_list, makes_database=False)
    show = acts.add_parser("show", help="show what an experiment found")
    show.add_argument("name", nargs="?", metavar="NAME", help="default: the only one of the conversation")
    _add_place(show)
    show.set_defaults(run=run_show, makes_database=False)
    export = acts.add_parser("export", help="write an experiment as a page, a table or a file to run again")
    export.add_argument("name", nargs="?", metavar="NAME", help="default: the only one of the conversation")
    export.add_argument(
        "--as",
        dest="format",
        choices=[one.name for one in (*FORMS, *WRITERS)],
        help="default: what the file's name says, or html",
    )
    export.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
    _add_place(export)
    export.set_defaults(run=run_export, makes_database=False)


def _add_place(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--conversation",
        metavar="ID",
        help="where it is kept (default: where one of its name is, or a new one)",
    )
    command.add_argument("--json", action="store_true", help="one JSON object")


def run_file(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    experiment = _wanted(options)
    if options.dry_run:
        return _preview(experiment, options, out)
    place = _conversation_of(forky, experiment.name, options.conversation)
    chat = place if place is not None else forky.create(f"Experiment: {experiment.name}")
    experiments = Experiments(chat)
    for note in experiment.notes:
        print(f"! {one_line(note)}", file=sys.stderr)
    with suppress(NothingToDo):
        experiments.save(experiment)
    try:
        run = experiments.start(experiment.name, again=options.again == "all")
    except NothingToDo as nothing:
        print(one_line(nothing.message), file=sys.stderr)
    else:
        _follow(run)
    result = experiments.result(experiment.name)
    _print(result, chat, options, out)
    return int(_has_fault(result))


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    found = [
        (chat, name)
        for chat in _conversations(forky, options.conversation)
        for name in Experiments(chat).names
    ]
    for chat, name in found:
        experiment = Experiments(chat)[name]
        if options.json:
            entry = {
                "name": name,
                "conversation": chat.id,
                "rows": len(experiment.rows),
                "columns": len(experiment.columns),
            }
            print(json.dumps(entry), file=out)
        else:
            size = f"{counted(len(experiment.rows), 'row')} × {counted(len(experiment.columns), 'column')}"
            print(one_line(f"{name}  {size}  in “{chat.title}” ({chat.id[:13]})"), file=out)
    if not found and not options.json:
        print("There is no experiment.", file=out)
    return 0


def run_show(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat, name = _one(forky, options)
    _print(Experiments(chat).result(name), chat, options, out)
    return 0


def run_export(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat, name = _one(forky, options)
    path: Path | None = options.output
    pieces = _written(Experiments(chat).result(name), options.format or _form_of(path))
    if path is None:
        print_pieces(pieces, out)
        return 0
    try:
        with path.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise BadContent(f"“{path.name}” cannot be written: {error.strerror or error}.") from error
    if options.json:
        print(json.dumps({"experiment": name, "conversation": chat.id, "file": str(path)}), file=out)
    print(f"{one_line(path.name)}: {one_line(name)}", file=sys.stderr)
    return 0


def _form_of(path: Path | None) -> str:
    """Return the form for the suffix of a file's name."""
    suffix = path.suffix.lower() if path is not None else ""
    return next((one.name for one in WRITERS if one.suffix == suffix), form_for_file(path))


def _written(result: ExperimentResult, form: str) -> Iterator[bytes]:
    if any(one.name == form for one in WRITERS):
        return experiment_writer(form).write(result)
    return write_report(experiment_report(result), form)


def _wanted(options: argparse.Namespace) -> Experiment:
    """Read the experiment of the file, and change it as the options say."""
    experiment = read_experiment(options.file)
    columns = [*experiment.columns, *(ExperimentColumn(model) for model in options.model)]
    rows = experiment.rows[: options.rows] if options.rows is not None else experiment.rows
    return replace(
        experiment,
        name=options.name or experiment.name,
        columns=columns or [ExperimentColumn()],
        rows=rows,
        judge=options.judge or experiment.judge,
        parallel=options.parallel if options.parallel is not None else experiment.parallel,
        dollars=options.dollars if options.dollars is not None else experiment.dollars,
        reuse=options.reuse or experiment.reuse,
    )


def _preview(experiment: Experiment, options: argparse.Namespace, out: TextIO) -> int:
    size = f"{counted(len(experiment.rows), 'row')} × {counted(len(experiment.columns), 'column')}, {counted(experiment.size, 'cell')}"
    if options.json:
        entry = {
            "name": experiment.name,
            "cells": experiment.size,
            "notes": list(experiment.notes),
        } | experiment.stored()
        print(json.dumps(entry), file=out)
        return 0
    print(one_line(f"{experiment.name}: {size}"), file=out)
    for column in experiment.columns:
        print(one_line(f"  {column.label or column.model or 'the default model'}"), file=out)
    for row in experiment.rows[:10]:
        checks = ", ".join(title(check) for check in experiment.checks_of(row))
        print(one_line(f"  {row.id}. {title_of(row)[:80]}  [{checks[:120] or 'no checks'}]"), file=out)
    if len(experiment.rows) > 10:
        print(f"  … and {len(experiment.rows) - 10:,} more rows", file=out)
    for note in experiment.notes:
        print(f"! {one_line(note)}", file=out)
    return 0


def _follow(run: ExperimentRun) -> None:
    """Show the progress on a terminal until the run has ended. Ctrl+C stops the run; answers so far stay stored."""
    shows_progress = sys.stderr.isatty()
    try:
        while not run.wait(_EVERY):
            if shows_progress:
                now = run.progress
                line = f"{now.done + now.failed:,} of {now.total:,} answered, {now.judged:,} judged, {dollars(now.cost)}"
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        run.stop()
        run.wait(10)
        raise
    finally:
        if shows_progress:
            print("\r\033[K", end="", file=sys.stderr)
    progress = run.progress
    for note in progress.notes:
        print(f"! {one_line(note)}", file=sys.stderr)
    print(one_line(progress.sentence), file=sys.stderr)


def _print(result: ExperimentResult, chat: Conversation, options: argparse.Namespace, out: TextIO) -> None:
    if options.json:
        print(json.dumps({"conversation": chat.id, **as_json(result)}, ensure_ascii=False), file=out)
        return
    experiment = result.experiment
    size = f"{counted(len(experiment.rows), 'row')} × {counted(len(experiment.columns), 'column')}"
    print(
        one_line(f"{experiment.name}: {size}, {counted(result.calls, 'call')}, {dollars(result.cost)}"),
        file=out,
    )
    widest = max((len(column.label) for column in result.columns), default=0)
    for column in result.columns:
        tokens = column.prompt_tokens + column.completion_tokens
        open_ones = state(column)
        print(
            one_line(f"{column.label}").ljust(min(widest, 50))
            + f"  passes {share(column)}  {column.answered:,}/{column.cells:,} answered  {dollars(column.cost)}  "
            f"{tokens:,} tokens  {seconds(column.seconds)}" + (f"  ({open_ones})" if open_ones else ""),
            file=out,
        )
    for line in (result.verdict, result.agreement.sentence if result.agreement is not None else ""):
        if line:
            print(plain(line), file=out)
    _print_failures(result, out)


def _print_failures(result: ExperimentResult, out: TextIO) -> None:
    labels = {column.column.id: column.label for column in result.columns}
    rows = {row.id: row for row in result.experiment.rows}
    bad = [cell for cell in result.cells.values() if cell.passed is False or cell.status == "failed"]
    for cell in bad[:_MOST_FAILURES]:
        why = cell.reply.why or "; ".join(
            f"{title(one.check)}: {one.verdict.reason}"
            for one in cell.verdicts
            if one.verdict.passed is False
        )
        where = f"{title_of(rows[cell.address.row])[:60]} / {labels[cell.address.column]}"
        print(one_line(f"✗ {where}: {why[:200]}"), file=out)
    if len(bad) > _MOST_FAILURES:
        print(f"… and {len(bad) - _MOST_FAILURES:,} more; `forky experiment export` has all.", file=out)


def _has_fault(result: ExperimentResult) -> bool:
    """Whether a cell has no complete answer, or one that did not pass."""
    return any(cell.passed is False or cell.status != "done" for cell in result.cells.values())


def _one(forky: Forky, options: argparse.Namespace) -> tuple[Conversation, str]:
    """Find the experiment that the options name, or the only one, with its conversation."""
    if options.name is not None:
        chat = _conversation_of(forky, options.name, options.conversation)
        if chat is None:
            raise NotFound(
                f"There is no experiment “{options.name[:60]}”.", "`forky experiment list` names them."
            )
        return chat, options.name
    found = [
        (chat, name)
        for chat in _conversations(forky, options.conversation)
        for name in experiments_in(chat.view)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound("There is no experiment yet.", "Run one: forky experiment run FILE")
    raise BadContent(f"There are {len(found)} experiments; name one.", there_are(name for _, name in found))


def _conversation_of(forky: Forky, name: str, id: str | None) -> Conversation | None:
    """Return the conversation of an id, or the last changed one, outside the trash, with an experiment of this name."""
    if id is not None:
        return forky.conversation(id)
    holders = forky.store.entries(f"{EXPERIMENTS}{name}")
    found = next((one.id for one in forky.conversations() if one.id in holders), None)
    return forky.conversation(found) if found is not None else None


def _conversations(forky: Forky, id: str | None) -> list[Conversation]:
    if id is not None:
        return [forky.conversation(id)]
    return [forky.conversation(summary.id) for summary in forky.conversations() if summary.branches]
