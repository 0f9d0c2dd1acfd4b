"""The acts of the menu of a branch: the Chat page offers them, and the palette presses them."""

from __future__ import annotations

BRANCH_MENU = {
    "rename": "Rename this branch …",
    "people": "Who takes part …",
    "reuse": "Give stored answers again",
    "anew": "Always ask anew",
    "share": "Export or share …",
    "delete": "Delete this branch",
}
"""What the menu of a branch offers, by act."""
WRITES_BRANCH = frozenset({"rename", "delete"})
"""Those of them that only whoever may write to the branch can do."""
READING_BRANCH = frozenset({"people", "share"})
"""Those of them that change nothing."""
