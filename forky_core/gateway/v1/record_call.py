"""`POST /v1/forky/record`: records a call that a program made itself, as if it had gone through the gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forky_core.conversation.recording.recording import Reply
from forky_core.formats.recorded_call import read_call
from forky_core.gateway.v1.recording import Caller
from forky_core.model.errors import BadContent
from forky_core.wire.chat import chat_call
from forky_core.wire.errors import malformed
from forky_core.wire.session_ids import named_session, session_ids

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace

PATH = "forky/record"


def record_call(forky: Workspace, caller: Caller, payload: dict[str, Any]) -> dict[str, Any]:
    """Record a call and return where it is stored. Raises ApiError (400) if it is malformed."""
    if not caller.token.records:
        return {"recorded": False, "why": "recording is off for this token"}
    try:
        told = read_call(payload)
        asked = chat_call(told.request)
    except BadContent as error:
        raise malformed(str(error), getattr(error, "where", None) or None) from error
    ids = named_session(told.session) or session_ids(caller.headers, told.request)
    client = f"{caller.token.name} ({told.client or caller.client})"
    recorded = [
        forky.record(
            asked,
            Reply(
                answer.parts,
                answer.finish_reason,
                answer.usage,
                answer.status,
                answer.failure,
                started=told.started,
                finished=told.finished or None,
                id=answer.id,
                provider_reason=answer.provider_reason,
            ),
            scope=caller.scope,
            client=client,
            ids=ids,
        )
        for answer in told.answers
    ]
    first = recorded[0]
    return {
        "recorded": True,
        "conversation": first.conversation,
        "branch": first.branch,
        "message": first.question,
        "replies": [one.answer for one in recorded if one.answer is not None],
    }
