"""A landed merge as the note that it is: who said what under which title, with small numbers that lead to the messages.

The notebook and the Merge page draw the same; each leads to a message in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice

from forky_core.context.citing import SOURCES
from forky_core.merge.corrections import CorrectedLine
from forky_core.merge.headings import SAID
from forky_core.model import MessageId
from forky_core.model.parts import MergePart
from forky_core.text.passages import is_code
from forky_core.text.surroundings import parted
from forky_core.views import captions
from forky_core.views.compactions import KINDS, LeftOutFact
from forky_core.views.payload import PayloadRow, payload_rows
from forky_core.views.shelf import count
from pages.ui.components.markdown import SHOWN, showable
from pages.ui.wording import bare, cells_of, inline, speaker_named, titled, unlisted

_LINES = 24
"""Lines of a note that are shown without a click …"""
_FEW_LINES = 6
"""… and so many more, where they are the last."""
_TURNS = 12
"""Messages up to which a merge that brings them as they are lists them without a click."""
_LISTED = 40
_READ_FOR_CODE = 200
"""Messages in which the lines of a note are looked for as code."""
_LONGEST_FACT = 200
"""Characters of a fact that a summary left out."""
_LAST_WORD = re.compile(r"[^\s<>]{1,30}$")
_ROW = "\n"

NOTE_CSS = """
.fk-merge { border: 1px solid color-mix(in srgb, currentColor 14%, transparent); border-left: 3px solid
  var(--fk-accent); border-radius: .45rem; padding: .5rem .7rem; font-size: .9rem; }
.fk-merge-line { display: flex; gap: .45rem; align-items: center; font-weight: 560; }
.fk-note { margin: .45rem 0 .35rem; line-height: 1.55; }
.fk-note h3 { margin: .55rem 0 .1rem; padding: 0; font-size: .74rem; font-weight: 680; letter-spacing: .06em; text-transform: uppercase;
  opacity: .72; }
.fk-note p { margin: .1rem 0; overflow-wrap: anywhere; unicode-bidi: plaintext; text-align: start; }
.fk-merge code, .fk-merge code * { font-size: .92em; }
.fk-code-line code { white-space: pre-wrap; background: none; padding: 0; color: inherit; }
.fk-note a:not(.fk-ref) { color: inherit; text-underline-offset: 2px; }
.fk-note .fk-item { display: list-item; list-style: disc; margin-inline-start: 1.15rem; }
.fk-merge s { text-decoration-thickness: .09em; opacity: .66; }
.fk-note .fk-now { display: flex; gap: .3rem; margin-inline-start: .6rem; }
.fk-now .fk-icon { flex: none; opacity: .6; font-size: 1rem; }
.fk-table-row { display: flex; flex-wrap: wrap; align-items: baseline; }
.fk-table-cell { flex: 1 1 6rem; max-width: 11rem; padding: 0 .55rem; border-inline-start: 1px solid
  color-mix(in srgb, currentColor 20%, transparent); }
.fk-table-cell:first-child, .fk-said-by + .fk-table-cell { padding-inline-start: 0; border: 0; }
.fk-said-by { font-weight: 620; font-size: .82rem; margin-inline-end: .4rem; }
.fk-merge .fk-ref { position: relative; display: inline-grid; place-items: center; min-width: 1.1rem; height: 1.1rem; padding: 0 .25rem;
  margin-inline-start: .25rem; vertical-align: .2em; border-radius: 1rem; font-size: .68rem; font-weight: 600; text-decoration: none;
  min-height: 0; color: inherit; font-variant-numeric: tabular-nums; background: color-mix(in srgb, currentColor 11%, transparent); }
.fk-merge .fk-ref:hover, .fk-merge .fk-ref:focus-visible { background: var(--fk-accent); color: var(--fk-background); }
.fk-tail { white-space: nowrap; }
.fk-beneath { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; align-items: baseline; }
.fk-beneath details[open] { flex: 1 1 100%; }
.fk-sources { font-size: .8rem; opacity: .8; margin-top: .3rem; }
.fk-sources > div { display: flex; align-items: center; gap: .45rem; min-width: 0; overflow-wrap: anywhere; padding: .08rem 0; }
.fk-sources .fk-ref { flex: none; margin: 0; }
.fk-merge pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .84rem; margin: .35rem 0 0; padding: .5rem .65rem;
  border-radius: .4rem; background: color-mix(in srgb, currentColor 5%, transparent); max-height: 24rem; overflow: auto;
  font-family: inherit; }
.fk-merge summary { cursor: pointer; opacity: .75; font-size: .84rem; }
@media (max-width: 640px) {
  /* As large as an eye needs, with room around it for a thumb. */
  .fk-merge .fk-ref { min-width: 2.2rem; height: 2.2rem; margin: -.5rem -.15rem; font-size: .76rem; background: none; isolation: isolate; }
  .fk-merge .fk-ref::before { content: ""; position: absolute; inset: .42rem; border-radius: 1rem; z-index: -1;
    background: color-mix(in srgb, currentColor 11%, transparent); }
  .fk-note p { margin: .3rem 0; }
  .fk-sources > div { padding: .2rem 0; }
}
"""


def _nothing(_text: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Leads:
    """How a page leads to what a note names."""

    message: Callable[[MessageId, str, str], str]
    """HTML that goes to a message: what is shown of it, and what is said about it."""
    passage: Callable[[str, str], str]
    """HTML of a number that opens the passage at an address."""
    words: Callable[[MessageId], str]
    """Who said a message and how it begins; "" where that is not known here."""
    sources: Callable[[str], str] = _nothing
    """HTML of the entries of a SOURCES line."""
    expand: Callable[[MessageId], str] = _nothing
    """HTML that puts a message into the context as it was said."""
    author: Callable[[MessageId], str] = _nothing
    """The name of who said a message, as `words` has it in place of “You”; "" where that is not told."""
    code: Callable[[MessageId], frozenset[str]] = lambda _id: frozenset()
    """The lines of code in a message."""


def note_html(
    merge: MergePart,
    leads: Leads,
    *,
    corrected: Sequence[CorrectedLine] = (),
    left_out: Sequence[LeftOutFact] = (),
    summary: bool = True,
    exact: bool = True,
) -> str:
    """HTML of a merge.

    Lines that a later merge corrects are struck through, each with what that merge says instead. `summary` adds a
    line above about what it brought, `exact` the text that the model reads, behind a click. `left_out` is what a
    program's summary does not have.
    """
    said = replace(merge, text=parted(merge.text)[0] or merge.text) if merge.kind.begins_anew else merge
    rows = list(payload_rows(said, SHOWN))
    numbers = numbers_in(merge, rows)
    sources = f'<div class="fk-sources">{_messages(numbers, leads, expands=not merge.brings_turns)}</div>'
    opened = " open" if merge.brings_turns and len(numbers) <= _TURNS else ""
    above = "What the model reads above them" if merge.brings_turns else "What the model reads"
    text = f"<details><summary>{above}</summary><pre>{escape(showable(merge.text[:SHOWN]))}</pre></details>"
    many = count(len(numbers), "message")
    listed = f"<details{opened}><summary>{many}</summary>{sources}</details>" if numbers else ""
    brought = (
        f'<div class="fk-merge-line"><span class="fk-icon" aria-hidden="true">merge</span>'
        f"<span>{escape(showable(captions.payload_brought_back(merge)))}</span></div>"
    )
    return (
        f'<div class="fk-merge">{brought if summary else ""}'
        f'{_note(rows, numbers, leads, corrected)}<div class="fk-beneath">{listed}'
        f"{_left_out(left_out, leads)}{text if exact else ''}</div></div>"
    )


def numbers_in(merge: MergePart, rows: Sequence[PayloadRow]) -> dict[MessageId, int]:
    """The number of each message that a merge stands for, in the order in which its lines name them."""
    named = [] if merge.brings_turns else [id for row in rows for id in (*row.marks.values(), *row.cites)]
    return {id: at for at, id in enumerate(dict.fromkeys((*named, *map(MessageId, merge.messages))), 1)}


def _left_out(facts: Sequence[LeftOutFact], leads: Leads) -> str:
    """What a program's summary does not have, behind a click, each with a number that leads to where it was said."""
    if not facts:
        return ""
    found = {kind: [one for one in facts if one.kind == kind] for kind in KINDS}
    told = ", ".join(count(len(those), kind) for kind, those in found.items() if those)
    rows = "".join(
        f"<div>{leads.message(one.message, str(number), showable(leads.words(one.message)))}"
        f"<span>{escape(showable(' '.join(one.text.split())[:_LONGEST_FACT]))}</span></div>"
        for those in found.values()
        for number, one in enumerate(those[:_LISTED], 1)
    )
    return f'<details><summary>Not in it: {told}</summary><div class="fk-sources">{rows}</div></details>'


def _note(
    rows: Sequence[PayloadRow],
    numbers: Mapping[MessageId, int],
    leads: Leads,
    corrected: Sequence[CorrectedLine],
) -> str:
    """Titles, and lines with the numbers of their messages; a long note goes on behind a click."""
    told = [row for row in rows if row.kind != "header" and row.text.strip()]
    code = frozenset[str]().union(*map(leads.code, islice(numbers, _READ_FOR_CODE)))
    elsewhere = [one for one in corrected if not any(one.line in row.text for row in told)]
    pieces = [f"<p><s>{inline(one.line)}</s></p>{_now(one, leads)}" for one in elsewhere]
    if elsewhere:
        # A merge that brings turns as they are has no lines of its own to strike.
        pieces.insert(0, "<h3>Corrected later</h3>")
    titles = [row.text for row in told if row.kind == "heading"]
    for row, after in zip(told, (*told[1:], None), strict=False):
        if titles == [f"{SAID}:"] and row.kind == "heading":
            continue
        if row.kind == "heading":
            pieces.append(f"<h3>{escape(showable(titled(row.text.removesuffix(':'))))}</h3>")
            continue
        shown = () if _shares(row, after) else row.cites
        marks = "".join(_number(id, numbers, leads) for id in shown)
        here = [one for one in corrected if one.line in row.text]
        after_it = "".join(_now(one, leads) for one in here)
        pieces.append(_line(row, marks, numbers, leads, [one.line for one in here], code) + after_it)
    if not pieces:
        return ""
    rest = pieces[_LINES:] if len(pieces) > _LINES + _FEW_LINES else []
    more = (
        f'<details class="fk-rest"><summary>{len(rest)} more lines</summary>{_ROW.join(rest)}</details>'
        if rest
        else ""
    )
    return f'<div class="fk-note">{_ROW.join(pieces[: len(pieces) - len(rest)])}{more}</div>'


def _shares(row: PayloadRow, after: PayloadRow | None) -> bool:
    """Whether the number of the next line stands for this one, too: neighbours that are quoted from one message."""
    return after is not None and after.kind == "line" and len(row.cites) == 1 and after.cites == row.cites


def _now(one: CorrectedLine, leads: Leads) -> str:
    """What holds in place of a corrected line, with the way to the merge that says so."""
    merge = leads.message(one.by, "Show", "Show what corrects this")
    return (
        '<p class="fk-now"><span class="fk-icon" aria-hidden="true">subdirectory_arrow_right</span>'
        f'<span><span class="fk-said-by">Corrected later</span>{inline(one.now)}{merge}</span></p>'
    )


def _struck(text: str, gone: Sequence[str], draw: Callable[[str], str]) -> str:
    """The text with the words that hold no longer struck through."""
    for words in gone:
        before, found, after = text.partition(words)
        if found:
            return f"{_struck(before, gone, draw)}<s>{draw(words)}</s>{_struck(after, gone, draw)}"
    return draw(text) if text else ""


def _line(
    row: PayloadRow,
    marks: str,
    numbers: Mapping[MessageId, int],
    leads: Leads,
    gone: Sequence[str],
    code: Collection[str],
) -> str:
    """HTML of a line; one of the lines of `code` is drawn as such."""
    if row.text.startswith(SOURCES) and (entries := leads.sources(row.text)):
        return f"<p>{SOURCES} {entries.rstrip()}{marks}</p>"
    speaker, said = _speaker_of(row, leads)
    who = f'<span class="fk-said-by">{escape(showable(speaker))}</span>' if speaker else ""
    if gone and not any(words in said for words in gone):
        gone = [said]
    was_code = said.strip() in code
    if not was_code and (cells := cells_of(said)):
        drawn = "".join(f'<span class="fk-table-cell">{inline(cell)}</span>' for cell in cells)
        return f'<p class="fk-table-row">{who}{f"<s>{drawn}</s>" if gone else drawn}{marks}</p>'
    if was_code or said != said.lstrip() or ("`" not in said and is_code(said)):
        drawn = _struck(said, gone, lambda words: escape(showable(words)))
        return f'<p class="fk-code-line">{who}<code>{drawn}</code>{marks}</p>'
    text, is_item = unlisted(said)
    if gone and not any(words in text for words in gone):
        gone = [text]

    def draw(words: str) -> str:
        return replace(row, text=words).drawn(inline, lambda id: _number(id, numbers, leads), leads.passage)

    drawn = _struck(text, gone, draw)
    return f"<p{' class=fk-item' if is_item else ''}>{who}{_ended(drawn, marks)}</p>"


def _ended(drawn: str, marks: str) -> str:
    """A line with its numbers, which stay beside its last word."""
    last = _LAST_WORD.search(drawn)
    if not marks or last is None:
        return drawn + marks
    return f'{drawn[: last.start()]}<span class="fk-tail">{last[0]}{marks}</span>'


def _speaker_of(row: PayloadRow, leads: Leads) -> tuple[str, str]:
    """Who said a line, where it begins with that, and what was said: a line may begin with any word and a colon."""
    name, colon, said = row.text.partition(": ")
    if colon and row.cites:
        authors = filter(None, map(leads.author, row.cites)) if name == "user" else iter(())
        speaker = next(authors, speaker_named(name))
        known = [words.partition(": ")[0] for id in row.cites if (words := leads.words(id))]
        if speaker in known or (not known and speaker != name):
            return speaker, said
    return "", row.text


def _number(id: MessageId, numbers: Mapping[MessageId, int], leads: Leads) -> str:
    label = f"Source {numbers[id]}: {bare(leads.words(id)) or id.removeprefix('b2:')[:8]}"
    return leads.message(id, str(numbers[id]), showable(label))


def _messages(numbers: Mapping[MessageId, int], leads: Leads, *, expands: bool) -> str:
    """The messages that a merge stands for, each a step away: the first of them."""
    lines = [
        f"<div>{_number(id, numbers, leads)}<span>{inline(leads.words(id) or id.removeprefix('b2:')[:8])}</span>"
        f"{leads.expand(id) if expands else ''}</div>"
        for id in list(numbers)[:_LISTED]
    ]
    return "".join(lines) + (f"and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else "")
