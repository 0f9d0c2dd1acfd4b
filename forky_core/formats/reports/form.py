"""A form: a report in, the bytes of a file out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forky_core.formats.reports.report import Report

PAGE = "text/html"
"""The media type of the form that is a page, and so can stand at an address."""


@dataclass(frozen=True, slots=True)
class PublicationForm:
    """A kind of file that a report is written as."""

    name: str
    """A word for programs, e.g. "markdown": what `forky publish --as` takes."""
    label: str
    """For people, e.g. "Web page (HTML)": what the dialogs offer."""
    suffix: str
    """The suffix of the file's name, with its dot."""
    media_type: str
    """Of the file, as a browser downloads it."""
    write: Callable[[Report], Iterator[bytes]]
    """Writes the file, piece by piece; the same bytes for the same report."""


def pieces(report: Report, form: PublicationForm) -> Iterator[bytes]:
    """A report as the file of this form, piece by piece."""
    own = report.page if form.media_type == PAGE else None
    return own(report.word) if own is not None else form.write(report)


def report_file_name(title: str, kind: str, form: PublicationForm) -> str:
    """The name of the file: the report's title with only the characters that every file system allows."""
    words = re.sub(r"[^\w]+", "-", title).strip("-")[:60].strip("-")
    return (words or kind) + form.suffix


def encoded(text: str) -> bytes:
    """A text as UTF-8; what UTF-8 cannot hold becomes a question mark."""
    return text.encode("utf-8", "replace")
