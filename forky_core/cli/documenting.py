"""`forky documents`: add, list, search and remove the documents that answers may quote, and use them on a branch."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.plain import one_line, plain
from forky_core.views.shelf import count

if TYPE_CHECKING:
    from forky_core.documents.adding import AddingProgress
    from forky_core.documents.shelf import DocumentShelf
    from forky_core.forky import Forky
    from forky_core.model.document import Document

_ID = 12
"""How many characters of a document's id a list shows."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    documents = commands.add_parser(
        "documents", help="what answers may quote: add, list, search, remove, use"
    )
    acts = documents.add_subparsers(dest="act", required=True, metavar="ACT")
    for name, help, run in (
        ("add", "read files in", run_add),
        ("list", "list the documents", run_list),
        ("search", "find passages", run_search),
        ("remove", "take documents away", run_remove),
        ("use", "answer a branch's questions from documents", run_use),
    ):
        act = acts.add_parser(name, help=help)
        add_place(act, "--branch", "the branch")
        if name != "use":
            act.add_argument(
                "--of",
                choices=("workspace", "conversation", "branch"),
                default="workspace",
                help="whose documents (default: the workspace's)",
            )
            act.add_argument("--json", action="store_true", help="one JSON object a line")
        act.set_defaults(run=run, makes_database=name == "add")
    acts.choices["add"].add_argument("files", nargs="+", metavar="FILE")
    acts.choices["search"].add_argument("words", metavar="WORDS")
    acts.choices["search"].add_argument("-n", type=int, default=5, help="passages at most (default: 5)")
    acts.choices["remove"].add_argument(
        "documents", nargs="+", metavar="ID", help="the beginning of an id is enough"
    )
    acts.choices["use"].add_argument("--off", action="store_true", help="no longer")


def run_add(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    added = _store(forky, options).add_documents(
        options.files, tell=_print_progress if sys.stderr.isatty() else None
    )
    for document in (*added.documents, *added.already):
        _line(document, options, out)
    for one in added.refused:
        print(plain(one.why), file=sys.stderr)
    return 1 if added.refused else 0


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    documents = _store(forky, options).documents()
    for document in documents:
        _line(document, options, out)
    if not documents and not options.json:
        print("No document here. Add some: forky documents add FILE", file=out)
    return 0


def run_search(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    findings = _store(forky, options).look(options.words, options.n)
    if findings.trouble:
        print(plain(findings.trouble), file=sys.stderr)
    for one in findings.found:
        if options.json:
            entry = {
                "source": one.source,
                "address": one.address,
                "score": one.score,
                "coverage": one.coverage,
            }
            print(json.dumps({**entry, "text": one.chunk.text}, ensure_ascii=False), file=out)
        else:
            print(
                f"{one.score:6.2f}  {one_line(one.source)}\n        {one_line(one.excerpt)[:200]}",
                file=out,
            )
    if not findings.found and not options.json:
        print("Not found in the documents.", file=out)
    return 0


def run_remove(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    for document in _store(forky, options).remove(*options.documents):
        _line(document, options, out)
    return 0


def run_use(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    print(plain(place(forky, options).documents.use(on=not options.off).summary), file=out)
    return 0


def _store(forky: Forky, options: argparse.Namespace) -> DocumentShelf:
    if options.of == "workspace":
        return forky.documents
    chat = place(forky, options)
    return chat.documents if options.of == "branch" else chat.documents.of_conversation


def _line(document: Document, options: argparse.Namespace, out: TextIO) -> None:
    if options.json:
        entry = {
            "id": document.id,
            "name": document.name,
            "media_type": document.media_type,
            "size": document.size,
            "chunks": document.chunks,
        }
        print(json.dumps(entry, ensure_ascii=False), file=out)
    else:
        print(
            f"{document.id[:_ID]}  {count(document.chunks, 'passage'):>14}  {one_line(document.name)}",
            file=out,
        )


def _print_progress(progress: AddingProgress) -> None:
    line = f"{progress.number}/{progress.of} {one_line(progress.name)[:50]} {progress.done:4.0%}"
    print(f"\r{line:<70}", end="\n" if progress.done >= 1 else "", file=sys.stderr)
