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
    """A request that could be sent now, with the account of it."""

    request: Request
    context: Context
    model: ModelInfo
    cached: int
    """Tokens at its beginning that this model was sent before, so that its provider may have them at hand."""
    memory: Memory
    stretches: tuple[Sequence[Message], ...] = ()
    """What its summary was made of."""
    asked: Message | None = None
    """The question at its end where that is not stored: what a person is typing."""
    looked: Looked | None = None
    """What was found for its question, where its branch uses documents."""

    @property
    def cost(self) -> float | None:
        """US dollars to send it, with what is cached at its price; None where the price is not known."""
        price, less = self.model.input_price, self.model.cached_input_price
        if price is None:
            return None
        return self.context.tokens * price - self.cached * (price - (less if less is not None else price))

    @property
    def json(self) -> str:
        """Exactly what goes to the model, as the provider's JSON."""
        return request_json(self.request)

    def read_ahead(self, repo: Repo) -> None:
        """Have the memory's model read what its next summary needs."""
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
    """What would be sent for this path, whose end need not be stored.

    `search` words what documents are searched for; "": the question, condensed by rule.

    Raises:
        NotFound: the model is gone.
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
    """A file's line of the account, in a question that `model` is asked: of a picture, no tokens are known."""
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
    """As `context_of` for a path whose end need not be stored; `read` receives what a summary was made of."""
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
