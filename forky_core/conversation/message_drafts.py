"""Turns what a person types into a draft of a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from forky_core.conversation.identity import title_line
from forky_core.conversation.session import Session
from forky_core.conversation.validation import fit_text, refuse_unknown_files
from forky_core.model import Role
from forky_core.model.errors import BadContent
from forky_core.model.parts import AttachmentPart, Draft, Part, TextPart


def draft_of(
    session: Session,
    text: str,
    attachments: Sequence[AttachmentPart] = (),
    *,
    role: Role = "user",
    name: str | None = None,
) -> Draft:
    """A draft of the typed text; without a `name` it carries that of the person who uses this handle, if any.

    Raises:
        BadContent: it is empty or too long, or the role is unknown.
        NotFound: a file was never attached to this workspace.
    """
    if role not in get_args(Role):
        raise BadContent(f"Nobody has the role “{role}”.", f"There are: {', '.join(get_args(Role))}.")
    text = fit_text(text)
    if name is None and role == "user":
        name = session.person
    refuse_unknown_files(session.store, [part.sha256 for part in attachments])
    if not text.strip() and not attachments:
        raise BadContent("There is nothing to send.", "Type something, or attach a file.")
    parts: list[Part] = list(attachments)
    if text.strip():
        parts.append(TextPart(text))
    return Draft(role, tuple(parts), title_line(name) or None if name is not None else None)
