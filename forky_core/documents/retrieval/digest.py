"""A digest of a conversation without a model: what was asked, decided, found out, and what is still open.

Sentences are chosen, never rewritten, so a digest cannot say what nobody said. Each list is filled by greedy coverage
(facts/merge.md, "Without a model"): the weight of a sentence is that of its terms not yet on the list, so that the list
says each thing once and the rarest things first.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forky_core.documents.retrieval.passages import OPENING, Utterance, dialogue
from forky_core.documents.retrieval.rank import Question
from forky_core.llm.contract import ProviderMessage
from forky_core.text.cues import CORRECTION, DECISION, OPEN, asked_for, is_question
from forky_core.text.sentences import units
from forky_core.text.words import clipped, terms

_LONGEST = 240
"""The longest line, in characters."""
_READ = 240
"""How many of the newest messages are read in full; of older ones only the questions are listed."""
_RECENT_AGAIN = 0.6
"""The weight of the oldest sentence relative to the newest."""
_ROLE = {"user": 1.2, "assistant": 1.0, "tool": 0.3, "system": 0.3}
_FOCUS = 2.5
"""The factor for a sentence that has all the words of the request's focus."""
_NAME = re.compile(
    r"`([^`\n]{2,60})`|\b((?:https?://|/)[\w./\-]{3,80}|\w+[_.]\w[\w.]*\w|[A-Z]{2,}[-_]?\d+)\b"
)
_LEADING = re.compile(r"^(?:(?:about|on|of|for|regarding|we|over|über|sur|sobre)\s+)+", re.IGNORECASE)
_ASKS_DIGEST = re.compile(
    r"\b(?:summari[sz]e|summary|digest|recap|overview|tl;?dr|so far|conversation|chat|discussed?|everything|what did we|"
    r"where are we|bullet points?|zusammenfass\w*|résum\w*|resum\w*)\b|总结|總結|要約|요약",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\b(?:summari[sz]e|summary|recap|tl;?dr|sum (?:it|this|that|everything) up|zusammenfass\w*|fasse?\b.*\bzusammen|"
    r"résum\w*|resum\w*|riassum\w*)\b|总结|總結|要約|요약",
    re.IGNORECASE,
)
_SUBJECT = 3
"""The terms beside those words from which on a question is about a summary of something else."""


def is_asked_for(question: str) -> bool:
    """Whether a person asks for a summary of the conversation."""
    return (
        _SUMMARY.search(question) is not None
        and len(terms(_SUMMARY.sub(" ", _ASKS_DIGEST.sub(" ", question)))) < _SUBJECT
    )


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    said: Utterance
    terms: frozenset[str]
    weight: float
    """The product of role, recency and focus; the weights of its terms are added later."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The chosen sentences, each with its message."""

    asked: tuple[Sentence, ...]
    asked_more: int
    """The number of questions that did not fit on the list."""
    decided: tuple[Sentence, ...]
    corrected: tuple[Sentence, ...]
    open: tuple[Sentence, ...]
    said: tuple[Sentence, ...]
    names: tuple[str, ...]
    turns: int
    focus: str
    """The subject of the request; "" if it asked for everything."""


def digest(messages: Sequence[ProviderMessage]) -> Digest:
    talk = dialogue(messages)
    lines = _sentences(talk.utterances, talk.question)
    worth = _worth(lines)
    questions = [line for line in lines if line.said.role == "user" and is_question(line.text)]
    requests = questions + _requests(lines, questions)
    requests.sort(key=lambda line: line.said.turn)
    statements = [line for line in lines if not is_question(line.text)]
    taken: set[str] = set()

    def choose(among: Iterable[Sentence], limit: int) -> tuple[Sentence, ...]:
        chosen = _cover((line for line in among if line.text not in taken), worth, limit)
        taken.update(line.text for line in chosen)
        return chosen

    own = choose((line for line in statements if line.said.role == "user" and DECISION.search(line.text)), 6)
    echoed = choose((line for line in statements if DECISION.search(line.text)), max(1, 6 - len(own)))
    corrected = choose(
        (line for line in statements if line.said.role == "user" and CORRECTION.search(line.text)), 4
    )
    still_open = choose(
        (*_unanswered(talk.utterances, lines), *(s for s in statements if OPEN.search(s.text))), 5
    )
    asked = choose(requests, 8)
    return Digest(
        asked=asked,
        asked_more=sum(line.text not in taken for line in requests),
        decided=tuple(sorted((*own, *echoed), key=lambda line: line.said.turn)),
        corrected=corrected,
        open=still_open,
        said=choose((line for line in statements if line.said.role != "system" and len(line.terms) >= 3), 6),
        names=_names(talk.utterances),
        turns=max((one.turn for one in talk.utterances), default=0),
        focus=_focus(talk.question) if _bears(lines, talk.question) else "",
    )


def answer(messages: Sequence[ProviderMessage]) -> Iterator[str]:
    """Yield the digest as Markdown blocks; the first comes before the conversation is read."""
    yield f"{OPENING}, digest.** It picks sentences that were said and does not think."
    yield from blocks(messages)


def blocks(messages: Sequence[ProviderMessage]) -> Iterator[str]:
    """Yield the digest without the line that says which model wrote it."""
    found = digest(messages)
    if not (found.asked or found.decided or found.corrected or found.open or found.said):
        yield (
            "There is nothing to digest yet: this branch holds only what you just wrote. Talk about something first, with "
            "another model or by yourself, and ask again. For passages of Forky's guide ask the model **offline/quote**."
        )
        return
    turns = "1 turn" if found.turns == 1 else f"{found.turns} turns"
    yield f"The conversation so far, {turns}" + (f", with an eye to “{found.focus}”:" if found.focus else ":")
    yield from _list("Asked", found.asked, f"… and {found.asked_more} more" if found.asked_more else "")
    yield from _list("Decided", found.decided, nothing="Nothing that says so in words.")
    yield from _list("Corrected", found.corrected)
    yield from _list("Also said", found.said)
    yield from _list("Open", found.open, nothing="Nothing that says so in words.")
    if found.names:
        yield "**Names and places**"
        yield " · ".join(f"`{name}`" for name in found.names)


def _focus(question: str) -> str:
    """Return a request without the words that ask for a digest."""
    rest = _ASKS_DIGEST.sub(" ", asked_for(question)[1])
    return _LEADING.sub("", " ".join(rest.split())).strip(" ?!.,;:") if terms(rest) else ""


def _bears(lines: Sequence[Sentence], question: str) -> bool:
    wanted = set(terms(_focus(question)))
    return bool(wanted) and any(not wanted.isdisjoint(line.terms) for line in lines)


def _sentences(said: Sequence[Utterance], question: str) -> list[Sentence]:
    """Return every sentence with its weight; code, tables and headings are left out."""
    asked = Question.over(_focus(question), [one.text for one in said])
    close = len(said) - _READ
    found = []
    for index, one in enumerate(said):
        recency = _RECENT_AGAIN + (1 - _RECENT_AGAIN) * (index + 1) / len(said)
        if index < close and one.role != "user":
            continue
        for unit in units(one.text if index >= close else one.text[:_LONGEST]):
            if unit.kind in ("code", "table", "heading") or not (has := frozenset(terms(unit.text))):
                continue
            weight = _ROLE.get(one.role, 0.3) * recency * (1.3 if CORRECTION.search(unit.text) else 1.0)
            focus = 1 + (_FOCUS - 1) * asked.match(unit.text).coverage
            found.append(Sentence(clipped(" ".join(unit.text.split()), _LONGEST), one, has, weight * focus))
    return found


def _worth(lines: Sequence[Sentence]) -> Mapping[str, float]:
    """Return the weight of each term: higher if several messages return to it, nothing if all do."""
    messages: dict[str, set[int]] = defaultdict(set)
    for line in lines:
        for term in line.terms:
            messages[term].add(id(line.said))
    total = len({id(line.said) for line in lines}) + 1
    return {
        term: (1 + math.log(len(where))) * math.log(1 + total / len(where))
        for term, where in messages.items()
    }


def _cover(among: Iterable[Sentence], worth: Mapping[str, float], limit: int) -> tuple[Sentence, ...]:
    """Choose greedily the sentence that adds most for its length; return the chosen ones in their original order.

    A sentence's gain only shrinks as others are chosen, so only the top of the heap is re-weighed (Minoux 1978).
    """
    covered: set[str] = set()

    def gain(line: Sentence) -> float:
        fresh = line.terms - covered
        return line.weight * sum(worth[term] for term in fresh) / math.sqrt(8 + len(line.terms))

    heap = [(-gain(line), order, line) for order, line in enumerate(among)]
    heapq.heapify(heap)
    chosen: list[Sentence] = []
    while heap and len(chosen) < limit:
        _, order, line = heapq.heappop(heap)
        if 3 * len(line.terms - covered) < len(line.terms):
            continue
        now = -gain(line)
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, order, line))
            continue
        chosen.append(line)
        covered |= line.terms
    return tuple(sorted(chosen, key=lambda line: line.said.turn))


def _requests(lines: Sequence[Sentence], questions: Sequence[Sentence]) -> list[Sentence]:
    """Return the first sentence of each user message without a question: “Suggest a name” is a request, too."""
    asking = {id(line.said) for line in questions}
    first: dict[int, Sentence] = {}
    for line in lines:
        if line.said.role == "user" and id(line.said) not in asking:
            first.setdefault(id(line.said), line)
    return [line for line in first.values() if not _settles(line)]


def _settles(line: Sentence) -> bool:
    return bool(DECISION.search(line.text) or CORRECTION.search(line.text) or OPEN.search(line.text))


def _unanswered(said: Sequence[Utterance], lines: Sequence[Sentence]) -> list[Sentence]:
    """Return questions that were followed by another message of the same role, or by nothing."""
    followed = {
        id(one) for one, after in pairwise(said) if after.role in ("assistant", "tool") and one.role == "user"
    }
    loose = [one for one in said if one.role == "user" and id(one) not in followed]
    loose += [one for one in said[-1:] if one.role == "assistant"]
    wanted = {id(one) for one in loose}
    return [line for line in lines if id(line.said) in wanted and is_question(line.text)]


def _names(said: Sequence[Utterance]) -> tuple[str, ...]:
    """Return identifiers, paths and addresses that occur more than once, the most frequent first, then the earliest."""
    found: Counter[str] = Counter()
    for one in said[-_READ:]:
        found.update(dict.fromkeys((match[1] or match[2] for match in _NAME.finditer(one.text[:20_000])), 1))
    return tuple(name for name, times in found.most_common(8) if times > 1)


def _list(title: str, lines: Sequence[Sentence], more: str = "", nothing: str = "") -> Iterator[str]:
    if not lines and not nothing:
        return
    yield f"**{title}**"
    items = [f"- {line.text} — *{line.said.label}*" for line in lines]
    yield "\n".join((*items, *((f"- *{more}*",) if more else ()))) or nothing
