"""One import under way: pieces of a source in, conversations on their way into the store, and the account of it all.

A conversation that was imported before is recognised by its format and the source's id, or, where the source gives
none, by its content; only what is new in it comes. One that cannot be read, or is refused, never stops the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from forky_core.errors import BadContent, NotFound, NothingToDo, StoreError
from forky_core.formats.account import Account
from forky_core.formats.arriving.batches import Batches, Refused, Waiting, without
from forky_core.formats.arriving.pieces import Piece, title_of
from forky_core.formats.arriving.planting import (
    added,
    key_of,
    known_before,
    names_a_branch,
    origin_of,
    planted,
)
from forky_core.formats.arriving.taking_back import leave_nothing
from forky_core.formats.contract import Unreadable
from forky_core.formats.files.source import Beside
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.tree import Grown, grow
from forky_core.model import ConversationId, Message, Operation
from forky_core.parts import AttachmentPart, canonical_json
from forky_core.repo.identity import now, title_line
from forky_core.repo.workspace import Workspace

STOPPED = "The import was stopped."
NOTHING_KEPT = "The import was stopped; nothing of it was kept."


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

    @property
    def whole(self) -> bool:
        """Whether everything came, and was understood."""
        return not self.problems and self.account.all_understood


def account_of(chat: Chat) -> Account:
    return Account(conversations=1, seen=len(chat.messages), imported=len(chat.messages))


class Arrival:
    """One import: pieces in, conversations written in batches, and what became of each."""

    def __init__(self, forky: Workspace, path: Path) -> None:
        self.forky = forky
        self.file = title_line(path.name)
        self.problems: list[Unreadable] = []
        self.account = Account()
        self.brought: dict[ConversationId, list[int]] = {}
        """Numbers of the operations by which each came or grew; none yet of one that is on its way."""
        self.unchanged = 0
        self.done = 0
        self._known = known_before(forky)
        self._planted: set[ConversationId] = set()
        """Those that this import makes."""
        self._batches = Batches(forky.store, self._settled)

    @staticmethod
    def go_on_unless(stop: Event | None) -> None:
        if stop is not None and stop.is_set():
            raise NothingToDo(NOTHING_KEPT)

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
        origin = origin_of(key, self.file, grown)
        if known is None:
            tx = planted(self.forky, grown, origin)
            self._known[key] = tx.conversation
            self._planted.add(tx.conversation)
            summary = f"Imported “{title_of(grown)}” ({piece.importer.label})"
        elif self._holds_all(known, grown) and not names_a_branch(self.forky, known, grown):
            self.unchanged += 1
            return
        else:
            tx = added(self.forky, known, grown, origin)
            many = "1 message" if len(tx.messages) == 1 else f"{len(tx.messages)} messages"
            what = f"{many} more" if tx.messages else f"the branch “{grown.branch}”"
            summary = f"Imported {what} ({piece.importer.label})"
        self.brought.setdefault(tx.conversation, [])
        files = tuple(beside.taken(part) for part in _attachments(tx.messages) if part.sha256 in beside.held)
        self._batches.add(Waiting(tx.commit("import", summary), title_of(grown), files, grown.account))

    def _holds_all(self, known: ConversationId, grown: Grown) -> bool:
        here = self.forky.store.messages(known)
        return all(message.id in here for message in grown.messages)

    def _settled(self, waiting: Waiting, outcome: Operation | Refused) -> None:
        id = waiting.commit.conversation
        if isinstance(outcome, Operation):
            self.brought[id].append(outcome.number)
            return
        self.problems.append(Unreadable(waiting.title or "untitled", outcome.why))
        self.account = without(self.account, outcome)
        if not self.brought[id]:
            del self.brought[id]
        if id in self._planted and id not in self.brought:
            self._known = {key: known for key, known in self._known.items() if known != id}

    def _cannot(self, why: Unreadable) -> None:
        self.problems.append(why)
        self.account += Account(unreadable=1)

    def _adopt(self, chat: Chat) -> None:
        before = self._last_operation(chat.id)
        try:
            done = adopt(self.forky, chat)
        except BadContent as error:
            self._cannot(Unreadable(chat.title or "untitled", str(error)))
            return
        except StoreError:
            theirs = {operation.id for operation in chat.operations}
            if before < self._last_operation(
                chat.id
            ):  # Some of its log was written before the database failed.
                written = self.forky.store.operations(chat.id, after=before)
                self._came(chat.id, [one.number for one in written if one.id in theirs])
            raise
        self.account += account_of(chat)
        if done.outcome == "unchanged":
            self.unchanged += 1
        else:
            self._came(done.conversation, done.operations)

    def _last_operation(self, id: ConversationId) -> int:
        try:
            return self.forky.store.view(id).version
        except NotFound:
            return 0

    def _came(self, id: ConversationId, operations: Iterable[int]) -> None:
        self.brought.setdefault(id, []).extend(operations)

    def take_away(self) -> str:
        """Leave nothing of it, wherever it was; what had to stay, as a sentence."""
        self._batches.drop()
        return leave_nothing(self.forky, {id: numbers for id, numbers in self.brought.items() if numbers})

    def progress(self, piece: Piece) -> Progress:
        found = piece.found
        title = found.label if isinstance(found, Unreadable) else found.title
        return Progress(self.done, title_line(title), self.account)

    def finish(self) -> Imported:
        """Wait for what is being written, and keep what came of it all."""
        self._batches.flush()
        self._batches.close()
        number = self._record() if self.brought else 0
        return Imported(number, tuple(self.brought), self.unchanged, tuple(self.problems), self.account)

    def _record(self) -> int:
        store = self.forky.store
        number = int(store.setting("imports") or 0) + 1
        record = {
            "file": self.file,
            "at": now(),
            "account": self.account.stored(),
            "operations": self.brought,
        }
        store.set_setting(f"import/{number}", canonical_json(record))
        store.set_setting("imports", str(number))
        return number


def _attachments(messages: Iterable[Message]) -> Iterator[AttachmentPart]:
    return (part for message in messages for part in message.parts if isinstance(part, AttachmentPart))
