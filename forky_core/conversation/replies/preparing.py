"""The one place where a request is made: what `answer` sends is what the inspector shows (law 7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from forky_core.context.account import Context
from forky_core.context.build import Summary, build_context
from forky_core.conversation.counts import Counts
from forky_core.conversation.people.voices import voices_of
from forky_core.conversation.replies.consulting import search_for_passages, worder
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.replies.summaries import read_ahead, summariser
from forky_core.conversation.session import Session
from forky_core.llm.contract import Model, ModelInfo, ProviderMessage, Request
from forky_core.model import Message, MessageId, Rules
from forky_core.model.document import DocumentSearch
from forky_core.model.memory import Memory
from forky_core.model.parts import Json

CONTINUE = "Continue exactly where you stopped, without repeating anything and without a comment."
_WORDED_LATER = (
    "This question leans on what was said before, so {} words the search for passages once it is sent: it may find others "
    "than those below, and only in them the request may differ. “Documents” below the chat has it worded now, to be read and "
    "changed; then, and where the rule words it, what is shown is what is sent."
)


@dataclass(frozen=True, slots=True)
class PreparedRequest:
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
    document_search: DocumentSearch | None = None
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

    def read_ahead(self, session: Session) -> None:
        """Have the memory's model read what its next summary will need."""
        read_ahead(session, self.memory, self.stretches)


def request_json(request: Request) -> str:
    body = {"model": request.model, "messages": list(request.messages), **request.parameters}
    return json.dumps(body, ensure_ascii=False, indent=2)


def prepare(
    session: Session,
    path: Sequence[Message],
    rules: Rules,
    *,
    model: str | None = None,
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    resumes: Message | None = None,
    search: str = "",
    by_meaning: bool = False,
) -> PreparedRequest:
    """The request for this path, whose last message need not be stored.

    `search` is the query for documents; "": the question, condensed by rule. `by_meaning` has the embedding model of
    documents read it, as a request that is really sent does; what only shows a request sends nothing to anybody.

    Raises:
        NotFound: the model is no longer available.
    """
    name = model or rules.model or session.models.default()
    answering = session.models.model(name)
    info = answering.info()
    read: list[Sequence[Message]] = []
    document_search = search_for_passages(
        session,
        path,
        rules,
        search=search,
        window=info.context_window,
        by_meaning=by_meaning,
    )
    settings = MappingProxyType({**rules.parameters, **parameters})
    context = context_on(session, path, rules, answering, read, document_search, parameters=settings)
    if document_search is not None and not search and (later := worder(session, path, rules)) is not None:
        told = _WORDED_LATER.format(later.info().label)
        context = replace(context, warnings=(*context.warnings, told))
    messages = context.messages
    if resumes is not None:
        again: tuple[ProviderMessage, ...] = (
            {"role": "assistant", "content": resumes.text},
            {"role": "user", "content": CONTINUE},
        )
        messages = (*messages, *again)
    request = Request(name, messages, settings, cache_key=session.id)
    cached = sum(context.costs[: session.sent.shared(name, context.drafts)])
    memory = context.memory
    return PreparedRequest(
        request,
        context,
        info,
        min(cached, context.tokens),
        memory,
        tuple(read),
        document_search=document_search,
    )


def context_of(session: Session, head: MessageId | None, rules: Rules, model: Model) -> Context:
    """Exactly what `model` would be sent at `head`, and the account of it (law 7)."""
    path = session.path(head)
    document_search = search_for_passages(session, path, rules, window=model.info().context_window)
    return context_on(session, path, rules, model, document_search=document_search)


def context_on(
    session: Session,
    path: Sequence[Message],
    rules: Rules,
    model: Model,
    read: list[Sequence[Message]] | None = None,
    document_search: DocumentSearch | None = None,
    *,
    parameters: Mapping[str, Json] | None = None,
) -> Context:
    """Like `context_of`, for a path whose last message need not be stored.

    Messages that a summary was made of are appended to `read`. `parameters` are those of the request, without which the
    branch's own count.
    """
    info, view = model.info(), session.view
    memory = view.memory_of(rules)
    write = summariser(session, memory)

    def summarise(stretches: Sequence[Sequence[Message]]) -> Summary:
        if read is not None:
            read.extend(stretches)
        return write(stretches)

    count_tokens = session.counting(model)
    built = build_context(
        path,
        rules,
        lookup=session.lookup,
        count_tokens=count_tokens,
        window=info.context_window,
        blob=session.store.blob,
        pictures=info.pictures,
        wire=info.wire.under(rules.parameters if parameters is None else parameters),
        memory=memory,
        summarise=summarise,
        voices=voices_of(session, view.room, path, info.name),
        document_search=document_search,
    )
    if isinstance(count_tokens, Counts):
        count_tokens.keep()
    return built
