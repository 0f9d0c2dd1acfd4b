"""Threads at a message: what people of a team say to each other about it. The panel opens below the message's cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.captions import opening_of
from forky_core.views.shelf import count
from forky_core.views.times import ago, stamp
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.drafts import drafts
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.person import (
    LONGEST_COMMENT,
    Comment,
    ConversationThreads,
    Member,
    Thread,
    ThreadCount,
    Viewer,
    pieces_of,
    viewer,
)
from pages.ui.streamlit_patches.field_updates import fill
from pages.ui.streamlit_patches.navigation import lead

Say = Callable[[str], object]
"""Does something with what was typed."""
_QUOTE, _EDITING = "threads.quote", "threads.editing"
_LINES = 60
"""Lines of a message that can be chosen as what a thread is about."""
_component = st.components.v2.component(
    "forky.mentions", js=Path(__file__).with_name("mentions.js").read_text("utf-8"), html="<div></div>"
)
_CSS = """
<style>
.st-key-chat-threads { gap: .6rem !important; }
.st-key-chat-threads :is([class*="st-key-thread-open-"], [class*="st-key-thread-resolved-"], .st-key-thread-new) { gap: .35rem !important; padding: .6rem .75rem; border-radius: .55rem;
  border: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.st-key-chat-threads [class*="st-key-thread-resolved-"] { opacity: .82; }
.st-key-chat-threads [data-testid="InputInstructions"] { display: none; }
.fk-quoted { border-inline-start: 3px solid var(--fk-accent); padding: .1rem .6rem; font-size: .88rem; opacity: .85; overflow-wrap: anywhere;
  unicode-bidi: plaintext; }
.fk-comment { font-size: .92rem; line-height: 1.5; min-width: 0; }
.fk-comment b { font-weight: 620; unicode-bidi: isolate; }
.fk-comment time, .fk-comment small { font-size: .8rem; opacity: .74; margin-inline-start: .4rem; }
.fk-comment p { margin: .05rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.fk-comment .fk-gone { font-style: italic; opacity: .72; }
.fk-mention { font-weight: 600; color: var(--fk-accent); }
.st-key-chat-threads [class*="st-key-line-comment"] { flex-wrap: nowrap !important; align-items: flex-start; gap: .2rem !important; }
.st-key-chat-threads [class*="st-key-line-comment"] > :first-child { flex: 1 1 auto; min-width: 0; }
[class*="st-key-thread-edit-"] p, [class*="st-key-thread-delete-"] p { font-size: 0; }
[class*="st-key-thread-edit-"] button, [class*="st-key-thread-delete-"] button { padding: 0 .3rem; min-height: 1.75rem; opacity: .7; }
.fk-handles { position: fixed; z-index: 999990; min-width: 12rem; max-width: calc(100vw - 12px); padding: .3rem; border-radius: .5rem;
  background: var(--fk-background); color: var(--fk-text); border: 1px solid color-mix(in srgb, currentColor 16%, transparent);
  box-shadow: 0 6px 24px rgb(0 0 0 / .18); font-size: .88rem; }
.fk-handles > div { padding: .38rem .55rem; border-radius: .35rem; cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fk-handles > [aria-selected="true"] { background: color-mix(in srgb, currentColor 10%, transparent); }
.fk-handles small { opacity: .74; margin-inline-start: .4rem; }
</style>
"""


def thread_counts(here: Frame) -> Mapping[MessageId, ThreadCount]:
    """How many threads hang on each message; nothing on the server of one person."""
    who = viewer()
    return {} if who.alone else who.threads(here.chat.id).counts


def quote_for_thread(here: Frame, quote: str) -> None:
    """Remember the words of a message that were selected when its threads were opened."""
    here.session.choices[_QUOTE] = " ".join(quote.split())


def open_named_thread(here: Frame) -> None:
    """Open the panel of the thread that the address names, as a notice does."""
    named, who = st.query_params.get("thread"), viewer()
    if named is None:
        return
    del st.query_params["thread"]
    if who.alone:
        return
    with saying(here.session):
        here.session.acting = ("threads", who.threads(here.chat.id).thread(named).message)


def link_threads(here: Frame) -> bool:
    """A button with the number of open threads of the conversation, where it has any; whether it was pressed.

    Keys: `chat.threads`.
    """
    counts = thread_counts(here)
    if not counts:
        return False
    waiting = sum(one.open for one in counts.values())
    return quiet_button(
        count(waiting, "thread") if waiting else "Threads",
        "chat.threads",
        icon="forum",
        help="What people discuss in this conversation",
    )


@st.dialog("Threads", icon=":material/forum:", width="medium")
def list_threads(here: Frame) -> None:
    """Keys: `threads.all`, `threads.go.<id>`."""
    who = viewer()
    st.html(_CSS)
    every = who.threads(here.chat.id).all()
    resolved = sum(bool(one.resolved) for one in every)
    shown = every
    if resolved and not st.toggle(f"Show the {count(resolved, 'resolved thread')}, too", key="threads.all"):
        shown = [one for one in every if not one.resolved]
    if not shown:
        st.caption("Every thread is resolved.")
    messages = here.chat.visible.messages
    for thread in reversed(shown):
        with st.container(key=f"row-thread-{thread.id}", horizontal=True, vertical_alignment="center"):
            first = next((one for one in thread.comments if not one.deleted), thread.comments[0])
            opening = opening_of(messages.get(thread.message), here.chat.people.author_of)
            about = thread.quote or opening or "A message out of sight"
            said = first.text or "Its first comment was deleted."
            state = " · resolved" if thread.resolved else ""
            st.html(
                f'<div class="fk-comment"><div class="fk-quoted">{escape(showable(about[:200]))}</div><p>'
                f"<b>{escape(showable(who.name_of(first.person)))}</b> {escape(showable(said[:200]))}</p>"
                f"<small>{count(len(thread.comments), 'comment')}{state}</small></div>"
            )
            if quiet_button("Go there", f"threads.go.{thread.id}", _go, here, thread, icon="arrow_forward"):
                st.rerun()


def _go(here: Frame, thread: Thread) -> None:
    lead({"c": str(here.chat.id), "m": thread.message.removeprefix("b2:"), "thread": thread.id})


def draw_threads(here: Frame, message: Message) -> None:
    """Keys: `chat.form_cancel`, `thread.` with `resolve.<thread>`, `reopen.<thread>`, `edit.<comment>`,
    `delete.<comment>`, `undelete.<comment>`; `chat.say.` and `chat.say_go.` with a thread, a comment that is edited,
    or `new`; `thread.about`.
    """
    who = viewer()
    if who.alone:
        return
    st.html(_CSS)
    try:
        threads = who.threads(here.chat.id)
        listed, may_write = threads.on(message.id), threads.may_write
        readers = threads.readers
    except ForkyError as error:
        st.info(plain_label(str(error), 300))
        return
    who.inbox.mark_threads(who.id, [one.id for one in listed])
    with st.container(key="chat-threads"):
        with st.container(key="line-threads", horizontal=True, vertical_alignment="center"):
            st.markdown(
                "**Threads on this message** :gray[· people read them, no model does]", width="stretch"
            )
            quiet_button("Close", "chat.form_cancel", _close, here, icon="close", help="Close the threads")
        for thread in listed:
            _draw_thread(here, who, threads, thread, readers, may_write=may_write)
        if may_write:
            _draw_beginning(here, threads, message)
        else:
            st.caption("You read here; from a commenter up one also writes.")
        _component(
            key="chat.mentions",
            data={"people": tuple((handle, member.name) for handle, member in sorted(readers.items()))},
            height="content",
        )


def _draw_thread(
    here: Frame,
    who: Viewer,
    threads: ConversationThreads,
    thread: Thread,
    readers: Mapping[str, Member],
    *,
    may_write: bool,
) -> None:
    state = "resolved" if thread.resolved else "open"
    with st.container(key=f"thread-{state}-{thread.id}"):
        if thread.quote:
            st.html(f'<div class="fk-quoted">{escape(showable(thread.quote))}</div>')
        for comment in thread.comments:
            _draw_comment(here, who, threads, thread, comment, readers, may_write=may_write)
        if not may_write:
            return
        if thread.resolved:
            _draw_resolving(here, threads, thread)
        else:
            _draw_field(
                here,
                thread.id,
                "Reply",
                lambda text: threads.reply(thread.id, text),
                beside=lambda: _draw_resolving(here, threads, thread),
            )


def _draw_resolving(here: Frame, threads: ConversationThreads, thread: Thread) -> None:
    act, icon = ("Reopen", "undo") if thread.resolved else ("Resolve", "check_circle")
    quiet_button(
        act,
        f"thread.{act.lower()}.{thread.id}",
        _try,
        here,
        lambda: threads.resolve(thread.id, resolved=not thread.resolved),
        icon=icon,
        help="Go on with it" if thread.resolved else "It stays readable",
    )


def _draw_comment(
    here: Frame,
    who: Viewer,
    threads: ConversationThreads,
    thread: Thread,
    comment: Comment,
    readers: Mapping[str, Member],
    *,
    may_write: bool,
) -> None:
    own = comment.person == who.id
    editing = here.session.choices.get(_EDITING) == comment.id and own and may_write and not comment.deleted
    with st.container(key=f"line-comment-{comment.id}", horizontal=True):
        st.html(_comment_html(who, comment, readers, own=own, body=not editing))
        if comment.deleted:
            if own and comment.text and may_write:
                _small(
                    here, "undelete", "Undo", "undo", comment, lambda: threads.undelete(thread.id, comment.id)
                )
        elif may_write:
            if own and not editing:
                _small(here, "edit", "Edit", "edit", comment, lambda: _edit(here, comment))
            if own or threads.may_moderate:
                _small(
                    here, "delete", "Delete", "delete", comment, lambda: threads.delete(thread.id, comment.id)
                )
    if editing:
        _draw_field(
            here,
            comment.id,
            "Save",
            lambda text: threads.edit(thread.id, comment.id, text),
            text=comment.text,
            then=lambda: _edit(here, None),
        )


def _comment_html(
    who: Viewer, comment: Comment, readers: Mapping[str, Member], *, own: bool, body: bool
) -> str:
    name = "You" if own else who.name_of(comment.person)
    edited = "<small>edited</small>" if comment.edited and not comment.deleted else ""
    if comment.deleted:
        gone = "You deleted this comment." if own else "This comment was deleted."
        words = f'<p class="fk-gone">{gone}</p>'
    else:
        words = f"<p>{comment_words(comment.text, readers)}</p>" if body else ""
    return (
        f'<div class="fk-comment"><b>{escape(showable(name))}</b><time title="{escape(stamp(comment.at))}">'
        f"{escape(ago(comment.at, now()))}</time>{edited}{words}</div>"
    )


def comment_words(text: str, readers: Mapping[str, Member]) -> str:
    """HTML of what somebody wrote in a thread: plain text, in which the mentions of those who read it stand out."""
    return "".join(
        f'<span class="fk-mention" title="{escape(showable(person.name))}">{escape(showable(piece))}</span>'
        if person is not None
        else escape(showable(piece))
        for piece, person in pieces_of(text, readers)
    )


def _draw_beginning(here: Frame, threads: ConversationThreads, message: Message) -> None:
    quoted = here.session.choices.get(_QUOTE, "")
    choices = ["", *([quoted] if quoted else []), *(line for line in _lines(message) if line != quoted)]
    with st.container(key="thread-new"):
        if len(choices) > 1:
            st.selectbox(
                "A new thread about",
                choices,
                index=1 if quoted else 0,
                key=f"thread.about.{len(quoted)}.{message.id.removeprefix('b2:')[:8]}",
                format_func=lambda line: showable(line) or "The whole message",
                help="Words that you select in the message before you open its threads stand here, too",
            )
        about = f"thread.about.{len(quoted)}.{message.id.removeprefix('b2:')[:8]}"

        def begin(text: str) -> None:
            threads.begin(message.id, text, quote=str(st.session_state.get(about) or ""))
            here.session.choices.pop(_QUOTE, None)

        _draw_field(here, "new", "Begin a thread", begin, of=message.id)


def _lines(message: Message) -> Sequence[str]:
    """The lines of a message that a thread can be about."""
    stripped = (line.strip() for line in message.text.splitlines())
    return [line[:300] for line in dict.fromkeys(stripped) if any(letter.isalnum() for letter in line)][
        :_LINES
    ]


def _draw_field(
    here: Frame,
    name: str,
    label: str,
    say: Say,
    *,
    text: str = "",
    of: str = "",
    then: Callable[[], None] | None = None,
    beside: Callable[[], None] = lambda: None,
) -> None:
    """A text area whose draft is kept like that of a message, with the button that sends it."""
    key, kept = f"chat.say.{name}{of}", f"{here.chat.id}/thread/{of or name}"
    if key not in st.session_state:
        st.session_state[key] = drafts().at(kept).text or text
    with st.container(key=f"chat-speak-{name}"), kept_fields(kept):
        st.text_area(
            label,
            key=key,
            label_visibility="collapsed",
            height="content",
            max_chars=LONGEST_COMMENT,
            placeholder="Write to the others; @ mentions somebody",
            on_change=lambda: drafts().write(kept, str(st.session_state[key])),
        )
        with st.container(horizontal=True):
            st.button(
                label,
                key=f"chat.say_go.{name}",
                type="primary" if name == "new" else "secondary",
                on_click=_say,
                args=(here, key, kept, say, then),
            )
            beside()
            if then is not None:
                quiet_button("Cancel", f"chat.say_no.{name}", _drop, key, kept, then)


def _say(here: Frame, key: str, kept: str, say: Say, then: Callable[[], None] | None) -> None:
    with saying(here.session):
        say(str(st.session_state.get(key) or ""))
        drafts().clear(kept)
        fill(key, "")
        if then is not None:
            then()


def _drop(key: str, kept: str, then: Callable[[], None]) -> None:
    drafts().clear(kept)
    st.session_state.pop(key, None)
    then()


def _edit(here: Frame, comment: Comment | None) -> None:
    here.session.choices[_EDITING] = comment.id if comment is not None else ""
    if comment is not None:
        fill(f"chat.say.{comment.id}", comment.text)


def _small(here: Frame, act: str, label: str, icon: str, comment: Comment, work: Callable[[], None]) -> None:
    quiet_button(label, f"thread.{act}.{comment.id}", _try, here, work, icon=icon, help=label)


def _try(here: Frame, work: Callable[[], None]) -> None:
    with saying(here.session):
        work()


def _close(here: Frame) -> None:
    here.session.acting = None
    here.session.choices.pop(_QUOTE, None)
    here.session.choices.pop(_EDITING, None)
