"""What a plan must know about the model that will read a branch: how it counts tokens, and whether it sees pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.context.build import build_context
from forky_core.context.convert import FileAccess
from forky_core.conversation.session import Session
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, MessageId, Rules
from forky_core.model.errors import NotFound


@dataclass(frozen=True, slots=True)
class Reader:
    count_tokens: Callable[[str], int]
    file_access: FileAccess


def reader_of(session: Session, rules: Rules) -> Reader:
    """The model that answers under these rules; if it is no longer available, an estimate, so that planning still
    works.
    """
    try:
        model = session.models.model(rules.model or session.models.default())
    except NotFound:
        return Reader(estimate_tokens, FileAccess(session.store.blob))
    return Reader(session.counting(model), FileAccess(session.store.blob, model.info().pictures))


def tokens_of(
    session: Session,
    path: Sequence[Message],
    rules: Rules,
    lookup: Callable[[MessageId], Message] | None = None,
) -> int:
    """The tokens of the context of `path`; `lookup` finds messages that are not stored yet."""
    reader = reader_of(session, rules)
    return build_context(
        path,
        rules,
        lookup=lookup or session.lookup,
        count_tokens=reader.count_tokens,
        blob=reader.file_access.blob,
        pictures=reader.file_access.pictures,
    ).tokens
