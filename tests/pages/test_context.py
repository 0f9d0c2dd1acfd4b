"""The inspector as a person uses it: read what is sent, steer it, compare it, set a memory."""

from __future__ import annotations

import json
import re
from typing import get_args

from streamlit.testing.v1 import AppTest

from forky_core.context.account import ItemKind
from forky_core.context.memory_policies import REGISTRY
from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.model.memory import Memory
from forky_core.views.context import NAMES
from pages.ui.drafts import drafts
from tests.builders import talk
from tests.context.questions import QUESTIONS
from tests.pages.apptest import by_key, keys, open_page, press, settled, words
from tests.pages.workspaces import open_page as open_bare


def page(chat: Conversation) -> AppTest:
    return open_page("context.py", chat)


def drawn(test: AppTest) -> str:
    """The HTML of the page, with the rows, which a component draws."""
    rows = [
        json.loads(item.proto.json)["rows"]
        for item in test.get("bidi_component")
        if item.proto.component_name == "forky.context_rows"
    ]
    return "\n".join((*(str(element.proto.body) for element in test.get("html")), *rows))


def items(test: AppTest) -> list[str]:
    """Ids or kinds of the rows."""
    return re.findall(r'data-item="([^"]+)"', drawn(test))


def started(test: AppTest, key: str) -> str:
    """The key of the widget that begins so."""
    (found,) = [one for one in keys(test) if one.startswith(key)]
    return found


def test_without_a_conversation_it_says_what_will_be_here(forky: Forky) -> None:
    assert "no conversation yet" in words(open_bare("context.py"))


def test_every_item_is_a_row_in_the_order_it_is_sent_also_what_is_left_out(forky: Forky) -> None:
    hostile = '<button data-steer="exclude" data-id="x">'
    chat = talk(forky.create("Names", system="Be brief."), "a question", hostile)
    test = page(chat)
    assert items(test) == ["branch_system", *(message.id for message in chat.path())]
    assert "a question" in drawn(test) and "Part of this branch." in drawn(test)
    assert drawn(test).count("<button") == 4, "text of a message brings no switch of its own"
    chat.rules.exclude(chat.path()[1].id)
    rows = drawn(page(chat))
    assert "Left out on this branch." in rows
    assert 'aria-label="Take it back in" aria-pressed="true"' in rows


def test_every_kind_of_item_has_a_name_for_people() -> None:
    assert set(NAMES) == set(get_args(ItemKind))


def test_passages_of_documents_are_rows_behind_the_draft(forky: Forky) -> None:
    forky.documents.append("The warranty of the pump is two years.", name="manual.md")
    chat = talk(forky.create("Names"), "a", "b")
    chat.documents.use()
    drafts().write(f"{chat.id}/main", "How long is the warranty?")
    rows = drawn(page(chat))
    assert "Found in manual.md" in rows and "The warranty of the pump is two years." in rows
    assert rows.index("Your draft") < rows.index("Passages found for")


def test_the_exact_request_is_the_one_that_is_sent_with_the_draft(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    drafts().write(f"{chat.id}/main", "and now?")
    test = page(chat)
    assert "Your draft" in drawn(test)
    by_key(test, "context.view").set_value("Exact request").run()
    shown = json.loads(settled(test).code[0].value)
    assert shown["messages"][-1] == {"role": "user", "content": "and now?"}
    assert shown["messages"] == list(chat.calls.prepare("and now?").request.messages)


def test_a_memory_is_set_for_the_branch_or_the_whole_conversation_and_undone(forky: Forky) -> None:
    chat = talk(forky.create("Names"), *(f"message {n}" for n in range(9)))
    test = page(chat)
    by_key(test, started(test, "context.policy.branch")).set_value("last").run()
    by_key(test, started(test, "context.amount.last")).set_value(3).run()
    press(test, "context.save")
    assert chat.rules.memory == Memory("last", 3)
    assert len([row for row in items(test) if row.startswith("b2:")]) == 9
    assert "this branch remembers the last 3 messages" in drawn(test)
    assert "prompt cache" in words(test)
    press(test, "bar.undo")
    assert chat.rules.memory == Memory()
    by_key(test, "context.whose").set_value("conversation").run()
    by_key(test, started(test, "context.policy.conversation")).set_value("tokens").run()
    press(test, "context.save")
    assert chat.view.memory == Memory("tokens", share=0.5)
    assert chat.rules.current.memory is None


def test_two_branches_are_compared(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    talk(chat.fork("debug"), "only there")
    talk(chat, "only here")
    test = page(chat)
    by_key(test, "context.view").set_value("Compare").run()
    said = drawn(settled(test))
    assert "Both send 2 items" in said
    assert "Only “main” sends 1 item" in said
    assert "Only “debug” sends 1 item" in said


def test_only_a_thousand_rows_are_drawn_until_somebody_asks(forky: Forky) -> None:
    chat = talk(forky.create("Long"), *(f"message {n}" for n in range(1_040)))
    test = page(chat)
    assert len(items(test)) == 1_000
    by_key(test, "context.more").click().run()
    assert len(items(settled(test))) == 1_040


def test_an_overflow_is_foreseen_on_the_chat_page_with_its_choices(forky: Forky) -> None:
    chat = talk(forky.create("Long", model="gpt-4"), "word " * 9_000, "I see")
    test = open_page("chat.py", chat)
    assert "more than this model reads" in words(test)
    assert "chat.fit_fork" in keys(test)
    by_key(test, "chat.fit").click().run()
    assert chat.rules.memory == Memory("tokens")
    by_key(settled(test), "chat.fit_fork").click().run()
    (made,) = set(chat.branches) - {"main"}
    assert chat.checkout(made).rules.memory == Memory("summary")


def test_a_memory_policy_of_a_package_is_offered_with_its_label(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "Which port?", "Port 8443.")
    with REGISTRY.added(QUESTIONS):
        test = page(chat)
        key = started(test, "context.policy.branch")
        assert QUESTIONS.label in by_key(test, key).options
        by_key(test, key).set_value(QUESTIONS.name).run()
        assert QUESTIONS.cache_hint in words(test)
        by_key(test, "context.save").click().run()
        assert chat.rules.memory == Memory(QUESTIONS.name)
