"""Every `--json` of the command line prints nothing but JSON; a new one that is not run here is noticed."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from forky_core.cli.parser import main, parser
from forky_core.forky import Forky
from forky_core.people import team_file
from forky_core.people.backup.server_backup import back_up
from forky_core.people.links.link import LinkDraft
from forky_core.people.links.making import make_link
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.verbs.merging import plan_id
from tests.builders import talk
from tests.cli.conftest import Ended, Run
from tests.formats.seeds import seeds, whole
from tests.formats.sources import SAMPLES
from tests.formats.test_landing import chat as exported

CALLS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "chat": (("-m", "What is a branch?", "--model", "offline/quote"),),
    "list": ((), ("--trash",)),
    "log": ((), ("--graph",)),
    "branch": ((), ("--rename", "third", "--branch", "spare"), ("--delete", "--branch", "third")),
    "context": ((), ("--text", "And now?")),
    "fork": (("side",),),
    "say": (("Noted.",), ("Hello.", "--role", "assistant")),
    "ask": (("What is a branch?", "--model", "offline/quote"),),
    "search": (("port",),),
    "status": ((),),
    "read": ((), ("--last", "1")),
    "report": ((),),
    "compare": (("main", "debug"),),
    "plan": (("--sources", "debug", "--branch", "main"), ("--request", "1")),
    "propose": (("main", "--branch", "again"),),
    "review": (("1", "--text", "It holds."),),
    "approve": (("1", "--plan", "{plan}"),),
    "land": (("--request", "1", "--branch", "main", "--plan", "{plan}"),),
    "undo": ((),),
    "redo": ((),),
    "stash": (("A draft.",), ("--drop", "1")),
    "tag": (("v1",), ("v1", "--remove")),
    "history": ((),),
    "trash": ((), ("--back",)),
    "documents add": (("{file}",),),
    "documents list": ((),),
    "documents search": (("port",),),
    "documents remove": (("{document}",),),
    "tables": (("{tables}",), ("{tables}", "--only", "{chat}")),
    "sql": (("SELECT title, created, messages FROM conversations",),),
    "merge": (
        ("debug", "--into", "main", "--dry-run"),
        ("debug", "--into", "main", "--strategy", "three-way", "--dry-run"),
        ("debug", "--into", "main", "--strategy", "three-way", "--yes"),
    ),
    "graft": (("{other}", "--into", "main", "--yes"),),
    "experiment run": (("{grid}", "--dry-run"), ("{grid}",)),
    "experiment list": ((),),
    "experiment show": ((),),
    "experiment export": (("--as", "html", "-o", "{grid}.html"),),
    "fuse": (("--branch", "main", "--yes"),),
    "resolve": (("--branch", "main"), ("--branch", "main", "--take", "port=theirs", "--yes")),
    "polls list": ((),),
    "polls open": (("main", "again", "--criterion", "clear"),),
    "polls show": (("1",),),
    "polls reveal": (("1",),),
    "vote": (("1", "A", "--note", "Short.", "--score", "A:clear=4"), ("1", "tie")),
    "publish comparison": (("main", "again", "-o", "{grid}.html"),),
    "publish experiment": (("-o", "{grid}.html"),),
    "publish poll": (("1", "-o", "{grid}.html"),),
    "publish merge": (("-o", "{grid}.html"),),
    "publish replay": (("-o", "{grid}.html"),),
    "link make": (("branch",), ("comparison", "main", "again"), ("message", "--path", "--live", "--redact")),
    "link list": ((),),
    "link revoke": (("{link}",),),
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
    "continue": (("debug", "--in", "claude"),),
    "token make": (("aider", "--dollars-a-day", "2"),),
    "token list": ((),),
    "token revoke": (("aider",),),
    "verify": ((), ("{chat}",)),
    "repair": ((),),
    "move": (("{folder}/forky.duckdb", "{folder}/moved.duckdb"),),
    "admin people": ((),),
    "admin invite": (("viewer",),),
    "admin role": (("bob", "viewer"),),
    "admin sign-out": (("bob",),),
    "admin reset-password": (("bob",),),
    "admin allowance": (
        ("everybody", "--answers-a-day", "20"),
        ("bob", "--dollars-in-all", "none"),
        ("bob",),
    ),
    "admin remove": (("bob",),),
    "admin audit": ((),),
    "admin backup": (("{folder}/backups",),),
    "admin restore": (("{backup}",),),
    "inbox": (("bob",),),
    "admin export-person": (("bob", "--to", "{grid}.zip"),),
    "admin forget": (("bob", "--yes"),),
    "erase": (("{head}", "--branch", "main", "--confirm", "{digits}"),),
}
"""By command, in an order that works: what it is called with, beside `--json`."""
ELSEWHERE = frozenset({"link return"})
"""Commands that need another server: test_linking.py runs them."""


def with_json(command: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """The names of all commands that have a `--json`, a command below a command as “token make”."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner, below in action.choices.items():
                yield from with_json(below, f"{name} {inner}".strip())
        elif "--json" in action.option_strings:
            yield name


def test_every_command_with_json_is_run_here() -> None:
    assert sorted(set(with_json(parser()))) == sorted({*CALLS, *ELSEWHERE})


FILES: Mapping[str, str] = {
    "file": "ports.txt",
    "export": "conversations.json",
    "broken": "broken.json",
    "forky": "forky.forky.jsonl",
    "changed": "changed.forky.jsonl",
    "grid": "grid.yaml",
    "tables": "tables.duckdb",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, str]]:
    """A folder with `FILES` and a workspace with conflicts, requests and regenerated answers; the ids in it."""
    folder = tmp_path_factory.mktemp("prepared")
    database = folder / "forky.duckdb"
    (folder / FILES["file"]).write_text("The port of the service is 8443.")
    exported_chats = [exported("a", "First “words”", "x"), {"title": "Broken"}]
    (folder / FILES["export"]).write_text(json.dumps(exported_chats))
    (folder / FILES["broken"]).write_text("{")
    (folder / FILES["grid"]).write_text("columns: [offline/quote]\nrows: [Say hello]\n")
    with Forky.open(database) as open_:
        other = talk(open_.create("Flags"), "And flags?", "A bit each: FLAG_WIDTH=8.")
        chat = talk(open_.create("Server"), "Plan the server.", "The port is 8080.")
        talk(chat.fork("debug"), "No, use port 9090.", "Done.")
        chat.fork("spare")
        talk(chat, "The port is 7070.")
        chat.say("Noted, 7070.", role="assistant")
        agent = open_.through(open_.store, "agent").conversation(chat.id, "main")
        agent.requests.open("debug", note="It moved.")
        second = talk(chat.fork("again", at=chat.path()[-2].id), "Noted: the port is 7070 from now on.")
        added = open_.documents.add_documents([folder / FILES["file"]])
        ids = {"chat": chat.id, "other": other.id, "head": chat.path()[-1].id, "second": second.id}
        ids["plan"] = plan_id(agent.requests.plan(1))
        ids["digits"] = ids["head"][3:11]
        ids["document"] = added.documents[0].id
        ids["link"] = make_link(open_, LinkDraft(chat.id, "replay"), by="Ann").link.id
    team = Team(team_file(database))
    ada = team.members.add("Ada", Role.OWNER)
    bob = team.members.add("Bob", Role.EDITOR)
    team.sharing.adopt([(chat.id, ada.id)])
    team.sessions.open(bob.id)
    team.inbox.tell(bob.id, "role", role="editor")
    made = back_up(folder / "prepared backup", team, database)
    ids["backup"] = str(made.folder)
    team.close()
    for name in ("forky", "changed"):
        for words in (
            ("export", ids["chat"], "-o", str(folder / FILES[name])),
            ("branch", "--conversation", ids["chat"], "--branch", "spare", "--rename", "spare-2"),
            ("branch", "--conversation", ids["chat"], "--branch", "spare-2", "--rename", "spare"),
        ):
            assert main(["--database", str(database), *words]) == 0
    return folder, ids


@pytest.fixture
def places(prepared: tuple[Path, Mapping[str, str]], tmp_path: Path) -> Mapping[str, str]:
    """A copy of the prepared folder, with the database that `forky` opens; names for `CALLS`."""
    folder, ids = prepared
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    ids = {**ids, "folder": str(tmp_path)}
    return {**ids, **{name: str(tmp_path / file) for name, file in FILES.items()}}


def lines(ended: Ended) -> list[Any]:
    return ended.rows


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
        *("fork", "say", "ask", "search", "status", "read", "report", "compare", "plan", "propose", "review"),
        *("approve", "land", "undo", "redo", "stash", "tag", "history", "trash"),
        *("branch", "context", "merge", "graft", "fuse", "resolve", "rebase", "revert", "bisect", "erase"),
        *("request list", "request accept"),
        *("polls list", "polls open", "polls show", "polls reveal", "vote", "continue"),
        *("publish comparison", "publish poll", "publish merge", "publish replay", "link make"),
    )
)
"""Commands that say which conversation they are about."""
PREPARED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("experiment list", "experiment show", "experiment export", "publish experiment"),
        ("experiment", "run", "{grid}"),
    ),
    "resolve": (
        *("merge", "debug", "--conversation", "{chat}", "--into", "main"),
        *("--strategy", "three-way", "--yes"),
    ),
    **dict.fromkeys(
        ("polls list", "polls show", "polls reveal", "vote", "publish poll"),
        ("polls", "open", "main", "again", "--criterion", "clear", "--conversation", "{chat}"),
    ),
    "redo": ("undo", "--conversation", "{chat}"),
    "publish merge": ("merge", "debug", "--conversation", "{chat}", "--into", "main", "--yes"),
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
    ended = forky("import --preview --json", str(path))
    assert ended.code in (0, 1), ended.err
    for line in lines(ended):
        assert {"number", "label", "title", "messages", "branches", "account", "problem"} <= line.keys()
        assert line["messages"] or line["problem"]
    return sum(line["messages"] for line in lines(ended))
