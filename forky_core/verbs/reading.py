"""The verbs that look: search, status, log, read, diff, report and compare. They change nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forky_core.context.convert import message_as_text
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.session import short
from forky_core.model import ConversationId, ConversationSummary, Message, Operation
from forky_core.model.errors import NotFound, NothingToDo
from forky_core.model.graph import ancestors, parents_in
from forky_core.verbs.pages_of_results import paged
from forky_core.verbs.parameters import param
from forky_core.verbs.verb import RegisteredVerb, Result, VerbCaller
from forky_core.views.proposals import proposals

_FIRST_HITS, _MOST_HITS = 50, 200
"""Messages that a search looks for: more than fit into a page, and all that later pages can show."""
_LINE = 160
"""Characters of a message in an outline."""
NEXT = "Where to go on: `next` of the page before."


@dataclass(frozen=True, kw_only=True)
class InConversation:
    """Parameters of verbs that look at one branch of a conversation."""

    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    branch: str = param("The branch; without one, the branch that moved last.", default="")
    next: str = param(NEXT, default="")


@dataclass(frozen=True, kw_only=True)
class SearchParams:
    words: str = param("Words that every found message has.", most=1_000, place=True)
    conversation: str = param("Only in this conversation.", default="")
    next: str = param(NEXT, default="")


@dataclass(frozen=True, kw_only=True)
class StatusParams:
    conversation: str = param("The conversation; without one, all conversations are listed.", default="")
    next: str = param(NEXT, default="")


@dataclass(frozen=True, kw_only=True)
class ReadParams(InConversation):
    message: str = param("Only this message, by its id or the beginning of it.", default="")
    last: int = param("Only so many messages from the end; 0 for all of the branch.", default=0)


@dataclass(frozen=True, kw_only=True)
class DiffParams(InConversation):
    other: str = param("The branch that it is compared with.", place=True)


@dataclass(frozen=True, kw_only=True)
class ReportParams(InConversation):
    everything: bool = param(
        "Everything that was said since the branch was forked, and not the last answer alone.", default=False
    )


@dataclass(frozen=True, kw_only=True)
class CompareParams:
    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    branches: tuple[str, ...] = param("The branches to set side by side.", place=True)
    next: str = param(NEXT, default="")


def opened(caller: VerbCaller, conversation: str, branch: str = "") -> Conversation:
    """The conversation with a branch of it checked out, by default the one that moved last."""
    return caller.forky.conversation(conversation, branch or None)


def search(caller: VerbCaller, params: SearchParams) -> Result:
    within: ConversationId | None = None
    if params.conversation:
        within = caller.forky.conversation(params.conversation).id
    hits = caller.forky.search(
        params.words, conversation=within, limit=_MOST_HITS if params.next else _FIRST_HITS
    )
    entries: Iterator[Result] = (
        {
            "conversation": hit.conversation,
            "title": hit.title[:80],
            "message": short(hit.message),
            "role": hit.role,
            "snippet": hit.snippet,
        }
        | caller.linked(hit.conversation, message=hit.message)
        for hit in hits
    )
    return paged({}, "hits", entries, params.next)


def status(caller: VerbCaller, params: StatusParams) -> Result:
    if not params.conversation:
        listed = caller.forky.conversations()
        head: Result = {"you": caller.author, "may": sorted(caller.scopes), "conversations": len(listed)}
        if caller.forky.below:
            head["your_branches"] = f"{caller.forky.below}…"
        return paged(head, "entries", (_listed(caller, one) for one in listed), params.next)
    chat = opened(caller, params.conversation)
    last = chat.history.since(chat.view.version - 1)
    place = caller.place(chat)
    del place["branch"]
    head = place | {"version": chat.view.version, "last": done_line(caller, last[-1])[:_LINE] if last else ""}
    return paged(head, "entries", _state(caller, chat), params.next)


def _listed(caller: VerbCaller, one: ConversationSummary) -> Result:
    entry: Result = {
        "conversation": one.id,
        "title": one.title[:80],
        "branch": one.branch,
        "branches": one.branches,
        "messages": one.messages,
        "updated": one.updated,
    }
    if one.program:
        entry["program"] = one.program[:80]
    return entry | caller.linked(one.id)


def _state(caller: VerbCaller, chat: Conversation) -> Iterator[Result]:
    """What is open in a conversation, then its branches."""
    name_of = caller.forky.name_of
    for request in chat.requests.all:
        if request.state == "open":
            heads = chat.requests.heads(request.number)
            yield {
                "kind": "request",
                "request": request.number,
                "sources": list(request.named),
                "into": request.into,
                "by": name_of(request.by),
                "note": request.note[:_LINE],
                "reviews": [
                    {"by": name_of(one.by), "state": one.state, "outdated": one.outdated(request, heads)}
                    for one in chat.requests.reviews(request.number)
                ],
            } | caller.linked(chat.id, request.into, request=request.number)
    for job in chat.replies.running:
        yield {"kind": "reply", "branch": job.place.branch, "model": job.generation.model}
    for conflict in chat.merges.unresolved:
        yield {"kind": "conflict", "about": conflict.about, "says": [one.text for one in conflict.says]}
    for stash in chat.stashes.all:
        yield {"kind": "stash", "stash": stash.number, "note": stash.note}
    proposed, costs = proposals(chat), _costs(chat)
    for branch in chat.branches.values():
        entry: Result = {
            "kind": "branch",
            "branch": branch.name,
            "head": branch.head,
            "by": name_of(chat.branches.owner(branch.name)),
        }
        if branch.name in proposed:
            entry |= {"request": proposed[branch.name].request, "state": proposed[branch.name].state}
        if branch.name in costs:
            entry["cost"] = costs[branch.name]
        yield entry | caller.linked(chat.id, branch.name)


def _costs(chat: Conversation) -> dict[str, float]:
    """What the calls on each branch cost in US dollars, as far as the price is known."""
    found: dict[str, float] = {}
    for call in chat.calls.generations:
        if call.usage.cost:
            found[call.branch] = round(found.get(call.branch, 0) + call.usage.cost, 6)
    return found


def log(caller: VerbCaller, params: InConversation) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    head = chat.branch.head
    path = chat.path(head) if head is not None else ()
    at: dict[str, list[str]] = {}
    for branch in chat.branches.values():
        if branch.head is not None:
            at.setdefault(branch.head, []).append(branch.name)
    children = chat.visible.children

    def line(message: Message) -> Result:
        entry = entry_of(chat, message, short_line(message))
        if named := [name for name in at.get(message.id, ()) if name != chat.branch_name]:
            entry["heads"] = list(named)
        if (forks := len(children.get(message.id, ()))) > 1:
            entry["continued_by"] = forks
        return entry

    place = caller.place(chat) | {"head": head, "messages": len(path)}
    return paged(place, "entries", (line(one) for one in reversed(path)), params.next)


def read(caller: VerbCaller, params: ReadParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    head = chat.branch.head
    if params.message:
        messages: tuple[Message, ...] = (chat.message(params.message),)
    else:
        messages = chat.path(head) if head is not None else ()
        messages = messages[-params.last :] if params.last else messages
    place = caller.place(chat, messages[0].id if params.message else "") | {"head": head}
    return paged(place, "messages", whole(chat, messages), params.next)


def diff(caller: VerbCaller, params: DiffParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    found = chat.diff(chat.branch_name, params.other)
    sides = ((chat.branch_name, found.left), (params.other, found.right))
    entries = (entry | {"only": name} for name, side in sides for entry in whole(chat, side))
    counts: Result = {"only": {name: len(side) for name, side in sides}}
    return paged(caller.place(chat) | counts, "messages", entries, params.next)


def report(caller: VerbCaller, params: ReportParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    head = chat.branch.head
    own = said_since_the_fork(chat) if head is not None else ()
    answers = tuple(one for one in own if one.role == "assistant" and message_as_text(one).strip())
    if not answers:
        raise NothingToDo(
            f"“{chat.branch_name}” has said nothing yet.", "Look at its status, and ask again later."
        )
    shown = answers if params.everything else answers[-1:]
    running = chat.replies.current is not None
    place = caller.place(chat) | {"head": head, "answers": len(answers), "running": running}
    return paged(place, "messages", whole(chat, shown), params.next)


def said_since_the_fork(chat: Conversation) -> tuple[Message, ...]:
    """The messages of a branch that no other branch has unless it continues this one; all of them if it is alone."""
    path = chat.path()
    own = {one.id for one in path}
    parents = parents_in(chat.visible.messages)
    shared: set[str] = set()
    for other in chat.branches.values():
        if other.name == chat.branch_name or other.head is None:
            continue
        above = ancestors((other.head,), parents)
        if path[-1].id not in above:
            shared |= own & above
    return tuple(one for one in path if one.id not in shared) or path


def compare(caller: VerbCaller, params: CompareParams) -> Result:
    chat = opened(caller, params.conversation)
    heads = [chat.branches[_named(chat, name)] for name in params.branches]
    parents = parents_in(chat.visible.messages)
    every = [ancestors((one.head,), parents) if one.head else frozenset() for one in heads]
    shared = frozenset.intersection(*map(frozenset, every)) if every else frozenset()
    entries = (
        entry | {"branch": one.name}
        for one in heads
        for entry in whole(chat, (said for said in one.messages if said.id not in shared))
    )
    place = caller.place(chat)
    del place["branch"]
    return paged(place | {"shared": len(shared)}, "messages", entries, params.next)


def _named(chat: Conversation, name: str) -> str:
    if name not in chat.branches:
        raise NotFound(f"There is no branch “{name[:60]}”.")
    return name


def whole(chat: Conversation, messages: Iterable[Message]) -> Iterator[Result]:
    """Entries with all that messages say."""
    return (entry_of(chat, one, message_as_text(one)) for one in messages)


def entry_of(chat: Conversation, message: Message, text: str) -> Result:
    """A message as an entry of a result."""
    entry: Result = {"message": short(message.id), "role": message.role}
    if by := message.name or chat.people.author_of(message.id):
        entry["by"] = by
    if message.merges:
        entry["merges"] = [part.source for part in message.merges]
    return entry | {"text": text}


def short_line(message: Message) -> str:
    """The beginning of what a message says, on one line."""
    text = " ".join(message_as_text(message)[: 4 * _LINE].split())
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"


def done_line(caller: VerbCaller, operation: Operation) -> str:
    """An operation as a sentence that names who did it."""
    return caller.forky.name_of(f"{operation.actor}: {operation.summary}")


READING = (
    RegisteredVerb(
        "search",
        "Find messages that have all of some words, in every conversation.",
        "read",
        SearchParams,
        search,
    ),
    RegisteredVerb("read", "Read the messages of a branch, or one message, whole.", "read", ReadParams, read),
    RegisteredVerb(
        "log",
        "Outline a branch, the newest message first, with where other branches stand.",
        "read",
        InConversation,
        log,
    ),
    RegisteredVerb(
        "diff", "Show what each of two branches says that the other does not.", "read", DiffParams, diff
    ),
    RegisteredVerb(
        "report",
        "Get what a sub-agent's branch or conversation has answered, whole.",
        "read",
        ReportParams,
        report,
    ),
    RegisteredVerb(
        "status",
        "List conversations, or the open requests, running replies, open conflicts and branches of one.",
        "read",
        StatusParams,
        status,
    ),
    RegisteredVerb(
        "compare",
        "Set several branches side by side, without what all of them share.",
        "read",
        CompareParams,
        compare,
        is_tool=False,
    ),
)
