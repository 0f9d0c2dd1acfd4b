"""A presentation as a document: one section for each step, of which its script shows one at a time.

Without scripts it can be read from top to bottom. Its policy allows its one script and its one style by their hashes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import partial

from forky_core.layout.colors import UNNAMED, branch_colors
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Blob, Message, MessageId
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
from forky_core.opaque import opaque
from forky_core.showing.document import foot, head
from forky_core.showing.escaping import safe
from forky_core.showing.pictures import graph_map, merge_picture
from forky_core.showing.prose import LONG, code_html, long_code, long_prose, rest_html, words_html
from forky_core.showing.steps import Presentation, PresentationStep
from forky_core.views.captions import dollars, payload_summary, seconds, tokens
from forky_core.views.compare import ColumnEntry, Turn
from forky_core.views.graph import line_of_text
from forky_core.views.listed import listed_branches
from forky_core.views.payload import payload_rows
from forky_core.views.shelf import count, title_or_placeholder

_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_BRIEF = 220
"""Characters up to which a text is set large, as a question on a slide of its own."""
_LISTED = 14
"""Messages of a branch that are listed below the drawing of a merge."""


def presentation_page(
    made: Presentation, *, served: bool = False, for_speaker: bool = False, for_followers: bool = False
) -> Iterator[str]:
    """The document, piece by piece.

    `served`: a server hands it out, which the document may ask for who else follows. `for_speaker`: it has what the
    speaker wrote, which is not for those who follow. `for_followers`: it says neither what answers cost nor what the
    window with the notes tells of each step.
    """
    yield head("present", made.shown.title, served=served)
    yield '<main id="deck" tabindex="-1">\n'
    for number, step in enumerate(made.steps):
        yield _section(made, step, number, for_speaker=for_speaker, for_followers=for_followers)
    yield "</main>\n"
    drawn = graph_map(made)
    yield f'<aside id="map" class="panel" aria-label="Map">{drawn}</aside>\n' if drawn else ""
    yield _CHROME
    yield foot("present")


_KEYS = (
    ("→ &nbsp; Space", "the next step; Space reads a long one first"),
    ("←", "back"),
    ("↑ ↓ &nbsp; S", "the other answers at this place, then all side by side"),
    ("Home &nbsp; End", "the first and the last step"),
    ("M", "the map of the graph"),
    ("N", "notes for the speaker in a second window"),
    ("L", "a pointer"),
    ("B", "a dark screen"),
    ("T", "light, dark, or as the system has it"),
    ("F", "full screen"),
    ("V", "let others follow"),
    ("Esc", "back to where you were"),
)
_CHROME = (
    '<div id="ribbon" role="presentation"></div>\n'
    '<nav id="controls" class="scripts" aria-label="Presentation">'
    '<button type="button" data-act="back" aria-label="Back" title="Back (←)">←</button>'
    '<output id="place"></output>'
    '<button type="button" data-act="next" aria-label="Next" title="Next (→)">→</button>'
    '<button type="button" data-act="map" title="Map (M)">Map</button>'
    '<button type="button" data-act="notes" title="Notes (N)">Notes</button>'
    '<button type="button" data-act="theme" title="Light or dark (T)">Theme</button>'
    '<button type="button" data-act="follow" title="Let others follow (V)" class="served">Followers</button>'
    '<button type="button" data-act="full" title="Full screen (F)">Full screen</button>'
    '<button type="button" data-act="help" title="Keys (?)">?</button>'
    '<button type="button" data-act="leave" title="Leave (Esc)">Leave</button></nav>\n'
    '<div id="told" class="scripts" role="status"></div>\n'
    '<aside id="help" class="panel" aria-label="Keys"><h2>Keys</h2><dl>'
    + "".join(f"<dt>{keys}</dt><dd>{does}</dd>" for keys, does in _KEYS)
    + "</dl></aside>\n"
    '<aside id="followers" class="panel" aria-label="Followers"><h2>Let others follow</h2>'
    '<p id="followers-said"></p><p><input id="followers-link" readonly aria-label="Link for those who follow">'
    '<button type="button" data-act="copy">Copy the link</button></p>'
    '<p><button type="button" data-act="end">End it for everybody</button></p></aside>\n'
    '<div id="pointer" role="presentation"></div>\n'
)


def _section(
    made: Presentation, step: PresentationStep, number: int, *, for_speaker: bool, for_followers: bool
) -> str:
    drawn: dict[str, Callable[[Presentation, PresentationStep], str]] = {
        "title": _title,
        "message": _message,
        "branches": _branches,
        "block": _block,
        "landed": _landed,
        "sides": partial(_sides, costs=not for_followers),
        "row": partial(_row, costs=not for_followers),
        "nothing": _nothing,
    }
    body = drawn[step.kind](made, step)
    node = f' data-node="{step.message.id.removeprefix("b2:")}"' if step.message is not None else ""
    role = step.message.role if step.message is not None and step.kind == "message" else ""
    notes = "" if for_followers else "".join(f"<li>{safe(note)}</li>" for note in step.notes)
    written = f' data-note="{safe(step.note)}"' if for_speaker else ""
    return (
        f'<section class="step {step.kind} {role}" id="{step.key}" data-number="{number}"{node} '
        f'aria-label="{safe(step.heading)}" tabindex="-1"><div class="sheet">{body}</div>'
        f'<ul class="notes"{written} hidden>{notes}</ul></section>\n'
    )


def _title(made: Presentation, step: PresentationStep) -> str:
    shown = made.shown
    messages = sum(one.kind in ("message", "landed") for one in made.steps)
    merges = sum(one.kind == "landed" for one in made.steps)
    branches = len(listed_branches(shown.view, {shown.branch}))
    facts = [count(messages, "message"), count(max(1, branches), "branch")]
    if merges:
        facts.append(count(merges, "merge"))
    branch = f'<span class="tag">{safe(shown.branch)}</span>' if branches > 1 else ""
    return (
        f'<h1 dir="auto">{safe(title_or_placeholder(step.heading))}</h1><p class="facts">{branch}{" · ".join(facts)}</p>'
        '<p class="hint scripts">→ to begin &nbsp;·&nbsp; F full screen &nbsp;·&nbsp; ? keys</p>'
    )


def _nothing(_made: Presentation, step: PresentationStep) -> str:
    return f"<h2>{safe(step.heading)}</h2><p>Ask something on the Chat page; each message becomes a step here.</p>"


def _caption(step: PresentationStep, caption: str, more: str = "") -> str:
    labels = "".join(f'<span class="tag">{safe(name)}</span>' for name in step.labels)
    gone = '<span class="tag gone">taken back</span>' if step.taken_back else ""
    return f'<header><i class="mark"></i><b>{safe(caption)}</b>{labels}{gone}{more}</header>'


def _message(made: Presentation, step: PresentationStep) -> str:
    assert step.message is not None
    if len(step.alternatives) < 2:
        return _face(made, step, step.message, step.caption, chosen=True)
    faces = []
    for at, id in enumerate(step.alternatives, 1):
        message = made.shown.messages[id]
        more = f'<span class="of">{at} of {len(step.alternatives)}</span>'
        chosen = id == step.message.id
        faces.append(_face(made, step, message, made.captions.get(id, ""), chosen=chosen, more=more))
    return f'<div class="faces">{"".join(faces)}</div>'


def _face(
    made: Presentation,
    step: PresentationStep,
    message: Message,
    caption: str,
    *,
    chosen: bool,
    more: str = "",
) -> str:
    brief = len(message.text) <= _BRIEF and "\n" not in message.text.strip() and len(message.parts) == 1
    looks = f"face{' chosen' if chosen else ''}{' brief' if brief else ''}"
    body = "".join(_part(part, made) for part in message.parts)
    return (
        f'<article class="{looks}" data-id="{message.id.removeprefix("b2:")}">'
        f'{_caption(step, caption, more)}<div class="prose">{body}</div></article>'
    )


def _part(part: Part, made: Presentation) -> str:
    match part:
        case TextPart():
            return long_prose(part.text)
        case MergePart():
            return _payload(made, part)
        case ReasoningPart():
            return f"<details><summary>Thoughts</summary>{long_prose(part.text)}</details>"
        case ToolCallPart():
            return (
                f"<details open><summary>Calls {safe(part.name)}</summary>"
                f"<pre><code>{safe(part.arguments[:LONG])}</code></pre></details>"
            )
        case ToolResultPart():
            said = part.output or part.exception or ""
            return f"<details open><summary>{safe(part.name or 'A tool')} answers</summary>{long_code(said)}</details>"
        case AttachmentPart():
            return _attachment(part, made.shown.blobs.get(part.sha256))
        case RevertPart():
            return f'<p class="aside">Takes back {count(len(part.targets), "message")} from here on.</p>'
        case OpaquePart():
            return f'<p class="aside">{safe(opaque(part).title)}</p>'


def _attachment(part: AttachmentPart, blob: Blob | None) -> str:
    name = safe(part.name or part.media_type)
    if blob is None or part.media_type not in _PICTURES:
        return f'<p class="aside">📎 {name}</p>'
    data = base64.b64encode(blob.content).decode()
    return f'<figure><img alt="{name}" src="data:{part.media_type};base64,{data}"></figure>'


def _branches(made: Presentation, step: PresentationStep) -> str:
    assert step.merge is not None
    story = step.merge
    lists = []
    for part, line in story.sides:
        cited, left = set(part.messages), set(part.omitted)
        rows = "".join(
            f'<li class="{"left-out" if id in left or id not in cited else ""}">{safe(line_of_text(made.shown.messages[id]))}</li>'
            for id in line[:_LISTED]
        )
        more = f"<li>and {len(line) - _LISTED} more</li>" if len(line) > _LISTED else ""
        lists.append(
            f'<div class="{_color(made, part.source)}"><h3>{safe(part.source)} <small>{count(len(line), "message")}</small></h3>'
            f"<ol>{rows}{more}</ol></div>"
        )
    return (
        f"{_caption(step, 'The branches', _steps_of(1))}{merge_picture(story, made.shown.branch, made.shown.view, landed=False)}"
        f'<div class="lists">{"".join(lists)}</div>'
    )


def _color(made: Presentation, branch: str | None) -> str:
    """The class that sets the colour of a branch, as in the graph."""
    return f"c{branch_colors(made.shown.view.branches).get(branch or '', UNNAMED)}"


def _steps_of(number: int) -> str:
    names = ("branches", "block", "landed")
    return (
        '<span class="of">'
        + " → ".join(f"<b>{name}</b>" if at == number else name for at, name in enumerate(names, 1))
        + "</span>"
    )


def _block(made: Presentation, step: PresentationStep) -> str:
    assert step.merge is not None
    blocks = [_payload(made, part) for part, _ in step.merge.sides]
    facts = " · ".join(payload_summary(part) for part, _ in step.merge.sides)
    return (
        f'{_caption(step, "The block", _steps_of(2))}<div class="prose">{"".join(blocks)}</div>'
        f'<p class="facts">{safe(facts)}</p>'
    )


def _payload(made: Presentation, part: MergePart) -> str:
    rows = []
    for row in payload_rows(part, LONG):
        if not row.text.strip():
            continue
        cites = "".join(
            f'<sup title="{safe(_said_by(made, id))}">{id.removeprefix("b2:")[:6]}</sup>' for id in row.cites
        )
        element = {"header": "p", "heading": "h3"}.get(row.kind, "div")
        rows.append(f'<{element} class="{row.kind}" dir="auto">{words_html(row.text)}{cites}</{element}>')
    rest = part.text[LONG:]
    more = rest_html("block", len(part.text), rest, code_html(rest)) if rest else ""
    return f'<div class="payload {_color(made, part.source)}">{"".join(rows)}{more}</div>'


def _said_by(made: Presentation, id: MessageId) -> str:
    message = made.shown.messages.get(id)
    return line_of_text(message) if message is not None else "a message of another conversation"


def _landed(made: Presentation, step: PresentationStep) -> str:
    assert step.merge is not None
    story = step.merge
    brings = sum(estimate_tokens(part.text) for part, _ in story.sides)
    whole = sum(estimate_tokens(made.shown.messages[id].text) for _, line in story.sides for id in line)
    facts = [f"<li>{safe(payload_summary(part))}</li>" for part, _ in story.sides]
    if brings < whole and not any(part.brings_turns for part, _ in story.sides):
        facts.append(
            f"<li>Answers below read about <b>{tokens(brings)}</b> tokens of it in place of {tokens(whole)}</li>"
        )
    facts.append("<li>One operation; undo takes it back</li>")
    return (
        f"{_caption(step, f'Landed on {made.shown.branch}', _steps_of(3))}"
        f'{merge_picture(story, made.shown.branch, made.shown.view, landed=True)}<ul class="outcome">{"".join(facts)}</ul>'
    )


def _sides(made: Presentation, step: PresentationStep, *, costs: bool) -> str:
    assert made.comparison is not None
    columns = []
    for column in made.comparison.columns:
        total = column.total
        facts = [count(total.answers, "answer")]
        if costs:
            facts += [f"{tokens(total.tokens)} tokens"]
            facts += [dollars(total.cost)] if total.cost else []
            facts += [seconds(total.seconds)] if total.seconds is not None else []
        models = ", ".join(made.shown.label(name) for name in column.models)
        columns.append(
            f'<div class="column {_color(made, column.side.branch)}"><h3 dir="auto">{safe(column.side.label)}</h3><p>{safe(models)}</p>'
            f'<p class="facts">{" · ".join(facts)}</p></div>'
        )
    shared = made.comparison.shared
    below = (
        f'<p class="aside">Both begin with the same {count(len(shared), "message")}.</p>' if shared else ""
    )
    if len(columns) > 2:
        below = below.replace("Both", "All")
    notes = "".join(f'<p class="aside">{safe(note)}</p>' for note in made.comparison.notes)
    return f'{_caption(step, "Side by side")}<div class="columns">{"".join(columns)}</div>{below}{notes}'


def _row(made: Presentation, step: PresentationStep, *, costs: bool) -> str:
    assert step.row is not None
    assert made.comparison is not None
    asked = step.row.asked
    top = f'<div class="asked prose">{long_prose(asked.text)}</div>' if asked is not None else ""
    columns = "".join(
        f'<div class="column {_color(made, column.side.branch)}"><h3 dir="auto">{safe(column.side.label)}</h3>'
        f"{_turn(made, turn, with_question=asked is None, costs=costs)}</div>"
        for column, turn in zip(made.comparison.columns, step.row.turns, strict=True)
    )
    more = f'<span class="of">{step.number} of {len(made.comparison.rows)}</span>'
    return f'{_caption(step, "Side by side", more)}{top}<div class="columns">{columns}</div>'


def _turn(made: Presentation, turn: Turn | None, *, with_question: bool, costs: bool) -> str:
    if turn is None:
        return '<p class="aside">Nothing more was said here.</p>'
    question = turn.question
    asked = (
        f'<div class="asked prose">{long_prose(question.message.text)}</div>'
        if with_question and question is not None
        else ""
    )
    return asked + "".join(_entry(made, entry, costs=costs) for entry in (*turn.brought, *turn.answers))


def _entry(made: Presentation, entry: ColumnEntry, *, costs: bool) -> str:
    body = "".join(_part(part, made) for part in entry.message.parts)
    if entry.message.merges or not costs:
        return f'<div class="prose">{body}</div>'
    facts = [f"{tokens(entry.tokens)} tokens"]
    if entry.seconds is not None:
        facts.append(seconds(entry.seconds))
    return f'<div class="prose">{body}</div><p class="facts">{" · ".join(facts)}</p>'
