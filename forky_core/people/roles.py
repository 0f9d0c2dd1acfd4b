"""The four roles. A higher one includes all that a lower one may do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from forky_core.model.errors import BadContent


class Role(IntEnum):
    """What a person may do in a workspace or in one conversation."""

    NONE = 0
    """Nothing: a conversation is not found."""
    VIEWER = 1
    """Read."""
    COMMENTER = 2
    """Also vote, comment, ask for a merge, and write on branches below one's own handle, as in `ada/idea`."""
    EDITOR = 3
    """Also change every branch, merge, prune and give documents."""
    OWNER = 4
    """Also share, delete for good and, in a workspace, manage its people and settings."""

    @property
    def word(self) -> str:
        """The role as people read it: "editor"."""
        return self.name.lower()

    @property
    def phrase(self) -> str:
        """The role with its article: "an editor"."""
        return f"{'an' if self.word[0] in 'aeiou' else 'a'} {self.word}"

    @property
    def and_above(self) -> str:
        """Who has this role or a higher one: "editors and owners", "an owner"."""
        *others, last = [f"{role.word}s" for role in ASSIGNABLE if role >= self]
        return f"{', '.join(others)} and {last}" if others else self.phrase


ASSIGNABLE = (Role.VIEWER, Role.COMMENTER, Role.EDITOR, Role.OWNER)
"""The roles that can be given to somebody, lowest first."""

IN_WORKSPACE: Mapping[Role, str] = {
    Role.VIEWER: "Reads what is shared.",
    Role.COMMENTER: "Also begins conversations, votes, comments, and works on branches of their own.",
    Role.EDITOR: "Also changes every branch of what is shared, brings branches back, clears away and gives documents.",
    Role.OWNER: "Also invites people, changes roles, and decides about models, keys and storage.",
}
"""In the workspace."""
IN_CONVERSATION: Mapping[Role, str] = {
    Role.VIEWER: "Reads it.",
    Role.COMMENTER: "Also votes, comments, asks for reviews, and works on branches of their own.",
    Role.EDITOR: "Also changes every branch, brings branches back, clears away and gives documents.",
    Role.OWNER: "Also says who sees it, and deletes it for good.",
}
"""In a conversation."""


def role_named(word: str) -> Role:
    """The role of this name, in any case. Raises BadContent for another word."""
    for role in ASSIGNABLE:
        if role.word == word.strip().lower():
            return role
    raise BadContent(
        f"“{word[:40]}” is no role.", f"There are: {', '.join(role.word for role in ASSIGNABLE)}."
    )
