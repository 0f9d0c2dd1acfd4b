"""What the first paint shows of a conversation until Streamlit runs: its title, the newest messages, and the field.

The cells are those that the page will draw, so that nothing moves when it does; they offer nothing to press. The title
and the cells stand in shadow roots, where neither the styles nor the scripts of the page find them. In the field one
can type and send (opening.js).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.render.trees import html_of
from forky_core.views.captions import code_of, opening_of
from forky_core.views.layout.colors import branch_colors
from forky_core.views.notebook import Cell, notebook
from forky_core.views.places import branch_for
from forky_core.views.shelf import newest_of_a_person
from pages.ui.chat.cells import Look, cell_tree
from pages.ui.chat.drafting import question_from
from pages.ui.chat.style import CHAT_CSS
from pages.ui.chat.window import begun_in
from pages.ui.components.markdown import PROSE_CSS, SHOWN, showable
from pages.ui.components.models import label_of
from pages.ui.drafts import draft_place, drafts
from pages.ui.keeping.component import owner
from pages.ui.person import Viewer, viewer_of
from pages.ui.workspace import at_hand, seen_by

_CSS = """<style>
.path { height: 100%; overflow: auto; display: flex; flex-direction: column-reverse; }
.fk-cells { flex: none; margin-bottom: auto; }
.fk-cell { box-sizing: border-box; gap: .15rem; padding: .55rem .8rem .35rem; border-left: 2px solid transparent; border-radius: .4rem; }
.fk-cell[class*="cell-user-"] { background: color-mix(in srgb, currentColor 4.5%, transparent); }
.fk-cell p { font-size: 1rem; line-height: 1.6; margin: 0; unicode-bidi: plaintext; }
.fk-cell :is(ul, ol) { margin: 0; padding: 0; }
.fk-text > :is(p, ul, ol) { margin-bottom: 1rem; }
.fk-cell pre.as-written { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.fk-acts, time { visibility: hidden; }
.fk-siblings { display: none; }
.fk-icon, .fk-head button::before, .fk-code-head button::before { font-family: inherit !important; visibility: hidden; } /* Its font comes later. */
button, a { pointer-events: none; }
@media (max-width: 640px) { .fk-cell { padding: .45rem .55rem .25rem; } }
</style>"""


def opening(person: str, address: Mapping[str, str]) -> tuple[str, str, str] | None:
    """HTML of the title, the messages and the field at this address, as this person may see them; None where nothing is
    said. The field is "" for somebody who can only read.

    Nobody's workspace is opened for it. `person` is as in `seen_by`.
    """
    if at_hand() is None:
        return None
    try:
        forky = seen_by(person)
        chat, at = _place(forky, address)
        path = chat.path(at) if at is not None else ()
    except ForkyError:
        return None  # The page says why.
    if not path:
        return None
    messages = chat.visible.messages
    look = Look(
        lambda name: label_of(forky.models, name),
        forky.store.blob,
        at,
        chat.id,
        words=lambda id: opening_of(messages.get(id), chat.people.author_of),
        code=lambda id: code_of(messages.get(id)),
        colors=branch_colors(chat.view.branches),
        erasure=chat.view.erasures.get,
        name_of=forky.name_of,
        only_reads=True,
    )
    book = notebook(path, chat.visible, chat.view, chat.calls.origins, begun=begun_in(chat))
    cells = "".join(_cell(cell, look) for cell in book.cells)
    title = escape(showable(chat.title or "New chat"))
    return (
        f"<style>b {{ color: var(--text); }}</style><b>{title}</b>",
        f'{_sheets()}<div class="path"><div class="fk-cells">{cells}</div></div>',
        _field(viewer_of(forky), chat, at, person),
    )


def _place(forky: Forky, address: Mapping[str, str]) -> tuple[Conversation, MessageId | None]:
    newest = newest_of_a_person(forky.conversations()) or ""
    chat = forky.conversation(address.get("c") or newest, address.get("b"))
    if not (asked := address.get("m")):
        return chat, chat.branch.head
    at = chat.message(asked).id
    return chat if "b" in address else chat.checkout(
        branch_for(at, chat.view, chat.visible, chat.branch_name)
    ), at


def _field(who: Viewer, chat: Conversation, at: MessageId | None, person: str) -> str:
    """HTML of the field, with what is typed there already and where it goes (opening.js)."""
    if chat.view.trashed or who.why_only_reads(chat):
        return ""
    draft = drafts(person).at(draft_place(chat.id, chat.branch, at))
    own = not who.may_write(chat, chat.branch_name)
    goes = json.dumps(question_from(owner(person), chat, chat.branch, at, draft, own=own))
    return (
        '<ol aria-label="Questions that wait" aria-live="polite" hidden></ol>'
        f'<textarea rows="1" aria-label="Message" placeholder="Ask something more" autocomplete="off" '
        f'data-goes="{escape(goes)}">\n{escape(draft.text)}</textarea><button type="button">Send</button>'
    )


def _cell(cell: Cell, look: Look) -> str:
    """HTML of a cell; of one that only Streamlit draws, its words as they were written."""
    tree = cell_tree(cell, look)
    if tree is not None:
        return html_of(tree)
    text = cell.message.text if look.erasure(cell.message.id) is None else ""
    return f'<div class="fk-cell"><pre class="as-written">{escape(showable(text[:SHOWN]))}</pre></div>'


@cache
def _sheets() -> str:
    own = Path(__file__).with_name("notebook.css").read_text("utf-8")
    return f"<style>{PROSE_CSS}{own}</style>{CHAT_CSS}{_CSS}"
