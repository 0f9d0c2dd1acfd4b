"""The table of cases of docs/matching.md: what a program sends, and where it belongs."""

from __future__ import annotations

import base64
import unicodedata
from typing import Any

import pytest

from forky_core.conversation.recording.recording import Reply
from forky_core.conversation.workspace import Workspace
from forky_core.model.parts import TextPart
from forky_core.wire.chat import chat_call
from tests.builders import talk, texts, workspace

Said = list[dict[str, Any]]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n one").decode()
OTHER = base64.b64encode(b"\x89PNG\r\n\x1a\n two").decode()


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def bot(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def system(content: str) -> dict[str, Any]:
    return {"role": "system", "content": content}


def picture(url: str) -> dict[str, Any]:
    return user([{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": url}}])


def calling(id: str | None, arguments: str = '{"of":"birds"}', text: str | None = None) -> dict[str, Any]:
    function = {"name": "names", "arguments": arguments}
    return bot(text, tool_calls=[{"id": id, "type": "function", "function": function}])


def result(id: str, content: str = "Percy") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


BIRDS: Said = [user("Name a bird"), bot("Percy"), user("Shorter"), bot("Pip")]
TOOLS: Said = [user("Name a bird"), calling("call_1"), result("call_1"), bot("Percy")]
SEEN: Said = [picture(f"data:image/png;base64,{PNG}"), bot("A bird")]
FOUND = [{"type": "text", "text": "Found "}, {"type": "text", "text": "it."}]
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
OTHER_SEARCH = {"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {"query": "y"}}
LINKED: Said = [picture("https://x.org/a.png"), bot("A bird")]


@pytest.mark.parametrize(
    ("stored", "sent", "known"),
    [
        pytest.param(BIRDS, BIRDS, 4, id="the whole path is known"),
        pytest.param(BIRDS, BIRDS[:3], 3, id="a beginning of it is known"),
        pytest.param(BIRDS, [*BIRDS, user("Longer")], 4, id="it goes on"),
        pytest.param(BIRDS, [*BIRDS[:3], bot("Po")], 3, id="another answer at a known place"),
        pytest.param(BIRDS, [*BIRDS[:2], user("Longer")], 2, id="another question at a known place"),
        pytest.param(BIRDS, [user("Name a cat"), *BIRDS[1:]], 0, id="an edited opening forks everything"),
        pytest.param(
            BIRDS, [user(" Name a bird\n"), bot("Percy "), user("Shorter")], 3, id="white space around"
        ),
        pytest.param(BIRDS, [user("Name a  bird")], 0, id="white space within"),
        pytest.param(
            [BIRDS[0], bot("<think>\nA parrot?\n</think>\n\nPercy")], BIRDS, 2, id="thoughts not sent back"
        ),
        pytest.param([BIRDS[0], bot("<think>A parrot?")], BIRDS, 1, id="thoughts without an end"),
        pytest.param([BIRDS[0], bot("<think>A parrot?</think>")], BIRDS, 1, id="nothing but thoughts"),
        pytest.param(BIRDS, [user("name a bird")], 0, id="letter case"),
        pytest.param(
            BIRDS, [user([{"type": "text", "text": "Name a bird"}]), bot("Percy")], 2, id="text as a block"
        ),
        pytest.param(BIRDS, [system("Be brief."), *BIRDS], 4, id="a new system prompt"),
        pytest.param([system("A"), *BIRDS], [system("B"), *BIRDS], 4, id="another system prompt"),
        pytest.param([system("A"), *BIRDS], BIRDS, 4, id="no system prompt any more"),
        pytest.param(
            [system("A"), *BIRDS], [{**system("A"), "role": "developer"}, *BIRDS], 4, id="developer is system"
        ),
        pytest.param(
            [system("A"), *BIRDS],
            [system("A"), *BIRDS[:2], system("A"), *BIRDS[2:]],
            4,
            id="a system prompt repeated",
        ),
        pytest.param(
            [*BIRDS[:2], system("Now"), *BIRDS[2:]],
            [*BIRDS[:2], system("Then"), *BIRDS[2:]],
            5,
            id="one in the middle changes",
        ),
        pytest.param([*BIRDS[:3], system("12:00")], [*BIRDS[:3], system("12:00")], 4, id="one at the end"),
        pytest.param(
            [*BIRDS[:3], system("12:00")], [*BIRDS[:3], system("12:01")], 3, id="another one at the end"
        ),
        pytest.param(BIRDS, [{**message, "id": 7, "created": 8} for message in BIRDS], 4, id="ids and times"),
        pytest.param(
            BIRDS,
            [bot(m["content"], refusal=None, audio=None) if m["role"] == "assistant" else m for m in BIRDS],
            4,
            id="empty fields",
        ),
        pytest.param(BIRDS, [{**user("Name a bird"), "name": "Ann"}], 0, id="another speaker"),
        pytest.param([bot("Percy", reasoning_content="Hm.")], [bot("Percy")], 1, id="thoughts are dropped"),
        pytest.param([user("?"), bot(None)], [user("?"), bot("")], 2, id="empty and null content"),
        pytest.param([user("?"), bot([])], [user("?"), bot(None), user("!")], 2, id="no content at all"),
        pytest.param(TOOLS, TOOLS, 4, id="a round of tools"),
        pytest.param(TOOLS, [TOOLS[0], calling("x"), result("x"), bot("Percy")], 4, id="other call ids"),
        pytest.param(
            TOOLS, [TOOLS[0], calling("call_1", '{ "of" : "birds" }')], 2, id="arguments spelled otherwise"
        ),
        pytest.param(TOOLS, [TOOLS[0], calling("call_1", '{"of":"cats"}')], 1, id="other arguments"),
        pytest.param(TOOLS, [*TOOLS[:2], result("call_1", "Polly")], 2, id="another result"),
        pytest.param(TOOLS, [TOOLS[0], calling("call_1", text="")], 2, id="a call without words"),
        pytest.param(
            [user("Zoë")], [user(unicodedata.normalize("NFD", "Zoë"))], 1, id="accents composed otherwise"
        ),
        pytest.param([user("ﬁne")], [user("fine")], 0, id="a ligature is another letter"),
        pytest.param(SEEN, SEEN, 2, id="a picture"),
        pytest.param(
            SEEN, [picture(f"data:image/jpeg;base64,{PNG}")], 1, id="the same bytes under another name"
        ),
        pytest.param(SEEN, [picture(f"data:image/png;base64,{OTHER}")], 0, id="another picture"),
        pytest.param(SEEN, [user("Look")], 0, id="no picture"),
        pytest.param(LINKED, LINKED, 2, id="a picture by its address"),
        pytest.param(LINKED, [picture("https://x.org/b.png")], 0, id="another address"),
        pytest.param(
            [user("?"), bot("Found it.")], [user("?"), bot(FOUND), user("!")], 2, id="an answer in blocks"
        ),
        pytest.param([user("?"), bot(FOUND)], [user("?"), bot("Found it.")], 2, id="blocks as one text"),
        pytest.param(
            [user("?"), bot("Found it.")],
            [user("?"), bot([SEARCH, *FOUND])],
            2,
            id="with what ran at the provider",
        ),
        pytest.param([user("?"), bot([SEARCH])], [user("?"), bot([OTHER_SEARCH])], 1, id="nothing else said"),
        pytest.param([user("Found \n\nit.")], [user(FOUND)], 1, id="blocks of a user stand apart"),
        pytest.param([*BIRDS, *BIRDS], [*BIRDS, *BIRDS[:3]], 7, id="the same texts again further down"),
    ],
)
def test_where_an_array_belongs(stored: Said, sent: Said, known: int, forky: Workspace) -> None:
    chat = forky.create()
    chat.calls.find_or_create(stored)
    before = len(chat.visible.messages)
    received = chat.calls.find_or_create(sent)
    assert received.known == known
    assert len(chat.visible.messages) - before == len(chat_call(sent).turns) - known
    assert received.skipped == 0
    assert received.message.role == sent[-1]["role"]
    again = chat.calls.find_or_create(sent)
    assert (again.message, again.operation) == (received.message, None)
    assert forky.verify().clean


LONG: Said = [
    message for number in range(6) for message in (user(f"question {number}"), bot(f"answer {number}"))
]


@pytest.mark.parametrize(
    ("sent", "known", "skipped"),
    [
        pytest.param([*LONG[6:], user("next")], 6, 0, id="trimmed at a question"),
        pytest.param([*LONG[11:], user("next")], 1, 0, id="all but the last answer trimmed"),
        pytest.param([user("Summary: …"), *LONG[8:], user("next")], 5, 1, id="the head is a summary"),
        pytest.param(
            [*LONG[6:], user("new"), bot("new"), user("next")], 6, 0, id="with an answer that is not known"
        ),
        pytest.param(
            [user("Ours: …"), *LONG[10:11], bot("another"), user("next")], 0, 0, id="too little is known"
        ),
        pytest.param(
            [user("edited"), *LONG[1:], user("next")], 0, 0, id="as long as it was: an edit, not a trim"
        ),
    ],
)
def test_a_trimmed_array_is_anchored_on_the_newest_known_answer(sent: Said, known: int, skipped: int) -> None:
    forky, _ = workspace()
    chat = forky.create()
    chat.calls.find_or_create(LONG)
    received = chat.calls.find_or_create(sent)
    assert (received.known, received.skipped) == (known, skipped)
    depth = len(LONG) + len(sent) - known if known else len(sent)
    assert len(chat.path(received.message.id)) == depth


def test_the_same_texts_at_several_places_are_told_apart_by_what_stands_before(forky: Workspace) -> None:
    chat = forky.create()
    first = [user("a"), bot("ok"), user("go on"), bot("fine")]
    second = [user("b"), bot("ok"), user("go on"), bot("fine")]
    chat.calls.find_or_create(first)
    chat.calls.find_or_create(second)
    received = chat.calls.find_or_create([*first[1:], user("next")])
    opening, *rest = (message.text for message in chat.path(received.message.id))
    assert opening in ("a", "b") and rest == ["ok", "go on", "fine", "next"]
    assert chat.calls.find_or_create([*second, user("next")]).known >= 4


def test_a_trimmed_array_finds_its_conversation_in_the_scope(forky: Workspace) -> None:
    filed = forky.record(chat_call(LONG[:-1]), Reply((TextPart("answer 5"),)), scope="s")
    forky.record(chat_call(LONG[:-1]), Reply((TextPart("answer 5"),)), scope="other")
    trimmed = [*LONG[6:], user("next")]
    found = forky.record(chat_call(trimmed), Reply((TextPart("!"),)), scope="s")
    assert (found.conversation, found.known) == (filed.conversation, 6)
    elsewhere = forky.record(chat_call(trimmed), Reply((TextPart("!"),)), scope="third")
    assert elsewhere.created


def test_results_below_a_stored_call_take_its_id(forky: Workspace) -> None:
    chat = forky.create()
    chat.calls.find_or_create(TOOLS[:2])
    received = chat.calls.find_or_create([TOOLS[0], calling("other"), result("other")])
    assert received.known == 2
    assert received.message.parts[0].tool_call_id == "call_1"  # type: ignore[union-attr]
    assert len(chat.visible.messages) == 3


def test_what_a_person_says_in_forky_is_found_again(forky: Workspace) -> None:
    chat = talk(forky.create(), "Name a bird", "Percy")
    received = chat.calls.find_or_create([*BIRDS[:2], user("Shorter")])
    assert received.known == 2
    assert texts(chat) == ["Name a bird", "Percy", "Shorter"]


def test_every_answer_to_a_prompt_is_offered(forky: Workspace) -> None:
    chat = forky.create()
    for name in ("Percy", "Polly", "Pip"):
        chat.calls.find_or_create([user("Name a bird"), bot(name)])
    received = chat.calls.find_or_create([user("Name a bird")])
    assert [message.text for message in received.alternatives] == ["Percy", "Polly", "Pip"]


def test_a_message_that_was_undone_comes_back_as_it_was(forky: Workspace) -> None:
    chat = forky.create()
    first = chat.calls.find_or_create(BIRDS[:2])
    chat.undo()
    assert chat.visible.messages == {}
    again = chat.calls.find_or_create(BIRDS[:2])
    assert again.message.id == first.message.id
    assert again.message.id in chat.visible.messages


def test_of_equals_the_one_that_is_to_be_seen_is_taken(forky: Workspace) -> None:
    chat = forky.create()
    chat.calls.find_or_create([user("?")])
    seen = chat.calls.find_or_create([user("?"), bot("Yes", reasoning_content="Sure.")]).message
    assert chat.calls.find_or_create([user("?"), bot("Yes")]).message == seen


def test_a_system_prompt_becomes_the_rules_of_the_branch(forky: Workspace) -> None:
    chat = forky.create()
    chat.calls.find_or_create([system("A"), *BIRDS[:2]])
    assert chat.rules.current.system == "A"
    chat.calls.find_or_create([system("B"), *BIRDS[:3]])
    assert chat.rules.current.system == "B"
    other = chat.calls.find_or_create([*BIRDS[:2], user("Longer")])
    assert chat.checkout(other.branch).rules.current.system == "B"
    assert [message.role for message in chat.visible.messages.values()].count("system") == 0


@pytest.mark.parametrize("number", [5_000, pytest.param(50_000, marks=pytest.mark.long)])
def test_thousands_of_messages_become_a_path(number: int, forky: Workspace) -> None:
    chat = forky.create()
    many = [user(f"{at}") if at % 2 == 0 else bot(f"{at}") for at in range(number)]
    received = chat.calls.find_or_create(many)
    assert len(chat.path(received.message.id)) == number
    assert chat.calls.find_or_create([*many, user("next")]).known == number


def test_a_large_picture_is_kept_once(forky: Workspace) -> None:
    content = b"\x89PNG\r\n\x1a\n" + bytes(10_000_000)
    url = "data:image/png;base64," + base64.b64encode(content).decode()
    chat = forky.create()
    received = chat.calls.find_or_create([picture(url)])
    assert forky.store.blob(received.message.parts[1].sha256).content == content  # type: ignore[union-attr]
    assert chat.calls.find_or_create([picture(url)]).operation is None
