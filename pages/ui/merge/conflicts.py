"""The conflicts of a merge as the note shows them: at their lines, with what each side says and what can be taken.

Nothing has to be decided. A strategy that settles none marks the lines that disagree with the target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forky_core.conversation.session import short
from forky_core.merge.conflicts.conflict import LONGEST_WORD, Choice, Conflict, Take
from forky_core.merge.editing import BlockLine
from forky_core.merge.headings import SETTLED, UNRESOLVED
from forky_core.merge.plan import MergePlan
from forky_core.model import MessageId
from pages.ui.components.markdown import showable
from pages.ui.merge.planning import Planning
from pages.ui.wording import bare

_OPEN = "open"
_VALUE = "value."
"""Before the number of a value, where it is chosen by itself."""
_SOURCE = "source."
"""Before the name of a branch, where several are merged at once."""
_MOST = 40
"""Conflicts drawn with a choice; a rule can settle all."""


def conflict_at(plan: MergePlan, line: BlockLine) -> Conflict | None:
    """The conflict that a line of the note tells of."""
    if line.section not in (SETTLED, UNRESOLVED):
        return None
    return next(
        (one for one in plan.conflicts if line.text.removeprefix("- ").startswith(f"{one.about}: ")), None
    )


def disagreements(plan: MergePlan, line: BlockLine) -> list[str]:
    """What others say against the words of a line, where the merge settles nothing."""
    if plan.kind.settles:
        return []
    return [
        f"“{showable(name)}” says: {_words(words)}"
        for conflict in plan.conflicts
        for mine in conflict.says
        if mine.text in line.text and mine.message in line.cites
        for name, words in ((one.side, one.text) for one in conflict.says if one.side != mine.side)
    ]


def question_of(planning: Planning, conflict: Conflict, href: Callable[[MessageId], str]) -> dict[str, Any]:
    """A conflict with what can be taken, as the browser draws it."""
    taken = _taken(conflict)
    return {
        "hash": conflict.hash,
        "about": showable(conflict.about),
        "options": [
            [take, showable(label), showable(caption), take == taken]
            for take, (label, caption) in _options(planning, conflict).items()
        ],
        "own": conflict.choice.text if conflict.choice is not None and taken == "text" else None,
        "result": showable(conflict.result) if taken == "both" else "",
        "said": [[showable(one.side), short(one.message), href(one.message)] for one in conflict.says[:8]],
    }


def questions(planning: Planning) -> list[Conflict]:
    """The conflicts that a person can decide."""
    plan = planning.plan
    return list(plan.conflicts[:_MOST]) if plan is not None and plan.kind.settles else []


def _words(text: str) -> str:
    return f"“{showable(bare(text))[:200]}”"


def _options(planning: Planning, conflict: Conflict) -> dict[str, tuple[str, str]]:
    """What can be taken, each with a line about it: who says it, or what taking it means.

    Of a conflict that an earlier merge left open, each of the words stands by itself.
    """
    if conflict.target:
        theirs = f"{_SOURCE}{{}}" if planning.options.others else "theirs"
        sides = {
            "mine" if name == conflict.target else theirs.format(name): (
                bare(" / ".join(dict.fromkeys(one.text for one in words))),
                f"{name} says so",
            )
            for name, words in conflict.by_side.items()
        }
    else:
        sides = {
            f"{_VALUE}{at}": (bare(one.text), f"{one.side} says so") for at, one in enumerate(conflict.says)
        }
    return {
        **sides,
        "both": ("All" if len(sides) > 2 else "Both", "They hold side by side"),
        "text": ("Own words", "You write what holds"),
        _OPEN: ("Leave open", "The model is told what each says"),
    }


def _taken(conflict: Conflict) -> str:
    choice = conflict.choice
    if choice is None:
        return _OPEN
    if choice.take == "theirs" and choice.source:
        return f"{_SOURCE}{choice.source}"
    texts = [one.text[:LONGEST_WORD] for one in conflict.says]
    if not conflict.target and choice.take == "text" and choice.text in texts:
        return f"{_VALUE}{texts.index(choice.text)}"
    return choice.take


def settle(planning: Planning, hash: str, take: str, words: str) -> None:
    """Take what a person chose for a conflict; what a browser made up changes nothing."""
    conflict = next((one for one in questions(planning) if one.hash == hash), None)
    if conflict is None or take not in _options(planning, conflict):
        return
    if take == _OPEN:
        choice = None
    elif take.startswith(_VALUE):
        choice = Choice("text", conflict.says[int(take.removeprefix(_VALUE))].text[:LONGEST_WORD])
    elif take.startswith(_SOURCE):
        choice = Choice("theirs", source=take.removeprefix(_SOURCE))
    elif take == "text":
        text = words.strip() or (conflict.theirs or conflict.says)[0].text
        choice = Choice("text", text[:LONGEST_WORD])
    else:
        known: Take = "mine" if take == "mine" else "theirs" if take == "theirs" else "both"
        choice = Choice(known)
    planning.choose(conflict.hash, choice)
