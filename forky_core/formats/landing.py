"""Importing: a preview that writes nothing, then conversations one by one, each as one operation (law 8).

A conversation that was imported before is recognised by its format and the source's id, or, where the source gives
none, by its content; only what is new in it comes. One bad conversation never stops the rest; what became of every
node is in the account, which is kept beside the import. Cancelling, and undoing an import, leaves nothing in sight.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from forky_core.errors import BadContent, ForkyError, NotFound, NothingToDo
from forky_core.formats.account import Account
from forky_core.formats.contract import Found, Importer, Unreadable
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import read_document
from forky_core.formats.forky_file.reading import is_ours
from forky_core.formats.forky_file.writing import ORIGINS
from forky_core.formats.pointing import point
from forky_core.formats.registry import importer_for
from forky_core.formats.source import Archive, OpenedDocument, opened, sample
from forky_core.formats.tree import Grown, grow
from forky_core.hashing import content_hash, mend_json
from forky_core.model import (
    EMPTY_VIEW,
    ConversationId,
    Generation,
    GenerationId,
    Rules,
)
from forky_core.parts import AttachmentPart, Json, canonical_json
from forky_core.repo.identity import new_id, now, title_from, title_line
from forky_core.repo.transaction import Transaction
from forky_core.repo.workspace import Workspace

OURS = "Forky chat file"
UNKNOWN = "Its format is not known."
ORIGIN = "origin"
"""Key of a view: what the conversation was imported from."""


@dataclass(frozen=True, slots=True)
class Line:
    """One conversation of a preview."""

    number: int
    """Its place in the source: what a person ticks."""
    label: str
    """The format, for people."""
    title: str
    created: int
    messages: int
    branches: int
    account: Account
    problem: str = ""
    """Why it cannot be imported, "" where it can."""
    known: ConversationId | None = None
    """The conversation it was imported to before."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an import is."""

    done: int
    """Conversations looked at so far."""
    title: str
    account: Account


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    number: int
    """Of the import in this workspace; `undo_import` takes it. 0 where nothing was new."""
    conversations: tuple[ConversationId, ...]
    """Those that are new or have grown, in the source's order."""
    unchanged: int
    """Conversations that were here already, with all they hold."""
    problems: tuple[Unreadable, ...]
    account: Account


@dataclass(frozen=True, slots=True)
class _Piece:
    number: int
    importer: Importer | None
    document: OpenedDocument
    found: Found | Chat | Unreadable


def preview(forky: Workspace, path: Path) -> Iterator[Line]:
    """Every conversation of a file or an archive, as it is read: the first one stands there at once.

    Raises:
        BadContent: the file cannot be opened at all.
    """
    known = _known(forky)
    with opened(path) as archive:
        for piece in _pieces(archive):
            label = piece.importer.label if piece.importer else ""
            if isinstance(piece.found, Unreadable):
                why = piece.found
                yield Line(piece.number, label, why.label, 0, 0, 0, Account(unreadable=1), why.why)
                continue
            if isinstance(piece.found, Chat):
                yield _line_of(piece.number, piece.found, forky)
                continue
            grown = grow(piece.found)
            assert piece.importer is not None
            problem = "" if grown.messages else "It holds no message."
            yield Line(
                piece.number,
                label,
                _title(grown),
                piece.found.created or min((m.created for m in grown.messages if m.created), default=0),
                len(grown.messages),
                1 + len(grown.branches) + len(grown.kept),
                grown.account,
                problem,
                known.get(_key(piece.importer, grown)),
            )


def import_file(
    forky: Workspace,
    path: Path,
    *,
    chosen: Callable[[int], bool] = lambda _number: True,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
    stop: Event | None = None,
) -> Imported:
    """Import the conversations of a file whose number is `chosen`.

    Where `stop` is set meanwhile, what had been taken is taken away again and NothingToDo says so.

    Raises:
        BadContent: the file cannot be opened.
        NothingToDo: it was stopped.
        StoreError: the database could not keep something; what had been taken is taken away again.
    """
    landing = _Landing(forky, path)
    try:
        with opened(path) as archive:
            landing.problems += archive.refused
            for piece in _pieces(archive):
                landing.go_on_unless(stop)
                if chosen(piece.number):
                    landing.take(piece, archive)
                    on_progress(landing.progress(piece))
    except BaseException:
        landing.take_away()
        raise
    return landing.finish()


def imports(forky: Workspace) -> tuple[tuple[int, dict[str, Json]], ...]:
    """The imports of this workspace, newest first: number and what was kept of each."""
    count = int(forky.store.setting("imports") or 0)
    found = []
    for number in range(count, 0, -1):
        kept = forky.store.setting(f"import/{number}")
        if kept is not None:
            found.append((number, json.loads(kept)))
    return tuple(found)


def undo_import(forky: Workspace, number: int) -> int:
    """Move everything one import brought to the trash; how many conversations that were.

    A conversation that had been there before and only grew goes back to the operation before the import.
    """
    kept = forky.store.setting(f"import/{number}")
    if kept is None:
        raise NotFound(f"There is no import number {number}.")
    record = json.loads(kept)
    gone = 0
    for id, grew in record["conversations"].items():
        try:
            chat = forky.conversation(id)
        except NotFound:
            continue
        if grew:
            chat.restore(grew - 1)
        elif not chat.view.trashed:
            chat.trash()
        gone += 1
    forky.store.set_setting(f"import/{number}", None)
    return gone


def _pieces(archive: Archive) -> Iterator[_Piece]:
    number = 0
    for document in archive.documents:
        importer: Importer | None = None
        found: Iterable[Found | Chat | Unreadable]
        try:
            looked_at = sample(document)
            if is_ours(looked_at):
                found = (read_document(document, archive.beside),)
            else:
                importer = importer_for(looked_at)
                if importer is not None:
                    found = importer.read(document, archive.beside)
                elif len(archive.documents) > 1:
                    continue  # A file of the archive that is not about conversations.
                else:
                    found = (Unreadable(document.name, UNKNOWN),)
            for one in found:
                number += 1
                yield _Piece(number, importer, document, one)
        except ForkyError as error:
            number += 1
            yield _Piece(number, importer, document, Unreadable(document.name, str(error)))


def _account_of(chat: Chat) -> Account:
    return Account(conversations=1, seen=len(chat.messages), imported=len(chat.messages))


def _line_of(number: int, chat: Chat, forky: Workspace) -> Line:
    try:
        forky.store.view(chat.id)
        known: ConversationId | None = chat.id
    except NotFound:
        known = None
    created = next((one.at for one in chat.operations), 0)
    branches = len(chat.view.branches) + len(chat.view.kept)
    return Line(
        number, OURS, chat.title, created, len(chat.messages), branches, _account_of(chat), known=known
    )


def _title(grown: Grown) -> str:
    title = title_line(grown.found.title)
    if title:
        return title
    first = next((m for m in grown.messages if m.role == "user" and not m.hidden and m.text.strip()), None)
    return title_from(first.text) if first is not None else ""


def _key(importer: Importer, grown: Grown) -> tuple[str, str]:
    """By what a conversation is recognised."""
    source = grown.found.source_id
    return importer.name, source or content_hash(sorted(message.id for message in grown.messages))


def _known(forky: Workspace) -> dict[tuple[str, str], ConversationId]:
    found: dict[tuple[str, str], ConversationId] = {}
    for summary in (*forky.conversations(trashed=True), *forky.conversations()):
        origin = forky.store.view(summary.id).entries.get(ORIGIN)
        if isinstance(origin, dict):
            found[origin["format"], origin["id"]] = summary.id
    return found


@dataclass(slots=True)
class _Landing:
    forky: Workspace
    path: Path
    problems: list[Unreadable] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    landed: dict[ConversationId, int] = field(default_factory=dict)
    """What came: number of the operation by which a known conversation grew; 0 for a new one."""
    unchanged: int = 0
    done: int = 0
    known: dict[tuple[str, str], ConversationId] = field(init=False)

    def __post_init__(self) -> None:
        self.known = _known(self.forky)

    @staticmethod
    def go_on_unless(stop: Event | None) -> None:
        if stop is not None and stop.is_set():
            raise NothingToDo("The import was stopped; nothing of it was kept.")

    def take(self, piece: _Piece, archive: Archive) -> None:
        self.done += 1
        if isinstance(piece.found, Unreadable):
            self.problems.append(piece.found)
            self.account += Account(unreadable=1)
            return
        if isinstance(piece.found, Chat):
            self._adopt(piece.found)
            return
        assert piece.importer is not None
        grown = grow(piece.found)
        self.account += grown.account
        if not grown.messages:
            self.problems.append(Unreadable(_title(grown) or "untitled", "It holds no message."))
            return
        key = _key(piece.importer, grown)
        known = self.known.get(key)
        self._keep_files(grown, archive)
        origin = self._origin(key, grown)
        if known is None:
            id = self._create(grown, origin, piece.importer)
            self.known[key] = id
            self.landed[id] = 0
            self._keep_origins(id, grown)
        elif not self._holds_all(known, grown):
            self.landed.setdefault(known, self._add(known, grown, origin, piece.importer))
            self._keep_origins(known, grown)
        else:
            self.unchanged += 1

    def _adopt(self, chat: Chat) -> None:
        try:
            done = adopt(self.forky, chat)
        except BadContent as error:
            self.problems.append(Unreadable(chat.title or "untitled", str(error)))
            self.account += Account(unreadable=1)
            return
        self.account += _account_of(chat)
        if done.outcome == "unchanged":
            self.unchanged += 1
        else:
            self.landed[done.conversation] = 0 if done.outcome == "new" else done.before + 1

    def _keep_files(self, grown: Grown, archive: Archive) -> None:
        """Put the bytes of attachments into the store, before a message names them."""
        held = archive.beside.held
        for message in grown.messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart) and part.sha256 in held:
                    self.forky.store.put_blob(held.pop(part.sha256)(), part.media_type, part.name)

    def _origin(self, key: tuple[str, str], grown: Grown) -> dict[str, Json]:
        """What the conversation says of its source."""
        entry: dict[str, Json] = {
            "format": key[0],
            "id": key[1],
            "file": title_line(self.path.name),
            "account": grown.account.stored(),
        }
        if grown.found.extra:
            entry["x"] = mend_json(dict(grown.found.extra))
        return entry

    def _keep_origins(self, id: ConversationId, grown: Grown) -> None:
        """The nodes' own ids and fields, beside the messages."""
        rows = dict.fromkeys(self.forky.store.derived(id, (ORIGINS,)).get(ORIGINS, "").splitlines())
        for origin in grown.origins:
            row = {"message": origin.message, "id": origin.node.id}
            more = {"x": dict(origin.node.extra)} if origin.node.extra else {}
            rows[canonical_json(mend_json(row | more))] = None
        self.forky.store.keep_derived(id, {ORIGINS: "\n".join(rows)})

    def _create(self, grown: Grown, origin: dict[str, Json], importer: Importer) -> ConversationId:
        id = ConversationId(new_id())
        tx = Transaction(self.forky.store, id, EMPTY_VIEW, self.forky.actor)
        title = _title(grown)
        if title:
            tx.set("title", title)
        tx.create_branch(grown.branch, grown.head, _rules(grown))
        for name, tip in grown.branches.items():
            tx.create_branch(name, tip, Rules())
        for tip in grown.kept:
            tx.keep(tip)
        tx.set(ORIGIN, origin)
        tx.messages = list(grown.messages)
        tx.generations = _generations(grown)
        tx.publish("import", f"Imported “{title}” ({importer.label})")
        return id

    def _holds_all(self, known: ConversationId, grown: Grown) -> bool:
        here = self.forky.store.messages(known)
        return all(message.id in here for message in grown.messages)

    def _add(self, known: ConversationId, grown: Grown, origin: dict[str, Json], importer: Importer) -> int:
        """What is new in a conversation that was imported before; the number of the operation."""
        view = self.forky.store.view(known)
        here = self.forky.store.messages(known)
        tx = Transaction(self.forky.store, known, view, self.forky.actor)
        fresh = [message for message in grown.messages if message.id not in here]
        tx.messages = list(fresh)
        tx.generations = [one for one in _generations(grown) if one.message not in here]
        tips = {grown.branch: grown.head, **grown.branches}
        point(
            tx,
            view,
            {name: (tip, Rules()) for name, tip in tips.items() if tip is not None},
            grown.kept,
            {**here, **{message.id: message for message in fresh}},
        )
        tx.set("trashed", None)
        tx.set(ORIGIN, origin)
        many = "1 message" if len(fresh) == 1 else f"{len(fresh)} messages"
        return tx.publish("import", f"Imported {many} more ({importer.label})").number

    def take_away(self) -> None:
        for id, grew in self.landed.items():
            chat = self.forky.conversation(id)
            if grew:
                chat.restore(grew - 1)
            else:
                if not chat.view.trashed:
                    chat.trash()
                self.forky.purge(id)

    def progress(self, piece: _Piece) -> Progress:
        found = piece.found
        title = found.label if isinstance(found, Unreadable) else found.title
        return Progress(self.done, title_line(title), self.account)

    def finish(self) -> Imported:
        number = self._record() if self.landed else 0
        return Imported(number, tuple(self.landed), self.unchanged, tuple(self.problems), self.account)

    def _record(self) -> int:
        store = self.forky.store
        number = int(store.setting("imports") or 0) + 1
        record = {
            "file": title_line(self.path.name),
            "at": now(),
            "account": self.account.stored(),
            "conversations": self.landed,
        }
        store.set_setting(f"import/{number}", canonical_json(record))
        store.set_setting("imports", str(number))
        return number


def _rules(grown: Grown) -> Rules:
    return Rules(system=grown.found.system or None)


def _generations(grown: Grown) -> list[Generation]:
    """Who answered, when and how it ended, for the replies of which the source says so (law 2)."""
    by_id = {message.id: message for message in grown.messages}
    found = []
    for origin in grown.origins:
        node, message = origin.node, by_id[origin.message]
        if message.role == "assistant" and (node.model or node.status != "done"):
            at = max(0, node.created)
            found.append(
                Generation(
                    GenerationId(new_id()),
                    "main",
                    message.parent,
                    title_line(node.model) or "unknown",
                    node.status,
                    message.id,
                    usage=node.usage,
                    started=at,
                    finished=at,
                )
            )
    return found
