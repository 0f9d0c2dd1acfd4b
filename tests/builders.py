"""Workspaces and conversations for tests: real ones, in memory, with scripted models."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.namespaces.participants import PostResult
from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.workspace import Workspace
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Model, ModelInfo
from forky_core.llm.scripted import ScriptedModel
from forky_core.merge.plan import MergePlan
from forky_core.model import Operation, Role
from forky_core.model.errors import NotFound
from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore
from tests.context.validity import problems


class ScriptedModels:
    """Two scripted models, "scripted/one" (the default) and "scripted/two", which echo when nothing is enqueued."""

    def __init__(self) -> None:
        self.one = ScriptedModel(
            "scripted/one", answer=lambda request: f"one says: {_last(request.messages)}"
        )
        self.two = ScriptedModel(
            "scripted/two", answer=lambda request: f"two says: {_last(request.messages)}"
        )

    def model(self, name: str) -> Model:
        for model in (self.one, self.two):
            if model.info().name == name:
                return model
        raise NotFound(f"There is no model “{name}”.")

    def models(self) -> tuple[ModelInfo, ...]:
        return (self.one.info(), self.two.info())

    def embedder(self, name: str) -> Embedder:
        raise NotFound(f"There is no embedding model “{name}”.")

    def default(self) -> str:
        return "scripted/one"

    def close(self) -> None:
        """Nothing is held open: a script needs no connection."""

    def can_write(self, name: str) -> bool:
        return any(name == info.name for info in self.models())


def _last(messages: Sequence[dict[str, object]]) -> str:
    content = messages[-1]["content"] if messages else ""
    return content if isinstance(content, str) else "something"


def workspace(store: Store | None = None) -> tuple[Workspace, ScriptedModels]:
    models = ScriptedModels()
    return Workspace(store or MemoryStore(), models), models


def begun(*turns: str, title: str = "") -> tuple[Conversation, ScriptedModels]:
    """A new conversation with these turns, and the models that answer in it."""
    forky, models = workspace()
    return talk(forky.create(title), *turns), models


def job_of(asked: PostResult | ReplyAttempt) -> ReplyJob:
    """The reply that was begun for a question."""
    assert asked.job is not None
    return asked.job


def talk(chat: Conversation, *turns: str) -> Conversation:
    """Say the turns in order: user, assistant, user …"""
    head = chat.head
    role: Role = "assistant" if head is not None and head.role == "user" else "user"
    for turn in turns:
        chat.say(turn, role=role)
        role = "user" if role == "assistant" else "assistant"
    return chat


def land(chat: Conversation, plan: MergePlan) -> Operation:
    """Merge: the context can be sent, and has grown by what the plan said."""
    before = chat.context().tokens
    done = chat.merge(plan)
    assert chat.context().tokens == before + plan.tokens
    assert problems(chat.context().messages) == []
    return done


def sent(chat: Conversation) -> str:
    """What a model would be sent, as one text."""
    return "\n".join(str(message["content"]) for message in chat.context().messages)


def texts(chat: Conversation) -> list[str]:
    return [message.text for message in chat.path()]


def debugged(forky: Workspace) -> Conversation:
    """“main”, and a branch “debug” that found out something worth merging."""
    chat = talk(forky.create("Enums"), "Let us write a code generator.", "Good. What does it generate?")
    talk(
        chat.fork("debug"),
        "Why does code generation fail on enums?",
        "Because `Enum.__members__` is empty: `enum_fields()` runs before the class body in parser.py line 42.",
        "How do I fix it?",
        "Call `collect_members(cls)` after the class is made. Decision: collect members lazily.",
    )
    return talk(chat, "Python classes.", "Fine.")


def retuned(forky: Workspace, strategy: str = "squash") -> Conversation:
    """“tuning” is merged by this strategy with a prefetch of 50, then says 20 and is squashed."""
    chat = talk(forky.create("Queue"), "Tune the queue.", "Fine.")
    side = talk(chat.fork("tuning"), "Decision: the prefetch is 50.", "Done.")
    talk(chat, "And the host?", "It is localhost.")
    chat.merge(chat.plan_merge("tuning", strategy=strategy))
    chat.say("Merged.", role="assistant")
    talk(side, "No, the prefetch is 20.", "Changed.")
    chat.merge(chat.plan_merge("tuning"))
    return chat


def origin_of(fork: Conversation) -> tuple[object, object]:
    """The id and the title of the conversation that this one was forked from."""
    entry = fork.view.entries["forked_from"]
    assert isinstance(entry, dict)
    return entry["id"], entry["name"]
