"""One import under way: pieces of a source in, conversations on their way into the store, and the account of it all.

A conversation that was imported before is recognised by its format and the source's id, or, where the source gives
none, by its content; only what is new in it comes. One that cannot be read, or is refused, never stops the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Event

from forky_core.errors import BadContent, NotFound, NothingToDo
from forky_core.formats.account import Account
from forky_core.formats.batches import Batches, Refused, Waiting, without
from forky_core.formats.contract import Importer, Unreadable
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import ORIGINS
from forky_core.formats.pieces import Piece, title_of
from forky_core.formats.pointing import point
from forky_core.formats.source import Beside
from forky_core.formats.tree import Grown, grow
from forky_core.hashing import content_hash, mend_json
from forky_core.model import (
    EMPTY_VIEW,
    ConversationId,
    Generation,
    GenerationId,
    Message,
    Operation,
    Rules,
)
from forky_core.parts import AttachmentPart, Json, canonical_json
from forky_core.repo.identity import new_id, now, title_line
from forky_core.repo.transaction import Transaction
from forky_core.repo.workspace import Workspace

ORIGIN = "origin"
"""Key of a view: what the conversation was imported from."""


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


def account_of(chat: Chat) -> Account:
    return Account(conversations=1, seen=len(chat.messages), imported=len(chat.messages))


def key_of(importer: Importer, grown: Grown) -> tuple[str, str]:
    """By what a conversation is recognised."""
    source = grown.found.source_id
    return importer.name, source or content_hash(sorted(message.id for message in grown.messages))


def known_before(forky: Workspace) -> dict[tuple[str, str], ConversationId]:
    """What was imported before. Where two come from one source, the one that changed last."""
    origins = forky.store.entries(ORIGIN)
    if not origins:
        return {}
    order = [summary.id for summary in (*forky.conversations(trashed=True), *forky.conversations())]
    return {
        (str(origin.get("format")), str(origin.get("id"))): id
        for id in order
        if isinstance(origin := origins.get(id), dict)
    }


class Arrival:
    """One import: pieces in, conversations written in batches, and what became of each."""

    def __init__(self, forky: Workspace, path: Path) -> None:
        self.forky = forky
        self.file = title_line(path.name)
        self.problems: list[Unreadable] = []
        self.account = Account()
        self.landed: dict[ConversationId, int] = {}
        """What came: number of the operation by which a known conversation grew; 0 for a new one."""
        self.ended: dict[ConversationId, int] = {}
        """Number of the last operation by which each came."""
        self.unchanged = 0
        self.done = 0
        self._known = known_before(forky)
        self._batches = Batches(forky.store, self._settled)

    @staticmethod
    def go_on_unless(stop: Event | None) -> None:
        if stop is not None and stop.is_set():
            raise NothingToDo("The import was stopped; nothing of it was kept.")

    def take(self, piece: Piece, beside: Beside) -> None:
        self.done += 1
        if isinstance(piece.found, Unreadable):
            self._cannot(piece.found)
            return
        if isinstance(piece.found, Chat):
            self._adopt(piece.found)
            return
        assert piece.importer is not None
        grown = grow(piece.found)
        self.account += grown.account
        if not grown.messages:
            self.problems.append(Unreadable(title_of(grown) or "untitled", "It holds no message."))
            return
        key = key_of(piece.importer, grown)
        known = self._known.get(key)
        if known is not None and self._batches.holds(known):
            self._batches.flush()
            known = self._known.get(key)
        origin = self._origin(key, grown)
        if known is None:
            tx = self._create(grown, origin)
            self._known[key] = tx.conversation
            self.landed[tx.conversation] = 0
            summary = f"Imported “{title_of(grown)}” ({piece.importer.label})"
        elif self._holds_all(known, grown):
            self.unchanged += 1
            return
        else:
            tx = self._add(known, grown, origin)
            self.landed.setdefault(known, tx.view.version + 1)
            many = "1 message" if len(tx.messages) == 1 else f"{len(tx.messages)} messages"
            summary = f"Imported {many} more ({piece.importer.label})"
        files = tuple(beside.taken(part) for part in _attachments(tx.messages) if part.sha256 in beside.held)
        commit = tx.commit("import", summary)
        self._batches.add(Waiting(commit, title_of(grown), files, grown.account))

    def _settled(self, waiting: Waiting, outcome: Operation | Refused) -> None:
        id = waiting.commit.conversation
        if isinstance(outcome, Operation):
            if self.landed[id] and id not in self.ended:
                self.landed[id] = outcome.number  # Somebody may have done something there meanwhile.
            self.ended[id] = outcome.number
            return
        self.problems.append(Unreadable(waiting.title or "untitled", outcome.why))
        self.account = without(self.account, outcome)
        self.landed.pop(id, None)
        self._known = {key: known for key, known in self._known.items() if known != id}

    def _cannot(self, why: Unreadable) -> None:
        self.problems.append(why)
        self.account += Account(unreadable=1)

    def _adopt(self, chat: Chat) -> None:
        try:
            done = adopt(self.forky, chat)
        except BadContent as error:
            self._cannot(Unreadable(chat.title or "untitled", str(error)))
            return
        self.account += account_of(chat)
        if done.outcome == "unchanged":
            self.unchanged += 1
        else:
            self.landed.setdefault(done.conversation, 0 if done.outcome == "new" else done.before + 1)
            self.ended[done.conversation] = self.forky.store.view(done.conversation).version

    def _origin(self, key: tuple[str, str], grown: Grown) -> dict[str, Json]:
        """What the conversation says of its source."""
        entry: dict[str, Json] = {
            "format": key[0],
            "id": key[1],
            "file": self.file,
            "account": grown.account.stored(),
        }
        if grown.found.extra:
            entry["x"] = mend_json(dict(grown.found.extra))
        return entry

    def _create(self, grown: Grown, origin: dict[str, Json]) -> Transaction:
        tx = Transaction(self.forky.store, ConversationId(new_id()), EMPTY_VIEW, self.forky.actor)
        title = title_of(grown)
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
        tx.derived = {ORIGINS: "\n".join(_origin_rows(grown))}
        tx.in_bulk = True
        return tx

    def _holds_all(self, known: ConversationId, grown: Grown) -> bool:
        here = self.forky.store.messages(known)
        return all(message.id in here for message in grown.messages)

    def _add(self, known: ConversationId, grown: Grown, origin: dict[str, Json]) -> Transaction:
        """What is new in a conversation that was imported before."""
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
        before = self.forky.store.derived(known, (ORIGINS,)).get(ORIGINS, "").splitlines()
        tx.derived = {ORIGINS: "\n".join(dict.fromkeys((*before, *_origin_rows(grown))))}
        tx.in_bulk = True
        return tx

    def take_away(self) -> None:
        """Leave nothing of it, wherever it was."""
        self._batches.close()
        store, untouched = self.forky.store, []
        fresh = []
        for id, grew in self.landed.items():
            try:
                version = store.view(id).version
            except NotFound:
                continue  # It was still on its way.
            if grew:
                if version >= grew:
                    self.forky.conversation(id).restore(grew - 1)
                continue
            fresh.append(id)
            if version == 1:
                untouched.append(id)
            elif not store.view(id).trashed:
                self.forky.conversation(id).trash()
        trash(self.forky, untouched)
        for id in fresh:
            self.forky.purge(id)

    def progress(self, piece: Piece) -> Progress:
        found = piece.found
        title = found.label if isinstance(found, Unreadable) else found.title
        return Progress(self.done, title_line(title), self.account)

    def finish(self) -> Imported:
        """Wait for what is being written, and keep what came of it all."""
        self._batches.flush()
        self._batches.close()
        number = self._record() if self.landed else 0
        return Imported(number, tuple(self.landed), self.unchanged, tuple(self.problems), self.account)

    def _record(self) -> int:
        store = self.forky.store
        number = int(store.setting("imports") or 0) + 1
        record = {
            "file": self.file,
            "at": now(),
            "account": self.account.stored(),
            "conversations": self.landed,
            "ended": self.ended,
        }
        store.set_setting(f"import/{number}", canonical_json(record))
        store.set_setting("imports", str(number))
        return number


def _attachments(messages: Iterable[Message]) -> Iterator[AttachmentPart]:
    return (part for message in messages for part in message.parts if isinstance(part, AttachmentPart))


def _origin_rows(grown: Grown) -> list[str]:
    """The nodes' own ids and fields, to be kept beside the messages."""
    rows: dict[str, None] = {}
    for origin in grown.origins:
        row: dict[str, Json] = {"message": origin.message, "id": origin.node.id}
        if origin.node.extra:
            row["x"] = dict(origin.node.extra)
        line = canonical_json(row)
        try:
            line.encode()
        except UnicodeEncodeError:
            line = canonical_json(mend_json(row))
        rows[line] = None
    return list(rows)


def trash(forky: Workspace, ids: Iterable[ConversationId]) -> None:
    """Several to a transaction; only for conversations to which nothing was said since they were imported."""
    commits = []
    for id in ids:
        tx = Transaction(forky.store, id, forky.store.view(id), forky.actor)
        tx.set("trashed", True)
        tx.in_bulk = True
        if tx.changes:
            commits.append(tx.commit("trash", "Moved to the trash"))
    forky.store.commit_all(commits)


def _rules(grown: Grown) -> Rules:
    return Rules(system=grown.found.system or None)


_model_line = lru_cache(1_000)(title_line)
"""Of a few models, asked for with every reply."""


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
                    _model_line(node.model) or "unknown",
                    node.status,
                    message.id,
                    usage=node.usage,
                    started=at,
                    finished=at,
                )
            )
    return found
