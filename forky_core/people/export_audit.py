"""What leaves a team's workspace, as entries of its audit log: who took which conversation along, in which format, and
what happens to links; never what was said.

The entry of a file is made before its first byte leaves. Where it cannot be written, nothing is exported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from forky_core.model import ConversationId
from forky_core.people.audit import NOBODY
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.team import Team
from forky_core.people.token_store import TokenStore
from forky_core.people.views import OperatorStore
from forky_core.store.contract import Store


class LinkOfLog(Protocol):
    """A link as the audit log names it."""

    @property
    def id(self) -> str: ...
    @property
    def conversation(self) -> ConversationId: ...
    @property
    def thing(self) -> str: ...
    @property
    def opened(self) -> int: ...


def note_export(store: Store, conversation: ConversationId, form: str, thing: str = "") -> None:
    """Note that a conversation is exported by whoever uses this store; nothing where it belongs to no team.

    `form` is the format's name. `thing` says which part of it, as the names of what can be given away do; "" for the
    conversation itself.
    """
    found = _who(store)
    if found is not None:
        team, person = found
        more = {"thing": thing} if thing else {}
        team.audit.note("conversation exported", person, conversation=conversation, form=form, **more)


def note_tables(store: Store, form: str, conversations: Iterable[ConversationId] | None = None) -> None:
    """Note that whoever uses this store takes the tables for analysis along: of single conversations, where they chose
    some, else of all that they may read. Nothing where it belongs to no team.
    """
    for conversation in conversations or ():
        note_export(store, conversation, form, "tables")
    found = _who(store)
    if conversations is None and found is not None:
        team, person = found
        team.audit.note("tables exported", person, form=form)


def noted(
    pieces: Iterable[bytes], store: Store, conversation: ConversationId, form: str, thing: str = ""
) -> Iterator[bytes]:
    """Yield the pieces of a file; `note_export` is called when the first one is taken."""
    note_export(store, conversation, form, thing)
    yield from pieces


def noted_in(team: Team) -> Callable[[str, str, LinkOfLog], None]:
    """Return a function that adds an event of a link to the audit log, with the person (by id) who caused it."""

    def note(event: str, person: str, link: LinkOfLog) -> None:
        team.audit.note(
            event, person, link=link.id, conversation=link.conversation, thing=link.thing, opened=link.opened
        )

    return note


def _who(store: Store) -> tuple[Team, str] | None:
    """The team of a store, and the id of the person who uses it; None where it belongs to no team."""
    if isinstance(store, TokenStore):
        store = store.store
    if isinstance(store, GuardedStore):
        return store.access.team, store.access.id
    if isinstance(store, OperatorStore):
        return store.team, NOBODY
    return None
