"""The table of keyboard verbs, for the keys, the palette, the dialog of keys, the guide and a test.

A verb has no action of its own. It presses a button of the page, focuses an element or opens a page, so it can do only
what a person could do with the mouse, and is possible wherever its button is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pages.ui.components.branch_menu import BRANCH_MENU

Do = Literal["press", "focus", "message", "page", "move", "show"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a verb does in the browser."""

    do: Do
    """Press or focus an element; press a button of the current message; open a page; move among the messages; show a
    dialog of the keyboard, or the tour."""
    what: str
    """A CSS selector; the name of a page; a number of messages; "keys", "palette" or "tour". A selector inside a
    component follows ` >>> `."""
    text: str = ""
    """The text of the element, if the selector fits several; alternatives are separated by "|"."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One line of the table."""

    name: str
    ways: tuple[tuple[Step, ...], ...]
    """Alternative sequences of steps; the first one whose first step is possible runs."""
    key: str = ""
    """The value of `KeyboardEvent.key`, after modifiers with "+"; "" for a verb that only the palette has."""


COMPOSER = ".st-key-chat-composer textarea"
LIST = ".st-key-chat-twin >>> [role=listbox]"
CHAT = Step("page", "chat")


def _presses(name: str, selector: str, *, text: str = "", key: str = "") -> Verb:
    return Verb(name, ((Step("press", selector, text),),), key)


def _of_branch(label: str) -> Verb:
    menu = Step("press", ".st-key-bar-menu button")
    return Verb(
        label.split("|", maxsplit=1)[0], ((menu, Step("press", "[role=menu] [role=menuitem]", label)),)
    )


def _in_more(name: str, key: str) -> Verb:
    return Verb(
        name, ((Step("press", ".st-key-chat-more button"), Step("press", f".st-key-chat-{key} summary")),)
    )


def _of_message(name: str, act: str) -> Verb:
    return Verb(
        name, ((Step("message", '[data-act="more"]'), Step("press", f'.fk-menu [data-act="{act}"]')),)
    )


KEYS = (
    Verb("Write a message", ((Step("focus", COMPOSER),), (CHAT, Step("focus", COMPOSER))), "/"),
    Verb("Next message", ((Step("move", "1"),),), "j"),
    Verb("Message before", ((Step("move", "-1"),),), "k"),
    Verb("Version before of this message", ((Step("message", ".fk-siblings button:first-of-type"),),), "["),
    Verb("Next version of this message", ((Step("message", ".fk-siblings button:last-of-type"),),), "]"),
    Verb("Start a branch at this message", ((Step("message", '[data-act="fork"]'),),), "f"),
    Verb("Bring back", ((Step("page", "merge"),),), "m"),
    Verb("Compare", ((Step("press", ".st-key-chat-marks_compare button"),), (Step("page", "compare"),)), "c"),
    Verb(
        "Graph of the conversation",
        (
            (
                Step("press", '.st-key-chat-pane [role=radio][aria-checked="false"]', "Graph"),
                Step("focus", LIST),
            ),
            (Step("focus", LIST),),
            (
                Step("press", '.st-key-chat-graph_as [role=radio][aria-checked="false"]', "List"),
                Step("focus", LIST),
            ),
            (CHAT, Step("press", ".st-key-chat-graph_as [role=radio]", "List"), Step("focus", LIST)),
        ),
        "g",
    ),
    Verb("All keys", ((Step("show", "keys"),),), "?"),
    Verb("Find a message, a chat or a verb", ((Step("show", "palette"),),), "Ctrl+K"),
    _presses("Send", "[class*=st-key-chat-send-] button", key="Ctrl+Enter"),
    _presses("Undo", ".st-key-bar-undo button", key="Ctrl+Z"),
    _presses("Redo", ".st-key-bar-redo button", key="Ctrl+Shift+Z"),
)
"""The verbs with a key. Keys without a modifier do nothing while a field, a dialog or the graph has the focus."""
VERBS = (
    *KEYS,
    Verb(
        "Search in the Library", ((Step("page", "library"), Step("focus", ".st-key-library-search input")),)
    ),
    _presses("New chat", ":is(.fk-chats-new, .st-key-library-new button, .st-key-chat-first button)"),
    _presses("Choose the model", ".st-key-chat-models button"),
    _in_more("System prompt and settings", "rules"),
    _in_more("Documents for the next question", "documents_use"),
    _in_more("Put a draft or messages aside", "stashes"),
    _presses("Attach files", ".st-key-chat-files button"),
    _presses("Bring it in", ".st-key-merge-land button"),
    _presses("Stop the reply", ":is(.st-key-chat-stop, .st-key-chat-stop_reply) button"),
    _presses("Graph as a picture", '.st-key-chat-graph_as [role=radio][aria-checked="false"]', text="Graph"),
    Verb("Take the tour", ((Step("show", "tour"),),)),
    Verb("Edit this question and ask again", ((Step("message", '[data-act="edit"]'),),)),
    _of_message("Answer again", "regenerate"),
    Verb("Copy this message", ((Step("message", '[data-act="copy"]'),),)),
    _of_message("Choose this message for bringing back", "pick"),
    *(_of_branch(label) for act, label in BRANCH_MENU.items() if act not in {"reuse", "anew"}),
    _of_branch(f"{BRANCH_MENU['reuse']}|{BRANCH_MENU['anew']}"),
)
"""All verbs. The palette adds the “…” menu of a message and every other button that the page shows."""


def as_json() -> list[dict[str, Any]]:
    return [asdict(verb) for verb in VERBS]
