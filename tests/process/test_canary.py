"""A text and a key that go through everything Forky does, and never into its log, at any level and in either form.

The failures are real: a model server that repeats the prompt and the key in its error, a model with a fault of its own,
a database that is taken away, files that cannot be read.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, save_as
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.undo_import import undo_import
from forky_core.llm.contract import ModelEvent, Request, TextDelta
from forky_core.llm.scripted import Fail, Until
from forky_core.merge.conflicts.conflict import Choice
from forky_core.model.errors import ForkyError, ModelError, StoreError
from forky_core.model.memory import Memory
from forky_core.model.room import Person, Room
from forky_core.process.vocabulary import EventEntry
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.wire.chat import chat_call
from tests.builders import ScriptedModels, talk
from tests.gateway.served import catalogue, serving
from tests.hangs import HANG
from tests.programs import CHECKOUT

CANARY = "Kanarienvogel4711"
KEY = "sk-canary-0123456789abcdefghij"


class Log(logging.Handler):
    """Everything of Forky's, as both forms would write it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.entries: list[EventEntry] = []
        self.written: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        assert isinstance(record.msg, EventEntry)
        assert record.exc_info is None
        self.entries.append(record.msg)
        self.written += [str(record.msg), json.dumps(record.msg.as_json())]

    def names(self) -> set[str]:
        return {entry.name for entry in self.entries}

    def values(self, event: str, field: str) -> set[object]:
        return {entry.fields.get(field) for entry in self.entries if entry.name == event}

    def types(self, event: str) -> set[str]:
        """Of the exceptions that traces of this event name."""
        found = [entry.as_json().get("fault") for entry in self.entries if entry.name == event]
        traces: list[Any] = [trace for trace in found if trace is not None]
        return {fault["type"] for trace in traces for fault in trace}


@pytest.fixture
def log() -> Iterator[Log]:
    """At the end neither the text nor the key is in it."""
    heard, logger = Log(), logging.getLogger("forky")
    before = logger.level
    logger.addHandler(heard)
    logger.setLevel(logging.DEBUG)
    yield heard
    logger.setLevel(before)
    logger.removeHandler(heard)
    assert heard.written
    for line in heard.written:
        assert CANARY.lower() not in line.lower(), line
        assert KEY not in line, line


class EchoingProvider(BaseHTTPRequestHandler):
    """Repeats all it was sent, the key too, in its error."""

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        said = f"Refused: {asked} {self.headers.get('authorization', '')}"
        body = json.dumps({"error": {"message": said, "code": CANARY, "type": CANARY}}).encode()
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), EchoingProvider)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def canary(what: str) -> str:
    return f"{what} {CANARY}"


class Faulty:
    """A model whose own code fails, with the question in its words."""

    def __init__(self, models: ScriptedModels) -> None:
        self.info = models.one.info
        self.count_tokens = models.one.count_tokens

    def stream(self, request: Request, _stop: Event) -> Iterator[ModelEvent]:
        if request.messages:
            raise RuntimeError(f"Cannot digest {request.messages}")
        yield TextDelta("")


def all_verbs(forky: Workspace, folder: Path) -> None:
    chat = forky.create(canary("Title"), system=canary("Be brief."))
    chat.rename(canary("Another title"))
    chat.put_into(canary("A folder"))
    chat.ask(canary("What is the port?"), model="scripted/one")
    start = talk(chat, canary("The port is 8080."), canary("The port is 8080.")).path()[1]
    side = chat.fork(CANARY, at=start.id)
    talk(side, canary("The port?"), canary("The port is 9090."))
    chat.edit(chat.path()[0].id, canary("Which port?"))
    for reply in chat.replies.running:
        reply.wait()
    chat.regenerate(model="scripted/two")[1].result()
    chat.tags.add(f"tag-{CANARY}")
    chat.tags.remove(f"tag-{CANARY}")
    chat.rules.set(system=canary("Be long."), model="scripted/one")
    chat.rules.set_memory(Memory("last", amount=9))
    for act in (chat.rules.pin, chat.rules.unpin, chat.rules.exclude, chat.rules.include):
        act(start.id)
    chat.stashes.create(draft=canary("Draft"), note=canary("Note"))
    chat.stashes.create(draft=canary("Another"))
    numbers = [stash.number for stash in chat.view.stashes]
    chat.stashes.apply(numbers[0])
    chat.stashes.pop(numbers[0])
    chat.stashes.drop(numbers[1])
    chat.merge(chat.plan_merge(side, strategy="three-way"))
    chat.merge(
        chat.merges.plan_resolution(
            {one.about: Choice("text", canary("It is")) for one in chat.merges.unresolved}
        )
    )
    other = talk(forky.create(canary("Flags")), canary("Which flags?"), canary("--fast"))
    chat.merge(chat.merges.plan_graft(other))
    request = chat.requests.open(
        talk(chat.fork(f"{CANARY}-2"), canary("Late"), canary("Later")), note=canary("Note")
    )
    chat.requests.comment(request.number, canary("Comment"))
    chat.requests.decline(request.number, canary("Why"))
    rebased = talk(chat.fork(f"{CANARY}-3", at=start.id), canary("Own"), canary("Line"))
    rebased.merges.rebase(rebased.merges.plan_rebase(side))
    again = talk(chat.fork(f"{CANARY}-4", at=start.id), canary("Own question"), canary("Line"))
    assert again.merges.replay(again.merges.plan_rebase(side), model="scripted/two").wait(HANG)
    chat.revert(chat.plan_revert(chat.path()[-1].id, note=canary("Note")))
    answers = talk(chat.fork(f"{CANARY}-5"), canary("One question"))
    for model in ("scripted/one", "scripted/two"):
        answers.regenerate(answers.ask(canary("Say it"), model=model).id, model=model)[1].wait()
    move_and_people(forky, chat, folder)


def move_and_people(forky: Workspace, chat: Conversation, folder: Path) -> None:
    """The other half of `all_verbs`."""
    start = chat.path()[1]
    fusing(chat)
    bisected = chat.fork(f"{CANARY}-6")
    search = bisected.bisections.start()
    while search.first is None:
        search = search.with_result(passed=False)
    bisected.bisections.record(search, canary("What"))
    pruned = talk(chat.fork(f"{CANARY}-7"), canary("To be pruned"))
    pruned.branches.prune(pruned.branches.plan_prune(pruned.path()[-1].id))
    chat.note(start.id, canary("What to say"))
    answers = [message.id for message in chat.visible.messages.values() if message.role == "assistant"]
    poll = chat.polls.open(answers[:2], title=canary("Which"), criteria=[CANARY])
    chat.people.as_person(CANARY).polls.vote(poll.number, "tie", note=canary("Both"))
    chat.polls.reveal(poll.number)
    chat.branches.promote(start.id)
    chat.fork(f"{CANARY}-8").branches.rename(f"{CANARY}-8b").branches.delete()
    chat.people.set(Person(CANARY, address=f"{CANARY}@example.com"))
    chat.people.set_room(Room(called=CANARY))
    chat.people.as_person(CANARY).people.post(canary("Hello"), model="scripted/one")
    for reply in chat.replies.running:
        reply.wait()
    (folder / f"{CANARY}.txt").write_text(canary("A document."))
    chat.documents.add_documents([folder / f"{CANARY}.txt"])
    chat.documents.use()
    chat.ask(canary("What does the document say?"), model="scripted/one")
    chat.calls.set_reuse(on=True)
    chat.calls.find_or_create([{"role": "user", "content": canary("From a program")}])
    programs = forky.begin(
        chat_call({"model": "scripted/one", "messages": [{"role": "user", "content": canary("Hi")}]}),
        scope=CANARY,
        client=CANARY,
    )
    programs.cut(canary("Left"))
    chat.branches.begin(f"{CANARY}-10").say(canary("Said"))
    chat.checkout(f"{CANARY}-10").branches.empty()
    chat.undo()
    chat.redo()
    chat.history.restore(3)
    chat.trash()
    chat.take_back()
    chat.trash()
    forky.purge(chat.id)


def fusing(chat: Conversation) -> None:
    line = chat.fork(f"fuse-{CANARY}")
    line.ask(canary("Fuse these"), model="scripted/one")
    line.regenerate(model="scripted/two")[1].result()
    line.merge(line.merges.plan_fuse())


def verbs_in_the_source() -> set[str]:
    found: set[str] = set()
    for path in (CHECKOUT / "forky_core/conversation").rglob("*.py"):
        found |= set(re.findall(r"publish\(\s*(?:tx, \w+, )?\"([a-z ]+)\"", path.read_text("utf-8")))
    return found


def test_every_verb_is_logged_without_a_word_of_it(log: Log, tmp_path: Path) -> None:
    models, folder = ScriptedModels(), tmp_path / CANARY
    folder.mkdir()
    with Workspace(DuckDBStore.open(folder / f"{CANARY}.duckdb"), models, actor=CANARY) as forky:
        all_verbs(forky, folder)
    assert verbs_in_the_source() - log.values("operation.published", "verb") == set()
    assert log.names() >= {"store.opened", "store.committed", "store.closed", "reply.started", "reply.ended"}


def test_a_provider_that_repeats_the_prompt_and_the_key_is_logged_by_its_kind_and_trace(
    log: Log, provider: str
) -> None:
    models = catalogue({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider})
    with Workspace(MemoryStore(), models) as forky:
        chat = forky.create(canary("Title"), system=canary("Be brief."))
        with pytest.raises(ModelError, match=CANARY):
            chat.ask(canary("Which port?"), model="gpt-4o-mini")
    assert log.values("reply.failed", "kind") == {"bad_request"}
    assert log.values("reply.ended", "state") == {"failed"}
    assert "litellm.exceptions.BadRequestError" in log.types("reply.failed")


def test_a_model_with_a_fault_of_its_own_is_logged_by_its_trace(log: Log) -> None:
    models = ScriptedModels()
    models.one = Faulty(models)  # type: ignore[assignment]
    with Workspace(MemoryStore(), models) as forky, pytest.raises(ModelError):
        forky.create(canary("Title")).ask(canary("Which port?"), model="scripted/one")
    assert log.types("reply.failed") == {"RuntimeError"}


def test_merges_that_fail_are_logged_by_their_trace_and_a_persons_mistakes_are_not(log: Log) -> None:
    models = ScriptedModels()
    forky = Workspace(MemoryStore(), models)
    chat = talk(forky.create(canary("Title")), canary("Which port?"), canary("8080."))
    side = talk(chat.fork(CANARY), *[canary(f"Turn {number} of the side branch.") for number in range(20)])
    with pytest.raises(ForkyError):
        chat.plan_merge(f"no-{CANARY}")
    assert "merge.failed" not in log.names()
    models.one.enqueue(Fail("overloaded", canary("Overloaded")))
    with pytest.raises(ModelError):
        chat.plan_merge(side, model="scripted/one")
    assert log.types("merge.failed") == {"forky_core.model.errors.ModelError"}
    models.one.enqueue("\n".join(canary("user: Nonsense.") for _ in range(9)))
    with pytest.raises(ForkyError):
        chat.plan_merge(side, model="scripted/one")
    assert "forky_core.merge.written.plan.SquashRejected" in log.types("merge.failed")
    models.one = Faulty(models)  # type: ignore[assignment]
    with pytest.raises(RuntimeError):
        chat.plan_merge(side, model="scripted/one", reread=True)
    assert "RuntimeError" in log.types("merge.failed")
    assert log.values("merge.failed", "step") == {"plan"}
    assert log.values("model.failed", "kind") == {"overloaded"}


def test_a_lost_race_of_a_merge_is_no_failure(log: Log) -> None:
    forky = Workspace(MemoryStore(), ScriptedModels())
    chat = talk(forky.create(canary("Title")), canary("Which port?"), canary("8080."))
    plan = chat.plan_merge(talk(chat.fork(CANARY), canary("Why?"), canary("So.")), force=True)
    chat.say(canary("Meanwhile"))
    with pytest.raises(ForkyError):
        chat.merge(plan)
    assert "merge.failed" not in log.names()


def test_a_database_that_is_gone_is_logged_by_its_trace(log: Log, tmp_path: Path) -> None:
    path = tmp_path / f"{CANARY}.duckdb"
    models = ScriptedModels()
    with Workspace(DuckDBStore.open(path), models) as forky:
        chat = forky.create(canary("Title"))
        go_on = Event()
        models.one.enqueue(canary("Said before"), Until(go_on))
        job = chat.send(canary("Which port?"), model="scripted/one")
        path.unlink()
        go_on.set()
        job.wait()
        with pytest.raises(StoreError, match=CANARY):
            chat.say(canary("Lost"))
    assert log.values("store.failed", "work") >= {"commit"}
    assert log.types("reply.unsaved") == log.types("store.failed") == {"forky_core.model.errors.StoreError"}
    assert log.values("reply.failed", "kind") == {"store"}


def test_imports_are_logged_by_their_format_and_size(log: Log, tmp_path: Path) -> None:
    folder = tmp_path / CANARY
    folder.mkdir()
    forky = Workspace(MemoryStore(), ScriptedModels())
    chat = talk(forky.create(canary("Title")), canary("Which port?"), canary("8080."))
    path = folder / f"{CANARY}.md"
    save_as(export_value(forky.store, chat), exporter("markdown"), path)
    done = import_file(forky, path)
    undo_import(forky, done.number)
    (folder / f"{CANARY}.json").write_text(f'{{"{CANARY}": [}}')
    with pytest.raises(ForkyError):
        import_file(forky, folder / f"{CANARY}-missing.json")
    import_file(forky, folder / f"{CANARY}.json")
    stop = Event()
    stop.set()
    with pytest.raises(ForkyError):
        import_file(forky, path, stop=stop)
    assert log.names() >= {"import.started", "import.ended", "import.failed", "import.undone"}
    assert log.values("import.ended", "kind") == {None, "Markdown that Forky wrote"}
    assert log.values("import.ended", "state") == {"done", "failed", "stopped"}
    assert path.stat().st_size in log.values("import.ended", "size")


def test_calls_of_the_gateway_are_logged_by_route_status_and_token(log: Log, provider: str) -> None:
    models = catalogue({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider})
    asked = {"messages": [{"role": "user", "content": canary("Which port?")}]}
    with serving(models) as served, served.client() as client, served.client(CANARY) as stranger:
        for stream in (False, True):
            for model in ("offline/quote", "gpt-4o", f"no {CANARY}"):
                client.post("/chat/completions", json={**asked, "model": model, "stream": stream})
        client.post("/messages", json={**asked, "model": "gpt-4o", "max_tokens": 9})
        client.get(f"/{CANARY}")
        client.get(f"/models/{CANARY}")
        client.post("/chat/completions", content=canary("{"))
        stranger.post("/chat/completions", json=asked)
        client.post("/forky/record", json={CANARY: canary("call")})
        text = served.made.text
    assert log.values("gateway.called", "route") >= {"chat/completions", "messages", "models", "other"}
    assert log.values("gateway.called", "status") >= {200, 400, 401, 404}
    assert log.values("gateway.called", "token") == {"test", None}
    assert log.values("token.changed", "change") == {"made"}
    assert text not in "".join(log.written)
    (conversation,) = {
        entry.fields["conversation"] for entry in log.entries if entry.fields.get("model") == "offline/quote"
    } - {None}
    assert conversation in log.values("operation.published", "conversation")


def test_a_fault_inside_the_gateway_is_logged_by_its_trace(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError(canary("Cannot read"))

    asked = {"model": "scripted/one", "messages": [{"role": "user", "content": canary("Hi")}]}
    with serving(ScriptedModels()) as served, served.client() as client:
        with monkeypatch.context() as patch:
            patch.setattr("forky_core.gateway.v1.asking.admit", fails)
            assert client.post("/chat/completions", json=asked).status_code == 500
        monkeypatch.setattr(served.forky, "begin", fails)
        assert client.post("/chat/completions", json=asked).status_code == 200
    assert log.types("gateway.failed") == log.types("gateway.unrecorded") == {"RuntimeError"}
