"""Answers a question with existing text: the relevant passages, word for word, with their source.

Messages of this conversation come first, then its documents, and, separate from both, Forky's own guide: a guide that
is mixed in outranks the chat, because it is written like an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forky_core.documents.retrieval import digest
from forky_core.documents.retrieval.guide import GuidePage, answering
from forky_core.documents.retrieval.parts_asked import parts_asked
from forky_core.documents.retrieval.passages import QUOTES, Dialogue, Utterance, dialogue
from forky_core.documents.retrieval.rank import Match, Question
from forky_core.llm.contract import NOT_FOUND, Passage, ProviderMessage
from forky_core.text.cues import CORRECTION, asked_for, is_question
from forky_core.text.sentences import Unit, units
from forky_core.text.words import STOPWORDS, clipped, terms

_ENOUGH = 0.45
"""The coverage, together with the question it answers, from which on a passage is quoted."""
_NEAR = 0.2
"""The coverage from which on a passage is quoted as the nearest to a question that nothing answers."""
_ENOUGH_FOUND = 0.2
"""The same for a passage that a search through all documents ranked best."""
_CANDIDATES = 12
"""How many of the best messages are split into sentences, so that a long conversation stays quick."""
_FROM_QUESTION = 0.5
"""The share of a question's score that its reply inherits: a reply need not repeat the words of the question."""
_AS_QUESTION = 0.25
"""The weight of a sentence that is a question itself."""
_LONGEST = 420
"""The longest quotation in characters; a paragraph is quoted whole up to here."""
_CODE_LINES = 16
_QUOTES = 4

_HOW_TO = re.compile(
    r"^\s*(?:how (?:do|does|can|could|would|should|to)\b|where (?:is|are|do|can)\b|what (?:is|are|does)\b|can i\b|wie\b|comment\b|cómo\b)",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\b(?:hi|hello|hey|hallo|bonjour|hola|who are you|what can you do|help)\b|你好|こんにちは", re.IGNORECASE
)

CLOSING = (
    "*For an answer in a model's own words, choose another model: Settings shows which ones are set up.*"
)
ELSEWHERE = "*Other branches are not read here. The search of the Library looks through all of them.*"

EXAMPLES = (
    "How do I fork?",
    "How do I merge a branch?",
    "How do I undo?",
    "How do I use a key?",
    "Where is my data?",
)


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    text: str
    source: str
    score: float


def answer(messages: Sequence[ProviderMessage]) -> Iterator[str]:
    """Yield the answer to the last user message as Markdown blocks; the first comes before the search is done."""
    yield f"{QUOTES} It quotes what is written and does not think."
    talk = dialogue(messages)
    if digest.is_asked_for(talk.question) and talk.utterances:
        yield from digest.blocks(messages)
        return
    said = quotes(talk.question, talk.utterances)
    enough = _ENOUGH_FOUND if talk.searched else _ENOUGH
    documents = _of_each_part(talk.question, talk.documents, enough)
    if not documents and talk.search:
        # Several messages in a row are one turn; the search text is the question in it.
        documents = _of_each_part(talk.search, talk.documents, enough)
    guide = () if said and not _HOW_TO.search(talk.question) else answering(talk.question)
    if not (said or documents or guide):
        yield from _nearest(talk) or _nothing(talk.question, searched=talk.searched)
    if said:
        yield "From this conversation:"
        yield from map(_block, said)
    if documents:
        yield "From the documents:"
        yield from map(_block, documents)
    elif talk.searched and (said or guide):
        yield NOT_FOUND
    yield from _guide_blocks(guide)
    if said or documents:
        yield CLOSING


def quotes(question: str, said: Sequence[Utterance], enough: float = _ENOUGH) -> tuple[QuotedPassage, ...]:
    """Return the best passages of earlier messages, best first; none if nothing covers enough of the question."""
    texts = [one.text for one in said]
    cue, topic = asked_for(question)
    asked = Question.over(topic if terms(topic) else question, texts)
    if not asked.weights:
        return ()
    matches = [asked.match(text, index) for index, text in enumerate(texts)]
    marked = _marked(said, matches, cue, everything=not terms(topic)) if cue else ()
    best = sorted(scores := _with_questions(said, matches), key=lambda index: -scores[index])[:_CANDIDATES]
    found = [
        quote
        for index in best
        for quote in _quotes_of(
            said[index], scores[index], _question_match(said, matches, index), asked, enough
        )
        if not _same(quote.text, question)
    ]
    if statements := [quote for quote in found if not is_question(quote.text)]:
        found = statements
    # A sentence marked as a decision comes before one that merely mentions the topic, and makes it redundant.
    return (*marked, *(_distinct(found, marked) if len(marked) < 2 else ()))[:_QUOTES]


def _marked(
    said: Sequence[Utterance], matches: Sequence[Match], cue: re.Pattern[str], *, everything: bool
) -> tuple[QuotedPassage, ...]:
    """Return sentences on the topic that have the cue: the person's own first, newer before older.

    “Let's go with bough” does not repeat the word “name”. So the topic is widened by the rarer terms of the turns that
    mention it.
    """
    about = set(_topic(said, matches))
    found: list[tuple[float, QuotedPassage]] = []
    for index, one in enumerate(said):
        if one.role == "system" or not (everything or _shares(one.text, about)) or not cue.search(one.text):
            continue
        cut = units(one.text)
        for place, unit in enumerate(cut):
            if unit.kind in ("code", "heading") or is_question(unit.text) or not cue.search(unit.text):
                continue
            if everything or _shares(unit.text, about):
                base = 3.0 if one.role == "user" else 2.0
                value = base + min(0.5, matches[index].score) + 0.5 * index / len(said)
                found.append((value, QuotedPassage(_passage(cut, place), one.label, value)))
    found.sort(key=lambda entry: -entry[0])
    return _distinct([quote for _, quote in found])[:_QUOTES]


def _shares(text: str, about: set[str]) -> bool:
    return not about.isdisjoint(terms(text))


def _topic(said: Sequence[Utterance], matches: Sequence[Match]) -> Iterator[str]:
    """Yield the terms of the best turns on the topic, without those that are common in the conversation."""
    best = sorted((match for match in matches if match.coverage >= _ENOUGH), key=lambda match: -match.score)[
        :3
    ]
    turns = {said[match.index].turn for match in best}
    spread = Counter(term for one in said for term in set(terms(one.text)))
    for one in said:
        if one.turn in turns and one.role in ("user", "assistant"):
            yield from (term for term in terms(one.text) if spread[term] <= max(5, len(said) // 4))


def _of_each_part(question: str, passages: Sequence[Passage], enough: float) -> tuple[QuotedPassage, ...]:
    """Return the best quotation for each part of the question, and those for the whole question."""
    parts = [document_quotes(part, passages, enough)[:1] for part in parts_asked(question)]
    found = {
        _folded(quote.text): quote
        for quotes in (*parts, document_quotes(question, passages, enough))
        for quote in quotes
    }
    return tuple(found.values())[:_QUOTES]


def document_quotes(
    question: str, passages: Sequence[Passage], enough: float = _ENOUGH
) -> tuple[QuotedPassage, ...]:
    asked = Question.over(question, [f"{passage.source} {passage.text}" for passage in passages])
    if not asked.weights:
        return ()
    found = [
        quote
        for passage in passages
        if (match := asked.match(f"{passage.source} {passage.text}")).coverage >= enough
        for quote in _quotes_of(
            Utterance(passage.text, "document", passage.source, 0), match.score, None, asked, enough
        )
    ]
    return _distinct(found)[:_QUOTES]


def _question_match(said: Sequence[Utterance], matches: Sequence[Match], index: int) -> Match | None:
    """Return the match of the user message that this reply answers, if there is one."""
    if said[index].role == "user" or index == 0 or said[index - 1].role != "user":
        return None
    return matches[index - 1]


def _with_questions(said: Sequence[Utterance], matches: Sequence[Match]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for index, match in enumerate(matches):
        before = _question_match(said, matches, index)
        score = match.score + (_FROM_QUESTION * before.score if before else 0.0)
        if score > 0:
            scores[index] = score
    return scores


def _quotes_of(
    said: Utterance, score: float, before: Match | None, asked: Question, enough: float = _ENOUGH
) -> Iterator[QuotedPassage]:
    """Yield the one or two best passages of a message."""
    cut = units(said.text)
    inherited = before.coverage if before else 0.0
    rated: list[tuple[float, int]] = []
    for index, unit in enumerate(cut):
        match = asked.match(unit.text)
        covered = min(1.0, match.coverage + 0.6 * inherited)
        if unit.kind == "heading" or covered < enough or not (match.score or inherited >= _ENOUGH):
            continue
        value = (match.score + 0.3 * score) * (0.5 + covered)
        value *= _AS_QUESTION if is_question(unit.text) else 1.0
        value *= 1.1 if CORRECTION.search(unit.text) else 1.0
        rated.append((value, index))
    rated.sort(key=lambda entry: (-entry[0], entry[1]))
    for value, index in rated[:2]:
        yield QuotedPassage(_passage(cut, index), said.label, value)


def _passage(cut: Sequence[Unit], index: int) -> str:
    """Return the unit with enough of its paragraph to be readable, and the code it announces."""
    unit = cut[index]
    if unit.kind == "code":
        return _shortened(unit.text)
    paragraph = [other.text for other in cut if other.paragraph == unit.paragraph]
    text = " ".join(paragraph) if len(" ".join(paragraph)) <= _LONGEST else clipped(unit.text, _LONGEST)
    following = next((other for other in cut[index + 1 :] if other.paragraph != unit.paragraph), None)
    if text.endswith((":", "：")) and following is not None:
        text += "\n\n" + (
            _shortened(following.text) if following.kind == "code" else clipped(following.text, _LONGEST)
        )
    return text


def _shortened(code: str) -> str:
    lines = code.splitlines()
    if len(lines) <= _CODE_LINES:
        return code
    fence = re.match(r"\s*(```+|~~~+)", lines[0])
    return "\n".join((*lines[:_CODE_LINES], "…", *((fence.group(1),) if fence else ())))


def _same(text: str, other: str) -> bool:
    return _folded(text) == _folded(other)


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _distinct(
    found: Sequence[QuotedPassage], before: Sequence[QuotedPassage] = ()
) -> tuple[QuotedPassage, ...]:
    """Return the quotations best first, without ones contained in another and without far weaker ones."""
    kept: list[QuotedPassage] = []
    for quote in sorted(found, key=lambda quote: -quote.score):
        folded = _folded(quote.text)
        others = [_folded(other.text) for other in (*before, *kept)]
        if any(folded in other or other in folded for other in others):
            continue
        if kept and quote.score < 0.4 * kept[0].score:
            break
        kept.append(quote)
    return tuple(kept)


def _block(quote: QuotedPassage) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in quote.text.splitlines())
    return f"{quoted}\n>\n> — *{quote.source}*"


def _guide_blocks(guide: Sequence[GuidePage]) -> Iterator[str]:
    if not guide:
        return
    first, *others = guide
    yield f"From Forky's guide: **{first.title}**"
    yield first.body
    if others:
        yield "See also: " + ", ".join(f"“{section.title}”" for section in others) + "."


def _nearest(talk: Dialogue) -> list[str]:
    """Return what was said closest to a question that nothing answers; [] if no message shares a rare word with it."""
    said = quotes(talk.question, talk.utterances, _NEAR)[:2]
    if not said:
        return []
    near = "Nothing on this branch answers this as it is asked. The nearest that was said:"
    return [*([NOT_FOUND] if talk.searched else ()), near, *map(_block, said), ELSEWHERE, CLOSING]


def _nothing(question: str, *, searched: bool = False) -> Iterator[str]:
    if searched:
        yield NOT_FOUND
    bare = re.findall(r"\w+", question.lower())
    if _SMALL_TALK.search(question) or all(word in STOPWORDS for word in bare):
        yield "Ask about something that was said in this conversation, or about Forky itself:"
        yield "\n".join(f"- {example}" for example in EXAMPLES)
        yield "To talk with a model that thinks, set a key or start one on this machine: *Settings* shows how."
        return
    yield "It found nothing about this here. For an answer to anything, choose a model in *Settings*."
