"""A merge being planned in this tab: what was wished for, the plan that came of it, and what stands in its way.

The wish is in the URL; the plan is remade when the wish changes, or when a branch moves. A text that a person has
edited, or a model has written, is never thrown away by that: the page says what came first and waits (law 8).
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import streamlit as st

from forky_core.errors import ForkyError
from forky_core.merge.model_squash import SquashRejected
from forky_core.merge.plan import MergePlan
from forky_core.model import ConversationId, MessageId
from forky_core.parts import Strategy
from forky_core.repo.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Wish:
    """What the URL asks for."""

    conversation: ConversationId
    target: str
    source: str
    strategy: Strategy = "squash"
    focus: str = ""
    budget: int | None = None
    """Tokens of a squash; None: the usual share."""
    writer: str | None = None
    """The model that writes a squash; None: lines are quoted without one."""
    picks: tuple[MessageId, ...] = ()
    force: bool = False
    """A merge message where a fast-forward would do."""


@dataclass(slots=True)
class Planning:
    """One wish and what has come of it so far."""

    wish: Wish
    proposed: MergePlan | None = None
    """The plan before anybody edited it."""
    plan: MergePlan | None = None
    """What landing would write."""
    sentence: str = ""
    """Why there is no plan."""
    quoted: MergePlan | None = None
    """The plan without a model, while one is to write it."""
    writing: Future[MergePlan] | None = None
    rejected: SquashRejected | None = None
    failed: str = ""
    """Why the model did not answer."""
    overtaken: str = ""
    """What moved a branch since the plan was made; landing waits until it is planned again."""

    @property
    def edited(self) -> bool:
        return self.plan is not self.proposed

    def take(self, plan: MergePlan) -> None:
        """Propose this plan."""
        self.proposed = self.plan = plan
        self.rejected, self.failed = None, ""

    def settle(self) -> None:
        """Take in what the model wrote, once it is there."""
        writing, self.writing = self.writing, None
        assert writing is not None
        try:
            self.take(writing.result())
        except SquashRejected as error:
            self.rejected = error
        except ForkyError as error:
            self.failed = str(error)


def planning(held: Planning | None, chat: Conversation, wish: Wish) -> Planning:
    """The planning of this wish: the one at hand where it still holds, else a new one. `chat` is on the target."""
    if held is None or held.wish != wish:
        return plan_anew(chat, wish)
    made = held.plan or held.quoted
    if made is None or held.overtaken or _as_it_was(chat, made):
        return held
    if held.edited or held.writing is not None or (made.block is not None and made.block.made_by):
        held.overtaken = "A branch has moved since this preview was made."
        return held
    return plan_anew(chat, wish)


def _as_it_was(chat: Conversation, plan: MergePlan) -> bool:
    branches = chat.branches
    return all(name in branches and branches[name].head == head for name, head in plan.expected_heads.items())


def plan_anew(chat: Conversation, wish: Wish) -> Planning:
    """A plan without a model; one that a model shall write is only begun when the person says so."""
    made = Planning(wish)
    try:
        plan = _plan(chat, wish, None)
    except ForkyError as error:
        made.sentence = str(error)
        return made
    if wish.writer is not None and wish.strategy == "squash" and plan.drafts:
        made.quoted = plan
    else:
        made.take(plan)
    return made


def begin_writing(held: Planning, chat: Conversation) -> None:
    """Ask the model for the squash, in the background: it goes on whatever the person clicks meanwhile."""
    held.rejected, held.failed = None, ""
    held.writing = _writers().submit(_plan, chat, held.wish, held.wish.writer)


def _plan(chat: Conversation, wish: Wish, model: str | None) -> MergePlan:
    return chat.plan_merge(
        wish.source,
        strategy=wish.strategy,
        picks=wish.picks,
        focus=wish.focus,
        budget=wish.budget,
        model=model,
        force=wish.force,
    )


@st.cache_resource(show_spinner=False)
def _writers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="squash")
