"""Adds a program's messages to a conversation: new ones go below known ones, as one operation.

Nothing that exists is written again or moved: a branch whose head the array continues is extended; anywhere else a new
branch is created. The program's system prompt and model become the branch's rules (law 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from forky_core.conversation.identity import now, suggested_name, title_of_question
from forky_core.conversation.replies.reply_job import ReplyTarget
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.validation import fit_model, fit_parameters, fit_text
from forky_core.conversation.visible import Visible
from forky_core.matching.finding import PlaceMatch, call_ids
from forky_core.model import ConversationId, Message, MessageId, Rules, View, seal
from forky_core.model.errors import BadContent
from forky_core.model.hashing import content_hash
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    Json,
    Part,
    ToolCallPart,
    ToolResultPart,
    canonical_json,
)
from forky_core.store.contract import Store
from forky_core.text.surroundings import first_spoken, spoken
from forky_core.wire.call import Call

_MOST_SPELLED = 20
"""The most messages of one call whose other spellings are stored, the last ones."""


@dataclass(frozen=True, slots=True)
class FiledCall:
    """Where an array is stored once its transaction is published."""

    target: ReplyTarget
    """The target of a reply; its parent is the end of the array."""
    answer: MessageId | None
    """The reply that was stored with it, if any."""
    fresh: tuple[Message, ...]
    """The newly stored messages."""


def keep_files(store: Store, call: Call, known: int) -> None:
    """Store the files that turns after the first `known` name, before any stored message names them."""
    wanted = {
        part.sha256 for turn in call.turns[known:] for part in turn.parts if isinstance(part, AttachmentPart)
    }
    for sha256 in wanted & call.files.keys():
        file = call.files[sha256]
        store.put_blob(file.content, file.media_type, file.name)


@dataclass(frozen=True, slots=True)
class Ground:
    """The conversation that an array is added to, as it was when it was matched."""

    conversation: ConversationId
    messages: Callable[[], Mapping[MessageId, Message]]
    """For a long conversation that was matched by ids, calling this may not be necessary."""
    visible: Callable[[], Visible]
    near: str = "main"
    """The branch whose rules a new branch inherits."""
    below: str = ""
    """What the names of the branches begin with that may be written to; any branch if it is empty."""
    branch: str = ""
    """The branch on which the program's session wrote last, which is continued rather than others that end there."""
    forks: bool = False
    """Whether the call begins a branch although one ends where it goes on: it is of another session than that one."""


def put(
    tx: Transaction,
    ground: Ground,
    call: Call,
    found: PlaceMatch,
    reply: tuple[Part, ...] = (),
    *,
    aside: bool = False,
) -> FiledCall:
    """Add the new messages of `call` to `tx`, and the `reply` if there is one already.

    What a program asks `aside`, for itself, is stored and shown on no branch.
    """
    fresh = _sealed(call.turns, found, ground.messages)
    tx.messages.extend(fresh)
    end = fresh[-1].id if fresh else found.message
    assert end is not None, "a call has messages"
    if aside:
        if not tx.view.branches:
            tx.create_branch(f"{ground.below}main", None, Rules())
        target = ReplyTarget(ground.conversation, "", end, kept_without_branch=False)
    elif fresh:
        _give_title(tx, fresh)
        target = ReplyTarget(ground.conversation, _branch_for(tx, call, found.message, fresh, ground), end)
        tx.move(target.branch, end)
    else:
        target = _standing(tx.view, ground, end)
    if not reply:
        return FiledCall(target, None, tuple(fresh))
    answer = seal(Draft("assistant", reply), (end,), created=now())
    tx.messages.append(answer)
    if not aside:
        _answered(tx, target, answer, ground.visible)
    return FiledCall(target, answer.id, tuple(fresh))


def kept_parameters(call: Call) -> Mapping[str, Json]:
    """The stored parameters of a call: its options, and the names of the available tools."""
    kept = dict(call.parameters)
    if call.tools:
        kept["tools"] = [
            tool.get("name") or tool.get("type") for tool in call.tools if isinstance(tool, dict)
        ]
        kept["tools_hash"] = tools_hash(call)
    for name in list(kept):
        try:
            fit_parameters({name: kept[name]})
        except BadContent:
            del kept[name]
    return fit_parameters(kept)


def tools_hash(call: Call) -> str:
    """The key under which a call's tools are stored, once for each conversation."""
    return content_hash(list(call.tools))


def other_spellings(call: Call, found: PlaceMatch) -> dict[MessageId, str]:
    """Return what is sent in the place of messages that are stored in another spelling: their parts, as JSON."""
    return {
        message: canonical_json([part.stored() for part in call.turns[at].parts])
        for at, message in found.respelled[-_MOST_SPELLED:]
    }


def rules_of(call: Call, base: Rules) -> Rules:
    """The branch's rules as the program sets them; rules that it does not mention are unchanged."""
    rules = base
    if call.system is not None:
        rules = replace(rules, system=fit_text(call.system, "A system prompt"))
    return replace(rules, model=fit_model(call.model)) if call.model else rules


def _sealed(
    turns: Sequence[Draft], found: PlaceMatch, messages: Callable[[], Mapping[MessageId, Message]]
) -> list[Message]:
    """The new turns as messages below the match, in order; tool call ids are spelled as on the stored path."""
    at, created = found.message, now()
    new = turns[found.known :]
    renamed: Mapping[str, str] = {}
    if any(isinstance(part, ToolResultPart) for turn in new for part in turn.parts):
        renamed = call_ids(turns[found.skipped : found.known], at, messages())
    made: set[str | None] = set()
    fresh: list[Message] = []
    for turn in new:
        made.update(part.tool_call_id for part in turn.parts if isinstance(part, ToolCallPart))
        parts = tuple(_respelled(part, renamed, made) for part in turn.parts)
        message = seal(replace(turn, parts=parts), (at,), created=created)
        fresh.append(message)
        at = message.id
    return fresh


def _respelled(part: Part, renamed: Mapping[str, str], made: set[str | None]) -> Part:
    if isinstance(part, ToolResultPart) and (id := part.tool_call_id) is not None and id not in made:
        return replace(part, tool_call_id=renamed.get(id, id))
    return part


def _give_title(tx: Transaction, fresh: Sequence[Message]) -> None:
    if not tx.view.title:
        said = first_spoken(message.text for message in fresh if message.role == "user")
        if title := title_of_question(said):
            tx.set("title", title)


def _heads(view: View) -> dict[str, MessageId | None]:
    """Every branch's head, “main” first."""
    names = sorted(key.removeprefix("heads/") for key in view.entries if key.startswith("heads/"))
    names.sort(key=lambda name: name != "main")
    return {name: view.entries[f"heads/{name}"]["at"] for name in names}


def _branch_for(
    tx: Transaction, call: Call, at: MessageId | None, fresh: Sequence[Message], ground: Ground
) -> str:
    """The branch that ends at `at`, or a new one named after its first words."""
    heads = _heads(tx.view)
    ending = [name for name, head in heads.items() if head == at and name.startswith(ground.below)]
    name = ground.branch if ground.branch in ending else next(iter(ending), None)
    if name is not None and not (ground.forks and at is not None):
        tx.set_rules(name, rules_of(call, tx.view.branch(name).rules))
        return name
    said = next((words for message in fresh if (words := spoken(message.text))), "")
    taken = {name.removeprefix(ground.below) for name in heads}
    name = ground.below + (suggested_name(said, taken) if heads else "main")
    base = tx.view.branch(ground.near).rules if ground.near in heads else Rules()
    tx.create_branch(name, fresh[-1].id, rules_of(call, base))
    if at is not None and f"kept/{at}" in tx.view.entries and not ground.below:
        tx.set(f"kept/{at}", None)
    return name


def _standing(view: View, ground: Ground, end: MessageId) -> ReplyTarget:
    """The target of a reply to a stored message: the branch that ends with the message, or with an answer to it.

    If there is no such branch, the reply goes beside the messages that follow.
    """
    heads = {name: head for name, head in _heads(view).items() if name.startswith(ground.below)}
    name = next((name for name, head in heads.items() if head == end), None)
    if name is not None:
        return ReplyTarget(ground.conversation, name, end)
    for name, head in heads.items():
        answer = ground.messages()[head] if head is not None else None
        if answer is not None and answer.parent == end and answer.role == "assistant":
            return ReplyTarget(ground.conversation, name, end, replaces=answer.id)
    return ReplyTarget(ground.conversation, "", end)


def _answered(tx: Transaction, target: ReplyTarget, answer: Message, visible: Callable[[], Visible]) -> None:
    """Store a reply that exists already at `target`."""
    if target.branch:
        tx.move(target.branch, answer.id)
        if target.replaces is not None and target.replaces != answer.id:
            tx.keep(target.replaces)
    elif answer.id not in visible().messages:
        tx.keep(answer.id)
