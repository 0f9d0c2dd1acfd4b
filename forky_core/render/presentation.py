"""A presentation as a page (templates/presentation.html)."""

from __future__ import annotations

from collections.abc import Iterator

from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message, MessageId
from forky_core.render.drawings import MergePicture, graph_map, merge_picture
from forky_core.render.page import page
from forky_core.render.steps import MergeStory, Presentation, PresentationStep
from forky_core.views.graph import line_of_text
from forky_core.views.layout.colors import UNNAMED, branch_colors
from forky_core.views.listed import listed_branches
from forky_core.views.shelf import count, title_or_placeholder

_BRIEF = 220
"""Characters up to which a text is set large, as a question on a slide of its own."""
_LISTED = 14
"""Messages of a branch that are listed below the drawing of a merge."""


def presentation_page(
    made: Presentation, *, served: bool = False, for_speaker: bool = False, for_followers: bool = False
) -> Iterator[str]:
    """The page, piece by piece.

    `served`: a server hands it out, which the page may ask for who else follows. `for_speaker`: it has what the speaker
    wrote, which is not for those who follow. `for_followers`: it says neither what answers cost nor what the notes of
    each step say.
    """
    shown = made.shown
    colors = branch_colors(shown.view.branches)
    branches = len(listed_branches(shown.view, {shown.branch}))

    def color(branch: str | None) -> str:
        """The class that sets the colour of a branch, as in the graph."""
        return f"c{colors.get(branch or '', UNNAMED)}"

    def line_of(id: MessageId) -> str:
        message = shown.messages.get(id)
        return line_of_text(message) if message is not None else "a message of another conversation"

    def picture(step: PresentationStep, *, landed: bool) -> MergePicture:
        assert step.merge is not None
        return merge_picture(step.merge, shown.branch, shown.view, landed=landed)

    def spared_tokens(story: MergeStory) -> tuple[int, int] | None:
        """The tokens that answers read, and those of the messages that they stand for; None if they are no fewer."""
        brings = sum(estimate_tokens(part.text) for part, _ in story.sides)
        whole = sum(estimate_tokens(shown.messages[id].text) for _, line in story.sides for id in line)
        fewer = brings < whole and not any(part.brings_turns for part, _ in story.sides)
        return (brings, whole) if fewer else None

    return page(
        "present",
        "presentation.html",
        served=served,
        title=title_or_placeholder(shown.title),
        made=made,
        map=graph_map(made),
        for_speaker=for_speaker,
        for_followers=for_followers,
        branches=branches,
        facts=_facts(made, branches),
        listed=_LISTED,
        color=color,
        is_brief=_is_brief,
        line_of=line_of,
        picture=picture,
        spared_tokens=spared_tokens,
    )


def _facts(made: Presentation, branches: int) -> list[str]:
    """What the title says below it."""
    messages = sum(one.kind in ("message", "landed") for one in made.steps)
    merges = sum(one.kind == "landed" for one in made.steps)
    facts = [count(messages, "message"), count(max(1, branches), "branch")]
    return [*facts, count(merges, "merge")] if merges else facts


def _is_brief(message: Message) -> bool:
    return len(message.text) <= _BRIEF and "\n" not in message.text.strip() and len(message.parts) == 1
