"""The vocabulary: everything that Forky logs and counts, each event once, with its fields.

A new event is a function here and a line of the table in docs/observing.md; a test compares the two. No field may hold
text of a conversation, a title, the name of a branch, a file or a person, an address or a key.
"""

from __future__ import annotations

from logging import DEBUG, ERROR, WARNING

from forky_core.process.fields import (
    Bytes,
    CodeText,
    Count,
    Dollars,
    FailureWord,
    Fault,
    Flag,
    Id,
    Model,
    Seconds,
    TokenName,
    Word,
    Words,
)
from forky_core.process.vocabulary import event

# Changes of conversations


@event("operation.published")
def operation_published(*, conversation: Id, number: Count, verb: Word, seconds: Seconds) -> None:
    """A change of a conversation was published; `number` is the operation's in its log."""


@event("operation.outdated")
def operation_outdated(*, conversation: Id, verb: Word) -> None:
    """A change was refused because another one came first; nothing was written."""


@event("merge.failed", WARNING)
def merge_failed(*, conversation: Id, step: Word, fault: Fault) -> None:
    """A merge, rebase or revert could not be planned or landed, for a reason other than a person's mistake."""


@event("protection.gone", WARNING)
def protection_gone(*, conversations: Count) -> None:
    """An earlier version protected branches of so many conversations; the rules are kept and no longer apply."""


# Replies and models


@event("reply.started")
def reply_started(*, conversation: Id, generation: Id, model: Model, recorded: Flag) -> None:
    """A model began to answer; `recorded` marks an answer to another program that Forky stores."""


@event("reply.ended")
def reply_ended(  # noqa: PLR0913 - what there is to know of a reply
    *,
    conversation: Id,
    generation: Id,
    model: Model,
    state: Word,
    seconds: Seconds,
    recorded: Flag,
    first_word: Seconds | None = None,
    prompt_tokens: Count | None = None,
    completion_tokens: Count | None = None,
    cached_tokens: Count | None = None,
    reasoning_tokens: Count | None = None,
    cost: Dollars | None = None,
) -> None:
    """A reply has ended: done, stopped, interrupted or failed."""


@event("reply.failed", WARNING)
def reply_failed(
    *, conversation: Id, generation: Id, model: Model, kind: FailureWord, fault: Fault | None = None
) -> None:
    """Why a reply failed or was cut off; comes before its `reply.ended`."""


@event("reply.unsaved", ERROR)
def reply_unsaved(*, conversation: Id, generation: Id, fault: Fault) -> None:
    """The progress of a reply, or its end, could not be saved."""


@event("reply.recovered", WARNING)
def reply_recovered(*, conversation: Id, generation: Id) -> None:
    """A reply that a crash had interrupted was recovered and marked as interrupted."""


@event("model.called")
def model_called(
    *,
    model: Model,
    state: Word,
    seconds: Seconds,
    prompt_tokens: Count | None = None,
    completion_tokens: Count | None = None,
    cached_tokens: Count | None = None,
    reasoning_tokens: Count | None = None,
    cost: Dollars | None = None,
) -> None:
    """A model was asked outside a conversation: for a merge, a summary, a search, a probe."""


@event("model.failed", WARNING)
def model_failed(*, model: Model, kind: FailureWord, fault: Fault | None = None) -> None:
    """A call outside a conversation failed."""


@event("background.failed", WARNING)
def background_failed(*, conversation: Id, work: Word, fault: Fault) -> None:
    """Work in the background ended early: a summary, a round of models, a rebase that asks again."""


@event("traces.failed", ERROR)
def traces_failed(*, fault: Fault) -> None:
    """FORKY_TRACES is on, and OpenTelemetry's packages are missing or its variables wrong: nothing is traced."""


# The database


@event("store.opened")
def store_opened(*, size: Bytes, seconds: Seconds) -> None:
    """The database was opened."""


@event("store.migrated", WARNING)
def store_migrated(*, former: Count, schema: Count, copied: Flag) -> None:
    """The database was migrated to a newer schema; `copied`: the former one is preserved as `….schema-N.duckdb`."""


@event("store.closed")
def store_closed() -> None:
    """The database was closed; all requested writes are done."""


@event("store.committed", DEBUG, slow="commit")
def store_committed(
    *, operations: Count, records: Count, others: Count, seconds: Seconds, waited: Seconds
) -> None:
    """A transaction became durable; `waited` is how long its first caller had to wait in total."""


@event("store.failed", ERROR)
def store_failed(*, work: Word, fault: Fault) -> None:
    """The database could not be written, or its idle work failed."""


# Other programs


@event("gateway.called", slow="gateway")
def gateway_called(  # noqa: PLR0913 - what there is to know of a call
    *,
    route: Word,
    status: Count,
    seconds: Seconds,
    streams: Flag | None = None,
    token: TokenName | None = None,
    model: Model | None = None,
    conversation: Id | None = None,
    generation: Id | None = None,
    prompt_tokens: Count | None = None,
    completion_tokens: Count | None = None,
    cached_tokens: Count | None = None,
    reasoning_tokens: Count | None = None,
    cost: Dollars | None = None,
) -> None:
    """A call of `/v1` has ended; a `status` of 499 stands for a client that left first."""


@event("gateway.failed", WARNING)
def gateway_failed(*, route: Word, kind: FailureWord, fault: Fault) -> None:
    """A call of `/v1` failed at the model's side or inside Forky."""


@event("gateway.unrecorded", WARNING)
def gateway_unrecorded(*, token: TokenName, fault: Fault) -> None:
    """A call was answered, but it could not be recorded, or not completely."""


@event("gateway.unsaved", ERROR)
def gateway_unsaved(*, what: Word, fault: Fault) -> None:
    """The id of an answer could not be saved."""


@event("spending.unsaved", ERROR)
def spending_unsaved(*, fault: Fault) -> None:
    """What calls of models cost could not be written to an account; it is tried again, unless that account cannot be
    read.
    """


@event("accounts.kept", WARNING)
def accounts_kept(*, fault: Fault) -> None:
    """A conversation was deleted for good, but not the accounts of whoever took part in it."""


@event("token.changed")
def token_changed(*, token: TokenName, id: Id, change: Word) -> None:
    """A token was made or revoked, or its recording switched on or off."""


@event("page.published")
def page_published(*, thing: Word, id: Id, change: Word) -> None:
    """A link to something was made, or revoked."""


@event("call.unsent", WARNING)
def call_unsent(*, reason: Word, fault: Fault | None = None) -> None:
    """In a program that uses Forky's callback for LiteLLM: a call could not be handed to Forky."""


@event("request.refused")
def request_refused(*, reason: Word) -> None:
    """A request was refused because of where it came from or who sent it."""


@event("session.opened")
def session_opened(*, password: Flag) -> None:
    """A browser signed in, with the password or with the secret that was printed at the start."""


@event("session.refused", WARNING)
def session_refused(*, password: Flag) -> None:
    """A browser showed a wrong password or a wrong secret."""


@event("session.unavailable", ERROR)
def session_unavailable(*, fault: Fault) -> None:
    """The file with the password cannot be read: nobody can sign in."""


# Files


@event("import.started")
def import_started(*, size: Bytes) -> None:
    """A file is being imported; its name is not logged."""


@event("import.ended")
def import_ended(  # noqa: PLR0913 - what there is to know of an import
    *,
    state: Word,
    conversations: Count,
    messages: Count,
    size: Bytes,
    seconds: Seconds,
    number: Count | None = None,
    kind: Word | None = None,
    unchanged: Count | None = None,
    problems: Count | None = None,
) -> None:
    """An import has ended: done, stopped, broken off (what came in stays) or failed. `kind` is the file's format."""


@event("import.failed", WARNING)
def import_failed(*, fault: Fault) -> None:
    """Why an import failed; comes before its `import.ended`."""


@event("import.undone")
def import_undone(*, number: Count, conversations: Count) -> None:
    """An import was undone."""


# The server


@event("server.started")
def server_started(*, version: Word, process: Count) -> None:
    """The app is about to serve."""


@event("server.stopped")
def server_stopped(*, seconds: Seconds) -> None:
    """The app has stopped serving, after so many seconds."""


@event("streamlit.patched")
def streamlit_patched(
    *, version: Word, applied: Words, off: Words | None = None, gone: Words | None = None
) -> None:
    """Which patches of Streamlit are in force; FORKY_STREAMLIT_PATCHES switches some `off`; others are `gone`."""


@event("streamlit.unpatched", WARNING)
def streamlit_unpatched(*, patch: Word) -> None:
    """A patch was left out because it does not fit this Streamlit; the app does without it."""


@event("readiness.changed", WARNING)
def readiness_changed(*, check: Word, ready: Flag) -> None:
    """A check of `/readyz` has begun to fail, or passes again."""


@event("page.ran", DEBUG, slow="page")
def page_ran(*, page: Word, kind: Word, state: Word, seconds: Seconds) -> None:
    """A page's script, or only fragments of it, ran: to its end, until it was overtaken, or until it failed."""


@event("page.failed", ERROR)
def page_failed(*, incident: Id, page: Word, fault: Fault, conversation: Id | None = None) -> None:
    """A page failed; the person was shown `incident`."""


@event("thread.failed", ERROR)
def thread_failed(*, thread: Word, fault: Fault) -> None:
    """A thread of the server, or an object's end, failed where nobody was waiting for it."""


@event("plugin.skipped", WARNING)
def plugin_skipped(*, group: Word, name: Word, reason: Word, fault: Fault | None = None) -> None:
    """Something that an installed package adds to Forky is left out; `name` is that of its entry point."""


@event("library.warned", WARNING)
def library_warned(
    *, library: Word, place: CodeText, message: CodeText | None = None, fault: Fault | None = None
) -> None:
    """Another library logged a warning or an error; `message` only where it is a constant of its code."""
