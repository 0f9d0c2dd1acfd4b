"""Which role a change of a conversation needs: the one table that the guard asks.

A commenter changes what is their own: branches below their handle, their vote, requests for merges, and their reviews
of those. Everything else of a conversation is an editor's to change, but for reviews, which nobody else changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from forky_core.conversation.merging.merge_request import REVIEWS, is_own_review
from forky_core.conversation.pins import PINNED
from forky_core.model import Change
from forky_core.model.errors import NotAllowed
from forky_core.model.parts import AttachmentPart, Json, canonical_json
from forky_core.people.roles import Role
from forky_core.store.contract import Commit

OPEN_SETTINGS = (
    "imports",
    "follow:",
    "import/",
    "scope_salt",
    "welcome",
    "langchain_conversation",
    PINNED,
)
"""Beginnings of the workspace's settings that work of commenters writes; all others are changed by owners."""
HIDDEN_SETTINGS = ("gateway_", "allowance/")
"""Beginnings of settings that only owners read: tokens and what they have spent."""
COMMENTERS_DERIVED = ("passages", "tools/", "sent/", "posted/")
"""Beginnings of what is kept beside the changes of commenters; other keys decide what editors are shown."""
EDITORS_DERIVED = "origin/link"
"""The key of what only editors read beside a fork: the address of the link that leads to its original."""
SHOWN_OUTSIDE = "published/"
"""The beginning of what is kept to be shown to people outside: only editors give something away."""
_FILE = re.compile(r'"([0-9a-f]{64})"')


def needed_for(commit: Commit, handle: str, actor: str) -> Role:
    """The role that a person needs in a conversation for a change of it.

    `handle` is the one their own branches begin with; `actor` is the name their operations carry.
    """
    # A key that a change requires to stay as it is changes nothing.
    changes = [change for change in commit.changes if change.before != change.after]
    own = bool(changes) and all(_is_own(change, handle, actor) for change in changes)
    return Role.COMMENTER if own else Role.EDITOR


def needed_on_branch(branch: str, handle: str) -> Role:
    """The role that a person needs to have a reply written to a branch."""
    return Role.COMMENTER if branch.startswith(f"{handle}/") else Role.EDITOR


def refuse_anothers_review(commit: Commit, actor: str) -> None:
    """Raise NotAllowed for a commit that changes somebody else's review of a merge request."""
    for change in commit.changes:
        if (
            change.key.startswith(REVIEWS)
            and change.before != change.after
            and not _is_own(change, "", actor)
        ):
            raise NotAllowed("A review is changed only by the person who gave it.", "Give one of your own.")


def files_in(commit: Commit) -> Iterator[str]:
    """The sha256 of each file that a change newly names, as an attachment or as a document."""
    for message in commit.messages:
        for part in message.parts:
            if isinstance(part, AttachmentPart):
                yield part.sha256
    for change in commit.changes:
        yield from files_named_by(change.key, change.after) - files_named_by(change.key, change.before)


def files_named_by(key: str, value: Json | None) -> set[str]:
    """The sha256 of each file that the value of a key of a view names; a text that looks like one names nothing."""
    named: list[Json] = []
    if key == "documents":
        named.append(value)
    elif key.startswith(("rules/", "stash/")) and isinstance(value, Mapping):
        rules = value.get("rules") if key.startswith("stash/") else value
        named += [value.get("attachments"), rules.get("documents") if isinstance(rules, Mapping) else None]
    return {file for one in named for file in _FILE.findall(canonical_json(one))}


def _is_own(change: Change, handle: str, actor: str) -> bool:
    kind, _, rest = change.key.partition("/")
    match kind:
        case "heads" | "rules" | "tags":
            return rest.startswith(f"{handle}/")
        case "kept":
            return change.after is not None
        case "reviews":
            return is_own_review(change.key, actor)
        case "polls":
            return rest.partition("/")[2] == f"votes/{actor}"
        case _:
            return kind == "requests"
