"""Makes the report of one thing of a conversation, and writes it as a file for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.reports.form import pieces
from forky_core.formats.reports.included import EVERYTHING, Included
from forky_core.formats.reports.private_texts import with_names
from forky_core.formats.reports.registry import publication_form, published_thing
from forky_core.formats.reports.report import Report
from forky_core.formats.reports.things.material import Material
from forky_core.render.material import model_labels


def report_of(
    forky: Workspace,
    chat: Conversation,
    thing: str,
    which: Sequence[str] = (),
    included: Included = EVERYTHING,
) -> Report:
    """Return the report of a comparison, an experiment, a poll, a merge or a replay of a conversation.

    `which` identifies it: `("main", "debug")` for a comparison, the name of an experiment, the number of a poll, the
    message of a merge; nothing or `("everything",)` for a replay. `included` says what the report contains beyond the
    words.

    Raises:
        NotFound: there is no such thing, or none of this name.
        BadContent, NothingToDo: `which` does not identify one, or there is nothing to show.
    """
    made = published_thing(thing).report(
        Material(forky, chat, model_labels(forky.models.models()), included), which
    )
    return with_names(made, forky.name_of)


def write_report(report: Report, form: str) -> Iterator[bytes]:
    """Write the file, piece by piece. Raises NotFound if there is no such form."""
    return pieces(report, publication_form(form))
