"""Forky's own guide: short sections that ship with the package and answer “how do I …” without a model or a network.

Each is one Markdown file in forky_core/guide: a title, a comment with other words people ask in, and the body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from forky_core.documents.retrieval.rank import Question, rank
from forky_core.text.words import terms

_SECTION = re.compile(r"\A# (?P<title>.+)\n+<!-- also: (?P<also>.*?) -->\n+(?P<body>.*)\Z", re.DOTALL)
_NUMBERS = re.compile(r"\b(?:two|three|four|five|several|many|[0-9]+)\b(?![-.])", re.IGNORECASE)
_ENOUGH = 0.9
"""The coverage of the question from which on a section is an answer. A question about something else shares a word or
two with some section; of one about Forky nearly every word is in it.
"""
_CLOSE = 0.7
"""The share of the best score from which on another section is worth naming."""


@dataclass(frozen=True, slots=True)
class GuidePage:
    name: str
    """The file's name without its ending."""
    title: str
    also: str
    """Other words people use for it; ranked, but not shown."""
    body: str

    @property
    def ranked(self) -> str:
        """The text that a question is compared with: the title weighs most, then the other words."""
        return f"{self.title}\n{self.title}\n{self.also}\n{self.body}"


@cache
def sections() -> tuple[GuidePage, ...]:
    """Return every section, sorted by file name."""
    folder = files("forky_core") / "guide"
    found = []
    for file in sorted(
        (file for file in folder.iterdir() if file.name.endswith(".md")), key=lambda file: file.name
    ):
        match = _SECTION.match(file.read_text("utf-8"))
        assert match, f"{file.name} is not a guide section"
        found.append(
            GuidePage(file.name[:-3], match["title"].strip(), match["also"].strip(), match["body"].strip())
        )
    return tuple(found)


def answering(question: str) -> tuple[GuidePage, ...]:
    """Return the sections that answer a question, best first: none, or the best one and those close to it.

    A title with all of the question's terms counts double, and numbers do not count: “merge two branches” asks about
    merging, however often a page on comparing says two and branches.
    """
    question = _NUMBERS.sub(" ", question)
    known = sections()
    texts = [section.ranked for section in known]
    asked = Question.over(question, texts)
    if not asked.weights:
        return ()
    scores = {
        match.index: match.score * (1 + _in_title(known[match.index], asked))
        for match in rank(question, texts)
        if match.coverage >= _ENOUGH and _is_about(known[match.index], asked)
    }
    best = sorted(scores, key=lambda index: -scores[index])
    return tuple(known[index] for index in best if scores[index] >= scores[best[0]] * _CLOSE)[:3]


def _in_title(section: GuidePage, asked: Question) -> float:
    """Return the share of the question's terms in the title, unweighted, because words common to all pages are part of
    some names.
    """
    return len(set(terms(section.title)) & set(asked.weights)) / len(asked.weights)


def _is_about(section: GuidePage, asked: Question) -> bool:
    """Whether the title or the other words share a term with the question; a word in the body does not make a topic."""
    return not set(terms(f"{section.title}\n{section.also}")).isdisjoint(asked.weights)
