"""What the first paint shows of a conversation: its title and the newest messages, to be read until Streamlit runs.

The cells are those that the page will draw, so that nothing moves when it does; they offer nothing to press. Each part
stands in a shadow root of its own, where neither the styles nor the scripts of the page find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.render.trees import html_of
from forky_core.views.captions import opening_of
from forky_core.views.layout.colors import branch_colors
from forky_core.views.notebook import Cell, notebook
from pages.ui.chat.cells import Look, cell_tree
from pages.ui.chat.style import CHAT_CSS
from pages.ui.components.markdown import PROSE_CSS, SHOWN, showable
from pages.ui.components.models import label_of
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


def opening(person: str, address: Mapping[str, str]) -> tuple[str, str] | None:
    """HTML of the title and of the messages at this address, as this person may see them; None where there are none.

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
        colors=branch_colors(chat.view.branches),
        erasure=chat.view.erasures.get,
        name_of=forky.name_of,
        only_reads=True,
    )
    book = notebook(path, chat.visible, chat.view, chat.calls.origins)
    cells = "".join(_cell(cell, look) for cell in book.cells)
    title = escape(showable(chat.title or "New conversation"))
    return (
        f"<style>b {{ color: var(--text); }}</style><b>{title}</b>",
        f'{_sheets()}<div class="path"><div class="fk-cells">{cells}</div></div>',
    )


def _place(forky: Forky, address: Mapping[str, str]) -> tuple[Conversation, MessageId | None]:
    newest = next((one.id for one in forky.conversations() if one.branches), "")
    chat = forky.conversation(address.get("c") or newest, address.get("b"))
    asked = address.get("m")
    return chat, chat.message(asked).id if asked else chat.branch.head


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
