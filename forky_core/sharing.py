"""What several people need to decide together, and what a program needs to give one thing away.

`report_of` makes a `Report` of a comparison, an experiment, a poll, a merge or a replay, and `write_report` writes it
as a page or Markdown, an experiment also as a table. `make_link` makes an address at which others read one thing, or a
part of a conversation; `Links` lists and revokes these. `findings` and `redacted` take what looks private out of an
export, `private_values` and `without_private` out of a report. `Conversation.polls` gives the `Polls`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.lazy_names import lazy_names

if TYPE_CHECKING:
    from forky_core.conversation.voting.poll import Poll as Poll, Vote as Vote
    from forky_core.conversation.voting.polls import Polls as Polls
    from forky_core.conversation.voting.tally import Tally as Tally
    from forky_core.formats.exporting.redaction import findings as findings, redacted as redacted
    from forky_core.formats.reports.private_texts import (
        private_values as private_values,
        without_private as without_private,
    )
    from forky_core.formats.reports.publishing import report_of as report_of, write_report as write_report
    from forky_core.formats.reports.report import Report as Report
    from forky_core.people.links.link import Link as Link, LinkDraft as LinkDraft, NewLink as NewLink
    from forky_core.people.links.links import Links as Links
    from forky_core.people.links.making import make_link as make_link
else:
    __all__, __getattr__, __dir__ = lazy_names(globals(), __spec__)
