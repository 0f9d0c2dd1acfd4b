"""Graft: merge a branch of another conversation. Its messages are copied unchanged, so that their ids stay valid.

An id is the hash of a whole history, so a history has the same meaning in every conversation, and a second graft brings
only new messages. The conversation it came from is stored with the payload, never hashed. A conversation that contains
a graft of this one is refused: it would bring back this conversation's own content at second hand.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from threading import Event

from forky_core.conversation.identity import title_line
from forky_core.conversation.merging.merging import inputs_of, plan_of, statuses
from forky_core.conversation.merging.shared_copies import originals_of
from forky_core.conversation.session import Session, short
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import Graft, MergePlan
from forky_core.merge.strategies import strategy_named, validate_options
from forky_core.model import Branch, Message, MessageId
from forky_core.model.errors import BadContent, InTheWay, NothingToDo
from forky_core.model.graph import ancestors, first_parent_path, parents_in, topological_order
from forky_core.model.view import FORKED_FROM


def plan(
    session: Session,
    target: str,
    other: Session,
    source: str,
    options: MergeOptions,
    stop: Event | None = None,
) -> MergePlan:
    """What merging a branch of `other` would write.

    Raises:
        BadContent: it is this very conversation, or lies in another database; or the strategy cannot graft.
        InTheWay: it would make a cycle.
        NothingToDo: the branch is empty.
        SquashRejected, ModelError: as a merge.
    """
    validate_options(options)
    if not strategy_named(options.strategy).grafted:
        raise BadContent(
            f"A branch of another conversation cannot be merged by {options.strategy}.", "Squash it."
        )
    into, of = session.branch(target), other.branch(source)
    if other.id == session.id:
        raise BadContent("That is a branch of this conversation.", "Merge it.")
    if other.store is not session.store:
        raise BadContent("That conversation is in another database.", "Export it, and import it here.")
    if of.head is None:
        raise NothingToDo(f"“{source}” is empty: there is nothing to graft.")
    messages = ChainMap(dict(session.messages), dict(other.messages))
    _refuse_circle(session, other, of.head, messages)
    named = Branch(_called(other, source), of.head, of.rules)
    originals = _originals(session, into.head, other, of.head, messages)

    def parents_of(id: MessageId) -> tuple[MessageId, ...]:
        """The parents of a message, where the original of a copy stands for it."""
        return tuple(originals.get(parent, parent) for parent in messages[id].parents)

    inputs = replace(
        inputs_of(session, into, named),
        lookup=messages.__getitem__,
        parents_of=parents_of,
        statuses={**statuses(other), **statuses(session)},
    )
    planned = plan_of(session, [inputs], options, stop or Event())
    if originals and planned.lands:
        many = "1 message is a copy" if len(originals) == 1 else f"{len(originals)} messages are copies"
        note = f"{many} of what “{target}” has, as a link showed it: only what came after is merged."
        planned = replace(planned, warnings=(*planned.warnings, note))
    elif planned.lands and into.head is not None and not _share(into.head, of.head, messages):
        note = f"“{target}” and “{named.name}” share no message: two histories meet here."
        planned = replace(planned, warnings=(*planned.warnings, note))
    graft = Graft(other.id, source, _taken_in(session, planned, messages))
    return replace(planned, graft=graft, options=options)


def _called(other: Session, branch: str) -> str:
    title = title_line(other.view.title)
    return f"{branch} of {title}" if title else branch


def _originals(
    session: Session,
    target: MessageId | None,
    other: Session,
    source: MessageId,
    messages: Mapping[MessageId, Message],
) -> Mapping[MessageId, MessageId]:
    """The originals of the copies that a fork of a link to this conversation begins with; {} if it has none."""
    origin = other.view.entries.get(FORKED_FROM)
    if (
        target is None
        or not isinstance(origin, dict)
        or session.id not in (origin.get("id"), origin.get("of"))
    ):
        return {}

    def parents_of(id: MessageId) -> tuple[MessageId, ...]:
        return messages[id].parents

    order = topological_order([target], parents_of)
    known = frozenset(order)
    line = (messages[id] for id in first_parent_path(source, parents_of) if id not in known)
    return originals_of(line, [messages[id] for id in order], parents_of)


def _refuse_circle(
    session: Session, other: Session, head: MessageId, messages: Mapping[MessageId, Message]
) -> None:
    for id in ancestors((head,), parents_in(messages)):
        if any(merge.conversation == session.id for merge in messages[id].merges):
            raise InTheWay(
                f"“{title_line(other.view.title) or 'That conversation'}” took this one in ({short(id)}): taking it in"
                " here would make a circle.",
                "Go on there, or pick its messages from a branch that has not taken this one in.",
            )


def _share(target: MessageId, source: MessageId, messages: Mapping[MessageId, Message]) -> bool:
    def parents_of(id: MessageId) -> tuple[MessageId, ...]:
        return messages[id].parents

    return not ancestors((target,), parents_of).isdisjoint(ancestors((source,), parents_of))


def _taken_in(
    session: Session, planned: MergePlan, messages: Mapping[MessageId, Message]
) -> tuple[Message, ...]:
    """The messages that the plan builds on and that this conversation lacks, parents before children."""
    tips = [parent for one in planned.drafts for parent in one.parents if parent in messages]
    tips += [planned.fast_forward] if planned.fast_forward is not None else []
    # With an empty target there is no side parent that leads to them: the merge names them, so they must be stored.
    tips += [MessageId(s) for one in planned.drafts for s in one.draft.sources if MessageId(s) in messages]
    own = session.messages
    order = topological_order(tips, parents_in(messages))
    return tuple(messages[id] for id in order if id not in own)
