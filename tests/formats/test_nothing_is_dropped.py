"""Nothing that a message holds is called empty (law 12): a new field, and every text that is there, is found again.

Each file is changed at one place, read, and searched for what was put there: in the parts, in what is kept beside the
messages, in the bytes of its files. Only fields that an importer lists as bookkeeping may be gone.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.account import ImportAccount
from forky_core.formats.contract import Importer, ParsedConversation, Unreadable
from forky_core.formats.exporting.registry import EXPORTERS
from forky_core.formats.exporting.sharing import export_value, save_as
from forky_core.formats.files.source import ArchiveFiles, opened, sample
from forky_core.formats.importing.landing import import_file
from forky_core.formats.leftovers import BOOKKEEPING, Program
from forky_core.formats.registry import IMPORTERS, importer_for
from forky_core.formats.tree import build_tree
from forky_core.model.opaque import MOST_KEPT, opaque
from forky_core.model.parts import Json, OpaquePart, ReasoningPart, canonical_json
from tests.formats.seeds import Seed, json_seeds, seeds, whole
from tests.formats.sources import PROGRAM_FILES, SAMPLES, one, packed, program_file, written

NAME, WORDS = "a_new_field", "words that nobody expected"
_SEEDS = {
    name: [seed for seed in json_seeds() if seed.importer == name]
    for name in {seed.importer for seed in json_seeds()}
}
MESSAGES = {name: "|".join(dict.fromkeys(seed.messages for seed in found)) for name, found in _SEEDS.items()}
SIGNS = {name: frozenset[str]().union(*(seed.signs for seed in found)) for name, found in _SEEDS.items()}
_ID = re.compile(r"(^|_)(ids?|uuid|at|time|timestamp)$|(Id|Uuid|At|Time|Timestamp)$")


def program_of(importer: Importer) -> Program:
    found = vars(sys.modules[type(importer).__module__]).get("PROGRAM")
    assert isinstance(found, Program), f"{importer.name} does not say what is bookkeeping"
    return found


class Reading:
    """A file read: everything that was kept of it, as one text to search."""

    def __init__(self, path: Path) -> None:
        self.importer: Importer | None = None
        kept: list[Json] = []
        with opened(path) as archive:
            for document in archive.documents:
                self.importer = importer_for(sample(document))
                found = self.importer.read(document, Recording(archive.beside, kept)) if self.importer else ()
                for one in found:
                    kept += everything(one)
        self.text = json.dumps(kept, ensure_ascii=False, default=str)

    def __contains__(self, words: str) -> bool:
        return json.dumps(words, ensure_ascii=False)[1:-1] in self.text


class Recording:
    """The files beside a document; bytes that become attachments are kept to be searched."""

    def __init__(self, files: ArchiveFiles, kept: list[Json]) -> None:
        self._files = files
        self._kept = kept

    def names(self) -> tuple[str, ...]:
        return self._files.names()

    def attach(self, name: str, media_type: str = "", shown: str = "") -> Any:
        return self._files.attach(name, media_type, shown)

    def attach_bytes(self, content: bytes, media_type: str = "", shown: str = "") -> Any:
        self._kept += [content.decode("utf-8", "replace"), media_type, shown]
        return self._files.attach_bytes(content, media_type, shown)


def everything(found: ParsedConversation | Unreadable) -> Iterator[Json]:
    if isinstance(found, Unreadable):
        yield [found.label, found.why]
        return
    yield [found.title, found.system, found.model, dict(found.extra), dict(found.names)]
    for node in found.nodes:
        yield [node.model, dict(node.extra), node.failure, str(node.usage)]
        if node.draft is not None:
            yield [node.draft.name, [part.stored() for part in node.draft.parts]]


Place = tuple[str, tuple[Json, ...]]
"""The path to a value for people, and its keys."""


def places(value: Json, path: str = "", keys: tuple[Json, ...] = ()) -> Iterator[tuple[Place, Json]]:
    yield (path, keys), value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, f"{path}.{key}", (*keys, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, f"{path}[{number}]", (*keys, number))


def changed(value: Json, keys: tuple[Json, ...], to: Json) -> Json:
    """A copy of `value` with another value at that place; at the top, with a field more."""
    copied = copy.deepcopy(value)
    at = copied
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = to
    return copied


def in_messages(importer: str, value: Json, *, most: int) -> Iterator[tuple[Place, Json]]:
    """Places at or below a message, no more than `most` that differ in numbers and ids only."""
    pattern, seen = re.compile(MESSAGES[importer]), Counter[str]()
    for (path, keys), inner in places(value):
        match = pattern.search(path)
        if match is None:
            continue
        kind = re.sub(r"\[\d+\]", "[]", path[match.start() :])
        seen[kind] += 1
        if seen[kind] <= most:
            yield (path, keys), inner


def is_bookkeeping(program: Program, importer: str, keys: tuple[Json, ...]) -> bool:
    names = {str(key) for key in keys}
    known = BOOKKEEPING | program.bookkeeping | SIGNS.get(importer, frozenset())
    return bool(names & known) or bool(_ID.search(str(keys[-1])))


def json_files() -> Iterator[tuple[str, Json, str]]:
    """Of the seeds, and of the samples where they are: a name, the value, and `value` or `lines`."""
    for number, seed in enumerate(json_seeds()):
        yield f"{number}-{seed.importer}", seed.content, seed.kind
    for path in sorted(SAMPLES.rglob("*.json*")) if SAMPLES.exists() else ():
        text = path.read_text("utf-8")
        try:
            yield path.name, json.loads(text), "value"
        except ValueError:
            yield path.name, [json.loads(line) for line in text.splitlines() if line.strip()], "lines"


def read_back(folder: Path, value: Json, kind: str) -> Reading:
    seed = Seed("", "lines" if kind == "lines" else "value", value)
    path = folder / "file.json"
    path.write_bytes(whole(seed))
    return Reading(path)


@pytest.fixture(scope="module")
def files() -> list[tuple[str, Json, str]]:
    return list(json_files())


def test_every_importer_is_audited(tmp_path: Path) -> None:
    assert {importer.name for importer in IMPORTERS} == {seed.importer for seed in seeds(tmp_path)}
    assert [
        seed.importer
        for seed in json_seeds()
        if not any(re.search(seed.messages, path) for (path, _), _ in places(seed.content))
    ] == []
    assert all(seed.messages for seed in json_seeds())


def test_a_new_field_anywhere_in_a_message_is_kept(
    files: list[tuple[str, Json, str]], tmp_path: Path
) -> None:
    gone = []
    for name, value, kind in files:
        importer = read_back(tmp_path, value, kind).importer
        if importer is None or importer.name not in MESSAGES:
            continue
        for (path, keys), inner in in_messages(importer.name, value, most=3):
            if (
                not isinstance(inner, dict)
                or not inner
                or is_bookkeeping(program_of(importer), importer.name, keys)
            ):
                continue
            for new in (WORDS, {"text": {"deep": [WORDS]}}):
                reading = read_back(tmp_path, changed(value, (*keys, NAME), new), kind)
                if reading.importer is not None and WORDS not in reading:
                    gone.append(f"{name}{path}.{NAME} ({importer.name})")
    assert not gone, "\n".join(gone)


def test_every_text_in_a_message_is_kept(files: list[tuple[str, Json, str]], tmp_path: Path) -> None:
    gone = []
    for name, value, kind in files:
        importer = read_back(tmp_path, value, kind).importer
        if importer is None or importer.name not in MESSAGES:
            continue
        for (path, keys), inner in in_messages(importer.name, value, most=2):
            if not isinstance(inner, str) or is_bookkeeping(program_of(importer), importer.name, keys):
                continue
            reading = read_back(tmp_path, changed(value, keys, WORDS), kind)
            if reading.importer is not None and WORDS not in reading:
                gone.append(f"{name}{path} ({importer.name})")
    assert not gone, "\n".join(gone)


ASKED: Json = {"role": "user", "content": "Which port?"}
TOLD = "Port 8443, behind the proxy."


@pytest.mark.parametrize(
    "answer",
    [
        {"content": [{"type": "text", "text": {"value": TOLD, "annotations": []}}]},
        {"content": [{"type": "text", "value": TOLD}]},
        {"content": {"value": TOLD}},
        {"content": "", "text": TOLD},
        {"content": [], "message": {"text": TOLD}},
        {"content": None, "message": TOLD},
        {"content": {"parts": [{"text": "Hm.", "thought": True}, {"text": TOLD}]}},
        {"parts": [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": TOLD}]},
        {"content": {"odd": ["thing"]}, "text": TOLD},
    ],
)
def test_words_are_found_wherever_a_program_puts_them(answer: Json, tmp_path: Path) -> None:
    value = [{"messages": [ASKED, {"role": "assistant", **answer}]}]
    tree = build_tree(one(IMPORTERS[-1], written(tmp_path, value)))
    assert [message.text for message in tree.messages] == ["Which port?", TOLD]
    thoughts = [part.text for part in tree.messages[1].parts if isinstance(part, ReasoningPart)]
    assert thoughts == (["Hm."] if "Hm." in json.dumps(answer) else [])
    assert tree.account.adds_up


def test_what_is_not_understood_is_kept_whole_and_counted(tmp_path: Path) -> None:
    odd = {"widget": {"title": "Ports", "rows": [[8443, "TLS"]]}}
    value = [{"messages": [ASKED, {"role": "assistant", "content": TOLD, **odd}]}]
    tree = build_tree(one(IMPORTERS[-1], written(tmp_path, value)))
    part = tree.messages[1].parts[1]
    assert isinstance(part, OpaquePart)
    told = opaque(part)
    assert (told.value, told.is_understood) == (odd["widget"], False)
    assert told.title == "Not understood by Forky: field “widget” of a message from another program"
    assert dict(tree.account.unread) == {told.title: 1}
    assert ImportAccount.from_stored(tree.account.stored()) == tree.account


def test_what_is_empty_is_not_kept(tmp_path: Path) -> None:
    empty: Json = {
        "widget": {"rows": [], "title": " "},
        "note": "",
        "list": [None, {}],
        "flag": True,
        "count": 3,
    }
    value = [{"messages": [ASKED, {"role": "assistant", "content": TOLD, **empty}]}]
    tree = build_tree(one(IMPORTERS[-1], written(tmp_path, value)))
    assert [len(message.parts) for message in tree.messages] == [1, 1]
    assert not tree.account.unread


def test_what_is_very_large_is_cut_and_says_its_size_and_hash(tmp_path: Path) -> None:
    large = "word " * (MOST_KEPT // 4)
    binary = "QUJD" * 5_000
    value = [{"messages": [{"role": "user", "content": "x", "essay": large, "blob": {"data": binary}}]}]
    message = build_tree(one(IMPORTERS[-1], written(tmp_path, value))).messages[0]
    essay, blob = (json.loads(part.json) for part in message.parts if isinstance(part, OpaquePart))
    whole_text = canonical_json(large)
    assert essay["cut"] == {"size": len(whole_text), "sha256": sha256(whole_text.encode()).hexdigest()}
    assert essay["value"] == whole_text[:MOST_KEPT]
    assert blob["value"]["data"]["size"] == len(binary)
    assert blob["value"]["data"]["sha256"] == sha256(binary.encode()).hexdigest()


def test_conversations_that_differ_in_what_is_not_understood_stay_apart(
    tmp_path: Path, forky: Workspace
) -> None:
    """What told fifty conversations apart was not read, and ten were left."""
    value = [
        {"messages": [ASKED, {"role": "assistant", "content": "", "answer": {"port": f"port {number}"}}]}
        for number in range(50)
    ]
    done = import_file(forky, written(tmp_path, value))
    assert (len(done.conversations), done.unchanged, done.whole) == (50, 0, False)
    assert done.account.not_understood == 50
    assert forky.verify().clean
    again = import_file(forky, written(tmp_path, value))
    assert (len(again.conversations), again.unchanged) == (0, 50)


def test_no_model_is_sent_what_was_not_understood_and_the_account_says_so(
    tmp_path: Path, forky: Workspace
) -> None:
    value = [{"messages": [ASKED, {"role": "assistant", "content": TOLD, "widget": ["a secret row"]}]}]
    done = import_file(forky, written(tmp_path, value))
    chat = forky.conversation(done.conversations[0])
    context = chat.context()
    assert "a secret row" not in json.dumps(context.messages)
    (item,) = [item for item in context.items if item.kind == "unknown"]
    assert (item.included, item.tokens) == (False, 0)
    assert item.why.startswith("Not understood by Forky: field “widget”")
    assert "nothing of it is sent" in item.why


def test_what_was_not_understood_makes_a_round_trip_and_matches_no_program(tmp_path: Path) -> None:
    said = [ASKED, {"role": "assistant", "content": TOLD, "widget": ["a row"]}]
    with Forky.open(":memory:") as forky, Forky.open(":memory:") as elsewhere:
        done = import_file(forky, written(tmp_path, [{"messages": said}]))
        chat = forky.conversation(done.conversations[0])
        leaves = export_value(forky.store, chat)
        for exporter in EXPORTERS:
            path = tmp_path / f"out{exporter.suffix}"
            save_as(leaves, exporter, path)
            lost = [loss for loss in exporter.losses(leaves) if "did not understand" in loss]
            assert (lost == []) == (exporter.name in ("forky", "html")), exporter.name
        ours = next(exporter for exporter in EXPORTERS if exporter.name == "forky")
        save_as(leaves, ours, tmp_path / "chat.forky.jsonl")
        import_file(elsewhere, tmp_path / "chat.forky.jsonl")
        assert [m.id for m in elsewhere.conversation(chat.id).path()] == [m.id for m in chat.path()]
        assert elsewhere.verify().clean
        plain = [ASKED, {"role": "assistant", "content": TOLD}, {"role": "user", "content": "And then?"}]
        assert chat.calls.find_or_create(plain).known == 2


def test_why_a_reply_broke_off_stands_beside_the_question_and_is_no_words(forky: Workspace) -> None:
    done = import_file(forky, PROGRAM_FILES / "pi-broken-off.jsonl")
    assert done.whole
    chat = forky.conversation(done.conversations[0])
    assert [message.text for message in chat.path()] == ["Which port?", "Port 8"]
    told = {
        (one.status, one.message is None, one.failure.sentence)
        for one in chat.calls.generations
        if one.failure
    }
    assert told == {("stopped", True, "Request was aborted."), ("interrupted", False, "Overloaded")}
    assert all(one.parent == chat.path()[0].id for one in chat.calls.generations)
    assert forky.verify().clean


def test_deepseeks_export_is_told_from_chatgpts_and_read(tmp_path: Path, forky: Workspace) -> None:
    path = packed(
        tmp_path, {"conversations.json": json.dumps(program_file("deepseek.json")), "user.json": "{}"}
    )
    done = import_file(forky, path)
    (id,) = done.conversations
    chat = forky.conversation(id)
    assert chat.view.entries["origin"]["format"] == "deepseek"
    texts = [message.text for message in chat.visible.messages.values() if message.role != "tool"]
    assert "Longest river?" in texts and "The Nile." in texts and "The Amazon." in texts
    thoughts = [
        part.text
        for m in chat.visible.messages.values()
        for part in m.parts
        if isinstance(part, ReasoningPart)
    ]
    assert thoughts == ["Hm, the Nile."]
    assert dict(done.account.unread) == {"Not understood by Forky: a part of the kind “NEW”": 1}
    assert len(chat.branches) + len(chat.view.kept) == 2
