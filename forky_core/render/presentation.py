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
"""The most characters of a text that is set in large type."""
_LISTED = 14
"""How many messages of a branch are listed below the drawing of a merge."""


def presentation_page(
    made: Presentation, *, served: bool = False, for_speaker: bool = False, for_followers: bool = False
) -> Iterator[str]:
    """Yield the page piece by piece.

    `served`: the page comes from a server and may call it, to follow a presenter. `for_speaker`: the page has the notes
    that the speaker wrote, which followers must not get. `for_followers`: the page has neither costs nor any notes.
    """
    shown = made.shown
    colors = branch_colors(shown.view.branches)
    branches = len(listed_branches(shown.view, {shown.branch}))

    def color(branch: str | None) -> str:
        """Return the CSS class for the colour that a branch has in the graph."""
        return f"c{colors.get(branch or '', UNNAMED)}"

    def line_of(id: MessageId) -> str:
        message = shown.messages.get(id)
        return line_of_text(message) if message is not None else "a message of another conversation"

    def picture(step: PresentationStep, *, landed: bool) -> MergePicture:
        assert step.merge is not None
        return merge_picture(step.merge, shown.branch, shown.view, landed=landed)

    def spared_tokens(story: MergeStory) -> tuple[int, int] | None:
        """Return the tokens of a merge's text and those of the merged messages; None if the merge saves none."""
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
    """Return the counts below the title."""
    messages = sum(one.kind in ("message", "landed") for one in made.steps)
    merges = sum(one.kind == "landed" for one in made.steps)
    facts = [count(messages, "message"), count(max(1, branches), "branch")]
    return [*facts, f"{merges} brought back"] if merges else facts


def _is_brief(message: Message) -> bool:
    return len(message.text) <= _BRIEF and "\n" not in message.text.strip() and len(message.parts) == 1
