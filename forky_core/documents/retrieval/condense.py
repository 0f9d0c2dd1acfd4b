"""Rewrites a follow-up question so that it stands alone, for searching only: “And in winter?” finds nothing by itself.

Without a model, a rule does: a question that depends on earlier messages (a pronoun, an “and”, few content words) is
extended by the names and rarer words of the last turns, as they were spelled, so it stays in its language. A question
that stands alone is left unchanged. The answering model always gets the original question and the whole history.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from forky_core.text.words import STOPWORDS, terms

LONGEST = 400
"""The longest question to search for, in characters."""
_MOST = 4
"""The most words that are added."""
_READ = 4
"""How many messages before the question are read."""
_OWN = 3
"""The number of terms from which on a question without a pronoun stands alone."""
_NAMED = 2
"""The number of terms from which on a question without a pronoun names its subject."""
_LEANS = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|him|her|his|there|the (?:same|other|first|second|last|"
    r"former|latter)|one|ones|and|also|so|then|what about|how about|else|more|why|instead|er|sie|es|das|die|dies\w*|"
    r"damit|davon|darin|dazu|dort|ihn|ihm|und|auch|warum|sonst|il|elle|ils|elles|cela|ça|celui|celle|et|aussi|pourquoi|"
    r"y|él|ella|ellos|eso|esto|ese|esa|también|por qué|e|ele|ela|isso|он|она|оно|они|это|его|её|их|а|и|тоже|почему)\b"
    r"|它|那|这|這|他|她|呢|为什么|為什麼|それ|これ|その|この|あれ|では|그것|그럼|이것",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]{2,12}|[^\W_][\w.\-’']*[^\W_]|\w")
_NAME = re.compile(r"^(?:[^\W\d_]*[A-Z0-9_.].*|.*\d.*)$")
_MARKUP = re.compile(
    r"```.*?```|\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]|[`*_#>|\[\]]|^SOURCES:.*$", re.DOTALL | re.MULTILINE
)


def leans(question: str) -> bool:
    """Whether a question depends on earlier messages."""
    own = [term for term in dict.fromkeys(terms(question)) if term]
    return len(own) < _OWN or (len(own) < 2 * _OWN and _LEANS.search(question) is not None)


def speaks_of(question: str, text: str) -> bool:
    """Whether a text has a word of the question; True for a question with a pronoun or hardly any terms, where words do
    not tell.
    """
    own = set(terms(question)) - {""}
    return len(own) < _NAMED or _LEANS.search(question) is not None or not own.isdisjoint(terms(text))


def condensed(question: str, before: Sequence[str]) -> str:
    """Return the question to search for; `before` are the texts before it, oldest first."""
    question = " ".join(question.split())
    if not before or not leans(question):
        return question[:LONGEST]
    added = _entities(question, before[-_READ:])
    return f"{question} ({', '.join(added)})"[:LONGEST] if added else question[:LONGEST]


def _entities(question: str, before: Sequence[str]) -> list[str]:
    """Return words of the last turns, the likeliest subjects first: recent and frequent ones, names before other
    words.
    """
    said = set(terms(question))
    worth: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for age, text in enumerate(reversed(before)):
        plain = _MARKUP.sub(" ", text[:4_000])
        for place, word in enumerate(_WORDS.findall(plain)):
            stems = terms(word)
            if not stems or word.lower() in STOPWORDS or stems[0] in said:
                continue
            named = _NAME.match(word) is not None and place > 0
            spelled.setdefault(stems[0], word)
            worth[stems[0]] += (3 if named else 1) * (4 - age)
    best = sorted(worth, key=lambda stem: -worth[stem])[:_MOST]
    return [spelled[stem] for stem in best]


PROMPT = (
    "Rewrite the last question so that somebody who has not read the conversation understands it: put names in the place "
    "of pronouns. Keep its language. Add nothing that was not said. Answer with the question alone, on one line."
)


def as_question(text: str) -> str:
    """Clean a model's answer to PROMPT: one line without quotation marks; "" if it is empty."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip("\"'“”„«»「」 ")[:LONGEST] if lines else ""
