"""`plan_merge`: from two heads to a plan, whatever the strategy (law 8).

Further strategies (three-way, fuse, rebase …) join here: each is a function of a `Place` and what comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from forky_core.context.convert import BlobOf, Sight
from forky_core.dag import ParentsOf, first_parent_path, is_ancestor
from forky_core.merge.block import render
from forky_core.merge.incoming import Incoming, Lookup, Omission
from forky_core.merge.place import Place
from forky_core.merge.plan import NO_ROOM, MergePlan
from forky_core.merge.squash import default_budget, extract
from forky_core.merge.turns import plan_full, plan_picks
from forky_core.merge.wording import full_header, spoken, squash_header, transcript
from forky_core.model import GenerationStatus, MessageId
from forky_core.parts import Strategy

_NO_STATUSES: Mapping[MessageId, GenerationStatus] = MappingProxyType({})


# Each argument is a fact about the conversation or a choice of the person.
def plan_merge(  # noqa: PLR0913
    target_head: MessageId | None,
    source_head: MessageId,
    *,
    lookup: Lookup,
    parents_of: ParentsOf,
    target_name: str,
    source_name: str,
    strategy: Strategy,
    count_tokens: Callable[[str], int],
    statuses: Mapping[MessageId, GenerationStatus] = _NO_STATUSES,
    picks: Sequence[MessageId] = (),
    focus: str = "",
    budget_tokens: int | None = None,
    target_system: str | None = None,
    source_system: str | None = None,
    source_exclusions: Sequence[MessageId] = (),
    blob: BlobOf | None = None,
    sees_images: bool = True,
    no_fast_forward: bool = False,
) -> MergePlan:
    """What merging the source into the target would do. Nothing is written.

    Args:
        statuses: how the generation of each reply ended; one that failed or was cut is no end of a turn.
        picks: the messages to bring, for a cherry-pick.
        focus: what matters to the person, for a squash.
        budget_tokens: of a squash, header included; None: a fifth of the branch, at least about 120.
        target_system, source_system: the branches' own system prompts, where set.
        source_exclusions: what the source branch leaves out of its own context: it does not come along.
        blob, sees_images: as in `build_context`, so that `tokens` is what the context grows by.
        no_fast_forward: write a merge message even where moving the pointer would do. A squash always writes one.

    Raises:
        BadContent: a cherry-pick without picks.
    """
    place = Place(
        target=target_head,
        source=source_head,
        target_name=target_name,
        source_name=source_name,
        lookup=lookup,
        parents_of=parents_of,
        statuses=statuses,
        count_tokens=count_tokens,
        sight=Sight(blob, sees_images),
        target_system=target_system,
        source_system=source_system,
        exclusions=tuple(source_exclusions),
    )
    if strategy == "cherry-pick":
        return plan_picks(place, picks)
    if target_head is not None and is_ancestor(source_head, target_head, parents_of):
        return place.empty(strategy, "up_to_date", f"“{target_name}” has all of “{source_name}” already.")
    # Reached through a side parent only, the source's line is another context: moving there would change what was said.
    unmoved = target_head is None or target_head in first_parent_path(source_head, parents_of)
    if unmoved and strategy == "full" and (target_head is None or not no_fast_forward):
        note = (
            f"“{target_name}” has not moved since the fork: its pointer moves on, no merge message is needed."
        )
        return replace(_brought(place), warnings=(note,), fast_forward=source_head)
    found = place.incoming()
    if not found.turns:
        return _nothing(place, strategy, found)
    plan = plan_full(place, found) if strategy == "full" else plan_squash(place, found, focus, budget_tokens)
    return replace(plan, relation="fast_forward") if unmoved else plan


def _brought(place: Place) -> MergePlan:
    """The plan of a fast-forward: the whole line comes, as it is, an unfinished end included."""
    line = place.line_of(place.source)
    start = len(place.line_of(place.target))
    tokens = place.context_tokens(line) - place.context_tokens(line[:start])
    brought = place.delta()
    return replace(
        place.empty("full", "fast_forward"),
        delta=brought,
        bases=(place.target,) if place.target is not None else (),
        turns=tuple(message.id for message in line[start:]),
        payload=transcript(line[start:]),
        tokens=tokens,
        tokens_full=tokens,
    )


def _nothing(place: Place, strategy: Strategy, found: Incoming) -> MergePlan:
    """The source is ahead, yet holds nothing that could be merged."""
    warnings = place.warnings(found, place.short_ids())
    if found.head is None:
        warnings.append(f"“{place.source_name}” has no complete turn to merge yet.")
    else:
        warnings.append(f"“{place.target_name}” has everything “{place.source_name}” says already.")
    plan = place.empty(strategy, "up_to_date", *warnings)
    return replace(plan, delta=found.delta, bases=found.bases, omitted=found.omitted)


def plan_squash(
    place: Place, found: Incoming, focus: str = "", budget_tokens: int | None = None
) -> MergePlan:
    """One message that quotes the lines most worth keeping, chosen without a model."""
    short = place.short_ids()
    prompt = place.prompt_of_source(found)
    header = squash_header(place.source_name, found, short, prompt)
    known = [spoken(message) for message in place.line_of(place.target)]
    count = place.count_tokens
    if budget_tokens is None:
        room = default_budget(place.cost(found.turns))
    else:
        room = max(0, budget_tokens - count(header))
    lines = extract(found.turns, known, room, focus=focus, count_tokens=count)
    text = render(header, lines, short)
    quoted = {id for line in lines for id in line.cites}
    turns = tuple(message.id for message in found.turns)
    stands_for = tuple(id for id in turns if id in quoted)
    tokens = count(text)
    tokens_full = place.tokens_full(found.turns, full_header(place.source_name, found, short, prompt))
    warnings = place.warnings(found, short)
    if tokens >= tokens_full:
        warnings.append(
            f"The squash ({tokens} tokens) is no shorter than the branch: use full ({tokens_full})."
        )
    plan = replace(
        place.empty("squash", "merge", *warnings),
        delta=found.delta,
        bases=found.bases,
        turns=turns,
        payload=text,
        tokens=tokens,
        tokens_full=tokens_full,
        omitted=(*(Omission(id, NO_ROOM) for id in turns if id not in quoted), *found.omitted),
        header=header,
        short=short,
    )
    part = plan.squash_block(text, stands_for)
    return replace(plan, drafts=(place.merge_message(found, part),))
