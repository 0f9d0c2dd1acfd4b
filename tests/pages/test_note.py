"""A landed merge reads as the note that it is, on the Chat page and on the Merge page right after landing."""

from __future__ import annotations

import html
import re

from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.model import MessageId
from forky_core.views.notebook import notebook
from pages.ui.note import Leads, note_html
from tests.builders import retuned, talk
from tests.conversation.test_sessions import replay
from tests.pages.apptest import html as html_pieces
from tests.pages.apptest import open_page, press, settled
from tests.pages.test_merge import merge


def note(test: AppTest) -> str:
    """The HTML of the one note on the page."""
    (found,) = [body for body in html_pieces(settled(test)) if 'class="fk-merge"' in body]
    return found


def lines(body: str) -> list[str]:
    """Titles and lines of a note as a person reads them, each number in brackets."""
    inner = body.partition('class="fk-note">')[2].partition('<div class="fk-beneath">')[0]
    inner = re.sub(r"<(button|a)\b[^>]*fk-ref[^>]*>(\d+)</\1>", r"[\2]", inner)
    inner = re.sub(r"(<span class=\"fk-said-by\">[^<]*)</span>", r"\1: ", inner)
    pieces = re.findall(r"<(?:h3|p)[^>]*>(.*?)</(?:h3|p)>", inner, re.DOTALL)
    return [html.unescape(re.sub("<[^>]+>", "", piece)) for piece in pieces]


def led_to(body: str) -> list[str]:
    """The messages that the numbers lead to, in the order of the numbers."""
    found = dict(re.findall(r'data-act="visit" data-id="([^"]+)"[^>]*>(\d+)<', body))
    return sorted(found, key=lambda id: int(found[id]))


def test_a_note_says_who_said_what_and_its_numbers_lead_there(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    body = note(open_page("chat.py", chat))
    told = lines(body)
    assert told[0] == "You: Why does code generation fail on enums?[1]"
    assert told[-2:] == [
        "You: How do I fix it?[3]",
        "Assistant: Call collect_members(cls) after the class is made. Decision: collect members lazily.[4]",
    ]
    assert "<code>collect_members(cls)</code>" in body
    known = {message.id for message in chat.checkout("debug").path()[2:]}
    assert set(map(MessageId, led_to(body))) == known


def test_what_nobody_has_decided_says_so_and_names_both_messages(torn: Conversation) -> None:
    mine, theirs = torn.path()[-1].id, torn.checkout("debug").path()[-1].id
    torn.merge(torn.plan_merge("debug", strategy="three-way"))
    body = note(open_page("chat.py", torn))
    title, line = lines(body)[:2]
    assert title == "Unresolved: nobody has decided yet"
    assert re.fullmatch(r'port: possibly: "main" says .*8080.* ?\[1\]; "debug" says .*9090.*\[2\]', line)
    assert led_to(body)[:2] == [mine, theirs]


def test_a_full_merge_lists_the_messages_that_it_brings(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug", strategy="full"))
    body = note(open_page("chat.py", chat))
    assert "<details open><summary>4 messages</summary>" in body
    assert led_to(body) == [message.id for message in chat.checkout("debug").path()[2:]]
    assert "You: Why does code generation fail on enums?" in body


def test_markdown_is_drawn_and_a_line_that_only_looks_as_if_somebody_said_it_is_a_line(forky: Forky) -> None:
    chat = talk(forky.create("Tables"), "Hello", "Hello.")
    said = "Result:\n\nroot: the **only** user.\n\n- take `sudo` away\n\n| tool | MB/s |\n|---|---|\n| `zstd` | 310 |"
    talk(chat.fork("debug"), "Who runs it, and how fast is it?", said)
    talk(chat, "So?", "Fine.")
    chat.merge(chat.plan_merge("debug"))
    body = note(open_page("chat.py", chat))
    assert "<b>only</b>" in body and "**" not in body.partition("What the model reads")[0]
    assert not any(line.startswith("You: the only") for line in lines(body))
    assert "|" not in "".join(lines(body))


def test_the_merge_page_shows_the_same_note_after_landing(chat: Conversation) -> None:
    test = press(merge(chat), "merge.land")
    here = note(test)
    assert lines(here) == lines(note(open_page("chat.py", chat)))
    debug = chat.checkout("debug").path()[-1].id.removeprefix("b2:")
    assert re.search(rf'<a href="\./\?[^"]*m={debug}"[^>]*class="fk-ref"|class="fk-ref"[^>]*', here)
    assert f"m={debug}" in here and 'target="_blank"' in here


def test_code_keeps_its_indentation(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Where does it listen?", "Let us see.")
    code = "def listen(port):\n    server = bind(port)\n    return server.accept()"
    talk(
        chat.fork("debug"),
        "How do I listen on a port?",
        f"So:\n```python\n{code}\n```\nThat accepts one caller.",
    )
    chat.merge(chat.plan_merge("debug"))
    body = note(open_page("chat.py", chat))
    assert "<code>    server = bind(port)</code>" in body


def test_a_line_that_a_later_merge_corrects_is_struck_through_and_leads_there(forky: Forky) -> None:
    chat = retuned(forky)
    later = chat.path()[-1].id
    page = settled(open_page("chat.py", chat))
    first, second = (body for body in html_pieces(page) if 'class="fk-merge"' in body)
    assert "<s>Decision: the prefetch is 50.</s>" in first and "<s>" not in second
    held = first.partition("Corrected later")[2]
    assert "No, the prefetch is 20." in held
    assert f'data-act="visit" data-id="{later}"' in held.partition("</p>")[0]


def test_of_turns_that_came_whole_what_is_corrected_is_listed(forky: Forky) -> None:
    chat = retuned(forky, "full")
    page = settled(open_page("chat.py", chat))
    first = next(body for body in html_pieces(page) if 'class="fk-merge"' in body)
    assert lines(first)[0] == "Corrected later"
    assert "<s>Decision: the prefetch is 50.</s>" in first


def test_commands_of_a_note_are_drawn_as_code(forky: Forky) -> None:
    chat = talk(forky.create("Setup"), "Set it up.", "Fine.")
    talk(chat.fork("debug"), "How?", "Run this:\n```sh\nmake deploy env\n```\nIt takes a minute.")
    talk(chat, "So?", "Wait.")
    plan = chat.plan_merge("debug")
    [id] = [one.id for one in chat.checkout("debug").path() if "make deploy" in one.text]
    cited = f" [{id[3:11]}]"
    chat.merge(plan.edited(f"Facts:\nmake deploy env\nIt takes a minute.{cited}"))
    for page in (
        open_page("chat.py", chat),
        press(merge(chat.fork("other", at=chat.path()[1].id), source="debug"), "merge.land"),
    ):
        body = note(page)
        assert "<code>make deploy env</code>" in body and "<code>It takes" not in body


def test_a_program_s_session_opens_with_its_compaction_and_what_that_left_out(forky: Forky) -> None:
    replay(forky, "claude")
    [summary] = forky.conversations()
    chat = forky.conversation(summary.id, "main")
    at, part = next((one.id, merge) for one in chat.path() for merge in one.merges)
    (cell,) = [
        cell
        for cell in notebook(chat.path(), chat.visible, chat.view, chat.calls.origins, keep=at).cells
        if cell.message.id == at
    ]
    body = note_html(part, Leads(lambda *_: "", lambda *_: "", lambda _: ""), left_out=cell.left_out)
    assert "Summed up by the program, which goes on from here" in body
    assert "system-reminder" not in body.partition('class="fk-beneath"')[0]
    assert "Not in it: 1 command" in body and "echo hello-from-bash" in body
    shown = html_pieces(open_page("chat.py", chat))
    assert [piece for piece in shown if "system-reminder" in piece and "fk-fold" not in piece] == []
    agent = next(name for name in chat.branches if name != "main" and "fork" not in name)
    assert "A task for a sub-agent of “main”" in note(open_page("chat.py", chat.checkout(agent)))
