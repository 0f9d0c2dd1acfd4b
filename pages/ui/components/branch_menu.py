"""The acts of the menu of a conversation and its branch: the Chat page offers them, and the palette presses them."""

from __future__ import annotations

BRANCH_MENU = {
    "merge": "Bring this branch back …",
    "rename": "Rename this branch …",
    "title": "Rename this chat …",
    "folder": "Folder …",
    "share": "Export or share …",
    "present": "Start a demo …",
    "people": "Who takes part …",
    "history": "History of this chat",
    "original": "Give back, fetch news …",
    "reuse": "Give stored answers again",
    "anew": "Always ask anew",
    "delete": "Delete this branch",
}
"""What the menu offers, by act."""
WRITES_BRANCH = frozenset({"rename", "delete"})
"""Those of them that only whoever may write to the branch can do."""
READING_BRANCH = frozenset({"people", "share", "present", "history"})
"""Those of them that change nothing."""
EDITS_CHAT = frozenset({"title", "folder", "original", "reuse", "anew"})
"""Those of them that only whoever may change the conversation itself can do."""
