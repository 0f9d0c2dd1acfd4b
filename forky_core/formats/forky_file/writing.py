"""Writing a Forky chat file, line by line: its content and its order (docs/format.md).

Messages in the order they were written, then generations, operations, files, passages; the refs last. So lines are only
inserted when a conversation grows, and Git shows what is new.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from types import MappingProxyType

from forky_core.context.citing import documents_cited
from forky_core.documents.cited_passages import KeptPassages, stored
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.kept_lines import ORIGINS, OTHER_LINES, KeptLines
from forky_core.formats.forky_file.lines import (
    FORMAT,
    HARNESS,
    generation_line,
    line,
    message_line,
    operation_line,
)
from forky_core.formats.forky_file.stored import (
    STRETCH,
    StoredFiles,
    StoredMessages,
    files_named,
    files_of,
    linked,
    only,
)
from forky_core.formats.forky_file.stored_log import calls_of, each_call, log_of
from forky_core.model import Blob, ConversationId, Message, MessageId
from forky_core.model.erasure import ERASED
from forky_core.model.experiment import experiments_in, is_cell
from forky_core.model.graph import ancestors, parents_in
from forky_core.model.parts import Json
from forky_core.store.contract import Store

UNITE = "unite"
"""The verb of the operation that united two copies (uniting.py)."""


def chat_of(store: Store, id: ConversationId, *, files: bool = True) -> Chat:
    """A whole conversation for export, without replies that are being written.

    The messages of a long one, and all files, are read from the store on demand (stored.py).
    """
    view = store.view(id)
    origin = view.entries.get("forked_from")
    calls = calls_of(store, id)
    operations = log_of(store, id, view.version)
    messages = _messages(store, id)
    stashed = [sha256 for stash in view.stashes for sha256 in stash.attachments]
    return Chat(
        id,
        messages,
        calls,
        view.entries,
        operations,
        StoredFiles(store, lambda: chain(files_named(messages), stashed)) if files else MappingProxyType({}),
        tuple(json.loads(row) for row in KeptLines(store, id, ORIGINS)),
        tuple(KeptLines(store, id, OTHER_LINES)),
        origin if isinstance(origin, dict) else None,
        KeptPassages(store, id),
    )


def _messages(store: Store, id: ConversationId) -> Mapping[MessageId, Message]:
    """The messages; a short conversation is read at once, since it is iterated several times."""
    first = store.stretch(id, after=0, most=STRETCH + 1)
    if len(first) > STRETCH:
        return StoredMessages.of(store, id)
    return MappingProxyType({message.id: message for message in first})


def part_of(chat: Chat, tips: Mapping[str, MessageId]) -> Chat:
    """The messages that lead to these tips, which become its branches.

    The log is left out: it names messages that are not included.
    """
    stems = linked(chat.messages)
    wanted = ancestors(tips.values(), parents_in(stems))
    messages = only(chat.messages, wanted)
    entries: dict[str, Json] = {"title": chat.title} if chat.title else {}
    entries.update({key: value for id in messages if (value := chat.entries.get(key := f"{ERASED}{id}"))})
    if "memory" in chat.entries:
        entries["memory"] = chat.entries["memory"]
    for name, tip in tips.items():
        entries[f"heads/{name}"] = {"at": tip}
        if f"rules/{name}" in chat.entries:
            entries[f"rules/{name}"] = chat.entries[f"rules/{name}"]
    return Chat(
        chat.id,
        messages,
        each_call(chat.generations, lambda one: one if one.message in wanted else None),
        MappingProxyType(entries),
        (),
        files_of(chat.blobs, messages),
        tuple(row for row in chat.origins if row.get("message") in wanted),
        (),
        chat.forked_from,
        chat.passage_of,
    )


def written(chat: Chat, *, files: bool = True) -> Iterator[str]:
    """The lines of the file, each with its line break. If `files` is set, it contains attachments as Base64."""
    yield _header(chat) + "\n"
    models = _models(chat)
    coming = set(models)
    cited: dict[str, None] = {}
    for message in chat.messages.values():
        yield message_line(message, models.get(message.id, "")) + "\n"
        coming.discard(message.id)
        cited.update(dict.fromkeys(documents_cited(message.text)))
    for call in chat.generations:
        # A reply that ended meanwhile has produced a message that is not in the file.
        if call.message is None or (call.message in models and call.message not in coming):
            yield generation_line(call) + "\n"
    for operation in chat.operations:
        yield operation_line(operation) + "\n"
    for row in chat.origins:
        yield line("origin", origin=dict(row)) + "\n"
    for blob in chat.blobs.values():
        yield blob_line(blob, inline=files) + "\n"
    for address in cited:
        if (passage := chat.passage_of(address)) is not None:
            yield line("passage", passage=stored(passage)) + "\n"
    for other in chat.other_lines:
        yield other + "\n"
    for ref in _refs(chat):
        yield ref + "\n"


def _models(chat: Chat) -> dict[MessageId, str]:
    """For each answer, the model that gave it first."""
    models: dict[MessageId, str] = {}
    for call in chat.generations:
        if call.message is not None:
            models.setdefault(call.message, call.model)
    return models


def blob_line(blob: Blob, *, inline: bool) -> str:
    """The line of an attachment with its bytes, or (in an archive) the name of the member that holds them."""
    body: dict[str, Json] = {
        "id": f"sha256:{blob.sha256}",
        "mediaType": blob.media_type,
        "size": len(blob.content),
    }
    if blob.name:
        body["name"] = blob.name
    if inline:
        body["base64"] = base64.b64encode(blob.content).decode()
    else:
        body["path"] = f"files/{blob.sha256}"
    return line("blob", **body)


def _header(chat: Chat) -> str:
    body: dict[str, Json] = {"harness": HARNESS, "format": FORMAT, "id": chat.id, "name": chat.title}
    begun = chat.operations[0].at if chat.operations else 0
    if begun:
        body["created"] = datetime.fromtimestamp(begun / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if chat.forked_from is not None:
        body["forkedFrom"] = dict(chat.forked_from)
    return line("session", **body)


def _refs(chat: Chat) -> Iterator[str]:
    """Branches with their rules, tags, kept tips, stashes; the branch to open; and all other entries of the view."""
    head = checked_out(chat)
    if head:
        yield line("ref", name="HEAD", symref=f"heads/{head}")
    for key, value in sorted(chat.entries.items()):
        kind, _, name = key.partition("/")
        if kind == "heads":
            rules = chat.entries.get(f"rules/{name}")
            more = {"rules": rules} if rules else {}
            yield line("ref", name=key, target=value["at"], **more)
        elif kind == "tags":
            yield line("ref", name=key, target=value["at"])
        elif kind == "kept":
            yield line("ref", name=key, target=name)
        elif kind == "stash":
            yield line("stash", number=int(name), stash=value)
        elif key not in ("title", "forked_from") and kind != "rules":
            yield line("entry", key=key, value=value)


def checked_out(chat: Chat) -> str:
    """The branch that moved last; cells of experiments, and branches moved by uniting, do not count."""
    every = sorted(key.removeprefix("heads/") for key in chat.entries if key.startswith("heads/"))
    experiments = experiments_in(chat.view)
    names = [name for name in every if not is_cell(name, experiments)] or every
    recent = chat.operations[-20:]
    uniting = {one.number for one in recent if one.verb == UNITE}
    for operation in reversed(recent):
        group = operation.group or operation.number
        if (
            group in uniting or group < recent[0].number
        ):  # Of a longer gesture, the first operation is not known.
            continue
        for change in operation.changes:
            if change.key.startswith("heads/") and change.key.removeprefix("heads/") in names:
                return change.key.removeprefix("heads/")
    if chat.begins in names:
        return chat.begins
    return "main" if "main" in names or not names else names[0]
