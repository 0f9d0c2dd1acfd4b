"""Forky's own guide: short sections that ship with the package and answer “how do I …” without model or network.

Each is one Markdown file in forky_core/guide: a title, a comment with other words people ask in, and the body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from forky_core.retrieval.rank import Question, rank
from forky_core.retrieval.words import terms

_SECTION = re.compile(r"\A# (?P<title>.+)\n+<!-- also: (?P<also>.*?) -->\n+(?P<body>.*)\Z", re.DOTALL)
_NUMBERS = re.compile(r"\b(?:two|three|four|five|several|many|[0-9]+)\b(?![-.])", re.IGNORECASE)
_ENOUGH = 0.6
"""Coverage of the question from which on a section is an answer."""
_CLOSE = 0.7
"""Of the best score, what makes another section worth naming."""


@dataclass(frozen=True, slots=True)
class GuidePage:
    name: str
    """The file's name without its ending."""
    title: str
    also: str
    """Other words people use for it; ranked, not shown."""
    body: str

    @property
    def ranked(self) -> str:
        """What a question is compared with: the title counts most, then the other words."""
        return f"{self.title}\n{self.title}\n{self.also}\n{self.body}"


@cache
def sections() -> tuple[GuidePage, ...]:
    """Every section, in the order of their file names."""
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
    """Sections that answer a question, best first: none, or the best one and those close to it.

    A title that says all of the question counts double, and numbers do not count: “merge two branches” asks about
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
    """The share of the question's terms that the title has, each as one: what is common in all pages names some."""
    return len(set(terms(section.title)) & set(asked.weights)) / len(asked.weights)


def _is_about(section: GuidePage, asked: Question) -> bool:
    """Whether title or other words share a term with the question; a word in passing does not make a topic."""
    return not set(terms(f"{section.title}\n{section.also}")).isdisjoint(asked.weights)
