"""The way between a fork and its original: news come from it, and what was added goes back to it.

The original is a conversation here, if whoever asks sees it, or else what a link of another Forky shows. The link's
address opens what it shows, so it is kept beside the fork, and in no file that is made of it.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import AdoptResult, fork_or_pull, give_back, pull
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.giving_back import home_of, origins_of
from forky_core.formats.forky_file.writing import chat_of, part_of
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent
from forky_core.people.links.fetching import ReturnReceipt, fetched, give_back_to
from forky_core.people.needed_roles import EDITORS_DERIVED


def take_from_link(
    forky: Workspace, address: str, *, into: ConversationId | None = None, anew: bool = False
) -> AdoptResult:
    """Fork what a link shows, or bring what is new there to its fork; `fork_or_pull` says which.

    Raises what `fetched` and `pull` raise.
    """
    done = fork_or_pull(forky, fetched(address), through="a link", into=into, anew=anew)
    keep_address(forky, done.conversation, address)
    return done


def keep_address(forky: Workspace, fork: ConversationId, address: str) -> None:
    """Keep the address of the link by which a fork was made, or is to go back."""
    if address and address != address_of(forky, fork):
        forky.store.keep_derived(fork, {EDITORS_DERIVED: address})


def address_of(forky: Workspace, fork: ConversationId) -> str:
    """The address of the link that leads to the original of a fork; "" if none is known."""
    return forky.store.derived(fork, (EDITORS_DERIVED,)).get(EDITORS_DERIVED, "")


def original_here(forky: Workspace, fork: ConversationId) -> ConversationId | None:
    """The original of a fork, if it is a conversation here that whoever asks sees."""
    return home_of(forky, chat_of(forky.store, fork, files=False))


def fetch_news(forky: Workspace, fork: ConversationId, address: str = "") -> AdoptResult:
    """Bring what is new in the original to its fork. Where both have moved on, the news wait on branches of their own.

    Raises:
        BadContent: the original is not here, and no link leads to it, or the link is over.
        AddressRefused: requests to the link's host are refused.
    """
    chat = chat_of(forky.store, fork, files=False)
    home = None if address else home_of(forky, chat)
    if (
        home is not None and home == origins_of(chat)[0]
    ):  # Else the fork's messages are copies of the original's.
        return pull(forky, fork, _shared_branches(chat_of(forky.store, home), chat))
    return take_from_link(forky, _address(forky, fork, address), into=fork)


def send_back(forky: Workspace, fork: ConversationId, address: str = "") -> ReturnReceipt:
    """Propose what a fork has added in its original.

    Raises:
        BadContent: the original is not here, and no link leads to it, or the link is over or takes nothing back.
        NotAllowed: the original is here, and they may propose nothing there.
        AddressRefused: requests to the link's host are refused.
    """
    chat = chat_of(forky.store, fork)
    home = None if address else home_of(forky, chat)
    if home is not None:
        done = give_back(forky, home, chat, through="from here")
        return ReturnReceipt(done.messages, done.requests)
    address = _address(forky, fork, address)
    receipt = give_back_to(address, chat)
    keep_address(forky, fork, address)
    return receipt


def _address(forky: Workspace, fork: ConversationId, address: str) -> str:
    if found := address or address_of(forky, fork):
        return found
    raise BadContent(
        "What this was forked from is not here, and no link to it is known.",
        "Paste the address of a link to it, or exchange files with whoever shared it.",
    )


def _shared_branches(original: Chat, fork: Chat) -> Chat:
    """The original with the branches alone that the fork has, too: others may be none of its readers' business."""
    heads = {name: one.head for name, one in original.view.branches.items() if one.head is not None}
    tips = {name: head for name, head in heads.items() if name in fork.view.branches} or heads
    return replace(part_of(original, MappingProxyType(tips)), operations=original.operations)
