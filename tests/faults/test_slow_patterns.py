"""Long texts of one sign or a few: a pattern whose time grows with their square would end in the watchdog."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable, Iterator

import pytest

from forky_core.cli.plain import plain
from forky_core.context.quoting import quoted_file
from forky_core.conversation.identity import suggested_name, title_from
from forky_core.documents.retrieval.passages import dialogue, document_passages
from forky_core.documents.retrieval.quote import answer
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.conflicts.conflict import ComparedSide
from forky_core.merge.conflicts.examination import find_quotation
from forky_core.merge.conflicts.rules import possible_conflicts
from forky_core.merge.note.compose import note
from forky_core.merge.note.passages import passages
from forky_core.merge.written import verifier
from forky_core.merge.written.hard_checks import fault
from forky_core.merge.written.material import NoteMaterial
from forky_core.merge.written.sentences import cut, spans
from forky_core.model import seal
from forky_core.model.parts import AttachmentPart, Draft, TextPart, ToolResultPart
from forky_core.render.live_prose import ProseWriter
from forky_core.render.prose import prose
from forky_core.store.words import search_words
from forky_core.text.passages import atoms
from forky_core.text.words import terms
from forky_core.views.answers.marks import marked
from pages.ui.components.markdown import SHOWN, plain_label

LENGTH = 6_000
SIGNS = (
    *" \t\n\r:`\\[(<>|$!*_-'\"/.aA0あ\u202e\u0301\0",
    *(
        "::",
        "a ",
        "a.",
        "a-",
        "a'",
        "1-",
        "/a",
        "./",
        "a::",
        "--",
        "` ",
        "``",
        "\\(",
        "\\[",
        "$a$",
        "![",
        "<a",
    ),
    *(
        "- ",
        "> ",
        "1. ",
        " \n",
        "\n\n",
        "a\n",
        "| ",
        ":a",
        ":a:",
        "::a[",
        "[abc123] ",
        '<file name="a">\n',
        "A b ",
    ),
    *("。", '." ', "decided ", "a=b\n", "(a", "https://", "merged branch ", "?* ", "</file", "```\n", "{;"),
)


def written(text: str) -> object:
    """A text of which the last block is drawn once, with what is open in it closed."""
    writer = ProseWriter()
    writer.add(text)
    return writer.draw()


READERS: dict[str, Callable[[str], object]] = {
    "markdown": lambda text: prose(text[:SHOWN]),
    "markdown that grows": lambda text: written(text[:SHOWN]),
    "label": plain_label,
    "lines of a message": lambda text: passages([seal(Draft("user", (TextPart(text),)), ())]),
    "lines of a result": lambda text: passages([seal(Draft("tool", (ToolResultPart("x", text),)), ())]),
    "atoms": atoms,
    "note": lambda text: note(
        [seal(Draft("user", (TextPart(text),)), ())], [text], 500, count_tokens=estimate_tokens, focus=text
    ),
    "a model's note": lambda text: cut(text, spans(text)[::2]),
    "a verifier's answer": lambda text: verifier.read(f"1: contradicted m1 {text}", 1, NoteMaterial(())),
    "possible conflicts": lambda text: possible_conflicts(
        [ComparedSide(one, (seal(Draft("user", (TextPart(f"{text} {one}."),)), ()),)) for one in ("1", "2")]
    ),
    "a quotation": lambda text: find_quotation(text[:400], text),
    "file": lambda text: quoted_file(AttachmentPart("0" * 64, "text/plain", text[:200]), text),
    "title": title_from,
    "name": lambda text: suggested_name(text, ()),
    "dialogue": lambda text: dialogue([{"role": "user", "content": text}] * 2),
    "document": lambda text: document_passages("x", text),
    "terms": terms,
    "offline answer": lambda text: list(
        answer([{"role": "user", "content": text}, {"role": "user", "content": "what was decided?"}])
    ),
    "offline question": lambda text: list(answer([{"role": "user", "content": text}])),
    "search": search_words,
    "diff": lambda text: marked([text, text[::-1] + "x"], 0),
    "terminal": plain,
}


def check_sentence(text: str) -> object:
    """A sentence of a note, which is its one message, word for word."""
    material = NoteMaterial((seal(Draft("user", (TextPart(text[:6_000]),)), ()),))
    sentence = " ".join(text[:600].split())
    return fault(sentence, material, material.sources(sentence))


READERS["a sentence of a note"] = check_sentence


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("reader", READERS)
def test_long_texts_of_few_signs_are_read_in_one_pass(reader: str) -> None:
    for sign in SIGNS:
        READERS[reader]((sign * (LENGTH // len(sign) + 1))[:LENGTH])
