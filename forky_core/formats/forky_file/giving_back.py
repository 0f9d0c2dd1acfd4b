"""Giving a fork back: what was added to it becomes a proposal in the conversation that it was forked from.

The messages keep their ids, and each operation that brings them keeps its author and its time. They come on branches of
their own, which merge requests propose, so that nothing of the original moves until somebody lands one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import LONGEST_NAME, free_name, now
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.authored import with_authors
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import checked_out
from forky_core.formats.importing.import_record import ImportRecorder
from forky_core.model import Change, ConversationId, Message, MessageId, Operation, View
from forky_core.model.erasure import ERASED
from forky_core.model.errors import InTheWay, NotFound, NothingToDo
from forky_core.model.experiment import experiments_in, is_cell
from forky_core.model.graph import ancestors, is_ancestor, parents_in
from forky_core.model.payload_kinds import FULL
from forky_core.store.contract import Commit

NEWS = "origin/"
"""What the names of branches begin with on which news of the original wait in a fork that has moved on."""
_MOST_REQUESTS = 10
"""Branches of one fork that are proposed; further ones come without a request."""


@dataclass(frozen=True, slots=True)
class GivenBack:
    """What came home, and how it is proposed."""

    messages: int
    """How many messages are new in the original."""
    operations: tuple[int, ...]
    requests: tuple[int, ...]
    """The merge requests that propose it: new ones, and open ones that propose more now."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A branch of the fork that has something new, and the branch on which it comes."""

    branch: str
    name: str
    head: MessageId | None
    """Where the branch stands in the original now; None if it is new there."""
    tip: MessageId


def origins_of(chat: Chat) -> tuple[ConversationId, ...]:
    """The conversation from which the file's was forked, then the one of which that was a copy; () for no fork."""
    if chat.forked_from is None or chat.copied_of:
        return ()
    ids = (chat.forked_from.get(name) for name in ("id", "of"))
    return tuple(ConversationId(id) for id in ids if isinstance(id, str) and id)


def home_of(forky: Workspace, chat: Chat) -> ConversationId | None:
    """The conversation from which the file's was forked, if whoever imports it sees it and it is not in the trash.

    A redacted or partial copy is no fork.
    """
    for id in origins_of(chat):
        try:
            if id != chat.id and not forky.store.view(id).trashed:
                return id
        except NotFound:
            continue
    return None


def shares_messages(forky: Workspace, home: ConversationId, chat: Chat) -> bool:
    """Whether fork and original have a message in common: a fork of a link that replaced private values has none."""
    known = forky.store.messages(home)
    return not known or any(id in known for id in chat.messages)


def propose_here(
    forky: Workspace,
    home: ConversationId,
    chat: Chat,
    running: ImportRecorder | None = None,
    *,
    through: str,
    below: str,
) -> GivenBack:
    """Bring what is new in a fork to new branches of its original, and propose them. Its files must be stored already.

    `through` says by which way it came, for the note of the request. The names of the branches begin with `below`.

    Raises:
        NotAllowed: the person may not make branches or requests there.
        Outdated: somebody changed the conversation meanwhile.
    """
    original = forky.conversation(home)
    view, known = forky.store.view(home), forky.store.messages(home)
    messages = {**chat.messages, **known}
    lines = _lines(view, chat, messages, below)
    on = {id: line.name for line in lines for id in ancestors((line.tip,), parents_in(messages))}
    fresh = {id: one for id, one in chat.messages.items() if id in on and id not in known}
    calls = [one for one in chat.generations if one.message is not None and one.message in fresh]
    commit = Commit(
        home,
        "import",
        f"Given back from “{chat.title or 'a fork'}”",
        _changes(view, chat, lines, fresh),
        tuple(fresh.values()),
        tuple(replace(one, branch=on[one.message]) for one in calls if one.message is not None),
        forky.actor,
        now(),
    )
    own = partial(_author, own=forky.actor, chat=chat)
    commits = with_authors(commit, chat, messages, view.version, author=own, says_so=False) if lines else []
    if running is not None:
        commits = running.marked(commits, view.version)
    done = forky.store.commit_all(commits) if commits else ()
    numbers = [operation.number for operation in done]
    requests = []
    for line in lines[:_MOST_REQUESTS]:
        into = line.branch if line.branch in view.branches else original.branch_name
        note = _note(chat, done, len(fresh), through)
        requests.append(_proposed(original, line.name, into, note))
        numbers.append(forky.store.view(home).version)
    return GivenBack(len(fresh), tuple(numbers), tuple(requests))


def propose_copy(
    forky: Workspace, home: ConversationId, fork: ConversationId, chat: Chat, *, through: str
) -> tuple[int, ...]:
    """Propose the branch that a fork ends with as a merge of another conversation; returns the requests' numbers.

    This is for a fork whose messages are copies of the original's with other ids: planning finds the originals.
    """
    original, own = forky.conversation(home), forky.conversation(fork, checked_out(chat) or None)
    into = own.branch_name if own.branch_name in original.branches else original.branch_name
    note = f"Given back from “{chat.title}” {through}."
    try:
        return (original.requests.open(own, into=into, note=note).number,)
    except InTheWay:
        waiting = (one for one in original.requests.all if one.state == "open" and one.graft is not None)
        return tuple(one.number for one in waiting if one.graft and one.graft.conversation == own.id)


def _lines(view: View, chat: Chat, messages: Mapping[MessageId, Message], below: str) -> Sequence[_Line]:
    """The branches of the fork that end with something the original does not show, the one that moved last first."""
    parents = parents_in(messages)
    visible = ancestors((tip for tip in view.tips if tip in messages), parents)
    theirs, experiments = chat.view, experiments_in(chat.view)
    first = checked_out(chat)
    tips = {
        name: branch.head
        for name, branch in sorted(theirs.branches.items(), key=lambda one: (one[0] != first, one[0]))
        if branch.head is not None
        and branch.head not in visible
        and not name.startswith(NEWS)
        and not is_cell(name, experiments)
    }
    taken, lines = set(view.branches), []
    for name, tip in tips.items():
        if any(tip != other and is_ancestor(tip, other, parents) for other in tips.values()):
            continue
        own = f"{below}fork-{chat.id[-6:]}/{name}"[:LONGEST_NAME]
        here = view.branches.get(own)
        if here is not None and (here.head is None or not is_ancestor(here.head, tip, parents)):
            own, here = free_name(own, taken), None
        taken.add(own)
        lines.append(_Line(name, own, here.head if here is not None else None, tip))
    return lines


def _changes(
    view: View, chat: Chat, lines: Sequence[_Line], fresh: Collection[MessageId]
) -> tuple[Change, ...]:
    rules = ((line, chat.entries.get(f"rules/{line.branch}")) for line in lines if line.head is None)
    erased = ((id, replace(one, operations={})) for id, one in chat.view.erasures.items() if id in fresh)
    return (
        *(
            Change(f"heads/{line.name}", view.entries.get(f"heads/{line.name}"), {"at": line.tip})
            for line in lines
        ),
        *(Change(f"rules/{line.name}", None, value) for line, value in rules if value is not None),
        *(Change(f"{ERASED}{id}", None, erasure.stored()) for id, erasure in erased),
    )


def _author(actor: str, own: str, chat: Chat) -> str:
    """The author of an operation of the fork. Who is called in both workspaces as I am here need not be me."""
    return f"{actor} ({chat.id[-6:]})" if actor in (own, "you") else actor


def _note(chat: Chat, done: Sequence[Operation], many: int, through: str) -> str:
    authors = list(dict.fromkeys(one.actor for one in done))
    by = ", ".join(authors[:3]) + (" and others" if len(authors) > 3 else "")
    size = "1 message" if many == 1 else f"{many} messages"
    return f"Given back from “{chat.title}”, a fork of this conversation, {through}. {size}" + (
        f", by {by}." if by else "."
    )


def _proposed(original: Conversation, branch: str, into: str, note: str) -> int:
    """Open the request, or have an open one propose what the branch has now; returns its number."""
    try:
        return original.requests.open(branch, into=into, note=note, strategy=FULL.name).number
    except InTheWay:
        number = next(
            one.number
            for one in original.requests.all
            if one.state == "open" and one.sources == (branch,) and one.into == into
        )
        with suppress(NothingToDo):
            original.requests.change(number, note=note)
        return number
