"""One line for each role that says what it permits, for all pages."""

from __future__ import annotations

from collections.abc import Mapping

from forky_core.people.roles import Role

IN_WORKSPACE: Mapping[Role, str] = {
    Role.VIEWER: "Reads what is shared.",
    Role.COMMENTER: "Also begins conversations, votes, comments, and works on branches of their own.",
    Role.EDITOR: "Also changes every branch of what is shared, merges, prunes and gives documents.",
    Role.OWNER: "Also invites people, changes roles, and decides about models, keys and storage.",
}
"""In the workspace."""
IN_CONVERSATION: Mapping[Role, str] = {
    Role.VIEWER: "Reads it.",
    Role.COMMENTER: "Also votes, comments, asks for merges, and works on branches of their own.",
    Role.EDITOR: "Also changes every branch, merges, prunes and gives documents.",
    Role.OWNER: "Also says who sees it, and deletes it for good.",
}
"""In a conversation."""
