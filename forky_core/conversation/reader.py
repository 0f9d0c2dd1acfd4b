"""What a plan must know about the model that will read a branch: how it counts tokens, and whether it sees pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.context.build import build_context
from forky_core.context.convert import Sight
from forky_core.conversation.repo import Repo
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, MessageId, Rules
from forky_core.model.errors import NotFound


@dataclass(frozen=True, slots=True)
class Reader:
    count_tokens: Callable[[str], int]
    sight: Sight


def reader_of(repo: Repo, rules: Rules) -> Reader:
    """The model that answers under these rules; if it is no longer available, an estimate, so that planning still
    works.
    """
    try:
        model = repo.models.model(rules.model or repo.models.default())
    except NotFound:
        return Reader(estimate_tokens, Sight(repo.store.blob))
    return Reader(repo.counting(model), Sight(repo.store.blob, model.info().sees_images is not False))


def tokens_of(
    repo: Repo, path: Sequence[Message], rules: Rules, lookup: Callable[[MessageId], Message] | None = None
) -> int:
    """The tokens of the context of `path`; `lookup` finds messages that are not stored yet."""
    reader = reader_of(repo, rules)
    return build_context(
        path,
        rules,
        lookup=lookup or repo.lookup,
        count_tokens=reader.count_tokens,
        blob=reader.sight.blob,
        sees_images=reader.sight.images,
    ).tokens
