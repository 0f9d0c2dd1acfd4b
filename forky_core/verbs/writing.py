"""The verbs that say, ask and fork, and those that go back: undo, redo, stash, tag, trash; with the history they make.

Each names the branch and its head as the caller saw it, or the conversation's last operation. Where these have moved,
nothing is written, and the refusal names what came first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from forky_core.context.convert import message_as_text
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import slug, suggested_name
from forky_core.conversation.session import short
from forky_core.model import Branch, MessageId, Operation
from forky_core.model.errors import BadContent, ModelError, NotFound, Outdated
from forky_core.model.parts import Json
from forky_core.verbs.pages_of_results import MOST_BYTES, fitting, paged, size_of
from forky_core.verbs.parameters import param
from forky_core.verbs.reading import NEXT, done_line, opened
from forky_core.verbs.verb import RegisteredVerb, Result, VerbCaller

LONGEST_WAIT = 120
"""Seconds that a call waits for an answer at most."""
KEY = "A text of your own: the same call with the same key is done once and answered again."


@dataclass(frozen=True, kw_only=True)
class OnBranch:
    """Parameters of verbs that write on a branch."""

    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    branch: str = param("The branch.", filled=True)
    head: str = param("The branch's head as you saw it; “” for an empty branch.", filled=True)
    key: str = param(KEY, filled=True)


@dataclass(frozen=True, kw_only=True)
class OnConversation:
    """Parameters of verbs that change a conversation as a whole."""

    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    version: int = param("The number of its last operation as you saw it (`status` says it).", filled=True)
    key: str = param(KEY, filled=True)


@dataclass(frozen=True, kw_only=True)
class SaidOnBranch:
    """Parameters of verbs that say something on a branch or in a new conversation."""

    text: str = param("What to say.", place=True)
    conversation: str = param(
        "The conversation's id; without one, a new conversation is begun.", default="", filled=True
    )
    branch: str = param("The branch; a new conversation may leave it out.", default="", filled=True)
    head: str = param(
        "The branch's head as you saw it; “” for an empty branch or a new conversation.", filled=True
    )
    key: str = param(KEY, filled=True)
    title: str = param("The title of a new conversation.", default="", most=200)


@dataclass(frozen=True, kw_only=True)
class SayParams(SaidOnBranch):
    role: Literal["user", "assistant"] = param("Whose words these are.", default="user")


@dataclass(frozen=True, kw_only=True)
class AskParams(SaidOnBranch):
    text: str = param("The question.", place=True)
    model: str = param("The model that answers; without one, the branch's.", default="")
    wait: int = param("Seconds to wait for the answer; later, `read` has it.", default=50, most=LONGEST_WAIT)


@dataclass(frozen=True, kw_only=True)
class ForkParams(OnBranch):
    name: str = param("The new branch's name; without one, a free name is made.", default="", place=True)
    at: str = param("The message to fork at; without one, the head.", default="")


@dataclass(frozen=True, kw_only=True)
class StashParams(OnBranch):
    text: str = param("A draft to put aside.", default="", place=True)
    last: int = param("Put so many of the branch's last messages aside.", default=0)
    note: str = param("What it is.", default="", most=80)
    pop: int = param("The number of a stash to put onto the branch.", default=0)
    drop: int = param("The number of a stash to forget.", default=0)


@dataclass(frozen=True, kw_only=True)
class TagParams(OnBranch):
    name: str = param("The tag.", place=True)
    at: str = param("The message to tag; without one, the head.", default="")
    remove: bool = param("Remove the tag.", default=False)


@dataclass(frozen=True, kw_only=True)
class TrashParams(OnConversation):
    back: bool = param("Take it back from the trash.", default=False)


@dataclass(frozen=True, kw_only=True)
class HistoryParams:
    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    next: str = param(NEXT, default="")


def as_seen(chat: Conversation, head: str) -> Branch:
    """The branch of a handle, if its head is the one that the caller saw.

    Raises:
        Outdated: it has moved; the error names what came first.
    """
    branch = chat.branch
    seen: MessageId | None = None
    if head:
        try:
            seen = chat.message(head).id
        except NotFound:
            raise BadContent(
                f"“{branch.name}” never had the head “{head[:40]}”.", "Read it, and take its head."
            ) from None
    if branch.head != seen:
        raise moved(chat, branch.name)
    return branch


def moved(chat: Conversation, branch: str) -> Outdated:
    """The error for a branch that is not where its caller saw it, which names what came first."""
    key = f"heads/{branch}"
    first = next((o for o in reversed(chat.history.operations) if any(c.key == key for c in o.changes)), None)
    what = chat._session.name_of(f" {first.summary} ({first.actor}).") if first is not None else ""
    return Outdated(f"“{branch}” has moved meanwhile.{what}", first, "Read it again, and take its head.")


def done(caller: VerbCaller, chat: Conversation, operation: Operation | None = None, **more: Json) -> Result:
    """What a verb answers that has changed something: the ids and, as a sentence, what was done."""
    result: Result = {"conversation": chat.id, "branch": chat.branch_name}
    with suppress(NotFound):
        result["head"] = chat.branch.head
    if operation is not None:
        result |= {"version": operation.number, "done": caller.forky.name_of(operation.summary)}
    return result | more


def _place(caller: VerbCaller, params: SaidOnBranch) -> tuple[Conversation, Branch]:
    """The branch to write on as its caller saw it; a new conversation's first one where none is named."""
    if params.conversation:
        chat = opened(caller, params.conversation, params.branch)
        return chat, as_seen(chat, params.head)
    if params.head:
        raise BadContent(
            "A new conversation has no head yet.", "Leave `head` empty, or name the conversation."
        )
    chat = caller.forky.create(params.title, branch=_own(caller, params.branch or "main"))
    return chat, chat.branch


def _own(caller: VerbCaller, name: str) -> str:
    """A branch's name, below what the caller's branches begin with."""
    return name if name.startswith(caller.forky.below) else f"{caller.forky.below}{slug(name)}"


def say(caller: VerbCaller, params: SayParams) -> Result:
    chat, seen = _place(caller, params)
    message = chat.say(params.text, role=params.role, seen=seen)
    return done(caller, chat, message=message.id)


def ask(caller: VerbCaller, params: AskParams) -> Result:
    chat, seen = _place(caller, params)
    job = chat.send(params.text, seen=seen, model=params.model or None)
    if not job.wait(params.wait):
        return done(caller, chat, running=True)
    try:
        answer = job.result()
    except ModelError as error:
        return done(caller, chat, failed=str(error))
    return done(caller, chat, message=answer.id)


def with_answer(caller: VerbCaller, result: Mapping[str, Json]) -> Result:
    """What `ask` answers, with the words of the answer as they are in the tree now, as far as they fit."""
    found = dict(result)
    message = result.get("message")
    if isinstance(message, str):
        chat = opened(caller, str(result["conversation"]), str(result["branch"]))
        text = message_as_text(chat.message(message))
        found["text"] = fitting(text, MOST_BYTES - 400 - size_of(found))
        if found["text"] != text:
            found["cut"] = "`read` with this message has all of it."
    return found


def fork(caller: VerbCaller, params: ForkParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    point = chat.message(params.at).id if params.at else as_seen(chat, params.head).head
    name = params.name
    if caller.forky.below and not name:
        said = chat.message(point).text if point is not None else ""
        name = suggested_name(said, [one.removeprefix(caller.forky.below) for one in chat.branches])
    chosen = _own(caller, name) if name else None
    forked = chat.fork(chosen, at=point) if point is not None else chat.branches.begin(chosen)
    return done(caller, forked, forked_at=short(point) if point else None)


def undo(caller: VerbCaller, params: OnConversation) -> Result:
    chat = opened(caller, params.conversation)
    return done(caller, chat, chat.undo(seen=params.version))


def redo(caller: VerbCaller, params: OnConversation) -> Result:
    chat = opened(caller, params.conversation)
    return done(caller, chat, chat.redo(seen=params.version))


def stash(caller: VerbCaller, params: StashParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    as_seen(chat, params.head)
    if params.pop:
        applied = chat.stashes.pop(params.pop)
        return done(caller, chat, applied.operation, draft=applied.draft[:1_000])
    if params.drop:
        return done(caller, chat, chat.stashes.drop(params.drop))
    made = chat.stashes.create(draft=params.text, last=params.last, note=params.note)
    return done(caller, chat, stash=made.number, done=f"Stashed “{made.note}”")


def tag(caller: VerbCaller, params: TagParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    if params.remove:
        return done(caller, chat, chat.tags.remove(params.name))
    at = params.at or as_seen(chat, params.head).head
    return done(caller, chat, chat.tags.add(params.name, at))


def trash(caller: VerbCaller, params: TrashParams) -> Result:
    chat = opened(caller, params.conversation)
    chat.history.refuse_if_changed(params.version)
    return done(caller, chat, chat.take_back() if params.back else chat.trash())


def history(caller: VerbCaller, params: HistoryParams) -> Result:
    chat = opened(caller, params.conversation)
    place = caller.place(chat) | {"version": chat.view.version}
    del place["branch"]
    entries = (
        {"number": one.number, "at": one.at, "verb": one.verb, "text": done_line(caller, one)}
        for one in reversed(chat.history.operations)
    )
    return paged(place, "operations", entries, params.next)


WRITING = (
    RegisteredVerb(
        "fork", "Begin a branch at any message; nothing is copied.", "propose", ForkParams, fork, writes=True
    ),
    RegisteredVerb(
        "say", "Add a message to a branch without asking a model.", "propose", SayParams, say, writes=True
    ),
    RegisteredVerb(
        "ask",
        "Ask on a branch, and get the model's answer.",
        "ask",
        AskParams,
        ask,
        writes=True,
        again=with_answer,
    ),
    RegisteredVerb("undo", "Take the last step back.", "land", OnConversation, undo, writes=True),
    RegisteredVerb(
        "redo",
        "Bring back what the last undo took.",
        "land",
        OnConversation,
        redo,
        writes=True,
        is_tool=False,
    ),
    RegisteredVerb(
        "stash",
        "Put a draft or messages aside, or put them onto a branch.",
        "land",
        StashParams,
        stash,
        writes=True,
        is_tool=False,
    ),
    RegisteredVerb(
        "tag", "Name a message, or remove such a name.", "land", TagParams, tag, writes=True, is_tool=False
    ),
    RegisteredVerb(
        "trash",
        "Move a conversation to the trash, or take it back.",
        "land",
        TrashParams,
        trash,
        writes=True,
        is_tool=False,
    ),
    RegisteredVerb(
        "history",
        "List what was done in a conversation, the newest first.",
        "read",
        HistoryParams,
        history,
        is_tool=False,
    ),
)
