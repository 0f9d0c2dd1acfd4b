"""A session of a program is one conversation, whatever the program rewrites, and no message of it is stored twice."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.recording import Recording
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import TextDelta, ToolCallDone
from forky_core.model import Message
from forky_core.model.parts import Json, ToolResultPart
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.wire.anthropic import anthropic_call
from forky_core.wire.chat import chat_call
from forky_core.wire.responses import responses_call
from forky_core.wire.session_ids import SessionIds, session_ids
from tests.builders import workspace

RECORDED = Path(__file__).parent / "sessions"
"""What real programs sent in scripted sessions, long texts cut: a call a line, with the answer that it got."""
READ = {"messages": anthropic_call, "responses": responses_call, "chat/completions": chat_call}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "task")]
TITLE = "Generate a title for this conversation:\n"


def ask(
    forky: Workspace,
    messages: Sequence[Json],
    answer: str,
    *,
    session: str = "s1",
    above: tuple[str, ...] = (),
    scope: str = "token:1",
    tools: Sequence[Json] = TOOLS,
    calls: Mapping[str, Mapping[str, Json]] | None = None,
) -> Recording:
    """One call of a program that names its session, with its answer."""
    body = {"model": "scripted/one", "messages": list(messages), **({"tools": list(tools)} if tools else {})}
    ids = SessionIds(session, above) if session else None
    recording = forky.begin(chat_call(body), scope=scope, client="agent", ids=ids)
    recording.take(TextDelta(answer))
    for name, arguments in (calls or {}).items():
        recording.take(ToolCallDone(f"{name}-{len(messages)}", name, json.dumps(arguments)))
    recording.done("tool_calls" if calls else "stop")
    return recording


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def assistant(text: str, **calls: Json) -> Json:
    return {"role": "assistant", "content": text, **calls}


def replay(
    forky: Workspace, name: str, *, after: int = 0, until: int | None = None, ends: bool = True
) -> Recording | None:
    """Record what a real program sent, from one call to another; the last answer goes on unless it `ends`."""
    recording = None
    lines = (RECORDED / f"{name}.jsonl").read_text().splitlines()[after:until]
    for at, line in enumerate(lines, 1):
        sent = json.loads(line)
        names = [{"name": tool, "type": "function"} for tool in sent["tools"]]
        body = {**sent["body"], **({"tools": names} if names else {})}
        ids = session_ids(sent["headers"], body)
        recording = forky.begin(READ[sent["protocol"]](body), scope="token:1", client=name, ids=ids)
        recording.take(TextDelta(sent["answer"]["text"]))
        if call := sent["answer"]["call"]:
            recording.take(ToolCallDone(call[0], call[1], json.dumps(call[2])))
        if ends or at < len(lines):
            recording.done("stop")
    return recording


def only(forky: Workspace) -> Conversation:
    (summary,) = forky.conversations()
    return forky.conversation(summary.id)


def texts(chat: Conversation, branch: str | None = None) -> list[str]:
    return [message.text for message in chat.path(chat.branches[branch or chat.branch_name].head)]


def twice(chat: Conversation) -> list[tuple[str, str]]:
    """What is shown in two places of a conversation."""
    messages: list[Message] = list(chat.visible.messages.values())
    said = Counter((one.role, one.text) for one in messages if one.role in ("user", "assistant") and one.text)
    return [one for one, number in said.items() if number > 1]


@pytest.mark.parametrize(
    ("program", "titles"),
    [
        ("claude", ["Why does the login fail after thirty minutes? @@bash"]),
        ("codex", ["Rename the function please", "Why does the codex login fail? @@bash"]),
        ("opencode", ["Why does the open login fail? @@task"]),
        ("pi", ["Why does the pi login fail?"]),
        ("aider", ["Why does the aider login fail?"]),
    ],
)
def test_a_session_is_one_conversation_with_the_title_that_a_person_gave_it(
    forky: Workspace, program: str, titles: list[str]
) -> None:
    replay(forky, program)
    assert sorted(summary.title for summary in forky.conversations()) == titles
    for summary in forky.conversations():
        assert twice(forky.conversation(summary.id)) == []
    assert forky.verify().clean


@pytest.mark.parametrize(("program", "compactions"), [("codex-compaction", 3), ("opencode-compaction", 2)])
def test_work_goes_on_in_one_branch_whenever_a_program_compacts_by_itself(
    forky: Workspace, program: str, compactions: int
) -> None:
    replay(forky, program)
    chat = only(forky)
    assert list(chat.branches) == ["main"]
    path = chat.path()
    assert len([one for one in path if one.merges]) == compactions
    assert path[-1].role == "assistant" and "@@bash" in chat.title


def test_a_person_may_ask_what_was_done_so_far(forky: Workspace) -> None:
    asked = [user("What did we do so far?")]
    ask(forky, asked, "Nothing yet.")
    ask(forky, [*asked, assistant("Nothing yet."), user("Then begin.")], "Begun.")
    assert texts(only(forky)) == ["What did we do so far?", "Nothing yet.", "Then begin.", "Begun."]


def test_a_program_s_canned_examples_are_no_title(forky: Workspace) -> None:
    opening = [
        user("Change get_factorial() to use math.factorial"),
        assistant("I will."),
        user("I switched to a new code base. Please don't consider the above files."),
        assistant("Ok."),
        user(
            "I have *added these files to the chat* so you can go ahead and edit them.\n\nlogin.py\n```\n```"
        ),
        assistant("Ok, any changes I propose will be to those files."),
        user("Let the session live for an hour"),
    ]
    ask(forky, opening, "Done.", session="")
    assert only(forky).title == "Let the session live for an hour"


def test_four_turns_with_a_clock_in_the_first_message_are_one_branch(forky: Workspace) -> None:
    history: list[Json] = []
    for turn in range(4):
        first = user(f"It is Mon Nov 30, 2026 at 10:{31 + turn}:02. Why does the login fail?")
        history = [first, *history[1:]] if history else [first]
        if turn:
            history.append(user(f"Question {turn}"))
        ask(forky, history, f"Answer {turn}")
        history.append(assistant(f"Answer {turn}"))
    chat = only(forky)
    assert list(chat.branches) == ["main"]
    assert texts(chat)[1:] == [
        "Answer 0",
        "Question 1",
        "Answer 1",
        "Question 2",
        "Answer 2",
        "Question 3",
        "Answer 3",
    ]


def test_what_was_sent_in_another_spelling_is_stored_beside_the_history(forky: Workspace) -> None:
    ask(forky, [user("It is 10:31. Why?")], "So.")
    ask(forky, [user("It is 10:32. Why?"), assistant("So."), user("And?")], "Thus.")
    chat = only(forky)
    assert texts(chat) == ["It is 10:31. Why?", "So.", "And?", "Thus."]
    (spelled,) = chat.calls.generations[-1].respelled.values()
    stored = forky.store.derived(chat.id, [spelled])[spelled]
    assert json.loads(stored) == [{"type": "text", "text": "It is 10:32. Why?"}]
    first = chat.path()[0].id
    chat.history.erase(first, confirm=first.removeprefix("b2:")[:8])
    assert forky.store.derived(chat.id, [spelled]) == {}


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("Why?", "<system-reminder>\n12 tokens left\n</system-reminder>\nWhy?"),
        (
            "<environment_context>\nA\n</environment_context>\n\nWhy?",
            "<environment_context>\nB\n</environment_context>\n\nWhy?",
        ),
        ("Context:\n\nA long text.\n\nWhy?", "Why?"),
        ("Why  now?\n", "Why now?"),
    ],
)
def test_surroundings_make_no_other_message(forky: Workspace, stored: str, sent: str) -> None:
    ask(forky, [user(stored)], "Because of it.")
    ask(forky, [user(sent), assistant("Because of it."), user("And?")], "Thus.")
    assert texts(only(forky)) == [stored, "Because of it.", "And?", "Thus."]
    assert list(only(forky).branches) == ["main"]


def test_a_reminder_that_is_a_message_of_its_own_need_not_be_sent_again(forky: Workspace) -> None:
    reminder = user("<system-reminder>\nYour list of tasks is empty.\n</system-reminder>")
    ask(forky, [user("Why?"), reminder], "Because of it.")
    ask(forky, [user("Why?"), assistant("Because of it."), reminder, user("And?")], "Thus.")
    chat = only(forky)
    assert list(chat.branches) == ["main"]
    assert [text for text in texts(chat) if "reminder" not in text] == [
        "Why?",
        "Because of it.",
        "And?",
        "Thus.",
    ]


def test_system_messages_inside_the_array_fork_nothing(forky: Workspace) -> None:
    told: Json = {"role": "system", "content": "90 % of the window is free."}
    ask(forky, [user("Why?"), told], "Because of it.")
    less: Json = {"role": "system", "content": "80 % of the window is free."}
    ask(forky, [user("Why?"), less, assistant("Because of it."), user("And?")], "Thus.")
    assert list(only(forky).branches) == ["main"]
    assert twice(only(forky)) == []


def test_a_cleared_result_is_the_result(forky: Workspace) -> None:
    ask(forky, [user("Read it")], "I look.", calls={"look": {"path": "login.py"}})
    called = assistant("I look.", tool_calls=[_call("look-1", "look", {"path": "login.py"})])
    result: Json = {"role": "tool", "tool_call_id": "look-1", "content": "import sessions\n" * 40}
    ask(forky, [user("Read it"), called, result], "I have read it.")
    cleared: Json = {**result, "content": "[Old tool result content cleared]"}
    ask(forky, [user("Read it"), called, cleared, assistant("I have read it."), user("And?")], "Thus.")
    chat = only(forky)
    assert list(chat.branches) == ["main"]
    (kept,) = [part for message in chat.path() for part in message.parts if isinstance(part, ToolResultPart)]
    assert kept.output == result["content"]


@pytest.mark.parametrize("edited", ["Why does it work?", "It is 11:00. Why?", "Why? Say it in one word"])
def test_a_person_s_edit_forks(forky: Workspace, edited: str) -> None:
    ask(forky, [user("It is 10:31. Why?")], "Because of it.")
    ask(forky, [user(edited)], "Otherwise.")
    ask(forky, [user(edited), assistant("Otherwise."), user("And?")], "Thus.")
    chat = only(forky)
    assert len(chat.branches) == 2
    assert sorted(texts(chat, name) for name in chat.branches) == sorted(
        [["It is 10:31. Why?", "Because of it."], [edited, "Otherwise.", "And?", "Thus."]]
    )


def test_a_request_for_a_title_is_folded_away_and_paid(forky: Workspace) -> None:
    ask(forky, [user(TITLE), user("Why does it fail?")], "Failing", tools=())
    ask(forky, [user("Why does it fail?")], "Because of it.")
    ask(forky, [user("<session>\nWhy does it fail?\n</session>")], '{"title": "Failing"}', tools=())
    chat = only(forky)
    assert (chat.title, list(chat.branches), texts(chat)) == (
        "Why does it fail?",
        ["main"],
        ["Why does it fail?", "Because of it."],
    )
    assert len(chat.calls.generations) == 3
    aside = [one for one in chat.calls.generations if not one.branch]
    assert [forky.store.message(chat.id, one.message).text for one in aside if one.message] == [
        "Failing",
        '{"title": "Failing"}',
    ]


def test_what_a_session_asks_without_tools_of_its_own_is_folded_away(forky: Workspace) -> None:
    ask(forky, [user("Why does it fail?")], "Because of it.")
    ask(forky, [user("Web page content: sessions. Sum it up.")], "It is about sessions.", tools=())
    assert list(only(forky).branches) == ["main"]


def test_a_sub_agent_hangs_below_the_call_that_made_it_and_reads_nothing_above(forky: Workspace) -> None:
    task = {"prompt": "Find every file that mentions login."}
    ask(forky, [user("Why does it fail?")], "I ask.", calls={"task": task})
    prompt = user("<system-reminder>\nRules\n</system-reminder>\nFind every file that mentions login.")
    ask(forky, [prompt], "One file.", session="s1/a1", above=("s1",))
    ask(forky, [prompt, assistant("One file."), user("Go on")], "Two files.", session="s1/a1", above=("s1",))
    called = assistant("I ask.", tool_calls=[_call("task-1", "task", task)])
    result: Json = {"role": "tool", "tool_call_id": "task-1", "content": "Two files."}
    ask(forky, [user("Why does it fail?"), called, result], "Found.")
    chat = only(forky)
    assert sorted(chat.branches) == ["file-mentions-login", "main"]
    assert [message.role for message in chat.path(chat.branches["main"].head)] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    below = chat.path(chat.branches["file-mentions-login"].head)
    assert [message.text for message in below][:2] == ["Why does it fail?", "I ask."]
    assert [message.text for message in below][2:] == [prompt["content"], "One file.", "Go on", "Two files."]
    sent = chat.checkout("file-mentions-login").context().messages
    assert [message["content"] for message in sent if message["role"] != "system"] == [
        prompt["content"],
        "One file.",
        "Go on",
        "Two files.",
    ]


def test_work_goes_on_below_a_compaction_on_the_same_branch(forky: Workspace) -> None:
    ask(forky, [user("Why does it fail?")], "Because sessions end after 30 minutes.")
    history = [user("Why does it fail?"), assistant("Because sessions end after 30 minutes."), user("And?")]
    ask(forky, history, "It is in src/login.py.")
    history.append(assistant("It is in src/login.py."))
    summary = "The login fails since sessions end early. " * 8
    request = user("Your task is to create a detailed summary of the conversation so far.")
    ask(forky, [*history, request], f"<analysis>Hm</analysis><summary>{summary}</summary>")
    began = user(f"This session is being continued from a previous conversation. {summary}")
    kept = assistant("It is in src/login.py.")
    ask(forky, [began, kept, user("Mend it")], "Mended.")
    ask(forky, [began, kept, user("Mend it"), assistant("Mended."), user("Test it")], "Tested.")
    chat = only(forky)
    assert list(chat.branches) == ["main"]
    assert texts(chat)[3:] == [
        "It is in src/login.py.",
        began["content"],
        "Mend it",
        "Mended.",
        "Test it",
        "Tested.",
    ]
    sent = [message["content"] for message in chat.context().messages if message["role"] != "system"]
    assert [text.strip() for text in sent] == [
        began["content"].strip(),
        "It is in src/login.py.",
        "Mend it",
        "Mended.",
        "Test it",
        "Tested.",
    ]


def test_another_token_s_session_of_the_same_id_is_another_conversation(forky: Workspace) -> None:
    ask(forky, [user("Why?")], "Because of it.")
    ask(
        forky,
        [user("It is 10:31. Why?"), assistant("Because of it."), user("And?")],
        "Thus.",
        scope="token:2",
    )
    assert len(forky.conversations()) == 2


def test_two_sessions_that_begin_alike_are_two_conversations(forky: Workspace) -> None:
    ask(forky, [user("Why?")], "Because of it.")
    ask(forky, [user("Why?")], "Because of it.", session="s2")
    assert len(forky.conversations()) == 2


def test_a_fork_of_a_session_is_a_branch_of_it(forky: Workspace) -> None:
    history = [
        user("Why does the login fail after thirty minutes?"),
        assistant("Sessions end after thirty minutes."),
    ]
    ask(forky, history[:1], "Sessions end after thirty minutes.")
    ask(forky, [*history, user("Fork: another way")], "So.", session="s2")
    ask(forky, [*history, user("And?")], "Thus.")
    ask(forky, [*history, user("Fork: another way"), assistant("So."), user("Go on")], "Gone.", session="s2")
    chat = only(forky)
    assert texts(chat, "main")[2:] == ["And?", "Thus."]
    (fork,) = [name for name in chat.branches if name != "main"]
    assert texts(chat, fork)[2:] == ["Fork: another way", "So.", "Go on", "Gone."]


def test_a_fork_on_another_day_is_a_branch_although_its_first_message_is_rewritten(forky: Workspace) -> None:
    def first(day: int) -> Json:
        return user(
            f"<environment_context>\nToday is the {day}th.\n</environment_context>\nWhy does the login fail after thirty minutes?"
        )

    answer = assistant("Sessions end after thirty minutes, in src/login.py.")
    ask(forky, [first(29)], answer["content"])
    ask(forky, [first(30), answer, user("Fork: another way")], "So.", session="s2")
    assert texts(only(forky), "fork-another")[1:] == [answer["content"], "Fork: another way", "So."]


def test_two_programs_with_one_session_at_once_make_one_conversation(forky: Workspace) -> None:
    def work(number: int) -> None:
        history = [user(f"Question {number}")]
        for turn in range(4):
            ask(forky, history, f"Answer {number}.{turn}")
            history += [assistant(f"Answer {number}.{turn}"), user(f"More {number}.{turn}")]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chat = only(forky)
    assert sorted(len(texts(chat, name)) for name in chat.branches) == [8, 8, 8, 8]


def test_a_session_is_found_after_a_restart_and_an_undo(tmp_path: Path) -> None:
    with DuckDBStore.open(tmp_path / "a.duckdb") as store, workspace(store=store)[0] as forky:
        ask(forky, [user("It is 10:31. Why?")], "Because of it.")
    with DuckDBStore.open(tmp_path / "a.duckdb") as store, workspace(store=store)[0] as forky:
        ask(forky, [user("It is 10:32. Why?"), assistant("Because of it."), user("And?")], "Thus.")
        only(forky).undo()
        ask(forky, [user("It is 10:33. Why?"), assistant("Because of it."), user("Or?")], "Else.")
        assert texts(only(forky)) == ["It is 10:31. Why?", "Because of it.", "Or?", "Else."]


def test_a_session_in_the_trash_goes_on_in_a_conversation_of_its_own(forky: Workspace) -> None:
    ask(forky, [user("Why?")], "Because of it.")
    trashed = only(forky)
    trashed.trash()
    ask(forky, [user("Why?"), assistant("Because of it."), user("And?")], "Thus.")
    assert texts(only(forky)) == ["Why?", "Because of it.", "And?", "Thus."]
    assert only(forky).id != trashed.id


def test_a_purged_session_begins_anew(forky: Workspace) -> None:
    ask(forky, [user("Why?")], "Because of it.")
    gone = only(forky)
    gone.trash()
    forky.purge(gone.id)
    ask(forky, [user("Why?"), assistant("Because of it."), user("And?")], "Thus.")
    assert texts(only(forky)) == ["Why?", "Because of it.", "And?", "Thus."]


@dataclass
class _Day:
    """An agent's program at work for a day on one session: it loops over tools, compacts, and sends sub-agents."""

    forky: Workspace
    calls: int = 0
    history: list[Json] = field(default_factory=list)
    said: Iterator[int] = field(default_factory=lambda: iter(range(10_000)))
    summaries: int = 0

    def clock(self) -> str:
        return f"<system-reminder>\nToday's date is 2026-11-{29 + self.calls // 200}. {self.calls} calls.\n</system-reminder>\n"

    def send(self, history: list[Json], **more: Any) -> str:
        """Send the array as the program spells it now: the first message has another reminder each time."""
        first = {**history[0], "content": self.clock() + history[0]["content"]}
        told: Json = {"role": "system", "content": f"{self.calls} tokens left"}
        answer = f"Here is what I think about it, number {next(self.said)}."
        ask(self.forky, [first, *history[1:], told], answer, **more)
        self.calls += 1
        return answer

    def turn(self, question: str, loops: int) -> None:
        self.history.append(user(question))
        for loop in range(loops):
            path = {"path": f"src/file{self.calls}.py"}
            number = len(self.history) + 1
            answer = self.send(self.history, calls={"look": path})
            self.history.append(assistant(answer, tool_calls=[_call(f"look-{number}", "look", path)]))
            output = f"The file of call {self.calls} in loop {loop}, line by line. " * 5
            self.history.append({"role": "tool", "tool_call_id": f"look-{number}", "content": output})
        self.history.append(assistant(self.send(self.history)))
        for message in self.history[:-12]:
            if message["role"] == "tool":
                message["content"] = "[Old tool result content cleared]"

    def agent(self, name: str) -> None:
        task = f"Look into part {name} of the shop and report."
        number = len(self.history) + 2
        self.history.append(user(f"Have part {name} looked into."))
        answer = self.send(self.history, calls={"task": {"prompt": task}})
        self.history.append(assistant(answer, tool_calls=[_call(f"task-{number}", "task", {"prompt": task})]))
        own = [user(task)]
        for _ in range(5):
            own.append(assistant(self.send(own, session=f"s1/{name}", above=("s1",))))
            own.append(user(f"Go on with part {name}, step {len(own)}"))
        self.history.append({"role": "tool", "tool_call_id": f"task-{number}", "content": own[-2]["content"]})
        self.history.append(assistant(self.send(self.history)))

    def compact(self) -> None:
        request = user("Your task is to create a detailed summary of the conversation so far.")
        self.send([*self.history, request])
        self.summaries += 1
        summary = f"This session is being continued from a previous conversation. Summary {self.summaries}: it fails."
        self.history = [user(summary), *self.history[-1:]]


def test_a_day_of_296_calls_is_one_conversation_without_a_copy(forky: Workspace) -> None:
    day = _Day(forky)
    ask(forky, [user("<session>\nMend the shop\n</session>")], "Mending", tools=())
    day.calls += 1
    for part in range(5):
        for number in range(5):
            day.turn(f"Question {part}.{number} about the shop", 7)
        for number in range(2):
            day.agent(f"{part}-{number}")
        if part < 4:
            day.compact()
    while day.calls < 296:
        day.turn(f"Last question {day.calls}", 0)
    chat = only(forky)
    assert (day.calls, chat.title) == (296, "Question 0.0 about the shop")
    assert twice(chat) == []
    assert len(chat.branches) == 11
    assert len(chat.calls.generations) == 296
    assert (
        sum(message.merge is not None and message.merge.strategy == "compaction" for message in chat.path())
        == 4
    )


@pytest.mark.parametrize(
    ("headers", "body", "ids"),
    [
        ({}, {}, None),
        ({"x-forky-thread": "a"}, {}, SessionIds("forky:a")),
        ({"x-forky-thread": "a", "x-forky-parent": "b"}, {}, SessionIds("forky:a", ("forky:a/b", "forky:b"))),
        ({"x-claude-code-session-id": "s"}, {}, SessionIds("claude-code:s")),
        (
            {"x-claude-code-session-id": "s", "x-claude-code-agent-id": "a"},
            {},
            SessionIds("claude-code:s/a", ("claude-code:s",)),
        ),
        ({}, {"metadata": {"user_id": '{"session_id": "s"}'}}, SessionIds("claude-code:s")),
        (
            {},
            {"metadata": {"user_id": "user_1_account__session_0123-4567"}},
            SessionIds("claude-code:0123-4567"),
        ),
        ({}, {"metadata": {"user_id": "ada"}}, None),
        ({"session-id": "s", "thread-id": "s"}, {}, SessionIds("codex:s")),
        (
            {"session-id": "s", "thread-id": "t", "x-codex-parent-thread-id": "s"},
            {},
            SessionIds("codex:s/t", ("codex:s/s", "codex:s")),
        ),
        ({"originator": "codex_exec"}, {"prompt_cache_key": "s"}, SessionIds("codex:s")),
        ({}, {"prompt_cache_key": "s"}, None),
        (
            {"x-session-id": "c", "x-parent-session-id": "p"},
            {},
            SessionIds("opencode:c", ("opencode:c/p", "opencode:p")),
        ),
        ({"x-forky-thread": "a" * 201}, {}, None),
    ],
)
def test_each_program_names_its_session_in_its_way(
    headers: dict[str, str], body: dict[str, Any], ids: SessionIds | None
) -> None:
    assert session_ids(headers, body) == ids


def _call(id: str, name: str, arguments: Mapping[str, Json]) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
