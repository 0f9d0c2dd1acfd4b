"""A squash without a model: one message that quotes the most relevant lines.

Lines of the branch's merges that no message says word for word are passed on unchanged, with their conflicts. A
three-way merge has the same note below its conflicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from forky_core.merge.attribution import attribute, texts_to_match
from forky_core.merge.block import PayloadLine, lines_that_fit, render
from forky_core.merge.branch_merge import plan_branch_merge, plan_of_lines
from forky_core.merge.conflicts.findings import MergeFindings, settled_and_open
from forky_core.merge.headings import SETTLED, UNRESOLVED
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.note.branch import NoteBranch
from forky_core.merge.note.compose import default_budget, note_of, only_courtesies
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategy import Strategy
from forky_core.merge.wording import ShortIds, squash_header
from forky_core.model import Message, MessageId, payload_kinds
from forky_core.text.cues import is_question
from forky_core.text.passages import plain, plain_lines, sentences_in

CLAIMS_SHARE = 0.6
"""The largest share of the room for passed on claims that settle nothing and are not open."""
ONLY_COURTESIES = "The branch says nothing but greetings and thanks."
NOTHING_LEARNED = "Nothing was learned on this branch but"
"""The words of the warning that a note has questions alone."""
_ALWAYS = frozenset({SETTLED, UNRESOLVED})


def plan_squash(inputs: MergeInputs, options: MergeOptions) -> MergePlan:
    """Plan a squash; it always writes a message, so that its block can be read and changed."""
    return plan_branch_merge(inputs, options, lambda here, found: squash_of(here, found, options))


def squash_of(inputs: MergeInputs, found: IncomingChanges, options: MergeOptions) -> MergePlan:
    """Return a plan of one message that quotes the most relevant lines, chosen without a model."""
    header = squash_header(inputs.source_name, found, inputs.short_ids(), inputs.prompt_of_source(found))
    room = (
        default_budget(inputs.cost(found.turns))
        if options.budget is None
        else max(0, options.budget - inputs.count_tokens(header))
    )
    note = branch_note(inputs, found.turns, room, options.focus)
    plan = plan_of_lines(
        payload_kinds.SQUASH.name,
        inputs,
        found,
        header,
        note.lines,
        citations_of_merges=note.citations_of_merges,
        claims=note.findings.to_json(),
    )
    warning = _says_little(note, found)
    return replace(plan, warnings=(*plan.warnings, warning)) if warning else plan


def _says_little(note: BranchNote, found: IncomingChanges) -> str:
    """Return a warning about a note that holds nothing but courtesies or questions; "" for any other."""
    if not note.speaks and only_courtesies(found.turns):
        return ONLY_COURTESIES
    asked = [sentence for line in note.lines for sentence in sentences_in(line.text)]
    if not asked or not all(map(is_question, asked)):
        return ""
    few = ("", "one question", "two questions", "three questions")
    return f"{NOTHING_LEARNED} {few[len(asked)] if len(asked) < len(few) else f'{len(asked)} questions'}."


@dataclass(frozen=True, slots=True)
class BranchNote:
    """What a merge tells about a branch."""

    lines: tuple[PayloadLine, ...]
    findings: MergeFindings
    """The conflicts that the lines pass on from earlier merges."""
    citations_of_merges: Mapping[MessageId, tuple[MessageId, ...]]
    """For each merge among the turns, the messages that it cites."""
    speaks: bool
    """Whether a line of the branch that the reader does not know says something by itself."""


def branch_note(inputs: MergeInputs, turns: Sequence[Message], room: float, focus: str = "") -> BranchNote:
    """Return the note on some turns, in `room` tokens."""
    short = inputs.short_ids()
    count = inputs.count_tokens
    said = attribute(turns, inputs.lookup, short)
    known = texts_to_match(inputs.read_on_target)
    told = _passed_on(said.claims, known, room * CLAIMS_SHARE if said.messages else room, short, count)
    known += [line.text for line in told]
    left = room - count(render("", told, short)) if told else room
    branch = NoteBranch.of(said.messages, known)
    lines = note_of(branch, left, focus=focus, count_tokens=count)
    return BranchNote((*told, *lines), _passed(turns, told), said.citations_of_merges, any(branch.told))


def _passed_on(
    claims: Sequence[PayloadLine],
    known: Sequence[str],
    room: float,
    short: ShortIds,
    count_tokens: Callable[[str], int],
) -> list[PayloadLine]:
    """Return lines of merges that no message says word for word, if they are new and fit; open and settled ones always
    fit.
    """
    if not claims:
        return []
    read = plain_lines(known)
    new = [
        line for line in claims if any(plain(row) not in read for row in line.text.split("\n") if plain(row))
    ]
    first = [line for line in new if line.section in _ALWAYS]
    rest = (line for line in new if line.section not in _ALWAYS)
    more, _ = lines_that_fit(rest, room - count_tokens(render("", first, short)), short, count_tokens)
    return [*first, *more]


def _passed(turns: Sequence[Message], told: Sequence[PayloadLine]) -> MergeFindings:
    """Return the conflicts of the branch's merges, as far as the lines repeat them."""
    settled, still_open = settled_and_open(merge for turn in turns for merge in turn.merges)
    text = "\n".join(line.text for line in told)
    return MergeFindings(tuple(one for one in (*settled, *still_open) if f"{one.about}: " in text))


SQUASH = Strategy(
    payload=payload_kinds.SQUASH,
    label="A short note",
    entry="A short note …",
    icon="compress",
    caption="The model reads the lines that matter, as one message (squash).",
    caption_of_several="The model reads the lines that matter of each branch (squash).",
    plan=plan_squash,
    plan_side=squash_of,
    takes=frozenset({"focus", "budget", "model"}),
    model="writes",
)
