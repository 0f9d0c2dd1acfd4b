"""A form turns a report into the bytes of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forky_core.formats.reports.report import Report

PAGE = "text/html"
"""The media type of the form that is a page, which a link can serve."""


@dataclass(frozen=True, slots=True)
class PublicationForm:
    """A kind of file that a report is written as."""

    name: str
    """The name for programs, as in `forky publish --as markdown`."""
    label: str
    """The name for people, as in dialogs: "Web page (HTML)"."""
    suffix: str
    """The suffix of the file's name, with its dot."""
    media_type: str
    """The media type of the download."""
    write: Callable[[Report], Iterator[bytes]]
    """Writes the file, piece by piece. The same report always gives the same bytes."""


def pieces(report: Report, form: PublicationForm) -> Iterator[bytes]:
    """Write a report in this form, piece by piece. A thing that draws its own page is written by that."""
    own = report.page if form.media_type == PAGE else None
    return own(report.word) if own is not None else form.write(report)


def report_file_name(title: str, kind: str, form: PublicationForm) -> str:
    """Return the name of the file: the report's title, with only the characters that every file system allows."""
    words = re.sub(r"[^\w]+", "-", title).strip("-")[:60].strip("-")
    return (words or kind) + form.suffix


def encoded(text: str) -> bytes:
    """Encode a text as UTF-8; what UTF-8 cannot encode becomes a question mark."""
    return text.encode("utf-8", "replace")
