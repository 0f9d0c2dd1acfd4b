"""Records what programs ask of models: arrays are matched, new messages are stored, and answers are added.

A question is one operation and its answer another, undone together; a completed call is one. After a lost race the call
is matched again, so that two programs which extend one path at once share common messages and branch where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import TypeVar

from forky_core.conversation.identity import new_id, now, title_from, title_line
from forky_core.conversation.recording.filing import (
    FiledCall,
    Ground,
    keep_files,
    kept_parameters,
    other_spellings,
    put,
    tools_hash,
)
from forky_core.conversation.recording.recording import Recorded, Recording, Reply
from forky_core.conversation.recording.reusing import reused_generation, stored_answer, wants_reuse
from forky_core.conversation.recording.scopes import SCOPE, Scopes
from forky_core.conversation.recording.session_places import FoundPlace, SessionPlaces
from forky_core.conversation.recording.trimmed import TrimmedSearch
from forky_core.conversation.session import Session
from forky_core.conversation.transaction import Transaction, after_races
from forky_core.matching.finding import IsEnough, PlaceMatch
from forky_core.matching.keys import prompt_hash
from forky_core.model import (
    EMPTY_VIEW,
    ConversationId,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
)
from forky_core.model.errors import Outdated
from forky_core.model.generation import RESPELLED
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json, Part, canonical_json
from forky_core.store.contract import Store
from forky_core.text.surroundings import program_in, spoken, working_folder
from forky_core.wire.call import Call, text_of_turn
from forky_core.wire.session_ids import SessionIds

T = TypeVar("T")
NO_MESSAGES: Mapping[MessageId, Message] = MappingProxyType({})
_STRIPES = 64


class Recorder:
    """Records programs' calls. Safe from any thread."""

    def __init__(
        self,
        repo_of: Callable[[ConversationId], Session],
        store: Store,
        below: str = "",
        owner: str = "",
    ) -> None:
        """`below` is what the names of the branches begin with on which calls are recorded; `owner` is the member of a
        team whose calls they are.
        """
        self._repo_of = repo_of
        self._below = below
        self._store = store
        self._scopes = Scopes(store, owner)
        self._places = SessionPlaces(repo_of, store, self._scopes, below)
        self._locks = tuple(Lock() for _ in range(_STRIPES))
        self._tools: set[tuple[ConversationId, str]] = set()
        """Tools that are stored already."""

    def begin(
        self,
        call: Call,
        scope: str,
        client: str,
        conversation: ConversationId | None,
        *,
        reuse: bool | None,
        ids: SessionIds | None = None,
    ) -> Recording:
        """Store an array and start recording its answer, or return a stored answer.

        `ids` name the program's session.
        """
        asked = _asked(call, client)

        def write(found: FoundPlace) -> Recording:
            view = found.session.view if found.version else EMPTY_VIEW
            looked = wants_reuse(call.parameters, view, asked=reuse)
            generation = replace(asked, looked=looked, parameters=_with_spellings(asked, found))
            stored = (
                stored_answer(found.session, asked.prompt, call.model) if looked and found.version else None
            )
            if stored is None:
                recorded = self._write(found, scope, generation)
                return self._open(found.session, recorded, generation)
            again = reused_generation(generation, stored[0])
            recorded = self._write(found, scope, again, found.session.message(stored[1]).parts)
            return Recording(found.session, recorded, again, None, self.another)

        return self._in_turn(call, scope, conversation, write, ids)

    def record(
        self,
        call: Call,
        reply: Reply,
        scope: str,
        client: str,
        conversation: ConversationId | None,
        ids: SessionIds | None = None,
    ) -> Recorded:
        """Record a completed call, as one operation. `ids` name the program's session."""
        asked = _asked(call, client)
        generation = replace(
            asked,
            id=GenerationId(reply.id or asked.id),
            status=reply.status,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            provider_reason=reply.provider_reason,
            failure=reply.failure,
            started=reply.started or asked.started,
            first_token=reply.first_token,
            finished=reply.finished or now(),
        )

        def write(found: FoundPlace) -> Recorded:
            spelled = replace(generation, parameters=_with_spellings(asked, found))
            return self._write(found, scope, spelled, reply.parts)

        return self._in_turn(call, scope, conversation, write, ids)

    def another(self, recording: Recording) -> Recording:
        """Start recording one more answer to the same question."""
        generation = replace(recording.asked, id=GenerationId(new_id()), started=now())
        recording.session.store.record(recording.session.id, generation)
        return self._open(recording.session, recording.recorded, generation)

    def _open(self, session: Session, recorded: Recorded, generation: Generation) -> Recording:
        target = recorded.target
        stored = replace(generation, branch=target.branch, parent=target.parent)
        return Recording(
            session, recorded, stored, session.replies.open(target, stored, store=session.store), self.another
        )

    def _in_turn(
        self,
        call: Call,
        scope: str,
        conversation: ConversationId | None,
        work: Callable[[FoundPlace], T],
        ids: SessionIds | None = None,
    ) -> T:
        """Match the call and run `work` on the result; after a lost race, match again."""
        opening = self._scopes.opening(scope, call.turns)
        alone = conversation or ((scope, *ids.all)[-1] if ids is not None else opening)
        with self._locks[hash(alone) % _STRIPES]:
            return after_races(lambda: work(self._find(call, scope, opening, conversation, ids)))

    def _find(
        self,
        call: Call,
        scope: str,
        opening: str,
        conversation: ConversationId | None,
        ids: SessionIds | None = None,
    ) -> FoundPlace:
        if conversation is not None:
            return self._look_into(conversation, call)
        if ids is not None and (place := self._places.find(call, scope, ids)) is not None:
            return place
        rewritten = ids is not None
        opened = [self._look_into(id, call, rewritten=rewritten) for id in self._scopes.opened(opening)]
        if not opened and any(turn.role == "assistant" for turn in call.turns):
            opened = self._find_trimmed(call, scope, rewritten=rewritten)
        if ids is not None:
            return self._places.begin(call, scope, ids, opened)
        if opened:
            return max(opened, key=lambda found: found.match.known - found.match.skipped)
        return FoundPlace(self._repo_of(ConversationId(new_id())), PlaceMatch(None, 0), 0, call)

    def _find_trimmed(self, call: Call, scope: str, *, rewritten: bool = False) -> list[FoundPlace]:
        """The conversations of the scope that a call with a trimmed, or rewritten, head may continue."""
        search = TrimmedSearch(self._store, self._scopes, scope)
        looked = [
            self._look_into(id, call, partial(search.is_enough, id), rewritten=rewritten)
            for id in search.conversations(call.turns)
        ]
        return [found for found in looked if found.match.message is not None]

    def _look_into(
        self, id: ConversationId, call: Call, is_enough: IsEnough | None = None, *, rewritten: bool = False
    ) -> FoundPlace:
        session = self._repo_of(id)
        version = session.view.version
        return FoundPlace(session, session.match(call.turns, is_enough, rewritten=rewritten), version, call)

    def _write(
        self, found: FoundPlace, scope: str, generation: Generation, reply: tuple[Part, ...] = ()
    ) -> Recorded:
        """Write one transaction. Raises Outdated if the conversation has changed since it was matched."""
        session, match, call = found.session, found.match, found.call
        keep_files(self._store, call, match.known)
        tx = self._transaction(found, generation.client)
        ground = Ground(
            session.id,
            lambda: session.messages if found.version else NO_MESSAGES,
            lambda: session.visible,
            below=self._below,
            branch=found.branch,
            forks=found.forks,
        )
        stood = put(tx, ground, call, match, reply, aside=found.aside)
        if not found.version or (found.keys and SCOPE not in tx.view.entries and not self._below):
            tx.set(SCOPE, self._scopes.named(scope))  # A session that a file began is now this token's, too.
        if not found.version:
            told = (call.system or "", *(text_of_turn(turn) for turn in call.turns[:4]))
            tx.set(
                "program", program_in(generation.client, working_folder(told)) if generation.client else None
            )
            if not found.keys:
                tx.set(self._scopes.opening(scope, call.turns), True)
        for key in found.keys if not found.version or not self._below else ():
            # A token that only proposes changes no key that it did not make: its sessions are found by what they say.
            tx.set(key, stood.target.branch or tx.view.entries.get(key, ""))
        for spelled in other_spellings(call, match).values():
            tx.derived[f"sent/{content_hash(spelled)}"] = spelled
        tx.generations.append(
            replace(generation, branch=stood.target.branch, parent=stood.target.parent, message=stood.answer)
        )
        self._keep_tools(tx, call)
        operation = self._publish(tx, found, stood)
        target = replace(stood.target, group=operation.number if operation is not None else None)
        return Recorded(target, stood.answer, match.known, match.skipped, not found.version, operation)

    def _transaction(self, found: FoundPlace, client: str) -> Transaction:
        actor = client or found.session.actor
        if not found.version:
            return Transaction(self._store, found.session.id, EMPTY_VIEW, actor)
        tx = found.session.require_not_trashed(alone=True)
        tx.actor = actor
        if tx.view.version != found.version:
            raise Outdated("The conversation has changed meanwhile.", None)
        return tx

    def _publish(self, tx: Transaction, found: FoundPlace, stood: FiledCall) -> Operation | None:
        if not tx.changes and not stood.fresh:
            for generation in tx.generations:
                self._store.record(tx.conversation, generation)
            return None
        said = next((title_from(words) for one in reversed(stood.fresh) if (words := spoken(one.text))), "")
        if found.aside:
            return tx.publish("create" if not found.version else "ask", f"Asked aside: {said}")
        where = f"“{stood.target.branch}”" if stood.target.branch else "an earlier question"
        if not stood.fresh:
            return tx.publish("reply", f"Answered on {where}")
        verb = "ask" if found.version else "create"
        return tx.publish(verb, f"Asked on {where}: {said}" if said else f"Wrote on {where}")

    def _keep_tools(self, tx: Transaction, call: Call) -> None:
        """Store the available tools, once for each conversation, outside its history."""
        if not call.tools:
            return
        name = tools_hash(call)
        if (tx.conversation, name) not in self._tools and tx.changes:
            self._tools.add((tx.conversation, name))
            tx.derived[f"tools/{name}"] = canonical_json(list(call.tools))


def _with_spellings(asked: Generation, found: FoundPlace) -> Mapping[str, Json]:
    """The parameters of a call, with the keys of what it sends in the place of messages that are spelled otherwise."""
    spelled = other_spellings(found.call, found.match)
    if not spelled:
        return asked.parameters
    return {**asked.parameters, RESPELLED: {id: content_hash(text) for id, text in spelled.items()}}


def _asked(call: Call, client: str) -> Generation:
    """The generation of a call that begins now."""
    return Generation(
        GenerationId(new_id()),
        "",
        None,
        call.model,
        "running",
        parameters=kept_parameters(call),
        started=now(),
        prompt=prompt_hash(call),
        client=title_line(client),
    )
