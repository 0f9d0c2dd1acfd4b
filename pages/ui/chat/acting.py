"""What the small buttons of a cell do: each calls one verb, or opens the form that will."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotAllowed, NothingToDo
from forky_core.model.payload_kinds import CHERRY_PICK
from forky_core.views.places import branch_for, later_on
from forky_core.views.sides import side_of
from pages.ui.chat.acts import Act
from pages.ui.chat.forms import FORMS
from pages.ui.chat.offers import way_of
from pages.ui.chat.stashes import stash_from
from pages.ui.chat.threads import quote_for_thread
from pages.ui.chat.window import is_near, tip_below
from pages.ui.components.links import passage_place
from pages.ui.components.notice import done
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame, go, message_anywhere, open_page, place, saying
from pages.ui.session import TabSession

_PICKED = 8
"""Hex digits of a pick in the URL of the Merge page."""
BRANCH = "fork"
"""The act that starts a branch: it is open while the next question will."""
_DIALOGS = frozenset({"erase", "original", "prune", "revert"})


def act_on(here: Frame, act: Act) -> None:
    """Carry out a click. The id comes from a browser, so it is looked up like any other."""
    with saying(here.session):
        if act.name == "document":
            _open_document(here.chat, act.id)
            return
        if act.name == "card":
            here.session.card = None
            return
        if act.name == "visit":
            _visit(here, act.id)
            return
        here.session.switches += act.name == "sibling"
        message = here.chat.message(act.id)
        if act.name == "threads":
            quote_for_thread(here, act.quote)
        _act(here, act.name, message)


def _open_document(chat: Conversation, address: str) -> None:
    """The passage that an answer cites, on the Documents page."""
    chat.documents.cited(address)
    st.switch_page("documents.py", query_params=passage_place(chat.id, address))


def _visit(here: Frame, id: str) -> None:
    chat, message = message_anywhere(here.forky, here.chat, id)
    if chat is here.chat:
        goto(here, message.id)
    else:
        go(chat, message.id)


def goto(here: Frame, message: MessageId) -> None:
    """Check a message out: its branch where it is a head, else the branch it is best looked at from."""
    name = branch_for(message, here.chat.view, here.chat.visible, here.chat.branch_name)
    here.session.acting = None
    go(here.chat.checkout(name), message)


def _act(here: Frame, name: str, message: Message) -> None:
    tab, id = here.session, message.id
    if (verb := _VERBS.get(name)) is not None:
        verb(here, id)
        return
    match name:
        case "sibling":
            goto(here, tip_below(here, id))
        case "copy":
            _copy(here, message.text, "Copied.")
        case "link":
            _copy(here, _link(here, id), "Copied a link to this message.")
        case "pick" | "mark_a" | "mark_b":
            _mark(tab, name, id)
        case "promote":
            done(tab, here.chat.branches.promote(id))
            go(here.chat)
        case "resume":
            here.chat.replies.resume()
        case "again":
            chat, _ = here.chat.regenerate(id)
            go(chat)
        case _ if name in FORMS | _DIALOGS:
            _open(here, name, id)


def _open(here: Frame, name: str, id: MessageId) -> None:
    """A second click closes what the first opened. A form stands below its message, so one goes there."""
    if name != "threads" and (why := why_only_reads(here.chat)):
        raise NotAllowed(why)
    tab = here.session
    opens = tab.acting != (name, id)
    if opens and name in FORMS and not is_near(here, id):
        goto(here, id)
    tab.acting = (name, id) if opens else None


def _branch(here: Frame, id: MessageId) -> None:
    """The next question starts a branch there; what is typed already goes along."""
    if why := why_only_reads(here.chat):
        raise NotAllowed(why)
    goto(here, id)
    here.session.acting, here.session.draft_follows = (BRANCH, id), True


def made_last(here: Frame) -> MessageId | None:
    """The note, or what leaves messages out, that the branch ends with, while Undo would take back just that."""
    head, gesture = here.chat.branch.head, here.chat.history.next_undo
    message = here.chat.visible.messages.get(head) if head is not None else None
    if message is None or not (message.merges or message.reverts) or len(gesture) != 1:
        return None
    (operation,) = gesture
    moved = {change.key: change.after for change in operation.changes}
    return head if moved.get(f"heads/{here.chat.branch_name}") == {"at": head} else None


def _take_back(here: Frame, id: MessageId) -> None:
    if made_last(here) != id:
        raise NothingToDo("Something else was done since.", "History can restore what was before it.")
    done(here.session, here.chat.undo())
    go(here.chat)


def _expand(here: Frame, id: MessageId) -> None:
    """A message that a merge speaks for, put into the context as it was said: picked, one operation."""
    source = branch_for(id, here.chat.view, here.chat.visible, here.chat.branch_name)
    if source == here.chat.branch_name:
        raise NothingToDo(
            "No other branch leads to that message any more.",
            "Start a branch there, and choose it from that.",
        )
    plan = here.chat.plan_merge(source, strategy=CHERRY_PICK.name, picks=[id])
    if not plan.lands:
        raise NothingToDo("The branch reads that message already.")
    done(here.session, here.chat.merge(plan))
    go(here.chat)


def _merge(here: Frame, id: MessageId) -> None:
    """To the page that brings back, with this message chosen for whoever takes chosen ones, if it is on that branch."""
    direction = way_of(here, id)
    if direction is None:
        if len(here.chat.branches) < 2:
            raise NothingToDo("There is no other branch to bring it back to.", "Start a branch first.")
        way, merged = place(here.chat), False  # Which branch comes in is chosen there.
    else:
        source = here.chat.branches[direction.source].head
        merged = later_on(id, source, here.chat.visible) is not None
        way = {"c": str(here.chat.id), "b": direction.target, "source": direction.source}
    here.session.picks = (id,) if merged else ()
    picks = {"picks": id.removeprefix("b2:")[:_PICKED]} if merged else {}
    open_page("merge.py", way | picks)


def _compare(here: Frame, id: MessageId) -> None:
    """To the Compare page, with what one looks at beside the message."""
    view, visible = here.chat.view, here.chat.visible
    other = side_of(id, view, visible).key
    own = (
        side_of(here.at, view, visible).key
        if here.at is not None and not here.at_head
        else here.chat.branch_name
    )
    if own == other:
        raise NothingToDo("You are at that message.", "Compare it from another branch or message.")
    st.switch_page("compare.py", query_params={**place(here.chat), "with": [own, other]})


def _mark(tab: TabSession, name: str, id: MessageId) -> None:
    """A second click takes it back."""
    if name == "pick":
        tab.picks = tuple(p for p in tab.picks if p != id) if id in tab.picks else (*tab.picks, id)
    elif name == "mark_a":
        tab.mark_a = None if tab.mark_a == id else id
    else:
        tab.mark_b = None if tab.mark_b == id else id


def _copy(here: Frame, text: str, said: str) -> None:
    here.session.copied = (here.session.copied[0] + 1, text)
    here.session.say(said)


def _link(here: Frame, id: MessageId) -> str:
    """An address that opens this message, also as the first thing a server is asked."""
    url = urlsplit(st.context.url or "")
    params = {**place(here.chat), "m": id.removeprefix("b2:")}
    return f"{url.scheme}://{url.netloc}/?{urlencode(params)}" if url.netloc else f"?{urlencode(params)}"


def _stash(here: Frame, id: MessageId) -> None:
    later = later_on(id, here.chat.branch.head, here.chat.visible)
    if later is None:
        raise NothingToDo("This message is not on the branch.", "Check the branch out that leads here.")
    stash_from(here, later + 1)


_VERBS: Mapping[str, Callable[[Frame, MessageId], None]] = {
    BRANCH: _branch,
    "compare": _compare,
    "expand": _expand,
    "merge": _merge,
    "stash": _stash,
    "undo": _take_back,
}
