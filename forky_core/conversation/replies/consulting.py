"""Answering from documents: look up what bears on the question, offer it to the model, add the SOURCES line.

A `Citing` model stands around the one that answers: to whoever writes the reply it is a model like any other. Other
branches of the conversation are a source too: what was found out there can be opened, or picked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event

from forky_core.context.citing import sources_line, without_sources
from forky_core.conversation.placing import documents_of
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.repo import Repo, short
from forky_core.documents.searching import FoundChunk, fused
from forky_core.documents.shelf import DocumentStore
from forky_core.llm.contract import Consulted, Done, Model, ModelEvent, ModelInfo, Request, TextDelta
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, Rules
from forky_core.model.document import Looked, Quoted
from forky_core.model.errors import ModelError, NotFound
from forky_core.retrieval.condense import PROMPT, as_question, condensed, leans, speaks_of
from forky_core.retrieval.cues import is_question
from forky_core.retrieval.parts_asked import parts_asked
from forky_core.retrieval.passages import OPENING, unwrapped
from forky_core.retrieval.rank import Question

PASSAGES = 5
"""Of documents, offered at once where the branch says nothing else."""
_ELSEWHERE = 2
"""Of other branches."""
_READ_ELSEWHERE = 2_000
"""Messages of other branches that are looked through, the newest."""
_BEARS = 0.5
"""Coverage from which on a message of another branch is offered."""
_SHORTEST = 40
"""Characters; less says nothing by itself."""
_LONGEST = 2_000
"""Characters quoted of a message."""
_SHARE = 4
"""Passages take at most one part in so many of the model's window."""
_TOLD = 6
"""Messages a condensing model is told."""


def look(
    repo: Repo, path: Sequence[Message], rules: Rules, *, search: str = "", window: int | None = None
) -> Looked | None:
    """What is found for the question at the end of a path; None where the branch does not use documents.

    `search` is the question as a person, or a model, has worded it; without one it is condensed by rule. Where that
    finds nothing, the question itself is tried; where it finds something, what the question itself finds counts as
    much, since the words that a rule adds say what was spoken of, and not what is asked.
    """
    question = question_of(path)
    if not rules.documents.on or not question:
        return None
    wanted = " ".join(search.split()) or condensed(question, _spoken(path))
    shelf = documents_of(repo, rules)
    budget = window // _SHARE if window is not None else None
    by_rule = wanted != question and not search.strip()
    most = rules.documents.passages or PASSAGES
    looked = _looked(repo, path, shelf, wanted, most, budget, question=question if by_rule else "")
    if looked.passages or wanted == question:
        return looked
    itself = _looked(repo, path, shelf, question, most, budget)
    return itself if itself.passages else looked


def _looked(
    repo: Repo,
    path: Sequence[Message],
    shelf: DocumentStore,
    search: str,
    most: int,
    budget: int | None,
    *,
    question: str = "",
) -> Looked:
    """The `most` passages for a search; with a `question`, for both, and nothing that speaks of another subject."""
    findings = shelf.look(search, most, budget=budget)
    found = tuple(one for one in findings.found if one.bears)
    if question and found:
        found = _joined(findings.found, shelf.look(question, most, budget=budget).found, most, budget)
    # What was found by its meaning need not share a word with anything.
    quoted = [
        (one.source, one.address, one.chunk.text)
        for one in found
        if not one.coverage or speaks_of(question, f"{one.source} {one.chunk.text}")
    ]
    quoted += [one for one in _elsewhere(repo, path, search) if speaks_of(question, one[2])]
    return Looked(search, tuple(Quoted(n, *one) for n, one in enumerate(quoted, 1)), findings.trouble)


def _joined(
    one: Sequence[FoundChunk], other: Sequence[FoundChunk], most: int, budget: int | None
) -> tuple[FoundChunk, ...]:
    """The best of two rankings, by the rank each has in both; of those that bear on either search."""
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
    """What was said before the question; an offline answer only repeats, and in words of its own about itself.

    The headings of what a merge brought are Forky's, too.
    """
    return [unwrapped(message.text) for message in path[:-1] if not message.text.startswith(OPENING)]


def question_of(path: Sequence[Message]) -> str:
    """What the path ends by asking; "" where it ends otherwise, as with what a merge brought."""
    return path[-1].text.strip() if path and path[-1].role == "user" and not path[-1].merges else ""


def _elsewhere(repo: Repo, path: Sequence[Message], search: str) -> list[tuple[str, str, str]]:
    """(source, address, text) of messages of other branches."""
    here = {message.id for message in path}
    seen = repo.visible.messages.values()
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
    return [(_named(repo, others[at]), others[at].id, texts[at]) for at in best]


def _best(asked: str, texts: Sequence[str]) -> list[int]:
    """Which of the texts hold enough of what is asked, best first."""
    question = Question.over(asked, texts)
    matches = [question.match(text, index) for index, text in enumerate(texts)]
    best = sorted((one for one in matches if one.coverage >= _BEARS), key=lambda one: -one.score)
    return [one.index for one in best]


def _named(repo: Repo, message: Message) -> str:
    """What a person would call it: "branch “debug”, reply 3f2a9c1b"."""
    holding = [
        branch.name
        for branch in repo.view.branches.values()
        if branch.head is not None and any(other.id == message.id for other in repo.path(branch.head))
    ]
    what = f"{'reply' if message.role == 'assistant' else 'message'} {short(message.id)}"
    return f"branch “{holding[-1]}”, {what}" if holding else what


def by_model(model: Model, name: str, path: Sequence[Message], stop: Event | None = None) -> str:
    """The question at the end of a path, made to stand alone by a model; "" where it said nothing of use."""
    question = question_of(path)
    if not leans(question) or len(path) < 2:
        return question
    told = "\n\n".join(f"{message.role}: {_told(message)}" for message in path[-1 - _TOLD : -1])
    said = f"{PROMPT}\n\n<conversation>\n{told}\n</conversation>\n\nThe last question: {question}"
    try:
        return as_question(ask_once(model, name, ({"role": "user", "content": said},), stop=stop))
    except ModelError:
        return ""


def _told(message: Message) -> str:
    return without_sources(message.text)[:_LONGEST].replace("</conversation", "<\\/conversation")


@dataclass(frozen=True, slots=True)
class Citing:
    """A model that is given passages and whose answer ends with where they come from."""

    model: Model
    looked: Looked
    reword: Callable[[Event], tuple[Request, Looked] | None] | None = None
    """Has another model word the search first, and gives the request that comes of it; None: nothing better."""
    begun: str = ""
    """What the answer had said before it broke off, where it is resumed."""

    def info(self) -> ModelInfo:
        return self.model.info()

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent | Consulted]:
        looked = self.looked
        if self.reword is not None and (better := self.reword(stop)) is not None:
            request, looked = better
        yield Consulted(looked)
        said = [self.begun]
        for event in self.model.stream(request, stop):
            # An answer that broke off gets its line when it is whole.
            if isinstance(event, Done) and "".join(said).strip():
                yield TextDelta(f"\n\n{sources_line(''.join(said), looked)}")
            elif isinstance(event, TextDelta):
                said.append(event.text)
            yield event


def worder(repo: Repo, path: Sequence[Message], rules: Rules) -> Model | None:
    """The model that words the search once the question at the end of a path is sent; None: a rule has."""
    name, question = rules.documents.condenser, question_of(path)
    if name is None or not rules.documents.on or len(path) < 2 or not question or not leans(question):
        return None
    try:
        return repo.models.model(name)
    except NotFound:
        return None


def rewording(
    repo: Repo, path: Sequence[Message], rules: Rules, again: Callable[[str], tuple[Request, Looked] | None]
) -> Callable[[Event], tuple[Request, Looked] | None] | None:
    """Has the branch's condensing model word the search, where it has one and the question needs it."""
    name, model = rules.documents.condenser, worder(repo, path, rules)
    if name is None or model is None:
        return None

    def reword(stop: Event) -> tuple[Request, Looked] | None:
        search = by_model(model, name, path, stop)
        return again(search) if search else None

    return reword
