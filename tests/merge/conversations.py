"""Small conversations for merge tests, written as lines of "role: text" below a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Literal, cast

from forky_core.context.account import Context
from forky_core.context.build import build_context
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge, plan_octopus
from forky_core.model import Message, MessageId, Rules, seal
from forky_core.model.parts import Draft, Part, TextPart
from tests.context.validity import problems

_CHOSEN = frozenset(field.name for field in fields(MergeOptions)) - {"strategy"}

Role = Literal["system", "user", "assistant", "tool"]


class Talk:
    """Messages by id, and the heads of branches by name."""

    def __init__(self) -> None:
        self.messages: dict[MessageId, Message] = {}
        self.heads: dict[str, MessageId | None] = {"main": None}

    def add(self, branch: str, draft: Draft, *, at: MessageId | None = None, hidden: bool = False) -> Message:
        parent = at if at is not None else self.heads.get(branch)
        message = seal(draft, (parent,), hidden=hidden)
        self.messages[message.id] = message
        self.heads[branch] = message.id
        return message

    def say(self, branch: str, *lines: str, at: MessageId | None = None) -> Message:
        """Each line "user: …", "assistant: …"; the first below `at`, else below the branch's head."""
        message: Message | None = None
        for line in lines:
            role, _, text = line.partition(": ")
            message = self.add(branch, Draft(cast("Role", role), (TextPart(text),)), at=at)
            at = None
        assert message is not None
        return message

    def parts(self, branch: str, role: Role, *parts: Part) -> Message:
        return self.add(branch, Draft(role, parts))

    def parents_of(self, id: MessageId) -> Sequence[MessageId]:
        return self.messages[id].parents

    def path(self, branch: str) -> tuple[Message, ...]:
        path: list[Message] = []
        at = self.heads[branch]
        while at is not None:
            path.append(self.messages[at])
            at = self.messages[at].parent
        return tuple(reversed(path))

    def context(self, branch: str) -> Context:
        return build_context(
            self.path(branch), Rules(), lookup=self.messages.__getitem__, count_tokens=estimate_tokens
        )

    def plan(self, strategy: str = "full", **more: Any) -> MergePlan:
        """Of merging `debug` into `main`, unless told otherwise."""
        target, source = more.pop("target", "main"), more.pop("source", "debug")
        options = MergeOptions(strategy, **{name: more.pop(name) for name in _CHOSEN & more.keys()})
        return plan_merge(self.place(target, source, **more), options)

    def place(self, target: str, source: str, **more: Any) -> MergeInputs:
        head = self.heads[source]
        assert head is not None
        return MergeInputs(
            self.heads[target],
            head,
            target,
            source,
            lookup=self.messages.__getitem__,
            parents_of=self.parents_of,
            count_tokens=estimate_tokens,
            **more,
        )

    def octopus(self, strategy: str, *sources: str, target: str = "main", **more: Any) -> MergePlan:
        return plan_octopus(
            [self.place(target, source) for source in sources], MergeOptions(strategy, **more)
        )

    def land(self, plan: MergePlan) -> list[Message]:
        """Seal the drafts and move the branch: its context can be sent, and has grown by what the plan said."""
        before = self.context(plan.target_name).tokens
        landed = [seal(planned.draft, planned.parents) for planned in plan.drafts]
        self.messages.update((message.id, message) for message in landed)
        if plan.lands:
            self.heads[plan.target_name] = landed[-1].id if landed else plan.fast_forward
        after = self.context(plan.target_name)
        assert after.tokens == before + plan.tokens
        assert problems(after.messages) == []
        return landed

    def sent(self, branch: str) -> str:
        return "\n".join(f"{m['role']}: {m['content']}" for m in self.context(branch).messages)


def forked() -> Talk:
    """`main` and `debug` share a question and its answer; each went on by a turn."""
    talk = Talk()
    shared = talk.say("main", "user: How does the build work?", "assistant: It runs codegen first.")
    talk.say("debug", "user: Why does codegen fail on enums?", at=shared.id)
    talk.say("debug", "assistant: Because enum_table.py reads port 8080. Set ENUM_BASE=16 to fix it.")
    talk.say("main", "user: And the tests?", "assistant: They run after it.")
    return talk


def texts(messages: Iterable[Message]) -> list[str]:
    return [message.text for message in messages]
