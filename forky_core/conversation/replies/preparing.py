"""The one place where a request is made: what `answer` sends is what the inspector shows (law 7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from forky_core.context.account import Context, Item
from forky_core.context.build import Summary, build_context
from forky_core.context.convert import Sight, convert
from forky_core.conversation.counts import Counts
from forky_core.conversation.people.voices import voices_of
from forky_core.conversation.replies.consulting import look, worder
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.replies.summaries import read_ahead, summariser
from forky_core.conversation.repo import Repo
from forky_core.llm.contract import Model, ModelInfo, ProviderMessage, Request
from forky_core.model import Message, MessageId, Rules, seal
from forky_core.model.document import Looked
from forky_core.model.memory import Memory
from forky_core.model.parts import AttachmentPart, Draft, Json

CONTINUE = "Continue exactly where you stopped, without repeating anything and without a comment."
_WORDED_LATER = (
    "This question leans on what was said before, so {} words the search for passages once it is sent: it may find others "
    "than those below, and only in them the request may differ. “Documents” below the chat has it worded now, to be read and "
    "changed; then, and where the rule words it, what is shown is what is sent."
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that could be sent now, with the account of its tokens."""

    request: Request
    context: Context
    model: ModelInfo
    cached: int
    """Tokens at its beginning that this model was sent recently, so that its provider may have them cached."""
    memory: Memory
    stretches: tuple[Sequence[Message], ...] = ()
    """The messages that its summary was made of."""
    asked: Message | None = None
    """The question at its end if that is not stored: what a person is typing."""
    looked: Looked | None = None
    """The passages for its question, if its branch uses documents."""

    @property
    def cost(self) -> float | None:
        """US dollars to send it, with cached tokens at their price; None if the price is not known."""
        price, less = self.model.input_price, self.model.cached_input_price
        if price is None:
            return None
        return self.context.tokens * price - self.cached * (price - (less if less is not None else price))

    @property
    def json(self) -> str:
        """Exactly what is sent to the model, as the provider's JSON."""
        return request_json(self.request)

    def read_ahead(self, repo: Repo) -> None:
        """Have the memory's model read what its next summary will need."""
        read_ahead(repo, self.memory, self.stretches)


def request_json(request: Request) -> str:
    body = {"model": request.model, "messages": list(request.messages), **request.parameters}
    return json.dumps(body, ensure_ascii=False, indent=2)


def prepare(
    repo: Repo,
    path: Sequence[Message],
    rules: Rules,
    *,
    model: str | None = None,
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    resumes: Message | None = None,
    search: str = "",
) -> Prepared:
    """The request for this path, whose last message need not be stored.

    `search` is the query for documents; "": the question, condensed by rule.

    Raises:
        NotFound: the model is no longer available.
    """
    name = model or rules.model or repo.models.default()
    answering = repo.models.model(name)
    read: list[Sequence[Message]] = []
    looked = look(repo, path, rules, search=search, window=answering.info().context_window)
    context = context_on(repo, path, rules, answering, read, looked)
    if looked is not None and not search and (later := worder(repo, path, rules)) is not None:
        told = _WORDED_LATER.format(later.info().label)
        context = replace(context, warnings=(*context.warnings, told))
    messages = context.messages
    if resumes is not None:
        again: tuple[ProviderMessage, ...] = (
            {"role": "assistant", "content": resumes.text},
            {"role": "user", "content": CONTINUE},
        )
        messages = (*messages, *again)
    settings = MappingProxyType({**rules.parameters, **parameters})
    request = Request(name, messages, settings, cache_key=repo.id)
    cached = sum(context.costs[: repo.sent.shared(name, context.drafts)])
    memory = context.memory
    return Prepared(
        request, context, answering.info(), min(cached, context.tokens), memory, tuple(read), looked=looked
    )


def account_of(repo: Repo, file: AttachmentPart, model: Model) -> Item:
    """The line of the account for a file in a question to `model`; the tokens of a picture are not known."""
    sight = Sight(repo.store.blob, model.info().sees_images is not False)
    items = convert(seal(Draft("user", (file,)), ()), model.count_tokens, sight).items
    return next(item for item in items if item.kind == "attachment")


def context_of(repo: Repo, head: MessageId | None, rules: Rules, model: Model) -> Context:
    """Exactly what `model` would be sent at `head`, and the account of it (law 7)."""
    path = repo.path(head)
    looked = look(repo, path, rules, window=model.info().context_window)
    return context_on(repo, path, rules, model, looked=looked)


def context_on(
    repo: Repo,
    path: Sequence[Message],
    rules: Rules,
    model: Model,
    read: list[Sequence[Message]] | None = None,
    looked: Looked | None = None,
) -> Context:
    """Like `context_of`, for a path whose last message need not be stored.

    Messages that a summary was made of are appended to `read`.
    """
    info, memory = model.info(), repo.view.memory_of(rules)
    write = summariser(repo, memory)

    def summarise(stretches: Sequence[Sequence[Message]]) -> Summary:
        if read is not None:
            read.extend(stretches)
        return write(stretches)

    count_tokens = repo.counting(model)
    built = build_context(
        path,
        rules,
        lookup=repo.lookup,
        count_tokens=count_tokens,
        window=info.context_window,
        blob=repo.store.blob,
        sees_images=info.sees_images is not False,
        memory=memory,
        summarise=summarise,
        voices=voices_of(repo, path, info.name),
        looked=looked,
    )
    if isinstance(count_tokens, Counts):
        count_tokens.keep()
    return built
