"""`chat.rules`: what a branch's requests are made with, its memory policy, its pins and its exclusions.

Each verb is one operation on the branch's rules: nothing forks, nothing is deleted, and undo reverts it (laws 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from forky_core.context.masking import turns_of
from forky_core.context.memory_policies import fit_memory, label_of
from forky_core.context.transcript import tool_closures
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.session import Session, branch_in, short
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_model, fit_parameters, fit_text
from forky_core.model import MessageId, Operation, Rules
from forky_core.model.errors import NothingToDo
from forky_core.model.memory import EVERYTHING, Memory
from forky_core.model.parts import Json

_Marks = Literal["pins", "exclusions"]


class BranchRules:
    """The rules of a branch. Changing them forks nothing and changes no message."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def current(self) -> Rules:
        """The rules as they are now: system prompt, model, parameters, memory, pins and exclusions."""
        return self._chat.branch.rules

    @property
    def memory(self) -> Memory:
        """The memory policy that applies to this branch: its own, or the conversation's."""
        view = self._chat.view
        return view.memory_of(view.branch(self._chat.branch_name).rules)

    def set(
        self,
        *,
        system: str | Unchanged | None = UNCHANGED,
        model: str | Unchanged | None = UNCHANGED,
        parameters: Mapping[str, Json] | Unchanged = UNCHANGED,
    ) -> Operation:
        """Change the system prompt, the model or the parameters that this branch's requests are made with.

        Raises NothingToDo if these are the rules already.
        """
        name, tx = self._chat.branch_name, self._session.require_not_trashed()
        before = rules = branch_in(tx.view, name).rules
        if not isinstance(system, Unchanged):
            rules = replace(rules, system=fit_text(system or "", "A system prompt").strip() or None)
        if not isinstance(model, Unchanged):
            rules = replace(rules, model=fit_model(model))
        if not isinstance(parameters, Unchanged):
            rules = replace(rules, parameters=fit_parameters(parameters))
        tx.set_rules(name, rules)
        what = ["system prompt"] * (rules.system != before.system)
        what += [f"model to {rules.model or 'the default'}"] * (rules.model != before.model)
        what += ["parameters"] * (rules.parameters != before.parameters)
        return tx.publish("rules", f"Set {' and '.join(what)} on “{name}”", unchanged="Nothing would change.")

    def exclude(self, *messages: str) -> Operation:
        """Exclude messages from every context of this branch; nothing is removed and nothing forks.

        A tool call is excluded with its results, and a result with its call. An excluded message is unpinned.

        Raises:
            NothingToDo: one is not on this branch, or all of them are excluded already.
        """
        ids, along = self._of_branch(messages)
        summary = f"Left {_which(ids)} out of “{self._chat.branch_name}”{along}"
        return self._mark("exclude", summary, ids, to="exclusions", out_of="pins")

    def include(self, *messages: str) -> Operation:
        """Include excluded messages again; a tool call comes with its results if they were excluded together."""
        ids = self._ids(messages)
        summary = f"Took {_which(ids)} back into “{self._chat.branch_name}”"
        return self._mark("include", summary, ids, out_of="exclusions")

    def pin(self, *messages: str) -> Operation:
        """Have every memory policy keep these messages, however old they are; excluded ones are included again."""
        ids, along = self._of_branch(messages)
        summary = f"Pinned {_which(ids)} on “{self._chat.branch_name}”{along}"
        return self._mark("pin", summary, ids, to="pins", out_of="exclusions")

    def unpin(self, *messages: str) -> Operation:
        """Let memory policies leave these messages out again."""
        ids = self._ids(messages)
        summary = f"Unpinned {_which(ids)} on “{self._chat.branch_name}”"
        return self._mark("unpin", summary, ids, out_of="pins")

    def set_memory(self, memory: Memory | None) -> Operation:
        """Set this branch's memory policy; None: use the conversation's.

        Raises:
            BadContent: there is no such policy.
            NothingToDo: it is the policy already.
        """
        return _set_memory(self._session, self._chat.branch_name, memory)

    def set_conversation_memory(self, memory: Memory) -> Operation:
        """Set the memory policy for branches that have none of their own."""
        return _set_memory(self._session, None, memory)

    def _ids(self, messages: Sequence[str]) -> list[MessageId]:
        return [self._chat.message(message).id for message in messages]

    def _of_branch(self, messages: Sequence[str]) -> tuple[list[MessageId], str]:
        """The ids of messages that this branch reads, and a clause that counts the other halves of their tool calls."""
        ids, session, branch = self._ids(messages), self._session, self._chat.branch_name
        path = session.path(session.branch(branch).head)
        shown = [
            turns_of(part, session.messages.__getitem__)
            for m in path
            for part in m.merges
            if part.brings_turns
        ]
        reach = {message.id for line in (path, *shown) for message in line}
        if not ids:
            raise NothingToDo("No message was named.")
        for id in ids:
            if id not in reach:
                raise NothingToDo(
                    f"Message {short(id)} is not in what “{branch}” reads.",
                    "Check the branch out that leads there.",
                )
        together: set[MessageId] = set()
        for line in (path, *shown):
            closures = tool_closures(line)
            together.update(*(closures[id] for id in ids if id in closures))
        many = len(together - set(ids))
        word = "message" if many == 1 else "messages"
        return ids, f", and with it {many} {word} of the same tool call" if many else ""

    def _mark(
        self, verb: str, summary: str, ids: Sequence[MessageId], *, out_of: _Marks, to: _Marks | None = None
    ) -> Operation:
        """Take messages out of one of the branch's marks, and add them to the other if it is named. Two people may do
        so at once without conflict, so a lost race is tried again.
        """

        def put() -> Operation:
            tx = self._session.require_not_trashed()
            rules = branch_in(tx.view, self._chat.branch_name).rules
            marks: dict[str, Any] = {out_of: tuple(id for id in getattr(rules, out_of) if id not in ids)}
            if to is not None:
                marks[to] = tuple(dict.fromkeys((*getattr(rules, to), *ids)))
            tx.set_rules(self._chat.branch_name, replace(rules, **marks))
            return tx.publish(verb, summary, unchanged="That is so already.")

        return with_a_free_key("rules/", put)


def _set_memory(session: Session, branch: str | None, memory: Memory | None) -> Operation:
    """Set a branch's memory policy (None: use the conversation's), or, without a branch, the conversation's own."""
    fit = replace(fit_memory(memory), model=fit_model(memory.model)) if memory is not None else None

    def put() -> Operation:
        tx = session.require_not_trashed()
        if branch is None:
            tx.set("memory", fit.stored() if fit is not None and fit != EVERYTHING else None)
            whose = "of the conversation"
        else:
            tx.set_rules(branch, replace(branch_in(tx.view, branch).rules, memory=fit))
            whose = f"of “{branch}”"
        said = (
            label_of(fit) if fit is not None else ("the conversation's" if branch else label_of(EVERYTHING))
        )
        return tx.publish("memory", f"Set the memory {whose} to {said}", unchanged="Nothing would change.")

    return with_a_free_key("rules/", put)


def _which(messages: Sequence[MessageId]) -> str:
    return short(messages[0]) if len(messages) == 1 else f"{len(messages)} messages"
