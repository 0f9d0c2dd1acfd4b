"""A squash or a three-way merge that a model writes: the same plan as without one, with the model's note in place of
the quoted lines.

The model only writes; code judges each line (line_checks/), quotes the branch in the place of one that it cannot
confirm (quotations.py), and includes what fits. If no line stands, `SquashRejected` carries the plan without a model,
badged, so that the person can still merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from forky_core.context.citing import own_sources
from forky_core.context.masking import Lookup
from forky_core.graph import first_parent_path
from forky_core.merge.attribution import attribute, citable_ids
from forky_core.merge.block import PayloadLine, lines_that_fit, parse_payload, render
from forky_core.merge.headings import FACTS, FILES, IMPORTANCE, NOTE, SETTLED, UNRESOLVED
from forky_core.merge.models.checks import FailedCheck, sentences
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.models.written_note import Ask, NoteFailed, WrittenNote, write_note
from forky_core.merge.note.compose import default_budget, file_line
from forky_core.merge.plan import MergePlan
from forky_core.merge.wording import message_as_text, speaker_of
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart
from forky_core.retrieval.words import terms

UNCONFIRMED = "could not be confirmed"
"""The words of a plan's warning about lines whose reasons `MergePlan.failed` lists."""
MOST_CITED = 4
"""The most messages cited at the end of a line: the last of those it rests on."""
_KNOWN_TURNS = 60
"""The last messages of the target whose names a note may use."""


Write = Callable[[Transcript, Sequence[Message], int, Callable[[str], int]], WrittenNote]
"""Writes the note of a branch for a reader who knows these messages, in so many tokens by this way of counting."""


class SquashRejected(ForkyError):
    """Nothing of what the model wrote can be used; nothing was saved."""

    def __init__(self, failed: Sequence[FailedCheck], answer: str, plan: MergePlan) -> None:
        self.failed = tuple(failed)
        self.problems = sentences(failed)
        """Sentences, one for each failed check."""
        super().__init__("What the model wrote cannot be used.", " ".join(self.problems))
        self.answer = answer
        self.plan = plan
        """The plan without a model, badged, with the failed checks."""


def squash_with_model(
    plan: MergePlan,
    *,
    lookup: Lookup,
    ask: Ask,
    model: str,
    focus: str = "",
    budget_tokens: int | None = None,
) -> MergePlan:
    """Return the squash `plan` with a note that `model` writes.

    Raises:
        SquashRejected: no line of the note stands, or it saves nothing.
        ModelError: from `ask`; nothing was written.
    """

    def write(
        transcript: Transcript, target: Sequence[Message], room: int, count: Callable[[str], int]
    ) -> WrittenNote:
        return write_note(ask, transcript, room=room, count_tokens=count, focus=focus, target=target)

    return squash_written_by(write, plan, lookup=lookup, model=model, budget_tokens=budget_tokens)


def squash_written_by(
    write: Write, plan: MergePlan, *, lookup: Lookup, model: str, budget_tokens: int | None = None
) -> MergePlan:
    """Return the squash `plan` with the note that `write` returns; errors as in `squash_with_model`."""
    target = target_view(plan, lookup)
    room = note_room(plan, lookup, budget_tokens)
    try:
        note = write(transcript_of(plan, lookup, target), target, room, plan.count_tokens)
    except NoteFailed as error:
        raise SquashRejected(error.failed, error.answer, badged(plan, model, error.failed)) from error
    return squash_of_note(plan, note, lookup=lookup, model=model, budget_tokens=budget_tokens)


def transcript_of(plan: MergePlan, lookup: Lookup, target: Sequence[Message]) -> Transcript:
    """Return the branch as a writer reads it."""
    return Transcript(tuple(lookup(id) for id in plan.turns), tuple(map(message_as_text, target)))


def target_view(plan: MergePlan, lookup: Lookup) -> list[Message]:
    """Return the last messages of the branch that is merged into."""
    path = first_parent_path(plan.target, lambda id: lookup(id).parents)[-_KNOWN_TURNS:]
    return [message for message in map(lookup, path) if not message.hidden]


def budget_of(plan: MergePlan, budget_tokens: int | None) -> int:
    """Return the tokens for everything below the header."""
    if budget_tokens is None:
        return default_budget(plan.tokens_full)
    return max(0, budget_tokens - plan.count_tokens(plan.header))


def note_room(plan: MergePlan, lookup: Lookup, budget_tokens: int | None) -> int:
    """Return the tokens that are left for a note, after conflicts, resolutions of earlier merges, and files."""
    beside = [*plan.above, *_settled(plan, lookup), *_attached(plan, lookup)]
    taken = plan.count_tokens(render("", beside, plan.short)) if beside else 0
    return max(0, budget_of(plan, budget_tokens) - taken)


def squash_of_note(
    plan: MergePlan, note: WrittenNote, *, lookup: Lookup, model: str, budget_tokens: int | None = None
) -> MergePlan:
    """Return the squash `plan` with the lines of a note that fit.

    Raises:
        SquashRejected: no line fits, or it saves nothing over the branch itself.
    """
    written = [_payload_line(line, plan, lookup) for line in note.lines]
    room = float(note_room(plan, lookup, budget_tokens))
    ranked = sorted(written, key=lambda line: IMPORTANCE.index(line.section))
    told, left = lines_that_fit(ranked, room, plan.short, plan.count_tokens)
    sources, _ = lines_that_fit(_sources(plan, lookup, told), left, plan.short, plan.count_tokens)
    lines = [line for section in NOTE for line in written if line.section == section and line in told]
    for line in sources:
        at = max(place for place, one in enumerate(lines) if line.cites[0] in one.cites)
        lines.insert(at + 1, replace(line, section=lines[at].section))
    lines = [*_settled(plan, lookup), *lines, *_attached(plan, lookup)]
    tokens = plan.count_tokens(render(plan.header, lines, plan.short))
    wrong: FailedCheck | None = None
    if not note.lines:
        wrong = FailedCheck("empty", "The model found nothing worth telling.")
    elif not told:
        wrong = FailedCheck("size", "No line of it finds room in the budget.")
    elif tokens >= plan.tokens_full:
        wrong = FailedCheck("size", f"It is no shorter than the branch itself ({plan.tokens_full} tokens).")
    if wrong is not None:
        failed = (wrong, *note.failed)
        raise SquashRejected(failed, note.answer, badged(plan, model, failed))
    made = plan.with_note(lines, model)
    warnings = [*made.warnings]
    if len(told) < len(written):
        warnings.append(f"{_lines(len(written) - len(told))} found no room in {round(room)} tokens.")
    refused = sum(one.check != "repeat" for one in note.failed)
    quoted = sum(line.quoted == "instead" for line in note.lines)
    if refused:
        its, was = ("its", "it was") if refused == 1 else ("their", "they were")
        stands = f"the words of the branch stand in {its} place" if quoted else f"{was} left out"
        warnings.append(f"{_lines(refused)} that {model} wrote {UNCONFIRMED}; {stands}.")
    return replace(made, warnings=tuple(warnings), failed=note.failed)


def badged(plan: MergePlan, model: str, failed: Sequence[FailedCheck] = ()) -> MergePlan:
    """Return the plan without a model, marked as the replacement of an answer that was refused."""
    badge = f"Quoted lines; the note by {model} failed the checks."
    return replace(plan, badge=badge, failed=tuple(failed))


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _payload_line(line: NoteLine, plan: MergePlan, lookup: Lookup) -> PayloadLine:
    """Return a line as it lands: instead of a merge among the messages, it cites those that the merge cites."""
    if line.quoted and not lookup(line.cites[0]).merges:
        message = lookup(line.cites[0])
        return PayloadLine(line.text, line.cites, line.section, quoted=True, speaker=speaker_of(message))
    cites: dict[MessageId, None] = {}
    for id in line.cites:
        cites.update(dict.fromkeys(_origins(lookup(id), line.text, plan) or (id,)))
    return PayloadLine(line.text, tuple(cites)[-MOST_CITED:], line.section)


def _origins(message: Message, text: str, plan: MergePlan) -> tuple[MessageId, ...]:
    """Return the messages that a merge's line most similar to this text rests on."""
    mine = frozenset(terms(text))
    best, found = 0, tuple[MessageId, ...]()
    for merge in message.merges:
        for row in parse_payload(merge.text, citable_ids(merge)):
            shared = len(mine & frozenset(terms(row.text)))
            cites = tuple(id for id in row.cites if id in plan.citable)
            if cites and shared > best:
                best, found = shared, cites
    return found


def _settled(plan: MergePlan, lookup: Lookup) -> list[PayloadLine]:
    """Return the resolutions and open conflicts of earlier merges on the branch, which are passed on word for word."""
    turns = [lookup(id) for id in plan.turns]
    if not any(turn.merges for turn in turns):
        return []
    return [
        line for line in attribute(turns, lookup, plan.short).claims if line.section in (SETTLED, UNRESOLVED)
    ]


def _attached(plan: MergePlan, lookup: Lookup) -> list[PayloadLine]:
    """Return one line for each file of the branch, since the note does not include files."""
    return [
        PayloadLine(file_line(part), (id,), FILES)
        for id in plan.turns
        for part in lookup(id).parts
        if isinstance(part, AttachmentPart)
    ]


def _sources(plan: MergePlan, lookup: Lookup, told: Sequence[PayloadLine]) -> Iterator[PayloadLine]:
    """Yield the SOURCES lines of cited answers that rest on document passages, word for word."""
    cited = {id for line in told for id in line.cites}
    for id in plan.turns:
        message = lookup(id)
        said = own_sources(message.text) if id in cited and message.role == "assistant" else ""
        if said:
            yield PayloadLine(said, (id,), FACTS, quoted=True)
