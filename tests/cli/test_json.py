"""Every `--json` of the command line prints nothing but JSON; a new one that is not run here is noticed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from forky_core.cli.parser import parser
from forky_core.forky import Forky
from tests.builders import talk
from tests.cli.conftest import Ended
from tests.formats.seeds import seeds, whole
from tests.formats.sources import SAMPLES
from tests.formats.test_landing import chat as exported

Run = Callable[..., Ended]

CALLS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "chat": (("-m", "What is a branch?", "--model", "offline/quote"),),
    "list": ((), ("--trash",)),
    "log": ((), ("--graph",)),
    "branch": ((), ("--rename", "third", "--branch", "spare"), ("--delete", "--branch", "third")),
    "context": ((), ("--text", "And now?")),
    "documents add": (("{file}",),),
    "documents list": ((),),
    "documents search": (("port",),),
    "documents remove": (("{document}",),),
    "merge": (
        ("debug", "--into", "main", "--dry-run"),
        ("debug", "--into", "main", "--strategy", "three-way", "--dry-run"),
        ("debug", "--into", "main", "--strategy", "three-way", "--yes"),
    ),
    "graft": (("{other}", "--into", "main", "--yes"),),
    "fuse": (("--branch", "main", "--yes"),),
    "resolve": (("--branch", "main"), ("--branch", "main", "--take", "port=theirs", "--yes")),
    "request list": ((),),
    "request accept": (("1", "--dry-run"),),
    "rebase": (("main", "--branch", "debug", "--dry-run"),),
    "revert": (("{head}", "--branch", "main", "--yes"),),
    "bisect": (
        ("Which port?", "--contains", "no such words", "--model", "offline/quote", "--branch", "debug"),
    ),
    "import": (
        ("{export}", "--preview"),
        ("{forky}", "--preview"),
        ("{broken}", "--preview"),
        ("{export}",),
        ("{export}", "--preview"),
        ("{forky}", "--fork"),
        ("--list",),
        ("--undo", "1"),
    ),
    "diff": (("{forky}", "{changed}"),),
    "token make": (("aider", "--daily", "2"),),
    "token list": ((),),
    "token revoke": (("aider",),),
    "verify": ((), ("{chat}",)),
    "repair": ((),),
}
"""By command, in an order that works: what it is called with, beside `--json`."""


def with_json(command: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """The names of all commands that have a `--json`, a command below a command as “token make”."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner, below in action.choices.items():
                yield from with_json(below, f"{name} {inner}".strip())
        elif "--json" in action.option_strings:
            yield name


def test_every_command_with_json_is_run_here() -> None:
    assert sorted(set(with_json(parser()))) == sorted(CALLS)


@pytest.fixture
def places(database: Path, tmp_path: Path, forky: Run) -> Mapping[str, str]:
    """A workspace with conflicts, requests and regenerated answers, and files beside it; names for `CALLS`."""
    (tmp_path / "ports.txt").write_text("The port of the service is 8443.")
    export, broken = tmp_path / "conversations.json", tmp_path / "broken.json"
    export.write_text(json.dumps([exported("a", "First “words”", "x"), {"title": "Broken"}]))
    broken.write_text("{")
    with Forky.open(database) as open_:
        other = talk(open_.create("Flags"), "And flags?", "A bit each: FLAG_WIDTH=8.")
        chat = talk(open_.create("Server"), "Plan the server.", "The port is 8080.")
        talk(chat.fork("debug"), "No, use port 9090.", "Done.")
        chat.fork("spare")
        talk(chat, "The port is 7070.")
        chat.say("Noted, 7070.", role="assistant")
        chat.request_merge("debug", note="It moved.")
        second = talk(chat.fork("again", at=chat.path()[-2].id), "Noted: the port is 7070 from now on.")
        added = open_.documents.add_documents([tmp_path / "ports.txt"])
        names = {"chat": chat.id, "other": other.id, "head": chat.path()[-1].id, "second": second.id}
        names["document"] = added.documents[0].id
    for name in ("forky", "changed"):
        names[name] = str(tmp_path / f"{name}.forky.jsonl")
        forky("export", names["chat"], "-o", names[name])
        forky("branch", "--conversation", names["chat"], "--branch", "spare", "--rename", "spare-2")
        forky("branch", "--conversation", names["chat"], "--branch", "spare-2", "--rename", "spare")
    return {**names, "file": str(tmp_path / "ports.txt"), "export": str(export), "broken": str(broken)}


def lines(ended: Ended) -> list[Any]:
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.mark.parametrize("command", CALLS)
def test_json_is_all_that_a_command_prints(command: str, forky: Run, places: Mapping[str, str]) -> None:
    about = ("--conversation", places["chat"]) if command in NAMED else ()
    if command in PREPARED:
        forky(*(word.format(**places) for word in PREPARED[command]))
    for call in CALLS[command]:
        ended = forky(*command.split(), *(word.format(**places) for word in call), *about, "--json")
        assert "Traceback" not in ended.err
        assert ended.code in (0, 1, 3), ended.err
        if command not in ("list", "import"):
            assert lines(ended), f"{call} says nothing: {ended.err}"
        lines(ended)


NAMED = frozenset(
    (
        *("branch", "context", "merge", "graft", "fuse", "resolve", "rebase", "revert", "bisect"),
        *("request list", "request accept"),
    )
)
"""Commands that say which conversation they are about."""
PREPARED: Mapping[str, tuple[str, ...]] = {
    "resolve": (
        *("merge", "debug", "--conversation", "{chat}", "--into", "main"),
        *("--strategy", "three-way", "--yes"),
    ),
    "token list": ("token", "make", "aider"),
    "token revoke": ("token", "make", "aider"),
}
"""What must have been done before."""


def test_a_preview_of_every_format_is_json(forky: Run, tmp_path: Path) -> None:
    for number, seed in enumerate(seeds(tmp_path)):
        path = tmp_path / f"{number}-{seed.importer}"
        path.write_bytes(whole(seed))
        assert previewed(forky, path), f"nothing is read of {seed.importer}"


@pytest.mark.skipif(not SAMPLES.exists(), reason="the sample files are not beside the checkout")
def test_a_preview_of_every_sample_is_json(forky: Run) -> None:
    for path in sorted(SAMPLES.rglob("*.*")):
        previewed(forky, path)


def previewed(forky: Run, path: Path) -> int:
    """Look at a file; the messages in it."""
    ended = forky("import", "--preview", "--json", str(path))
    assert ended.code in (0, 1), ended.err
    for line in lines(ended):
        assert {"number", "label", "title", "messages", "branches", "account", "problem"} <= line.keys()
        assert line["messages"] or line["problem"]
    return sum(line["messages"] for line in lines(ended))
