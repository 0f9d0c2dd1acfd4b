"""A number in an answer's words opens its passage wherever a merge has brought it."""

from __future__ import annotations

import html
import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.context.citing import sources_in
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.session import short
from forky_core.forky import Forky
from forky_core.llm.scripted import ScriptedModel
from pages.ui.components.links import citation_link
from tests.builders import talk
from tests.pages.apptest import html as html_pieces
from tests.pages.apptest import merge_editor, open_page, words

MANUAL = "# Pump X200\n\n## Oil\n\nOil the bearing every spring.\n\n## Warranty\n\nThe warranty is two years."


@pytest.fixture
def side(forky: Forky, writer: ScriptedModel) -> Conversation:
    """A branch with two answers that each cite a passage as number 1."""
    forky.documents.append(MANUAL, name="manual.md")
    chat = forky.create("Pumps", model=writer.info().name)
    chat.documents.use()
    chat.say("Let us look after the pump.")
    side = chat.fork("side")
    for question, answer in (
        ("How often is the bearing oiled?", "Oil the bearing every spring [1]."),
        ("How long is the warranty?", "The warranty lasts for two years [1]."),
    ):
        writer.enqueue(answer)
        side.ask(question)
    chat.say("And after the filter.")
    return side


def _links(chat: Conversation) -> list[str]:
    """What the two answers cite, as a link of a number."""
    answers = (message for message in chat.path() if message.role == "assistant")
    return [citation_link(chat.id, sources_in(answer.text)[0].address) for answer in answers]


def _numbers(body: str) -> list[str]:
    """The links of numbers that stand in brackets, but in a SOURCES line."""
    lines = [line for line in body.split("\n") if "SOURCES:" not in line]
    return [
        html.unescape(found)
        for found in re.findall(r'\[<a class="fk-number" href="([^"]+)"[^>]*>1</a>\]', "\n".join(lines))
    ]


def _opened(merge: AppTest) -> list[str]:
    """The links of numbers in the block that the Merge page's editor draws, but in a SOURCES line."""
    lines = [line for section in merge_editor(merge)["sections"] for line in section["lines"]]
    said = [line["words"] for line in lines if not line["text"].startswith("SOURCES:")]
    return [link for words in said for _, link, _named in words if link]


@pytest.mark.parametrize("strategy", ["squash", "full"])
def test_in_a_preview_and_where_it_has_landed(side: Conversation, strategy: str) -> None:
    main = side.checkout("main")
    merge = open_page("merge.py", main, source="side", strategy=strategy)
    if strategy == "squash":
        assert _opened(merge) and set(_opened(merge)) <= set(_links(side))
        return
    body = "\n".join(str(one.proto.body) for one in merge.get("html"))
    assert _numbers(body) == _links(side)
    assert body.count('target="_blank"') >= 2, "what was chosen here stays"


def test_in_the_cell_of_a_landed_merge_and_in_the_inspector(side: Conversation) -> None:
    main = side.checkout("main")
    main.merge(main.plan_merge(side, strategy="squash"))
    cells = "\n".join(html_pieces(open_page("chat.py", main)))
    assert _numbers(cells) and set(_numbers(cells)) <= set(_links(side))
    inspected = open_page("context.py", side)
    rows = next(
        json.loads(item.proto.json)["rows"]
        for item in inspected.get("bidi_component")
        if item.proto.component_name == "forky.context_rows"
    )
    for answer, link in zip(side.path()[2::2], _links(side), strict=True):
        (row,) = re.findall(rf'data-item="{answer.id}".*?</div>', rows, re.DOTALL)
        assert _numbers(row) == [link] or html.escape(link) in row, short(answer.id)


@pytest.mark.parametrize("strategy", ["squash", "full"])
def test_a_grafted_number_that_cites_another_branch_opens_where_that_is(
    forky: Forky, writer: ScriptedModel, strategy: str
) -> None:
    there = forky.create("Pumps", model=writer.info().name)
    cited = talk(there.fork("debug"), "Why does the impeller rattle?", "Its circlip was never fitted.").head
    assert cited is not None
    source = f"SOURCES: [1] debug, assistant ({cited.id})"
    talk(there, "And why does it rattle?", f"The circlip of the impeller was never fitted [1].\n\n{source}")
    here = talk(forky.create("Elsewhere"), "Let us begin.", "Gladly.")
    merge = open_page("merge.py", here, graft=there.id, source="main", strategy=strategy)
    body = "\n".join(str(one.proto.body) for one in merge.get("html"))
    opened = _opened(merge) if strategy == "squash" else _numbers(body)
    assert opened == [citation_link(there.id, cited.id)]
    here.merge(here.merges.plan_graft(there, strategy=strategy))
    landed = open_page("chat.py", here, m=cited.id.removeprefix("b2:"))
    assert (landed.query_params["c"], landed.query_params["b"]) == (there.id, "debug")
    assert "Its circlip was never fitted." in words(landed)
