"""What leaves a team's workspace as a file, as entries of its audit log: who took which conversation along, in which
format; never what was said in it.

The entry is made before the first byte leaves. Where it cannot be written, nothing is exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forky_core.model import ConversationId
from forky_core.people.audit import NOBODY
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.operator_view import OperatorStore
from forky_core.people.proposing_store import ProposingStore
from forky_core.people.team import Team
from forky_core.store.contract import Store


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


def _who(store: Store) -> tuple[Team, str] | None:
    """The team of a store, and the id of the person who uses it; None where it belongs to no team."""
    if isinstance(store, ProposingStore):
        store = store.store
    if isinstance(store, GuardedStore):
        return store.access.team, store.access.id
    if isinstance(store, OperatorStore):
        return store.team, NOBODY
    return None
