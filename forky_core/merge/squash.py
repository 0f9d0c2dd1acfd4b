"""A squash without a model: one message that quotes the lines most worth keeping."""

from __future__ import annotations

from dataclasses import replace

from forky_core.merge.arriving import arriving
from forky_core.merge.block import render
from forky_core.merge.incoming import Incoming, Omission
from forky_core.merge.lines.choosing import default_budget, extract
from forky_core.merge.place import Place
from forky_core.merge.plan import NO_ROOM, MergePlan
from forky_core.merge.wish import Wish
from forky_core.merge.wording import full_header, spoken, squash_header


def plan_squash(place: Place, wish: Wish) -> MergePlan:
    """What squashing would do; always a message, so that its block can be read and changed."""
    return arriving(place, wish, lambda here, found: squash_of(here, found, wish))


def squash_of(place: Place, found: Incoming, wish: Wish) -> MergePlan:
    """One message that quotes the lines most worth keeping, chosen without a model."""
    short = place.short_ids()
    prompt = place.prompt_of_source(found)
    header = squash_header(place.source_name, found, short, prompt)
    known = [spoken(message) for message in place.line_of(place.target)]
    count = place.count_tokens
    room = (
        default_budget(place.cost(found.turns))
        if wish.budget is None
        else max(0, wish.budget - count(header))
    )
    lines = extract(found.turns, known, room, focus=wish.focus, count_tokens=count)
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
