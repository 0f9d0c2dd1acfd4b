"""The cells of the notebook: who, what, and what it took.

A cell is a head of HTML (everything in it escaped) and the message's own text, which goes through
components/markdown.py; what is rare, such as a line that says how a reply broke off, comes below. An element more in
each cell is an element more in every redraw of the page. Forms open below a cell only while they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape

import streamlit as st

from forky_core.context.citing import sources_in, without_sources
from forky_core.conversation.identity import now
from forky_core.model import Blob, ConversationId, Message, MessageId
from forky_core.model.erasure import Erasure
from forky_core.model.opaque import opaque
from forky_core.model.parts import (
    AttachmentPart,
    MergePart,
    OpaquePart,
    Part,
    ReasoningPart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.render.trees import Tree, element, trees_of
from forky_core.text.surroundings import parted
from forky_core.views import captions
from forky_core.views.erasing import told
from forky_core.views.layout.colors import UNNAMED
from forky_core.views.notebook import Cell
from forky_core.views.shelf import count
from forky_core.views.times import clock, stamp
from pages.ui.chat.acts import button
from pages.ui.chat.attachments import draw_file
from pages.ui.components.links import citation_link, passage_link
from pages.ui.components.markdown import SHOWN, show_text, showable, text_tree
from pages.ui.note import Leads, note_html
from pages.ui.person import ThreadCount

_LONG_RESULT = 4_000


@dataclass(frozen=True, slots=True)
class Look:
    """What a cell's drawing depends on beside its message."""

    label: Callable[[str], str]
    """The name a person knows a model by."""
    blob: Callable[[str], Blob]
    at: MessageId | None
    conversation: ConversationId
    picks: Collection[MessageId] = ()
    marks: tuple[MessageId | None, MessageId | None] = (None, None)
    words: Callable[[MessageId], str] = field(default=lambda _id: "")
    """Who said a message and how it begins; "" where that is not known here."""
    code: Callable[[MessageId], frozenset[str]] = field(default=lambda _id: frozenset())
    """The lines of code in a message."""
    colors: Mapping[str, int] = field(default_factory=dict)
    """Of branches (forky_core/views/layout/colors.py)."""
    author: Callable[[MessageId], str] = field(default=lambda _id: "")
    """The name of the member of a team who said a message; "" where that is not known."""
    threads: Mapping[MessageId, ThreadCount] | None = None
    """How many threads hang on messages; None where there is no team."""
    erasure: Callable[[MessageId], Erasure | None] = field(default=lambda _id: None)
    """How a message was erased, as a whole or in part; None if it was not."""
    name_of: Callable[[str], str] = str
    """Puts names in the place of people's ids in a text."""
    only_reads: bool = False
    """Whether whoever looks can write nothing in the conversation: nothing is offered that would."""
    last: MessageId | None = None
    """What Undo would take back now, if that is a message of the branch itself: a note that was brought back."""
    writes: bool = True
    """Whether they can change the branch: else nothing is offered that would, but for branches of their own."""
    fork: tuple[MessageId | None, str] = (None, "")
    """In a fork, the first message that it has added, and a sentence about where it comes from."""


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    key: str
    cited: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _File:
    part: AttachmentPart
    key: str


_Piece = str | _Text | _File
"""A piece of a cell; a string is HTML of ours."""


def cell_tree(cell: Cell, look: Look) -> Tree | None:
    """The cell as a tree of elements; None where it holds what only Streamlit draws, as `draw_cell` does."""
    trees: list[Tree] = []
    for piece in _pieces(cell, look):
        match piece:
            case str():
                trees += (element("div", None, trees_of(piece)),)
            case _Text(text, _, cited) if len(text) <= SHOWN:
                trees.append(text_tree(text, cited))
            case _:
                return None
    return element("div", {"class": f"fk-cell st-key-{_key(cell, look)}"}, trees)


def draw_cell(cell: Cell, look: Look) -> None:
    """Keys: `cell-<kind>-<id>` (a container); buttons are acts (acts.py)."""
    with st.container(key=_key(cell, look)):
        for piece in _pieces(cell, look):
            match piece:
                case str():
                    st.html(piece)
                case _Text(text, key, cited):
                    show_text(text, key, cited)
                case _File(part, key):
                    draw_file(part, key, look.blob)


def _key(cell: Cell, look: Look) -> str:
    message = cell.message
    kind = "current" if message.id == look.at else "merge" if message.merge else message.role
    gone = "-gone" if cell.reverted else ""
    return f"cell-{message.role}-{kind}{gone}-{_short(message)}"


def _short(message: Message) -> str:
    return message.id.removeprefix("b2:")


def _pieces(cell: Cell, look: Look) -> Iterator[_Piece]:
    """The cell from its head down."""
    message, short = cell.message, _short(cell.message)
    texts = 0
    if message.id == look.fork[0]:
        ways = word("original", message.id, "Give back, fetch news …") if look.writes else ""
        yield f'<div class="fk-cited">{sentence_html("fork_right", look.fork[1])}{ways}</div>'
    yield head(cell, look)
    erasure = look.erasure(message.id)
    if erasure is not None:
        yield f'<div class="fk-erased">{sentence_html("ink_eraser", f"{told(erasure, look.name_of)}.")}</div>'
        if erasure.whole:
            return
    for part in message.parts:
        match part:
            case TextPart(text):
                texts += 1
                text = text if erasure is None else look.name_of(text)
                yield from _text(text, f"chat.text.{short}.{texts}", look, typed=message.role == "user")
            case ReasoningPart():
                yield _reasoning(part.text, redacted=part.redacted)
            case MergePart():
                yield _merge(part, look, cell)
            case RevertPart():
                yield _revert(message)
            case AttachmentPart():
                pass
            case _:
                yield _tool(part)
    files = [part for part in message.parts if isinstance(part, AttachmentPart)]
    for number, file in enumerate(files):
        yield _File(file, f"chat.file.{short}.{number}")
    if below := _looked_for(cell, look) + _ended(cell, look):
        yield below


def _text(text: str, key: str, look: Look, *, typed: bool) -> Iterator[_Piece]:
    """A text of a message; where people type, what a program wrote around their words stands behind a click."""
    text, program = parted(text) if typed else (text, "")
    if program:
        yield _fold("Written by the program", program)
    body = without_sources(text)
    cited = sources_in(text) if len(body) < len(text) else ()
    opening = {one.number: citation_link(look.conversation, one.address) for one in cited}
    if body:
        yield _Text(body, key, opening)
    if len(body) < len(text):
        yield _sources(text, only_reads=not look.writes)


def _sources(text: str, *, only_reads: bool) -> str:
    """HTML below an answer: where it comes from."""
    told = _entries(text, only_reads=only_reads) or escape(
        showable(text[len(without_sources(text)) :].strip().partition(" ")[2])
    )
    return f'<div class="fk-cited">Sources: {told}</div>'


def _entries(text: str, *, only_reads: bool) -> str:
    """HTML of a SOURCES line: each entry opens what it cites; a message of another branch can be pulled in, too, by
    whoever does not only read.
    """
    return "".join(
        f'<span class="fk-source">[{one.number}] '
        + word("visit" if one.in_branch else "document", one.address, escape(showable(one.source)))
        + (_expand(one.address) if one.in_branch and not only_reads else "")
        + "</span> "
        for one in sources_in(text)
    )


def _reasoning(text: str, *, redacted: bool) -> str:
    shown = "The provider keeps this reasoning to itself." if redacted and not text else text
    return _fold("Reasoning", shown)


def _fold(title: str, text: str) -> str:
    """HTML of a text behind a click."""
    cut = showable(text[:SHOWN]) + ("\n…" if len(text) > SHOWN else "")
    return f'<details class="fk-fold"><summary>{title}</summary><pre>{escape(cut)}</pre></details>'


def head(cell: Cell, look: Look) -> str:
    """HTML of the line above a message."""
    message, id = cell.message, cell.message.id
    author = look.author(id) if message.role == "user" else ""
    name = captions.who(message, cell.origin.models, look.label, author)
    name = "Brought back" if message.merge is not None else "Left out" if message.reverts else name
    when = (
        f'<time title="{escape(stamp(message.created))}">{clock(message.created, now())}</time>'
        if message.created
        else ""
    )
    chips = "".join(
        f'<span class="fk-chip fk-b{look.colors.get(b, UNNAMED)}">{escape(showable(b))}</span>'
        for b in cell.branches
    )
    chips += "".join(f'<span class="fk-chip fk-tag">{escape(showable(t))}</span>' for t in cell.tags)
    if cell.reverted:
        chips += f'<span class="fk-chip fk-tag">left out</span>{word("visit", cell.reverted, "Show where")}'
    marks = "".join(
        f'<span class="fk-mark">{sign}</span>'
        for sign, mark in zip("AB", look.marks, strict=True)
        if mark == id
    )
    return (
        f'<div class="fk-head" data-cell="{escape(id)}"><h2 class="fk-who fk-{message.role}">'
        f"{escape(showable(name))}</h2>{when}{marks}{chips}{_siblings(cell)}{_threads(cell, look)}{_took(cell, look)}"
        f'<span class="fk-acts">{_acts(cell, look)}</span></div>'
    )


def _siblings(cell: Cell) -> str:
    count = len(cell.siblings)
    if count < 2:
        return ""
    before = cell.siblings[(cell.position - 2) % count]
    after = cell.siblings[cell.position % count]
    return (
        f'<span class="fk-siblings">{button("sibling", "The version before", before)}'
        f"<span>{cell.position}/{count}</span>{button('sibling', 'The next version', after)}</span>"
    )


def _threads(cell: Cell, look: Look) -> str:
    """HTML of how many threads hang on a message; it opens them."""
    found = look.threads.get(cell.message.id) if look.threads else None
    if found is None:
        return ""
    label = f"{count(found.open, 'open thread')}" if found.open else count(found.resolved, "resolved thread")
    done = "" if found.open else " fk-resolved"
    return (
        f'<button data-act="threads" class="fk-threads{done}" aria-label="{label}">{found.open or found.resolved}'
        "</button>"
    )


def _acts(cell: Cell, look: Look) -> str:
    if look.only_reads:
        return button("copy", "Copy the text") + button("more", "More")
    answer, picked = cell.message.role == "assistant", cell.message.id in look.picks
    again = button("regenerate", "Answer again …") if answer else button("edit", "Edit and ask again …")
    again = again if cell.message.merge is None and (look.writes or not answer) else ""
    copy, pick = button("copy", "Copy the text"), button("pick", "Choose for bringing back", pressed=picked)
    threads = (
        button("threads", "Discuss this …") if look.threads is not None and not _threads(cell, look) else ""
    )
    undo = button("undo", "Undo: take this back") if cell.message.id == look.last else ""
    shown, rare = (copy, again) if answer else (again or copy, copy if again else "")
    return (
        button("fork", "Start a branch here …")
        + shown
        + (pick if picked else "")
        + f'<span class="fk-rare">{undo}{rare}{threads}{"" if picked else pick}</span>'
        + button("more", "More")
    )


def _took(cell: Cell, look: Look) -> str:
    """HTML of what an answer took."""
    call, took = cell.generation, captions.took(cell)
    model = look.label(call.model) if call is not None else ""
    facts = [model] if model and cell.message.name not in (None, model) else []
    facts += [took] if took else []
    return f'<span class="fk-took">{escape(showable(" · ".join(facts)))}</span>' if facts else ""


def _looked_for(cell: Cell, look: Look) -> str:
    """HTML of what documents were searched for, with a way to word it otherwise."""
    document_search = cell.generation.consulted if cell.generation is not None else None
    if document_search is None:
        return ""
    found = count(len(document_search.passages), "passage")
    trouble = f" {document_search.trouble}" if document_search.trouble else ""
    otherwise = "" if not look.writes else word("regenerate", cell.message.id, "Search otherwise …")
    return (
        f'<div class="fk-cited">Searched for “{escape(showable(document_search.search))}”: {found}.'
        f"{escape(showable(trouble))} {otherwise}</div>"
    )


def _ended(cell: Cell, look: Look) -> str:
    """HTML of how a reply ended where no model just said it to its end, with the ways on."""
    if again := captions.reuse_sentence(cell):
        anew = "" if not look.writes else word("again", cell.message.id, "Ask anew")
        return f'<div class="fk-ended">{sentence_html("history", again)}{anew}</div>'
    ended = captions.ended(cell.generation)
    if not ended:
        return ""
    broken = cell.generation is not None and cell.generation.status != "done"
    ways = word("resume", cell.message.id, "Resume") if cell.branches and broken else ""
    ways += word("again", cell.message.id, "Ask again")
    return f'<div class="fk-ended">{sentence_html("warning", ended)}{ways if look.writes else ""}</div>'


def sentence_html(icon: str, sentence: str) -> str:
    """HTML of a sentence behind an icon, which stay together on a narrow screen."""
    return (
        f'<span class="fk-said"><span class="fk-icon" aria-hidden="true">{icon}</span>'
        f"<span>{escape(showable(sentence))}</span></span>"
    )


def word(act: str, id: str, label: str) -> str:
    return f'<button type="button" class="fk-word" data-act="{act}" data-id="{escape(id)}">{label}</button>'


def _visits(ids: Sequence[str]) -> str:
    """Buttons that go to messages, the first forty."""
    buttons = "".join(map(_visit, ids[:40]))
    return buttons + (f" and {len(ids) - 40} more" if len(ids) > 40 else "")


def _visit(id: str) -> str:
    return (
        f'<button type="button" class="fk-word" data-act="visit" data-id="{escape(id)}">'
        f"{escape(id.removeprefix('b2:')[:8])}</button>"
    )


def _expand(id: str) -> str:
    label = f"Expand: put {id.removeprefix('b2:')[:8]} into the context as it was said"
    return (
        f'<button type="button" class="fk-word fk-expand" data-act="expand" data-id="{escape(id)}" '
        f'title="{label}" aria-label="{label}"><span class="fk-icon" aria-hidden="true">add</span></button>'
    )


def _merge(merge: MergePart, look: Look, cell: Cell) -> str:
    leads = message_leads(look.conversation, look.words, look.author, only_reads=not look.writes)
    leads = replace(leads, code=look.code, expand=_expand if look.writes else leads.expand)
    return note_html(merge, leads, corrected=cell.corrected, left_out=cell.left_out)


def message_leads(
    conversation: ConversationId,
    words: Callable[[MessageId], str],
    author: Callable[[MessageId], str],
    *,
    only_reads: bool,
) -> Leads:
    """How a note on the Chat page leads to what it names; the rest is as in `Look`."""
    sources = partial(_entries, only_reads=only_reads)
    return Leads(_number, partial(passage_link, conversation), words, sources, author=author)


def _number(id: MessageId, shown: str, label: str) -> str:
    return (
        f'<button type="button" class="fk-word fk-ref" data-act="visit" data-id="{escape(id)}" '
        f'title="{escape(label)}" aria-label="{escape(label)}">{shown}</button>'
    )


def _revert(message: Message) -> str:
    """HTML of what is taken back, each a step away."""
    return (
        f'<div class="fk-merge"><div class="fk-merge-line"><span class="fk-icon" aria-hidden="true">undo</span>'
        f"<span>{escape(captions.brought_back(message))}</span></div>"
        f'<div class="fk-sources">Leaves out {_visits(message.reverts)}</div></div>'
    )


def _tool(part: Part) -> str:
    match part:
        case ToolCallPart(name, arguments):
            title, body = f"Calls {name}", json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
        case ToolResultPart(name, output, _, exception):
            title = f"{name or 'Tool'} {'failed' if exception else 'returned'}"
            body = f"{exception}\n{output}" if exception else output
        case OpaquePart():
            told = opaque(part)
            title, body = told.title, json.dumps(told.value, indent=2, ensure_ascii=False)
        case _:
            title, body = part.type, ""
    cut = body[:_LONG_RESULT] + ("\n…" if len(body) > _LONG_RESULT else "")
    opened = " open" if len(body) < 400 and not isinstance(part, OpaquePart) else ""
    return (
        f'<details class="fk-fold fk-tool"{opened}><summary>{escape(showable(title))}</summary>'
        f"<pre>{escape(showable(cut))}</pre></details>"
    )
