"""A row for every method of `DocumentKeeper`, and for each way to a file by its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from forky_core.conversation.workspace import Workspace
from forky_core.documents.retrieval.bm25 import term_number
from forky_core.documents.source import source_of_bytes
from forky_core.model.document import Chunk, Document, DocumentId, DocumentPiece, SearchScope
from forky_core.model.errors import NotFound
from forky_core.people.roles import Role
from tests.people.matrix.rules import ALLOWED, NOT_FOUND, REFUSED
from tests.people.matrix.world import World

FILES = (
    "offered to everybody",
    "in the trash",
    "given by me",
    "of a conversation that I see",
    "somebody else's",
    "never there",
)
"""How a person can stand to a file."""


@dataclass(frozen=True)
class Desk:
    """A person in front of one file, which is an attachment and a document at once."""

    forky: Workspace
    content: bytes
    chunk: int
    """The key of the document's only chunk; 0 if there is none."""

    @property
    def id(self) -> DocumentId:
        return DocumentId(hashlib.sha256(self.content).hexdigest())


def desks(world: World) -> Iterator[tuple[str, Desk]]:
    """Each file in front of the person, who is the same all along."""
    for kind in FILES:
        cell = world.cell("shared with me as viewer")
        content, whole = f"Cork floats: {kind}.".encode(), world.whole
        shelf = {"offered to everybody": "workspace", "in the trash": "trash"}.get(kind, "")
        if kind != "never there":
            sha256 = whole.store.put_blob(content, "text/plain", "cork.txt")
            added = whole.documents.add_sources([source_of_bytes("cork.txt", content)])
            whole.store.documents.shelve(added.documents[0].id, shelf)  # type: ignore[arg-type]
            if kind in {"given by me", "in the trash"} and world.general:
                world.team.files.give(world.me.id, [sha256])
            if kind == "of a conversation that I see":
                world.team.files.name(cell.id, [sha256])
        last = world.store.documents._last
        yield kind, Desk(cell.forky, content, 0 if kind == "never there" else last)


Call = Callable[[Desk], object]


def found(look: Call) -> Call:
    """A call that looks for the file among all there are: it is there or not, and nothing is raised."""

    def call(desk: Desk) -> object:
        if not look(desk):
            raise NotFound("It is not listed.")
        return None

    return call


def _pieces(desk: Desk, shelf: str = "") -> list[DocumentPiece]:
    document = Document(desk.id, "cork.txt", "text/plain", len(desk.content), 1, shelf)  # type: ignore[arg-type]
    return [DocumentPiece(document, (Chunk(1, "", desk.content.decode(), 0, {term_number("cork"): 1}),))]


def _named(desk: Desk) -> SearchScope:
    return SearchScope(False, (desk.id,))


Needs = Callable[[str, Role], str]


def see(kind: str, general: Role) -> str:
    """Members see what is offered to all, what they gave, and what belongs to a conversation that they see."""
    hidden = kind in {"somebody else's", "never there"} or not general
    return NOT_FOUND if hidden else ALLOWED


def change(kind: str, general: Role) -> str:
    """Whoever gave a file changes it; editors those that are offered to everybody; owners those that they see."""
    if see(kind, general) == NOT_FOUND:
        return NOT_FOUND
    if kind in {"given by me", "in the trash"}:
        return ALLOWED
    needed = Role.EDITOR if kind == "offered to everybody" else Role.OWNER
    return ALLOWED if general >= needed else REFUSED


def offer(kind: str, general: Role) -> str:
    """To offer a file to everybody takes an editor as well."""
    outcome = change(kind, general)
    return REFUSED if outcome == ALLOWED and general < Role.EDITOR else outcome


def silently(needs: Needs) -> Needs:
    """What is not found is passed over."""
    return lambda kind, general: ALLOWED if needs(kind, general) == NOT_FOUND else needs(kind, general)


def at_least(role: Role) -> Needs:
    return lambda _kind, general: ALLOWED if general >= role else REFUSED


def anybody(_kind: str, _general: Role) -> str:
    return ALLOWED


@dataclass(frozen=True)
class FileRow:
    covers: str
    needs: Needs
    call: Call
    as_: str = ""

    @property
    def name(self) -> str:
        return f"{self.covers} {self.as_}".strip()


KEEPER: tuple[FileRow, ...] = (
    FileRow("take_in", at_least(Role.COMMENTER), lambda d: d.forky.store.documents.take_in(_pieces(d))),
    FileRow(
        "take_in",
        at_least(Role.EDITOR),
        lambda d: d.forky.store.documents.take_in(_pieces(d, "workspace")),
        "for all",
    ),
    FileRow("shelve", change, lambda d: d.forky.store.documents.shelve(d.id, "trash"), "in the trash"),
    FileRow("shelve", offer, lambda d: d.forky.store.documents.shelve(d.id, "workspace"), "for all"),
    FileRow("drop", silently(change), lambda d: d.forky.store.documents.drop([d.id])),
    FileRow("document", see, lambda d: d.forky.store.documents.document(d.id)),
    FileRow("document", see, lambda d: d.forky.store.documents.document(d.id[:12]), "by its first digits"),
    FileRow(
        "documents", see, found(lambda d: d.id in [one.id for one in d.forky.store.documents.documents()])
    ),
    FileRow("known", see, found(lambda d: d.id in d.forky.store.documents.known([d.id]))),
    FileRow("within", see, found(lambda d: d.forky.store.documents.within(_named(d))[0])),
    FileRow("chunks", see, found(lambda d: d.forky.store.documents.chunks(d.id))),
    FileRow(
        "postings",
        see,
        found(lambda d: d.forky.store.documents.postings([term_number("cork")], _named(d)).chunks),
    ),
    FileRow("found", see, found(lambda d: d.forky.store.documents.found([d.chunk]))),
    FileRow("unembedded", at_least(Role.EDITOR), lambda d: d.forky.store.documents.unembedded("m", 9)),
    FileRow(
        "embed", at_least(Role.EDITOR), lambda d: d.forky.store.documents.embed("m", [], np.zeros((0, 1)))
    ),
    FileRow("forget_vectors", at_least(Role.OWNER), lambda d: d.forky.store.documents.forget_vectors()),
    FileRow("vectors", anybody, lambda d: list(d.forky.store.documents.vectors("m", _named(d)))),
    FileRow("vector_sizes", anybody, lambda d: d.forky.store.documents.vector_sizes()),
)
"""The methods of `DocumentKeeper`."""


def attached(kind: str, general: Role) -> str:
    """An attachment is seen by whoever gave it and by those who see a conversation that names it."""
    mine = {"given by me", "in the trash", "of a conversation that I see"}
    return ALLOWED if general and kind in mine else NOT_FOUND


def _deleted(desk: Desk) -> None:
    if desk.forky.store.documents.document(desk.id).shelf == "trash":
        desk.forky.delete_document(desk.id)
    else:
        desk.forky.store.documents.shelve(desk.id, "trash")


OTHERS: tuple[FileRow, ...] = (
    FileRow("blob", attached, lambda d: d.forky.store.blob(d.id)),
    FileRow("take_back_document", offer, lambda d: d.forky.take_back_document(d.id)),
    FileRow("delete_document", change, _deleted),
)
"""Other ways to a file by its hash."""
