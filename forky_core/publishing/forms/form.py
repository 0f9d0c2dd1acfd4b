"""The contract of a form: a report in, the bytes of a file out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Protocol, runtime_checkable

from forky_core.publishing.report import Report

PAGE = "text/html"
"""The media type of forms that are pages, and so can stand at an address."""


@runtime_checkable
class PublicationForm(Protocol):
    """Writes reports as one kind of file. Stateless: one object serves every report.

    A page loads nothing. It states a Content-Security-Policy that names its style, and its script if it has one, by
    their hashes, since that is all that keeps what a model wrote from running where the page is opened.
    """

    name: ClassVar[str]
    """A word for programs, e.g. "slides": what `forky publish --as` takes."""
    label: ClassVar[str]
    """For people, e.g. "Slides (HTML, prints one on a page)": what the dialogs offer."""
    suffix: ClassVar[str]
    """The suffix of the file's name, with its dot."""
    media_type: ClassVar[str]
    """Of the file, as a browser downloads it; `PAGE` for one that can stand at an address."""

    def write(self, report: Report) -> Iterator[bytes]:
        """The file, piece by piece; the same bytes for the same report."""
        ...


def pieces(report: Report, form: PublicationForm) -> Iterator[bytes]:
    """A report as the file of this form, piece by piece."""
    own = report.own.get(form.name)
    return own(report.word) if own is not None else form.write(report)


def report_file_name(title: str, kind: str, form: PublicationForm) -> str:
    """The name of the file: the report's title with only the characters that every file system allows."""
    words = re.sub(r"[^\w]+", "-", title).strip("-")[:60].strip("-")
    return (words or kind) + form.suffix


def encoded(text: str) -> bytes:
    """A text as UTF-8; what UTF-8 cannot hold becomes a question mark."""
    return text.encode("utf-8", "replace")
