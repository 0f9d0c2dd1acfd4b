"""A conversation with one of its branches checked out: the object that a person, a page or a script works with.

It has no state but the branch's name; everything else is read on each call, so that any number of handles, tabs and
threads agree. Checking out changes nothing and is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Unpack

from forky_core.conversation import branching, history, stashing
from forky_core.conversation.branching import UNCHANGED, PrunePlan, Unchanged
from forky_core.conversation.documenting import Documenting
from forky_core.conversation.history import RestorePlan
from forky_core.conversation.identity import title_line
from forky_core.conversation.merging import (
    bisecting,
    grafting,
    landing,
    merging,
    rebasing,
    replaying,
    reverting,
)
from forky_core.conversation.merging.agreeing import Agreeing
from forky_core.conversation.merging.bisecting import Bisection, Check
from forky_core.conversation.merging.decisions import chosen_of
from forky_core.conversation.merging.failures import merge_step
from forky_core.conversation.merging.replaying import RebaseReplay
from forky_core.conversation.merging.reverting import RevertPlan
from forky_core.conversation.people.gathering import Gathering
from forky_core.conversation.recording.receiving import Receiving
from forky_core.conversation.replies.speaking import Speaking
from forky_core.conversation.stashing import Applied
from forky_core.conversation.steering import Steering
from forky_core.merge.claims.conflict_resolution import Choice, Policy
from forky_core.merge.options import NO_CHOICES, MergeOptionFields, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.rebase import RebasePlan
from forky_core.model import (
    Message,
    Operation,
    Stash,
)
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import Json
from forky_core.model.payload_kinds import SQUASH


class Conversation(Speaking, Steering, Documenting, Gathering, Receiving, Agreeing):
    """One conversation with one of its branches checked out."""

    # Branches

    def fork(self, name: str | None = None, *, at: str | None = None) -> Conversation:
        """Create a branch at `at` (default: the head) and check it out. Copies no message."""
        point = self._point(at)
        return self.checkout(branching.fork(self._repo, name, point, self.rules))

    def begin(self, name: str | None = None) -> Conversation:
        """Create an empty branch with the rules of this one and check it out."""
        return self.checkout(branching.fork(self._repo, name, None, self.rules))

    def rename_branch(self, new: str) -> Conversation:
        self.branch_name = branching.rename(self._repo, self.branch_name, new)
        return self

    def delete_branch(self, name: str | None = None) -> Operation:
        return branching.delete(self._repo, name or self.branch_name)

    def promote(self, message: str) -> Operation:
        """Point the branch at another message, such as the better answer. Its former head stays visible."""
        return branching.promote(self._repo, self.branch_name, self.message(message).id)

    def tag(self, name: str, at: str | None = None) -> Operation:
        target = self.message(at) if at is not None else self.head
        if target is None:
            raise NothingToDo("There is nothing to tag yet.")
        return branching.tag(self._repo, name, target.id)

    def untag(self, name: str) -> Operation:
        return branching.untag(self._repo, name)

    def set_rules(
        self,
        *,
        system: str | Unchanged | None = UNCHANGED,
        model: str | Unchanged | None = UNCHANGED,
        parameters: Mapping[str, Json] | Unchanged = UNCHANGED,
    ) -> Operation:
        """Change the rules that this branch's requests are made with; nothing forks and no message changes."""
        return branching.set_rules(self._repo, self.branch_name, system, model, parameters)

    def plan_prune(self, message: str) -> PrunePlan:
        """What hiding this message and everything below it would do. Writes nothing (law 8)."""
        return branching.plan_prune(self._repo, self.message(message).id)

    def prune(self, plan: PrunePlan) -> Operation:
        return branching.prune(self._repo, plan)

    # Merging

    @merge_step("plan")
    def plan_merge(  # noqa: PLR0913 - each argument is a choice of the person
        self,
        source: Conversation | str | Sequence[Conversation | str],
        *,
        strategy: str = SQUASH.name,
        picks: Sequence[str] = (),
        focus: str = "",
        budget: int | None = None,
        model: str | None = None,
        force: bool = False,
        again: bool = False,
        reread: bool = False,
        policy: Policy = "ask",
        choices: Mapping[str, Choice | None] = NO_CHOICES,
        stop: Event | None = None,
    ) -> MergePlan:
        """What merging a branch (or picked messages of it) into this one would write. Writes nothing (law 8).

        Several sources make an octopus: one message with a payload for each source, as a squash or in full; a three-way
        merge has one payload for all. The plan's `contradictions` are places where the branches cannot both be right,
        `corrects` what it changes of earlier merges.

        `budget` is in tokens. With a `model`, a squash is written by it and checked; without, by extraction. `force`
        makes a merge message where a fast-forward would do. `again` ignores earlier merges of the same source: use it
        after one was reverted. In a three-way merge, `choices` resolves conflicts by key or hash, `policy` resolves the
        others, and a model, if one is named, finds the claims. A model's readings are cached, and only new messages are
        read; `reread` ignores the cache. Setting `stop` cancels a model's call.

        Raises:
            SquashRejected: the model's summary failed a check.
            ModelError: the model did not answer.
        """
        picked = tuple(self.message(pick).id for pick in picks)
        wish = MergeOptions(strategy, picked, focus, budget, model, force, again, reread, policy, choices)
        sources = [source] if isinstance(source, Conversation | str) else source
        names = [one if isinstance(one, str) else one.branch_name for one in sources]
        if any(one.id != self.id for one in sources if isinstance(one, Conversation)):
            raise BadContent("That is a branch of another conversation.", "Graft it: plan_graft.")
        if len(names) == 1:
            return merging.plan(self._repo, self.branch_name, names[0], wish, stop)
        return merging.plan_octopus(self._repo, self.branch_name, names, wish, stop)

    @merge_step("land")
    def merge(self, plan: MergePlan) -> Operation:
        """Land a plan as one operation.

        Raises:
            Outdated: one of the branches has moved since the plan was made; nothing was written.
            NothingToDo: there is nothing to bring.
        """
        return landing.land(self._repo, plan)

    @merge_step("plan")
    def plan_graft(
        self, source: Conversation, *, stop: Event | None = None, **chosen: Unpack[MergeOptionFields]
    ) -> MergePlan:
        """What merging a branch of another conversation would write; `merge` lands it. Options as in `plan_merge`.

        Its messages are copied unchanged, so that their ids stay valid. Picks are messages of that conversation.

        Raises:
            InTheWay: that conversation contains a graft of this one, so this graft would make a cycle.
        """
        wish = chosen_of(MergeOptions(force=True), source._repo, chosen)
        return grafting.plan(self._repo, self.branch_name, source._repo, source.branch_name, wish, stop)

    @merge_step("plan")
    def plan_rebase(self, onto: Conversation | str) -> RebasePlan:
        """What moving this branch's own messages onto another branch, or onto a message, would do. Writes nothing.

        `rebase` copies the messages unchanged; `replay` asks their questions again.
        """
        name = onto if isinstance(onto, str) else onto.branch_name
        return rebasing.plan(self._repo, self.branch_name, name)

    @merge_step("land")
    def rebase(self, plan: RebasePlan) -> Operation:
        """Land a plan: the copies refer to their originals, and the former head stays visible.

        Raises:
            Outdated: one of the branches has moved since the plan was made; nothing was written.
            NothingToDo: the branch is there already.
        """
        return rebasing.land(self._repo, plan)

    def replay(self, plan: RebasePlan, *, model: str | None = None) -> RebaseReplay:
        """Rebase by asking the branch's questions again, in the background; `summary` reports the progress.

        Raises:
            Outdated: the branch has moved since the plan was made; nothing was written.
            NothingToDo: it has no answered question of its own.
        """
        return replaying.replay(self._repo, plan, model)

    @merge_step("plan")
    def plan_revert(self, *messages: str, note: str = "") -> RevertPlan:
        """What reverting messages of this branch would do: merges, picks, turns, or an earlier revert.

        The model reads `note` in their place. Raises NothingToDo if all of them are reverted already.
        """
        ids = [self.message(message).id for message in messages]
        return reverting.plan_revert(self._repo, self.branch, ids, note)

    @merge_step("land")
    def revert(self, plan: RevertPlan) -> Message:
        """Land a plan as one message. Contexts of messages below it leave the targets out.

        Raises:
            Outdated: the branch has moved since the plan was made; nothing was written.
        """
        return reverting.revert(self._repo, plan)

    def bisection(self, *, good: str | None = None, bad: str | None = None) -> Bisection:
        """Start a manual search for the first message from which something fails.

        Probe at `.at`, continue with `.told(passed)` until `.first` is known, then call `record_bisection`. `good` is a
        message known to pass (default: before the first), `bad` one that fails (default: the head).
        """
        points = [self.message(id).id if id is not None else None for id in (good, bad)]
        return bisecting.begin(self._repo, self.branch, points[0], points[1])

    def bisect(
        self,
        question: str,
        check: Check,
        *,
        good: str | None = None,
        bad: str | None = None,
        repeats: int = 1,
        model: str | None = None,
        on_probe: Callable[[Bisection], None] | None = None,
        stop: Event | None = None,
    ) -> Bisection:
        """Find the first message from which a model's answer to `question` fails `check`, and record it in the log.

        Each probe asks outside the conversation, `repeats` times (odd), and the majority counts; there are about log₂ n
        probes.

        Raises:
            NothingToDo: it passes at the end; or `stop` was set.
            ModelError: the model did not answer; nothing was written.
        """
        asked = bisecting.BisectQuestion(question, check, repeats, model)
        search = self.bisection(good=good, bad=bad)
        found = bisecting.run(self._repo, self.branch, search, asked, on_probe=on_probe, stop=stop)
        bisecting.record(self._repo, found, question)
        return found

    def record_bisection(self, search: Bisection, what: str = "") -> Operation:
        """Record the result of a manual search in the log. Raises NothingToDo if the search is not finished."""
        return bisecting.record(self._repo, search, what)

    # Stashing

    def stash(
        self,
        *,
        draft: str = "",
        attachments: Sequence[str] = (),
        with_rules: bool = False,
        last: int = 0,
        note: str = "",
    ) -> Stash:
        """Stash a draft, its attachments (sha256 each), the branch's settings, or its last messages."""
        return stashing.stash(
            self._repo,
            self.branch_name,
            draft=draft,
            attachments=attachments,
            with_rules=with_rules,
            last=last,
            note=note,
        )

    def stash_apply(self, number: int) -> Applied:
        return stashing.apply(self._repo, self.branch_name, number, drop=False)

    def stash_pop(self, number: int) -> Applied:
        return stashing.apply(self._repo, self.branch_name, number, drop=True)

    def stash_drop(self, number: int) -> Operation:
        return stashing.drop(self._repo, number)

    # History and the conversation itself

    def undo(self) -> Operation:
        """Undo the last gesture. A reply that is being written is stopped first."""
        return history.undo(self._repo)

    def redo(self) -> Operation:
        return history.redo(self._repo)

    def plan_restore(self, number: int) -> RestorePlan:
        """What `restore` would change. Writes nothing (law 8)."""
        return history.plan_restore(self._repo, number)

    def restore(self, number: int) -> Operation:
        """Restore the whole conversation to its state after operation `number`."""
        return history.restore(self._repo, number)

    def rename(self, title: str) -> Operation:
        line = title_line(title)
        if not line:
            raise NothingToDo("A conversation needs a title.", "Type a word or two.")
        tx = self._repo.live()
        tx.set("title", line)
        if not tx.changes:
            raise NothingToDo(f"It is called “{line}” already.")
        return tx.publish("rename", f"Renamed the conversation to “{line}”")

    def trash(self) -> Operation:
        """Move the conversation to the trash; `take_back` restores it."""
        history.settle(self._repo)
        tx = self._repo.live()
        tx.set("trashed", True)
        return tx.publish("trash", "Moved to the trash")

    def take_back(self) -> Operation:
        """Restore the conversation from the trash."""
        tx = self._repo.change()
        tx.set("trashed", None)
        if not tx.changes:
            raise NothingToDo("This conversation is not in the trash.")
        return tx.publish("take back", "Taken back from the trash")
