"""What an erasure will take, and what is shown in the place of a message that was erased, in words."""

from __future__ import annotations

from collections.abc import Callable

from forky_core.conversation.namespaces.conversation_history import ErasurePlan
from forky_core.model.erasure import Erasure
from forky_core.views.shelf import count
from forky_core.views.times import local


def told(erasure: Erasure, name_of: Callable[[str], str]) -> str:
    """What a page shows of a message from which text was erased: who did it, and when."""
    day = local(erasure.at)
    who = f"{name_of(erasure.by)} on {day.day} {day:%B %Y}"
    return f"Erased by {who}" if erasure.whole else f"A passage was erased here by {who}"


def described(plan: ErasurePlan) -> str:
    """What an erasure will take, in sentences."""
    found = [
        f"This erases what {plan.confirmation} says, for good: it cannot be undone. Its place and its id stay."
    ]
    if plan.copies:
        found.append(f"It erases what was copied from it, too: {count(plan.copies, 'message')}.")
    if plan.repeats:
        found.append(
            f"{count(len(plan.repeats), 'other message')} that {'repeats' if len(plan.repeats) == 1 else 'repeat'} "
            "a passage of it will say “erased” there."
        )
    if plan.operations:
        found.append(f"The history repeats it {count(plan.operations, 'time')}, and will not any more.")
    if plan.files:
        found.append("Its attachments go with it, unless another message has them.")
    found.append("A branch that was named after it keeps its name: rename that by hand.")
    found.append("Backups, exported files, and what a provider was sent keep it.")
    return " ".join(found)
