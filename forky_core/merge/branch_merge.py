"""What strategies that merge a whole branch share: what is checked first, and the plan of a note in lines.

The check is whether there is anything to merge, and whether it was merged before.

A branch whose merge was reverted is still an ancestor of the target, so Δ is empty. Either the revert is reverted, or
the merge is made `again`: as if earlier merges of that source had brought nothing. A merge brings complete turns, so it
brings nothing of a source whose only news waits for an answer: the plan quotes that and says what a person can do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from forky_core.merge.block import PayloadLine, render
from forky_core.merge.incoming_changes import UNFINISHED, IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan, RevertedMessage
from forky_core.merge.wording import full_header
from forky_core.model import Message, MessageId
from forky_core.model.graph import ancestors

_QUOTED = 100
"""The most characters of the question, or of the reply, that are quoted."""
NOTHING_TO_TELL = (
    "No line of it is told: none has words, the target has them already, or none finds room in the budget."
)
_NONE: Mapping[MessageId, tuple[MessageId, ...]] = MappingProxyType({})
Planning = Callable[[MergeInputs, IncomingChanges], MergePlan]


def plan_branch_merge(inputs: MergeInputs, options: MergeOptions, plan: Planning) -> MergePlan:
    """Apply `plan` to what the source brings, or return a plan that says that there is nothing to bring."""
    if options.again:
        return _again(inputs, options, plan)
    back = reverted_of_source(inputs)
    if inputs.source in inputs.known:
        note = f"“{inputs.target_name}” has all of “{inputs.source_name}” already."
        warnings = (note, *_offer(inputs, back))
        return replace(inputs.empty(options.strategy, "up_to_date", *warnings), reverted=back)
    planned = _of_what_comes(inputs, options.strategy, plan)
    return replace(planned, reverted=back, warnings=(*planned.warnings, *_offer(inputs, back)))


def _again(inputs: MergeInputs, options: MergeOptions, plan: Planning) -> MergePlan:
    anew = as_if_never_merged(inputs)
    if inputs.source in anew.known:
        note = f"“{inputs.target_name}” holds “{inputs.source_name}” on its own line: that cannot be merged again."
        back = reverted_of_source(inputs)
        return replace(
            inputs.empty(options.strategy, "up_to_date", note, *_offer(inputs, back)), reverted=back
        )
    planned = _of_what_comes(anew, options.strategy, plan)
    before = len(inputs.delta())
    if planned.lands and before < len(planned.delta) and not reverted_of_source(inputs):
        twice = f"“{inputs.target_name}” has {len(planned.delta) - before} of these messages through an earlier merge."
        return replace(planned, warnings=(*planned.warnings, twice))
    return planned


def _of_what_comes(inputs: MergeInputs, strategy: str, plan: Planning) -> MergePlan:
    found = inputs.incoming()
    if not found.turns:
        return _nothing(inputs, strategy, found)
    planned = plan(inputs, found)
    return replace(planned, relation="fast_forward") if inputs.continues_target else planned


def _offer(inputs: MergeInputs, back: tuple[RevertedMessage, ...]) -> tuple[str, ...]:
    """Return sentences about an earlier merge that was reverted, with what can be done."""
    if not back:
        return ()
    short = inputs.short_ids()
    merges = [one for one in back if len(inputs.parents_of(one.message)) > 1]
    if merges:
        one = merges[-1]
        what = (
            f"Its merge {short(one.message)} was reverted by {short(one.revert)}: what it brought stays out."
        )
        return (f"{what} Revert that revert, or merge again.",)
    many = "1 message of it was" if len(back) == 1 else f"{len(back)} messages of it were"
    return (f"{many} reverted by {short(back[-1].revert)}: revert that revert to have them again.",)


def _nothing(inputs: MergeInputs, strategy: str, found: IncomingChanges) -> MergePlan:
    """Return the plan for a source that is ahead but has nothing that can be merged."""
    warnings = inputs.warnings(found, inputs.short_ids())
    cut = (inputs.lookup(one.message) for one in found.omitted if one.why == UNFINISHED)
    waiting = [m for m in cut if not m.hidden and m.role in ("user", "assistant") and m.text.strip()]
    if waiting:
        warnings[:0] = _what_waits(inputs, waiting)
    elif found.head is None:
        warnings.append(f"“{inputs.source_name}” has no complete turn to merge yet.")
    else:
        warnings.append(f"“{inputs.target_name}” has everything “{inputs.source_name}” says already.")
    return replace(
        inputs.empty(strategy, "unanswered" if waiting else "up_to_date", *warnings),
        delta=found.delta,
        bases=found.bases,
        omitted=found.omitted,
        unanswered=tuple(message.id for message in waiting),
    )


def _what_waits(inputs: MergeInputs, waiting: Sequence[Message]) -> tuple[str, str]:
    """Return two sentences: what is new on a source and not answered to its end, and what can be done."""
    asked = [message for message in waiting if message.role == "user"]
    if not asked:
        what = "a reply that did not come to its end"
    elif len(asked) > 1:
        what = f"{len(asked)} questions without an answer, the last of them"
    elif len(waiting) > 1:
        what = "a question whose answer did not come to its end"
    else:
        what = "a question without an answer"
    line = " ".join((asked or waiting)[-1].text.split())
    quoted = line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1].rstrip()}…"
    ways = [
        f"Have it answered on “{inputs.source_name}” and merge then",
        f"cherry-pick {'it' if len(waiting) == 1 else 'them'} as a quotation",
    ]
    if inputs.continues_target:
        ways.append(f"merge in full, which moves “{inputs.target_name}” on to it as it is")
    return f"The only news of “{inputs.source_name}” is {what}: “{quoted}”", f"{', or '.join(ways)}."


def reverted_of_source(inputs: MergeInputs) -> tuple[RevertedMessage, ...]:
    """Return the reverted messages of the target's line that came from the source, oldest first: merges, copies, its
    own messages.
    """
    by = inputs.taken_back
    if not by:
        return ()
    source = ancestors((inputs.source,), inputs.parents_of)
    line = (message for message in inputs.target_line if message.id in by)
    return tuple(RevertedMessage(m.id, by[m.id]) for m in line if _comes_from(m, source))


def _comes_from(message: Message, source: frozenset[MessageId]) -> bool:
    return message.id in source or not source.isdisjoint((*message.parents[1:], *message.sources))


def as_if_never_merged(inputs: MergeInputs) -> MergeInputs:
    """Return inputs in which the merges of the source on the target's line have brought nothing."""
    source = ancestors((inputs.source,), inputs.parents_of)
    line = (message for message in inputs.target_line if message.id not in source)
    merges = {message.id for message in line if not source.isdisjoint(message.parents[1:])}
    parents_of = inputs.parents_of

    def only_the_line(id: MessageId) -> Sequence[MessageId]:
        return parents_of(id)[:1] if id in merges else parents_of(id)

    return replace(inputs, parents_of=only_the_line)


def plan_of_lines(
    name: str,
    inputs: MergeInputs,
    found: IncomingChanges,
    header: str,
    lines: Sequence[PayloadLine],
    *,
    citations_of_merges: Mapping[MessageId, tuple[MessageId, ...]] = _NONE,
    claims: str = "",
) -> MergePlan:
    """Return the plan of one message with these lines below the header, with its costs and omissions.

    `name` is the strategy's. `citations_of_merges` maps each merge among the turns to the messages that it
    cites, so that lines may cite them. `claims` are the payload's claims, as JSON.
    """
    short = inputs.short_ids()
    text = render(header, lines, short)
    tokens = inputs.count_tokens(text)
    prompt = inputs.prompt_of_source(found)
    tokens_full = inputs.tokens_beside(found.turns, full_header(inputs.source_name, found, short, prompt))
    warnings = inputs.warnings(found, short)
    if tokens >= tokens_full:
        warnings.append(
            f"The {name} ({tokens} tokens) is no shorter than the branch: use full ({tokens_full})."
        )
    cites = {id for line in lines for id in line.cites}
    if not cites:
        warnings.append(NOTHING_TO_TELL)
    plan = replace(
        inputs.empty(name, "merge", *warnings),
        delta=found.delta,
        bases=found.bases,
        turns=tuple(message.id for message in found.turns),
        citations_of_merges=citations_of_merges,
        payload=text,
        tokens=tokens,
        tokens_full=tokens_full,
        omitted=found.omitted,
        header=header,
        short=short,
    )
    # It stands for the whole branch if the target knows all of it already, or if no line fits.
    block = replace(plan.squash_block(text, cites or set(plan.citable)), claims=claims)
    return replace(plan, drafts=(inputs.merge_message(found, block),)).with_block(block)
