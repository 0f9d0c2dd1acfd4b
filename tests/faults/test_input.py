"""Whatever is typed, pasted, attached or answered is kept as text or refused with a sentence."""

from __future__ import annotations

import faulthandler
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Done, Failed, ReasoningDelta, ToolCallDone
from forky_core.model import Failure, MessageId, Usage
from forky_core.model.errors import LONGEST_SENTENCE, BadContent, ForkyError, NotFound
from forky_core.model.parts import AttachmentPart
from forky_core.store.duckdb.store import DuckDBStore
from tests.builders import ScriptedModels, talk, workspace
from tests.examples import examples
from tests.faults.hostile import PARAMETERS, TEXTS

Verb = Callable[[Workspace, Conversation, str], object]


@pytest.fixture(autouse=True)
def nothing_hangs() -> Iterator[None]:
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def forky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """On DuckDB, which is stricter about text than memory."""
    store = DuckDBStore.open(tmp_path_factory.mktemp("input") / "forky.duckdb")
    with Workspace(store, ScriptedModels()) as opened:
        yield opened
        assert opened.verify().findings == ()


def in_memory() -> Workspace:
    return workspace()[0]


def conversation(forky: Workspace) -> Conversation:
    chat = talk(forky.create("T"), "one", "two", "three", "four")
    talk(chat.fork("side"), "five", "six")
    return talk(chat, "seven", "eight")


def models(forky: Workspace) -> ScriptedModels:
    assert isinstance(forky.models, ScriptedModels)
    forky.models.one._queue.clear()
    return forky.models


def answered(forky: Workspace, chat: Conversation, *steps: object) -> object:
    models(forky).one.enqueue(*steps)  # type: ignore[arg-type]
    return chat.ask("why?")


def summed_up(forky: Workspace, chat: Conversation, text: str) -> object:
    models(forky).one.enqueue(text)
    return chat.plan_merge("side", model="scripted/one")


def asked_on_fork(chat: Conversation, text: str) -> object:
    job = chat.people.post_from(chat.path()[1].id, text)[1].job
    assert job is not None
    return job.result()


def merged(chat: Conversation, text: str, strategy: str) -> object:
    side = chat.checkout("side")
    said = [side.say(text), side.say(text, role="assistant")]
    picks = [message.id for message in said] if strategy == "cherry-pick" else []
    chat.merge(chat.plan_merge("side", strategy=strategy, picks=picks))
    return chat.context()


VERBS: dict[str, Verb] = {
    "title": lambda forky, chat, text: (forky.create(text), chat.rename(text)),
    "system prompt": lambda forky, chat, text: forky.create("x", system=text).ask("hi"),
    "changed system prompt": lambda forky, chat, text: (chat.rules.set(system=text), chat.ask("hi")),
    "first branch": lambda forky, chat, text: forky.create("x", branch=text),
    "branch": lambda forky, chat, text: chat.fork(text),
    "renamed branch": lambda forky, chat, text: chat.branches.rename(text),
    "branch that is not there": lambda forky, chat, text: chat.checkout(text),
    "deleted branch": lambda forky, chat, text: chat.branches.delete(text),
    "asked branch": lambda forky, chat, text: chat.ask_all("x", [text]),
    "merged branch": lambda forky, chat, text: chat.plan_merge(text),
    "tag": lambda forky, chat, text: chat.tags.add(text),
    "removed tag": lambda forky, chat, text: chat.tags.remove(text),
    "question": lambda forky, chat, text: (chat.ask(text), chat.undo(), chat.redo()),
    "what is said": lambda forky, chat, text: chat.say(text, role="system"),
    "author": lambda forky, chat, text: chat.say("x", name=text),
    "role": lambda forky, chat, text: chat.say("x", role=text),  # type: ignore[arg-type]
    "question to all": lambda forky, chat, text: chat.ask_all(text, ["main", "side"]),
    "question on a fork": lambda forky, chat, text: asked_on_fork(chat, text),
    "edit": lambda forky, chat, text: chat.edit(chat.path()[0].id, text),
    "answer": answered,
    "reasoning": lambda forky, chat, text: answered(forky, chat, ReasoningDelta(text), "so"),
    "tool call": lambda forky, chat, text: (
        answered(forky, chat, ToolCallDone(text, text, text)),
        chat.context(),
    ),
    "failure": lambda forky, chat, text: answered(forky, chat, "part", Failed(Failure(text, text))),
    "finish reason": lambda forky, chat, text: answered(forky, chat, "x", Done(text, Usage())),
    "summary": summed_up,
    "model": lambda forky, chat, text: chat.ask("x", model=text),
    "model of a branch": lambda forky, chat, text: (chat.rules.set(model=text), chat.ask("x")),
    "model of a conversation": lambda forky, chat, text: forky.create(model=text),
    "models asked": lambda forky, chat, text: chat.ask_models("x", [text]),
    "conversation": lambda forky, chat, text: forky.conversation(text),
    "message": lambda forky, chat, text: chat.message(text),
    "path": lambda forky, chat, text: chat.path(MessageId(text)),
    "context": lambda forky, chat, text: chat.context(MessageId(text)),
    "fork point": lambda forky, chat, text: chat.fork(at=text),
    "fork point of a question": lambda forky, chat, text: chat.people.post_from(MessageId(text), "x"),
    "fork points of a question": lambda forky, chat, text: chat.ask_all("x", [], forks_at=[MessageId(text)]),
    "promoted": lambda forky, chat, text: chat.branches.promote(text),
    "pruned": lambda forky, chat, text: chat.branches.plan_prune(text),
    "picked": lambda forky, chat, text: chat.plan_merge("side", strategy="cherry-pick", picks=[text]),
    "strategy": lambda forky, chat, text: chat.plan_merge("side", strategy=text),
    "focus": lambda forky, chat, text: chat.merge(chat.plan_merge("side", focus=text)),
    "merged in full": lambda forky, chat, text: merged(chat, text, "full"),
    "squashed": lambda forky, chat, text: merged(chat, text, "squash"),
    "picked text": lambda forky, chat, text: merged(chat, text, "cherry-pick"),
    "draft": lambda forky, chat, text: (chat.stashes.create(draft=text), chat.stashes.pop(1)),
    "note": lambda forky, chat, text: chat.stashes.create(draft="x", note=text),
    "stashed file": lambda forky, chat, text: chat.stashes.create(draft="x", attachments=[text]),
    "search": lambda forky, chat, text: forky.search(text),
    "file": lambda forky, chat, text: chat.ask(
        "x", attachments=[forky.attach(text.encode("utf-8", "replace"), name="a.txt")]
    ),
    "file name": lambda forky, chat, text: chat.ask("x", attachments=[forky.attach(b"abc", name=text)]),
    "media type": lambda forky, chat, text: chat.ask(
        "x", attachments=[forky.attach(b"abc", media_type=text)]
    ),
    "file that is not there": lambda forky, chat, text: chat.ask(
        "x", attachments=[AttachmentPart(text, "text/plain")]
    ),
}


def refused_or_kept(forky: Workspace, verb: Verb, text: str) -> Conversation:
    models(forky)
    chat = conversation(forky)
    try:
        verb(forky, chat, text)
    except ForkyError as error:
        sentence = str(error)
        assert sentence.encode() and len(sentence) <= 2 * LONGEST_SENTENCE
    for name in chat.branches:
        assert chat.checkout(name).path() is not None
    for operation in chat.history.operations:
        assert operation.summary.encode() and len(operation.summary) < LONGEST_SENTENCE
    return chat


@pytest.mark.parametrize("verb", VERBS)
def test_hostile_text_is_kept_as_text_or_refused_with_a_sentence(verb: str) -> None:
    forky = in_memory()
    for name, text in TEXTS.items():
        if len(text) < 100_000 or name == "a word of 1 MB":
            refused_or_kept(forky, VERBS[verb], text)


@pytest.mark.parametrize("verb", VERBS)
def test_hostile_text_is_kept_as_text_in_the_file_too(forky: Workspace, verb: str) -> None:
    for name in ("lone surrogate", "binary"):
        refused_or_kept(forky, VERBS[verb], TEXTS[name])


@pytest.mark.parametrize("verb", ["question", "answer", "squashed", "search"])
def test_a_megabyte_of_anything_is_handled(verb: str) -> None:
    forky = in_memory()
    for name, text in TEXTS.items():
        if "1 MB" in name:
            refused_or_kept(forky, VERBS[verb], text)


@settings(max_examples=examples(60))
@given(
    verb=st.sampled_from(sorted(VERBS)),
    text=st.text(st.characters(exclude_categories=()), max_size=40)
    | st.text("b2:0123456789abcdef/ \"'\0\ud83d\udc00\u202e\u0301`$[]<>:|\n", max_size=60),
)
def test_any_text_is_kept_as_text_or_refused_with_a_sentence(verb: str, text: str) -> None:
    chat = refused_or_kept(in_memory(), VERBS[verb], text)
    assert chat.history.verify().clean or verb == "file that is not there"


@pytest.mark.parametrize("given_", PARAMETERS)
def test_parameters_are_kept_as_json_or_refused(forky: Workspace, given_: str) -> None:
    parameters = PARAMETERS[given_]
    chat = conversation(forky)
    refusals: list[str] = []
    try:
        chat.rules.set(parameters=parameters)
        chat.ask("x")
    except BadContent as error:
        refusals.append(str(error))
    assert all("parameter" in refusal for refusal in refusals)
    assert chat.checkout("side").ask("x").text
    assert chat.history.verify().clean


@pytest.mark.parametrize(
    "name", ["api_key", "OPENAI_API_KEY", "auth_token", "extra_headers", "api_base", "base_url", "password"]
)
def test_a_key_or_an_address_is_no_parameter(forky: Workspace, name: str) -> None:
    chat = conversation(forky)
    with pytest.raises(BadContent, match="Settings"):
        chat.rules.set(parameters={name: "sk-secret"})
    with pytest.raises(BadContent, match="Settings"):
        chat.ask("x", **{name: "sk-secret"})  # type: ignore[arg-type]
    assert chat.rules.current.parameters == {} and chat.path()[-1].text == "eight"


def zip_bomb() -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../../../etc/passwd", b"\0" * 20_000_000)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "claimed", "kept_as", "called"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "a.png", "", "image/png", "a.png"),
        (b"not a picture", "a.png", "", "application/octet-stream", "a.png"),
        (b"not a picture", "a.txt", "image/png", "application/octet-stream", "a.txt"),
        (b"\xff\xd8\xff\xe0", "a.png", "image/png", "image/jpeg", "a.png"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "a", "", "image/webp", "a"),
        (b"words", "../../etc/passwd", "", "application/octet-stream", "passwd"),
        (b"words", "C:\\Users\\x\\note.md", "", "text/markdown", "note.md"),
        (b"words", "a\r\nb.txt", "text/plain\r\nX-Header: 1", "application/octet-stream", "a b.txt"),
        (b"words", "a.txt", "no type", "application/octet-stream", "a.txt"),
        (zip_bomb(), "a.zip", "", "application/zip", "a.zip"),
        (bytes(range(256)), "\ud83d.bin", "", "application/octet-stream", "�.bin"),
    ],
)
def test_a_file_is_what_its_bytes_say(
    forky: Workspace, content: bytes, name: str, claimed: str, kept_as: str, called: str
) -> None:
    part = forky.attach(content, name=name, media_type=claimed)
    assert (part.media_type, part.name) == (kept_as, called)
    chat = conversation(forky)
    chat.ask("what is it?", attachments=[part])
    assert chat.context().tokens < 10_000


def test_files_that_cannot_be_read_are_refused(forky: Workspace, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("a\0b"), Path("x" * 5_000)):
        with pytest.raises(BadContent, match="cannot be read"):
            forky.attach(path)
    (tmp_path / "large").write_bytes(b"")
    with pytest.raises(BadContent, match="empty"):
        forky.attach(tmp_path / "large")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(10_000_000_000)
    with pytest.raises(BadContent, match="at most"):
        forky.attach(tmp_path / "large")


def test_a_message_cannot_name_a_file_that_was_never_attached(forky: Workspace) -> None:
    chat = conversation(forky)
    for send in (chat.say, chat.ask):
        with pytest.raises(NotFound, match="Attach the file"):
            send("look", attachments=[AttachmentPart("0" * 64, "image/png")])
