"""The one entrance to every verb: its scope, the form of its arguments, its rate, and what was answered before.

MCP, HTTP and the command line all come this way, so that none of them refuses less than another.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from forky_core.conversation.merging.merge_request import REQUESTS
from forky_core.conversation.transaction import marked, marked_operation
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, Operation
from forky_core.model.errors import BadCall, NotAllowed, NotFound, there_are
from forky_core.verbs.parameters import read_params
from forky_core.verbs.registry import verbs
from forky_core.verbs.verb import RegisteredVerb, Result, VerbCaller

_KEPT = "verb/"
"""The beginning of the derived values that hold what was answered to a key."""
_WORDS = frozenset({"done", "draft"})
"""What is not stored with a key, since it repeats what was said, and what was said may be erased."""
_LONGEST_KEY = 200
_MINUTE = 60.0


class TooManyCalls(NotAllowed):
    """A caller writes faster than anybody could read."""


def verb_named(name: str) -> RegisteredVerb:
    """The verb of this name. Raises NotFound if there is none."""
    found = next((one for one in verbs() if one.name == name), None)
    if found is None:
        raise NotFound(f"There is no verb “{name[:60]}”.", there_are(one.name for one in verbs()))
    return found


def call(caller: VerbCaller, name: str, arguments: Mapping[str, Any]) -> Result:
    """Do what a verb says, for this caller.

    A call that changes something has an idempotency key; the same key of the same caller gets the first answer again,
    also after a restart.

    Raises:
        NotFound: there is no such verb, or no such thing within what the caller reaches.
        NotAllowed: the caller's scopes or rate do not allow it.
        BadCall: the arguments do not have the form of the verb's schema.
        ForkyError: whatever refuses the verb itself.
    """
    verb = verb_named(name)
    caller.require(verb.scope)
    params: Any = read_params(verb.params, arguments)
    if not verb.writes:
        return verb.run(caller, params)
    _RATES.count(caller, verb)
    found = _done_once(caller, verb, params)
    if verb.again is not None:
        found = verb.again(caller, found)
    request, branch = found.get("request"), str(found.get("into", found["branch"]))
    number = request if isinstance(request, int) else 0
    return found | caller.linked(str(found["conversation"]), branch, request=number)


def _done_once(caller: VerbCaller, verb: RegisteredVerb, params: Any) -> Result:
    """What a writing verb answers; for a key that was used before, what it answered then."""
    key = str(getattr(params, "key", ""))
    if not key:
        raise BadCall("A key needs some characters.", "key", "Any text that you have not used before.")
    if len(key) > _LONGEST_KEY:
        raise BadCall(f"A key has at most {_LONGEST_KEY} characters.", "key")
    digest = _digest(caller, verb, key)
    with _KEYS_LOCK:
        lock = _KEYS.setdefault(digest, threading.Lock())
    with lock:
        first = _answered(caller.forky, params, digest)
        if first is None:
            with marked(digest):
                first = verb.run(caller, params)
            conversation = ConversationId(str(first["conversation"]))
            kept = {name: value for name, value in first.items() if name not in _WORDS}
            caller.forky.store.keep_derived(conversation, {digest: json.dumps(kept)})
    return first


def _digest(caller: VerbCaller, verb: RegisteredVerb, key: str) -> str:
    named = json.dumps([caller.id, verb.name, key]).encode()
    return f"{_KEPT}{hashlib.blake2b(named, digest_size=16).hexdigest()}"


def _answered(forky: Workspace, params: Any, digest: str) -> Result | None:
    """The first answer to a key, if the conversation that it is about can still be seen."""
    store = forky.store
    for conversation, text in store.derived_under(digest).items():
        with suppress(NotFound, ValueError):
            store.view(conversation)
            found = json.loads(text)
            if isinstance(found, list):
                operation = marked_operation(store, conversation, text)
                return _told_of(forky, params, operation) if operation is not None else None
            if isinstance(version := found.get("version"), int):
                for operation in store.operations(conversation, after=version - 1)[:1]:
                    found["done"] = forky.name_of(operation.summary)
            return dict(found)
    return None


def _told_of(forky: Workspace, params: Any, operation: Operation) -> Result:
    """What can be answered of an operation whose process died before it had answered: its ids, and what was done."""
    changed = {change.key: change.after for change in operation.changes if change.after is not None}
    heads = {key.removeprefix("heads/"): at for key, at in changed.items() if key.startswith("heads/")}
    named = getattr(params, "branch", "")
    branch = named if named in heads or not heads else next(iter(heads))
    told: Result = {"conversation": operation.conversation, "branch": branch, "version": operation.number}
    told["done"] = forky.name_of(operation.summary)
    if isinstance(head := heads.get(branch), Mapping):
        told["head"] = head.get("at")
    asked = next((key.removeprefix(REQUESTS) for key in changed if key.startswith(REQUESTS)), "0")
    if number := getattr(params, "request", 0) or int(asked):
        told["request"] = number
    return told


class _Rates:
    """Counts the writing calls of each caller, by verb, in the last minute; in the memory of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: dict[tuple[str, str], deque[float]] = {}

    def count(self, caller: VerbCaller, verb: RegisteredVerb) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._times) > 10_000:
                self._times = {
                    name: times for name, times in self._times.items() if now - times[-1] < _MINUTE
                }
            times = self._times.setdefault((caller.id, verb.name), deque())
            while times and now - times[0] > _MINUTE:
                times.popleft()
            if len(times) >= verb.a_minute:
                wait = int(_MINUTE - (now - times[0])) + 1
                raise TooManyCalls(
                    f"“{caller.author}” has called “{verb.name}” {verb.a_minute} times in a minute.",
                    f"Try again in {wait} seconds.",
                )
            times.append(now)


_KEYS: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
"""A lock for each key that is being answered: calls with the same key wait for each other."""
_KEYS_LOCK = threading.Lock()
_RATES = _Rates()
