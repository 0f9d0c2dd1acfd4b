"""A model that reads the note of a merge request beside its branch, for whoever reviews it, and says what is wrong.

It is the verifier of written notes (merge/written/verifier.py), asked about any note, whoever wrote it. What it says
against a sentence counts only with words that stand in the message that it names; an order in its answer is text.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from threading import Event

from forky_core.context.masking import Lookup
from forky_core.conversation.merging.review_log import MOST_FINDINGS, FindingVerdict, ReviewFinding
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.llm.contract import OFFLINE, ProviderMessage
from forky_core.merge.block import parse_payload
from forky_core.merge.plan import MergePlan
from forky_core.merge.written.note import VERIFIED_CHARACTERS
from forky_core.merge.written.plan import material_of, target_view
from forky_core.merge.written.requests import known_turns
from forky_core.merge.written.sentences import spans
from forky_core.merge.written.verifier import read, read_missing, verify_request
from forky_core.model.errors import BadContent, ForkyError, NothingToDo

MOST_SENTENCES = 400
"""The most sentences of a note that a model is asked about."""
_LONGEST_LINE = 400
_AGAINST: Mapping[str, tuple[FindingVerdict, str]] = {
    "not shown": ("unsupported", ""),
    "contradicted": ("contradicts", ""),
    "out of date": ("contradicts", "It was changed later."),
    "order": ("unsupported", "It passes on an order that the branch quotes."),
}
"""What a verifier's verdict on a sentence is in a review, and why."""


class NotReviewed(ForkyError):
    """What a model answered says nothing about the note; nothing was kept."""


def review_request(plan: MergePlan, lookup: Lookup) -> tuple[tuple[ProviderMessage, ...], Sequence[str]]:
    """What a model is sent of one source of a merge, and the sentences of its note that it is asked about."""
    rows = [row.text for row in parse_payload(plan.marked, plan.citable) if row.section is not None]
    sentences = [span.of(row) for row in rows for span in spans(row)][:MOST_SENTENCES]
    target = target_view(plan, lookup)
    material = material_of(plan, lookup, target)
    only = material.near(sentences, VERIFIED_CHARACTERS)
    return verify_request(sentences, material, known=known_turns(target), only=only, missing=True), sentences


def reviewed_by(
    session: Session, home: Session, plan: MergePlan, name: str, stop: Event | None
) -> tuple[str, tuple[ReviewFinding, ...]]:
    """Have a model read what a request would bring, planned as `plan`: how much it read as a sentence, and what it
    found. `home` is the conversation of the sources.

    Raises:
        NothingToDo: the merge has no note to read.
        BadContent: the model only quotes.
        NotReviewed: its answer says nothing about the note.
        ModelError: it did not answer, or was stopped.
    """
    if session.models.model(name).info().provider == OFFLINE:
        only = f"“{name}” only quotes, and cannot judge what another model wrote."
        raise BadContent(only, "Name a model that has a key in Settings.")
    lookup = ChainMap(dict(session.messages), dict(home.messages)).__getitem__
    found: list[ReviewFinding] = []
    asked, said = 0, 0
    for side in plan.sides or (plan,):
        if side.block is None:
            continue
        request, sentences = review_request(side, lookup)
        answer, material = ask_once(session, name, request, stop=stop), material_of(side, lookup, ())
        judged = read(answer, len(sentences), material)
        asked, said = asked + len(sentences), said + len(judged)
        for at, one in sorted(judged.items()):
            if one.verdict != "supported":
                verdict, why = _AGAINST[one.verdict]
                line = sentences[at][:_LONGEST_LINE]
                found.append(ReviewFinding(verdict, one.words or line, one.message, line, why))
        missed = read_missing(answer, material)
        found += (ReviewFinding("missing", words, message) for message, words in missed)
    if not asked:
        raise NothingToDo("This merge brings messages as they are: there is no note to read.")
    if not said:
        nothing = f"What “{name}” answered says nothing about the note, and nothing was kept."
        raise NotReviewed(nothing, "Ask another model.")
    told = f"It read {said} of {asked} sentences beside the branch"
    return f"{told}." if found else f"{told} and found nothing.", tuple(found[:MOST_FINDINGS])
