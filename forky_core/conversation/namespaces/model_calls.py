"""`chat.calls`: the calls of models, made here or by other programs, and the reuse of stored answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forky_core.context.account import Item
from forky_core.context.convert import FileAccess, convert
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.message_origins import MessageOrigins
from forky_core.conversation.recording import receiving
from forky_core.conversation.recording.receiving import Received
from forky_core.conversation.recording.reusing import REUSE
from forky_core.conversation.replies import preparing
from forky_core.conversation.replies.asking import draft_of
from forky_core.conversation.replies.preparing import PreparedRequest
from forky_core.model import Generation, MessageId, Operation, Reuse, seal
from forky_core.model.parts import AttachmentPart, Draft, Json
from forky_core.wire.call import Call
from forky_core.wire.chat import chat_call


class ModelCalls:
    """The model calls of a conversation: what one would send, what was called, and which answers are reused."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Every model call, in the order they were started."""
        return self._session.generations()

    @property
    def origins(self) -> MessageOrigins:
        """The model calls that messages came from, as seen from this branch: `origins.of(message.id).call`.

        Models that said the same share one message; each branch has its own call for it.
        """
        return self._session.origins(self._chat.branch_name)

    def origins_on(self, branch: str | None) -> MessageOrigins:
        """The same as seen from another branch, or with None from no branch in particular."""
        return self._session.origins(branch)

    def prepare(
        self,
        text: str = "",
        *,
        at: MessageId | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
    ) -> PreparedRequest:
        """Exactly the request that asking `text` at `at` (or at the head) would send. Writes nothing, sends nothing.

        Without a `text`, it is the request for the path as it is. Where an embedding model searches documents, it reads
        the question only once that is sent, and may find other passages; the account says so.
        """
        point = self._chat._point(at)
        path = self._session.path(point)
        asked = None
        if text.strip() or attachments:
            draft = draft_of(self._session, text, attachments)
            asked = seal(draft, (point,))
            path = (*path, asked)
        made = preparing.prepare(self._session, path, self._chat.branch.rules, model=model, search=search)
        return replace(made, asked=asked)

    def account_of(self, file: AttachmentPart, *, model: str) -> Item:
        """The line of the account for attaching a file to a question, as the model counts it; 0 tokens
        for a picture.
        """
        asked = self._session.models.model(model)
        file_access = FileAccess(self._session.store.blob, asked.info().pictures)
        items = convert(seal(Draft("user", (file,)), ()), asked.count_tokens, file_access).items
        return next(item for item in items if item.kind == "attachment")

    def find_or_create(self, messages: Sequence[Mapping[str, Json]] | Call) -> Received:
        """The last message of an array in a provider's format; new messages are added, branching where the array
        differs.

        docs/matching.md says which messages count as the same. A system prompt in the array becomes the branch's.

        Raises:
            BadCall: it cannot be read; `.where` names the field.
        """
        call = messages if isinstance(messages, Call) else chat_call(messages)
        return receiving.find_or_create(self._session, call, self._chat.branch_name)

    @property
    def reuses_answers(self) -> bool:
        """Whether identical greedy calls (temperature 0) get the stored answer."""
        return bool(self._chat.view.entries.get(REUSE))

    def set_reuse(self, on: bool) -> Operation:  # noqa: FBT001 - it is the whole of the call
        """Set whether identical greedy calls (temperature 0) get the stored answer."""
        tx = self._session.require_not_trashed()
        tx.set(REUSE, True if on else None)
        said = (
            "Stored answers are given again at temperature 0"
            if on
            else "Every call is made, whatever is stored"
        )
        unchanged = f"Stored answers are {'' if on else 'not '}given again here already."
        return tx.publish("reuse", said, unchanged=unchanged)

    @property
    def reuse(self) -> Reuse:
        """How often stored answers were reused here and what that saved."""
        return self._session.store.reuse(self._session.id)
