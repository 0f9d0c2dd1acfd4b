"""Adding messages and asking: a message goes in, a reply job comes out. Editing forks, regenerating adds a sibling (law
1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import (
    branch_name,
    log_text,
    new_id,
    now,
    suggested_name,
    title_line,
    title_of_question,
)
from forky_core.conversation.people.spending import paid_for, refuse_to_spend
from forky_core.conversation.people.voices import introduce, speaker_of
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import Session, short
from forky_core.conversation.transaction import Transaction, with_a_free_key
from forky_core.conversation.validation import fit_text, refuse_unknown_files
from forky_core.llm.contract import Answering, Request
from forky_core.model import (
    Branch,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
    Role,
    Rules,
    View,
    seal,
)
from forky_core.model.document import DocumentSearch
from forky_core.model.erasure import erased_since
from forky_core.model.errors import BadContent, NothingToDo, Outdated
from forky_core.model.parts import AttachmentPart, Draft, Json, Part, TextPart
from forky_core.process.lazy_names import import_when_used

if TYPE_CHECKING:
    from forky_core.conversation.recording.reusing import (
        prompt_of,
        reused_generation,
        stored_answer,
        wants_reuse,
    )
    from forky_core.conversation.replies.consulting import Citing, rewording
    from forky_core.conversation.replies.preparing import PreparedRequest, prepare
else:
    import_when_used(globals(), __spec__)

POSTED = "posted/"
"""Derived values that say which message was stored under the id that its author's browser gave it."""


def say(session: Session, seen: Branch, draft: Draft, post_id: str = "") -> tuple[Message, Operation]:
    """Add a message at the head of a branch, without asking a model; `seen` is the branch as its author saw it.

    `post_id` is kept with it, so that `posted` finds it.

    Raises:
        Outdated: the branch has moved since; nothing was written, and the error names what came first.
    """
    refuse_while_replying(session, seen.name)
    tx = session.require_not_trashed()
    refuse_if_moved(session, tx, seen.name, seen.head)
    message = add_message(tx, seen.name, seen.head, draft, post_id)
    verb, done = ("ask", "Asked") if message.role == "user" else ("say", f"Wrote as {message.role}")
    try:
        operation = tx.publish(verb, f"{done} on “{seen.name}”: {log_text(draft.parts)}")
    except Outdated as error:
        # Somebody else wrote between that read and the commit; the error names them all the same.
        if error.first is None or not _moves(error.first, seen.name):
            raise
        raise _overtaken(session, seen.name, error.first) from error
    return tx.stored(message), operation


def posted(session: Session, post_id: str) -> tuple[str, Message] | None:
    """The message that was stored under this id, and the branch it was added to; None if there is none."""
    key = f"{POSTED}{post_id}"
    found = session.store.derived(session.id, [key]).get(key) if post_id else None
    if found is None:
        return None
    message, _, branch = found.partition(" ")
    return branch, session.message(MessageId(message))


def say_on_fork(  # noqa: PLR0917 - all of it belongs to one message
    session: Session,
    name: str | None,
    at: MessageId | None,
    rules: Rules,
    draft: Draft,
    verb: str = "ask",
    post_id: str = "",
) -> tuple[str, Message, Operation]:
    """Fork at a message and add a message there, as one operation; the new branch's name comes first.

    `post_id` as in `say`.

    Raises:
        NameTaken, BadName: the name cannot be used; without one, an unused name is made from the text.
        Outdated: the same was stored under `post_id` meanwhile; nothing was written.
    """
    text = " ".join(part.text for part in draft.parts if isinstance(part, TextPart))
    wanted = branch_name(name) if name is not None else None

    def put() -> tuple[str, Message, Operation]:
        tx = session.require_not_trashed()
        if posted(session, post_id) is not None:
            raise Outdated("This was stored already.", None)
        chosen = wanted or suggested_name(text, tx.view.branches)
        tx.create_branch(chosen, at, rules)
        message = add_message(tx, chosen, at, draft, post_id)
        operation = tx.publish(verb, f"Forked “{chosen}” and asked: {log_text(draft.parts)}")
        return chosen, tx.stored(message), operation

    return put() if wanted else with_a_free_key("heads/", put)


def edit(
    session: Session, branch: Branch, message: Message, draft: Draft, name: str | None
) -> tuple[str, Message, Operation]:
    """Add an edited version of `message` on a new branch.

    Raises:
        NothingToDo: the content would be the same.
    """
    if draft.parts == message.parts:
        raise NothingToDo("The message says that already.", "Change it, or regenerate the answer instead.")
    return say_on_fork(session, name, message.parent, branch.rules, draft, verb="edit")


def answer(
    session: Session,
    target: ReplyTarget,
    rules: Rules,
    *,
    model: str | None = None,
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    resumes: Message | None = None,
    reuse: bool | None = None,
    search: str = "",
) -> ReplyJob:
    """Start writing a reply at `target`, or reuse a stored one; `reuse` None: as the conversation is set.

    `search` is the query for documents.

    Raises:
        NotFound: the model is no longer available.
        InTheWay: a reply is being written on this branch.
    """
    refuse_to_spend(session, model or rules.model)
    path = session.path(target.parent)

    def prepared(search: str) -> PreparedRequest:
        return prepare(
            session,
            path,
            rules,
            model=model,
            parameters=parameters,
            resumes=resumes,
            search=search,
            by_meaning=True,
        )

    made = prepared(search)
    request, name = made.request, made.request.model
    if not any(message["role"] != "system" for message in request.messages):
        raise NothingToDo("Everything here is left out: nothing would be sent.", "Take a message back in.")
    generation = Generation(
        GenerationId(new_id()),
        target.branch,
        target.parent,
        name,
        "running",
        parameters=request.parameters,
        started=now(),
        partial=target.begins_with,
    )
    view = session.view
    target = replace(target, speaker=target.speaker or speaker_of(session, view.room, name))
    asked = session.models.model(name)
    answering: Answering = asked
    reword = None if search else rewording(session, path, rules, lambda better: _asked_so(prepared(better)))

    def prompt() -> str:
        # The request, and so its hash, is known only once the query has been written.
        return prompt_of(request.messages, request.parameters) if reword is None else ""

    if resumes is None and reword is None and wants_reuse(request.parameters, view, asked=reuse):
        generation = replace(generation, looked=True, prompt=prompt())
        stored = stored_answer(session, generation.prompt, name)
        if stored is not None:
            again, parts = reused_generation(generation, stored[0]), session.message(stored[1]).parts
            return session.replies.give(
                target,
                again,
                parts,
                store=session.store,
                actor=session.actor,
                label=made.model.label,
            )
    if made.document_search is not None:
        begun = resumes.text if resumes is not None else ""
        answering = Citing(asked, made.document_search, reword, begun)
    job = session.replies.start(
        target,
        generation,
        paid_for(session, answering),
        request,
        store=session.store,
        actor=session.actor,
        prompt=prompt,
    )
    session.sent.note(name, made.context.drafts)
    made.read_ahead(session)
    return job


def _asked_so(made: PreparedRequest) -> tuple[Request, DocumentSearch] | None:
    return (made.request, made.document_search) if made.document_search is not None else None


def regenerate(
    session: Session, branch: Branch, message: Message, *, model: str | None = None, search: str = ""
) -> tuple[str, ReplyJob]:
    """Answer again what `message` answered; the name of the branch that gets the sibling comes first.

    At the branch's head the branch moves to the new answer, and the old one stays beside it. Further up, or for an
    answer of another branch, a new branch is created, since the messages below belong to the old answer. `model`
    defaults to the branch's, or to the one under whose name the old answer was given.

    Raises:
        BadContent: it is not an answer.
    """
    if message.role != "assistant" or message.parent is None:
        raise BadContent("Only an answer can be regenerated.", "Edit the question instead.")
    if model is None and message.name:
        call = session.origins(branch.name).of(message.id).call
        model = call.model if call is not None else None
    if message.id == branch.head:
        target = ReplyTarget(session.id, branch.name, message.parent, replaces=message.id)
        return branch.name, answer(session, target, branch.rules, model=model, search=search, reuse=False)
    question = session.message(message.parent)

    def fork() -> tuple[str, Operation]:
        tx = session.require_not_trashed()
        name = suggested_name(question.text, tx.view.branches)
        tx.create_branch(name, question.id, branch.rules)
        return name, tx.publish("fork", f"Forked “{name}” at {short(question.id)} to answer again")

    name, made = with_a_free_key("heads/", fork)
    target = ReplyTarget(session.id, name, question.id, group=made.number)
    return name, answer(session, target, branch.rules, model=model, search=search, reuse=False)


def refuse_if_moved(session: Session, tx: Transaction, branch: str, seen: MessageId | None) -> None:
    """Raise Outdated if the branch's head is no longer the one its author saw; the error names what came first."""
    if tx.view.entries.get(f"heads/{branch}") == {"at": seen}:
        return
    first = next((o for o in reversed(session.store.operations(session.id)) if _moves(o, branch)), None)
    raise _overtaken(session, branch, first)


def refuse_if_erased(view: View, since: int) -> None:
    """Raise Outdated if a message was erased since something was read, which may repeat it."""
    if erased_since(view.entries, since):
        raise Outdated("A message was erased since this was made of it.", None, "Look at it again.")


def _moves(operation: Operation, branch: str) -> bool:
    return any(change.key == f"heads/{branch}" for change in operation.changes)


def _overtaken(session: Session, branch: str, first: Operation | None) -> Outdated:
    what = session.name_of(f"{first.summary} ({first.actor}).") if first else ""
    known = {person.name for person in session.view.room.people}
    name = session.name_of(first.actor) if first is not None else ""
    if first is not None and first.actor != session.actor and (name in known or name != first.actor):
        said = f"{name} wrote on “{branch}” meanwhile. {session.name_of(first.sentence)}"
        return Outdated(said, first, "Continue below, or fork?")
    return Outdated(f"“{branch}” has moved meanwhile. {what}".strip(), first, "Continue below it, or fork.")


def add_message(
    tx: Transaction, branch: str, parent: MessageId | None, draft: Draft, post_id: str = ""
) -> Message:
    """Add a message to a branch. Branches with the same head share one message, since its id is the same."""
    message = seal(draft, (parent,), created=now())
    if all(message.id != other.id for other in tx.messages):
        tx.messages.append(message)
    if post_id:
        tx.derived[f"{POSTED}{post_id}"] = f"{message.id} {branch}"
    introduce(tx, draft)
    tx.move(branch, message.id)
    if not tx.view.title and message.text:
        tx.set("title", title_of_question(message.text))
    return message


def draft_of(
    session: Session,
    text: str,
    attachments: Sequence[AttachmentPart] = (),
    *,
    role: Role = "user",
    name: str | None = None,
) -> Draft:
    """A draft of the typed text; without a `name` it carries that of the person who uses this handle, if any.

    Raises:
        BadContent: it is empty or too long, or the role is unknown.
        NotFound: a file was never attached to this workspace.
    """
    if role not in get_args(Role):
        raise BadContent(f"Nobody has the role “{role}”.", f"There are: {', '.join(get_args(Role))}.")
    text = fit_text(text)
    if name is None and role == "user":
        name = session.person
    refuse_unknown_files(session.store, [part.sha256 for part in attachments])
    if not text.strip() and not attachments:
        raise BadContent("There is nothing to send.", "Type something, or attach a file.")
    parts: list[Part] = list(attachments)
    if text.strip():
        parts.append(TextPart(text))
    return Draft(role, tuple(parts), title_line(name) or None if name is not None else None)
