"""A model that reads the note of a merge request beside its branch, for whoever reviews it, and says what is wrong.

It is the verifier of written notes (merge/written/verifier.py), asked about any note, whoever wrote it. What it says
against a sentence counts only with words that stand in the message that it names; an order in its answer is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Event

from forky_core.context.masking import Lookup
from forky_core.conversation.identity import now
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.merging.review_log import (
    MOST_FINDINGS,
    RequestHeads,
    Review,
    ReviewFinding,
    proposal_of,
)
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.llm.contract import OFFLINE, ProviderMessage
from forky_core.merge.editing import BranchLines, Editing
from forky_core.merge.plan import MergePlan
from forky_core.merge.written.note import VERIFIED_CHARACTERS
from forky_core.merge.written.plan import material_of, target_view
from forky_core.merge.written.requests import known_turns
from forky_core.merge.written.sentences import spans
from forky_core.merge.written.verifier import Judged, read, read_missing, verify_request
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent, ForkyError, NothingToDo

MOST_SENTENCES = 400
"""The most sentences of a note that a model is asked about."""
_LONGEST_LINE = 400


class NotReviewed(ForkyError):
    """What a model answered says nothing about the note; nothing was kept."""


def refuse_offline(session: Session, name: str) -> None:
    """Raise BadContent if this model only quotes what was said."""
    if session.models.model(name).info().provider == OFFLINE:
        raise BadContent(
            f"“{name}” only quotes, and cannot judge what another model wrote.",
            "Name a model that has a key in Settings.",
        )


def review_request(
    plan: MergePlan, lookup: Lookup
) -> tuple[tuple[ProviderMessage, ...], Sequence[tuple[str, str]]]:
    """What a model is sent of one source of a merge, and the sentences that it is asked about: each as it is sent, and
    as it stands in the note.
    """
    block = Editing.of(plan, BranchLines.of(plan, lookup)).block
    said = (
        (f"{line.speaker}: {words}" if line.speaker else words, words)
        for line in block.lines
        for span in spans(line.text)
        for words in (span.of(line.text),)
    )
    sentences = list(islice(said, MOST_SENTENCES))
    target = target_view(plan, lookup)
    material = material_of(plan, lookup, target)
    asked = [sent for sent, _ in sentences]
    only = material.near(asked, VERIFIED_CHARACTERS)
    return verify_request(asked, material, known=known_turns(target), only=only, missing=True), sentences


def reviewed_by(
    session: Session,
    home: Session,
    request: MergeRequest,
    plan: MergePlan,
    heads: RequestHeads,
    *,
    name: str,
    stop: Event | None = None,
) -> Review:
    """Have a model read what a request would bring, planned as `plan`; paid for by whoever asks. `home` is the
    conversation of its sources.

    Raises:
        NothingToDo: the merge has no note to read.
        BadContent: the model only quotes.
        NotReviewed: its answer says nothing about the note.
        ModelError: it did not answer, or was stopped.
    """
    refuse_offline(session, name)
    here, there = session.messages, home.messages

    def lookup(id: MessageId) -> Message:
        return there[id] if id in there else here[id]

    found: list[ReviewFinding] = []
    read_ones, asked_ones = 0, 0
    for side in plan.sides or (plan,):
        if side.block is None:
            continue
        asked, sentences = review_request(side, lookup)
        answer = ask_once(session, name, asked, stop=stop)
        material = material_of(side, lookup, ())
        judged = read(answer, len(sentences), material)
        found += (
            finding for at, one in sorted(judged.items()) for finding in _finding(sentences[at][1], one)
        )
        missed = read_missing(answer, material)
        found += (ReviewFinding("missing", words, message) for message, words in missed)
        read_ones, asked_ones = read_ones + len(judged), asked_ones + len(sentences)
    if not asked_ones:
        raise NothingToDo("This merge brings messages as they are: there is no note to read.")
    if not read_ones:
        raise NotReviewed(
            f"What “{name}” answered says nothing about the note, and nothing was kept.", "Ask another model."
        )
    told = f"It read {read_ones} of {asked_ones} sentences beside the branch"
    text = f"{told}." if found else f"{told} and found nothing."
    return Review(name, "read", text, now(), None, proposal_of(request), heads, tuple(found[:MOST_FINDINGS]))


def _finding(sentence: str, judged: Judged) -> Iterator[ReviewFinding]:
    """What a model says against a sentence of the note; nothing if it is supported."""
    line = sentence[:_LONGEST_LINE]
    match judged.verdict:
        case "not shown":
            yield ReviewFinding("unsupported", line, line=line)
        case "contradicted":
            yield ReviewFinding("contradicts", judged.words, judged.message, line)
        case "out of date":
            yield ReviewFinding("contradicts", judged.words, judged.message, line, "It was changed later.")
        case "order":
            yield ReviewFinding(
                "unsupported",
                judged.words,
                judged.message,
                line,
                "It passes on an order that the branch quotes.",
            )
        case "supported":
            pass
