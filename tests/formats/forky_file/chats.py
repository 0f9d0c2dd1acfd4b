"""A conversation with some of everything, and its file."""

from __future__ import annotations

import io

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.files.json_values import lines
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.reading import read_chat
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.merge.options import MergeOptionFields
from forky_core.model.memory import Memory
from forky_core.model.room import Person, Room
from tests.builders import debugged, talk, workspace


def with_everything(forky: Workspace) -> Conversation:
    """Forks, merges of three kinds, a stash, tags, an attachment, replies, rules, undone and pruned messages."""
    chat = debugged(forky)
    chat.rules.set(system="Be brief. Sei kürz\u00e9r \U0001f980", parameters={"temperature": 0.1})
    chat.rules.set_conversation_memory(Memory("tokens", share=0.25))
    chat.rules.set_memory(Memory("summary", 12, model="scripted/two"))
    chat.people.set(Person("Ana", messages=3, dollars=0.5))
    chat.people.set_room(Room(answers="addressed", called="\U0001f980", models=("scripted/one",)))
    chat.rules.pin(chat.path()[0].id)
    chat.rules.exclude(chat.path()[1].id)
    chat.rules.include(chat.path()[1].id)
    for strategy in ("squash", "full"):
        chat.merge(chat.plan_merge("debug", strategy=strategy))
        talk(chat.checkout("debug"), f"More on {strategy}?", "Yes, `x = 1e-7` and 42.")
    chat.merge(
        chat.plan_merge("debug", strategy="cherry-pick", picks=[chat.checkout("debug").branch.head or ""])
    )
    picture = forky.attach(b"\x89PNG\r\n\x1a\n" + bytes(range(200)), name="cat.png")
    chat.ask("What is on it?", attachments=[picture])
    forked, job = chat.regenerate(model="scripted/two")
    job.wait()
    forked.tags.add("good")
    chat.stashes.create(draft="half a thought", note="later")
    chat.say("to be undone")
    chat.undo()
    return chat


def with_requests(forky: Workspace) -> Conversation:
    """One request of two branches and one of a picked message; the first with a comment and a review."""
    chat = debugged(forky)
    idea = talk(chat.fork("idea", at=chat.path()[1].id), "Another idea?", "Decision: generate stubs as well.")
    chat.requests.open(["debug", idea], note="Both.")
    chat.requests.comment(1, "Why?")
    chat.people.as_person("ben").requests.approve(1)
    chat.requests.open(idea, strategy="cherry-pick", picks=[idea.branch.head or ""])
    chat.requests.open_plan(chat.plan_merge("debug", focus="enums", budget=300).edited("Lazily."))
    options = MergeOptionFields(
        strategy="three-way", policy="newest", model="scripted/one", again=True, choices={"port": None}
    )
    chat.requests.open("debug", into="idea", **options)
    return chat


def file_of(forky: Workspace, chat: Conversation) -> str:
    return "".join(written(chat_of(forky.store, chat.id)))


def parsed(text: str) -> Chat:
    return read_chat(lines(io.BytesIO(text.encode())))


def copy_of(chat: Chat) -> Conversation:
    """A conversation in a workspace of its own."""
    forky, _ = workspace()
    return forky.conversation(adopt(forky, chat).conversation, "main")


def value_of(chat: Conversation) -> Chat:
    return chat_of(chat._session.store, chat.id)


def came_back(forky: Workspace, chat: Conversation) -> Conversation:
    """The conversation in a workspace of its own, where its file has the same bytes."""
    text = file_of(forky, chat)
    copy = copy_of(parsed(text))
    assert "".join(written(value_of(copy))) == text
    return copy
