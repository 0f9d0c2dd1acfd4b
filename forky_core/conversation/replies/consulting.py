"""Answering from documents: search for the question, offer passages to the model, add the SOURCES line.

A `Citing` model wraps the one that answers; to the reply job it is a model like any other. Other branches of the
conversation are a source too: their messages can be opened, or picked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event

from forky_core.context.citing import is_own_list, sources_line, split_own_list, without_sources
from forky_core.conversation.document_places import documents_of, embedder_of
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session, short
from forky_core.documents.retrieval.condense import PROMPT, as_question, condensed, leans, speaks_of
from forky_core.documents.retrieval.parts_asked import parts_asked
from forky_core.documents.retrieval.passages import OPENING, unwrapped
from forky_core.documents.retrieval.rank import Question
from forky_core.documents.searching import FoundChunk, fused
from forky_core.documents.shelf import DocumentShelf
from forky_core.llm.contract import (
    Consulted,
    Done,
    Model,
    ModelEvent,
    ModelInfo,
    ReasoningDelta,
    Request,
    TextDelta,
)
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, Rules
from forky_core.model.document import DocumentSearch, OfferedPassage
from forky_core.model.errors import ModelError, NotFound
from forky_core.text.cues import is_question

PASSAGES = 5
"""Passages of documents that are offered with a question by default."""
_ELSEWHERE = 2
"""Passages of other branches that are offered with a question."""
_READ_ELSEWHERE = 2_000
"""Newest messages of other branches that are searched."""
_BEARS = 0.5
"""Coverage above which a message of another branch is offered."""
_SHORTEST = 40
"""Characters below which a message is not offered, as it makes no sense by itself."""
_LONGEST = 2_000
"""The most characters that are quoted of a message."""
_SHARE = 4
"""Passages take at most this fraction (1/4) of the model's window."""
_BY_MEANING_LATER = (
    "These passages were found by their words. Once the question is sent, {} reads it too, and others may be found by their "
    "meaning."
)
_TOLD = 6
"""Messages that a condensing model is given."""


def search_for_passages(
    session: Session,
    path: Sequence[Message],
    rules: Rules,
    *,
    search: str = "",
    window: int | None = None,
    by_meaning: bool = False,
) -> DocumentSearch | None:
    """The passages for the question at the end of a path; None if the branch does not use documents.

    `search` is the query as a person, or a model, has written it; without one the question is condensed by rule. If the
    query finds nothing, the question itself is searched for; otherwise the results of both count equally, since the
    words that a rule adds are about the previous subject, not about the question. `by_meaning` has the embedding model
    read the query, so that its provider is sent it and may be paid; without it words alone decide, and `trouble` says
    so.
    """
    if not rules.documents.on or not (question := question_of(path)):
        return None
    wanted = " ".join(search.split()) or condensed(question, _spoken(path))
    shelf = documents_of(session, rules, by_meaning=by_meaning)
    later = "" if by_meaning or (one := embedder_of(session)) is None else _BY_MEANING_LATER.format(one.name)
    budget = window // _SHARE if window is not None else None
    by_rule = wanted != question and not search.strip()
    most = rules.documents.passages or PASSAGES
    document_search = _looked(
        session, path, shelf, wanted, most, budget, question=question if by_rule else ""
    )
    if not document_search.passages and wanted != question:
        itself = _looked(session, path, shelf, question, most, budget)
        document_search = itself if itself.passages else document_search
    return replace(document_search, trouble=document_search.trouble or later)


def _looked(
    session: Session,
    path: Sequence[Message],
    shelf: DocumentShelf,
    search: str,
    most: int,
    budget: int | None,
    *,
    question: str = "",
) -> DocumentSearch:
    """The `most` passages for a query; with a `question`, for both, without passages about another subject."""
    findings = shelf.look(search, most, budget=budget)
    found = tuple(one for one in findings.found if one.bears)
    if question and found:
        found = _joined(findings.found, shelf.look(question, most, budget=budget).found, most, budget)
    # Passages that were found by meaning need not share a word with the query.
    quoted = [
        (one.source, one.address, one.chunk.text)
        for one in found
        if not one.coverage or speaks_of(question, f"{one.source} {one.chunk.text}")
    ]
    quoted += [one for one in _elsewhere(session, path, search) if speaks_of(question, one[2])]
    return DocumentSearch(
        search, tuple(OfferedPassage(n, *one) for n, one in enumerate(quoted, 1)), findings.trouble
    )


def _joined(
    one: Sequence[FoundChunk], other: Sequence[FoundChunk], most: int, budget: int | None
) -> tuple[FoundChunk, ...]:
    """The best of two rankings, by the rank in both; only passages that are relevant to one of the two searches."""
    found = {hit.address: hit for hit in (*one, *other)}
    bears = {hit.address for hit in (*one, *other) if hit.bears}
    addresses = list(found)
    scores = fused([[addresses.index(hit.address) for hit in ranking] for ranking in (one, other)])
    best = sorted((at for at in scores if addresses[at] in bears), key=lambda at: -scores[at])[:most]
    spent, kept = 0, []
    for hit in (found[addresses[at]] for at in best):
        spent += estimate_tokens(hit.chunk.text)
        if budget is None or spent <= budget:
            kept.append(hit)
    return tuple(kept)


def _spoken(path: Sequence[Message]) -> list[str]:
    """What was said before the question, without offline answers, which only repeat, and without Forky's merge
    headings.
    """
    return [unwrapped(message.text) for message in path[:-1] if not message.text.startswith(OPENING)]


def question_of(path: Sequence[Message]) -> str:
    """The question at the end of the path; "" if it does not end with one, for instance with a merge."""
    return path[-1].text.strip() if path and path[-1].role == "user" and not path[-1].merges else ""


def _elsewhere(session: Session, path: Sequence[Message], search: str) -> list[tuple[str, str, str]]:
    """(source, address, text) of relevant messages of other branches."""
    here = {message.id for message in path}
    seen = session.visible.messages.values()
    others = [
        message
        for message in seen
        if message.id not in here
        and message.role in ("user", "assistant")
        and not message.hidden
        and len(message.text) >= _SHORTEST
        and not message.text.startswith(OPENING)
        and not (message.role == "user" and is_question(message.text))
    ][-_READ_ELSEWHERE:]
    if not others:
        return []
    texts = [without_sources(message.text)[:_LONGEST] for message in others]
    of_parts = [at for part in parts_asked(search) for at in _best(part, texts)[:1]]
    best = list(dict.fromkeys((*of_parts, *_best(search, texts))))[:_ELSEWHERE]
    return [(_named(session, others[at]), others[at].id, texts[at]) for at in best]


def _best(asked: str, texts: Sequence[str]) -> list[int]:
    """Indexes of the texts that cover enough of the question, best first."""
    question = Question.over(asked, texts)
    matches = [question.match(text, index) for index, text in enumerate(texts)]
    best = sorted((one for one in matches if one.coverage >= _BEARS), key=lambda one: -one.score)
    return [one.index for one in best]


def _named(session: Session, message: Message) -> str:
    """A name of the message for people: "branch “debug”, reply 3f2a9c1b"."""
    holding = [
        branch.name
        for branch in session.view.branches.values()
        if branch.head is not None and any(other.id == message.id for other in session.path(branch.head))
    ]
    what = f"{'reply' if message.role == 'assistant' else 'message'} {short(message.id)}"
    return f"branch “{holding[-1]}”, {what}" if holding else what


def by_model(session: Session, name: str, path: Sequence[Message], stop: Event | None = None) -> str:
    """Have a model rewrite the question at the end of a path to stand alone; "" if it wrote nothing useful."""
    question = question_of(path)
    if not leans(question) or len(path) < 2:
        return question
    told = "\n\n".join(f"{message.role}: {_told(message)}" for message in path[-1 - _TOLD : -1])
    said = f"{PROMPT}\n\n<conversation>\n{told}\n</conversation>\n\nThe last question: {question}"
    try:
        return as_question(ask_once(session, name, ({"role": "user", "content": said},), stop=stop))
    except ModelError:
        return ""


def _told(message: Message) -> str:
    return without_sources(message.text)[:_LONGEST].replace("</conversation", "<\\/conversation")


@dataclass(frozen=True, slots=True)
class Citing:
    """A model that is given passages and whose answer ends with a line of their sources."""

    model: Model
    document_search: DocumentSearch
    reword: Callable[[Event], tuple[Request, DocumentSearch] | None] | None = None
    """Has another model write the query first, and returns the resulting request; None if it does not improve."""
    begun: str = ""
    """The text of an interrupted answer that is being resumed."""

    def info(self) -> ModelInfo:
        return self.model.info()

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent | Consulted]:
        document_search = self.document_search
        if self.reword is not None and (better := self.reword(stop)) is not None:
            request, document_search = better
        yield Consulted(document_search)
        said, held = self.begun, ""
        for event in self.model.stream(request, stop):
            if isinstance(event, TextDelta):
                text, held = split_own_list(said, held + event.text)
                said += text
                if text:
                    yield TextDelta(text)
            elif isinstance(event, ReasoningDelta):
                yield event
            else:
                # An interrupted answer gets its line when it is complete.
                ending = self._ending(said, held) if isinstance(event, Done) else held
                said, held = said + ending, ""
                if ending:
                    yield TextDelta(ending)
                yield event
        if held:  # The reply was stopped.
            yield TextDelta(held)

    def _ending(self, said: str, held: str) -> str:
        """The end of a complete answer with its SOURCES line, which replaces a list that the model wrote itself."""
        if is_own_list(held):
            return f"\n\n{sources_line(said, self.document_search, held)}"
        if not (said + held).strip():
            return held
        return f"{held}\n\n{sources_line(said + held, self.document_search)}"


def worder(session: Session, path: Sequence[Message], rules: Rules) -> Model | None:
    """The model that rewrites the query when a request with the question at the end of this path is sent; None if a
    rule does.
    """
    name, question = rules.documents.condenser, question_of(path)
    if name is None or not rules.documents.on or len(path) < 2 or not question or not leans(question):
        return None
    try:
        return session.models.model(name)
    except NotFound:
        return None


def rewording(
    session: Session,
    path: Sequence[Message],
    rules: Rules,
    again: Callable[[str], tuple[Request, DocumentSearch] | None],
) -> Callable[[Event], tuple[Request, DocumentSearch] | None] | None:
    """A function that has the branch's condensing model write the query; None if that is not needed."""
    name = rules.documents.condenser
    if name is None or worder(session, path, rules) is None:
        return None

    def reword(stop: Event) -> tuple[Request, DocumentSearch] | None:
        search = by_model(session, name, path, stop)
        return again(search) if search else None

    return reword
