"""The things that can be written for others, and the forms of their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar, Protocol

from forky_core.formats.reports.form import PAGE, PublicationForm
from forky_core.formats.reports.plain_markdown import plain_markdown
from forky_core.formats.reports.report import Report
from forky_core.formats.reports.things.comparison import ComparisonThing
from forky_core.formats.reports.things.experiment import ExperimentThing
from forky_core.formats.reports.things.material import Material
from forky_core.formats.reports.things.merge import MergeThing
from forky_core.formats.reports.things.poll import PollThing
from forky_core.formats.reports.things.replay import ReplayThing
from forky_core.model.errors import BadContent, NotFound
from forky_core.render.page import page
from forky_core.text.csv_lines import csv_line


class PublishedThing(Protocol):
    """Makes a report of one kind of thing."""

    name: ClassVar[str]
    label: ClassVar[str]
    """The name for people, such as "Comparison"."""
    takes: ClassVar[str]
    """What `which` means, for the help of the command."""

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """Return the report of the thing that `which` identifies. Raises a `RequestError` if there is none."""
        ...


THINGS: tuple[PublishedThing, ...] = (
    ComparisonThing(),
    ExperimentThing(),
    PollThing(),
    MergeThing(),
    ReplayThing(),
)


def web_page(report: Report) -> Iterator[bytes]:
    """Draw the page of a report (forky_core/render/templates/report.html), piece by piece."""
    return map(str.encode, page("report", title=report.title, report=report))


def _table(report: Report) -> Iterator[bytes]:
    """Write the table of an experiment as CSV, with a byte order mark that tells spreadsheets its encoding.

    Raises BadContent, before the first line, for a report without a table.
    """
    if report.table is None:
        raise BadContent("Only an experiment is written as a table.", "Write “html” or “markdown”.")
    return chain((b"\xef\xbb\xbf",), map(csv_line, (report.table.head, *report.table.rows)))


FORMS = (
    PublicationForm("html", "Web page (HTML, for anybody)", ".html", PAGE, web_page),
    PublicationForm("markdown", "Markdown", ".md", "text/markdown", plain_markdown),
    PublicationForm("csv", "Table (CSV, a line for each cell)", ".csv", "text/csv", _table),
)
"""The forms in the order in which dialogs offer them."""
_FORMER_SUFFIXES = {".slides.html": "slides", ".ipynb": "notebook"}
_INSTEAD = {
    "slides": "Write “html”, which prints too.",
    "notebook": "Write “markdown”, or “csv” of an experiment.",
}
"""Advice for forms that Forky no longer has."""


def forms_of(report: Report) -> tuple[PublicationForm, ...]:
    """Return the forms in which a report can be written; a table is one only if the report has a table."""
    return tuple(form for form in FORMS if form.write is not _table or report.table is not None)


def publication_form(name: str) -> PublicationForm:
    """Look up the form with this name. Raises NotFound if there is none."""
    found = next((one for one in FORMS if one.name == name), None)
    if found is None:
        raise NotFound(
            f"There is no form “{name[:40]}”.",
            _INSTEAD.get(name) or f"There are {', '.join(one.name for one in FORMS)}.",
        )
    return found


def form_for_file(path: Path | None) -> str:
    """Return the name of the form for the suffix of a file, even of a former one; "html" for other suffixes."""
    suffixes = _FORMER_SUFFIXES | {one.suffix: one.name for one in FORMS}
    name = path.name.lower() if path is not None else ""
    return next((form for suffix, form in suffixes.items() if name.endswith(suffix)), "html")


def published_thing(name: str) -> PublishedThing:
    """Look up the thing of this name. Raises NotFound if there is none."""
    found = next((one for one in THINGS if one.name == name), None)
    if found is None:
        raise NotFound(
            f"“{name[:40]}” cannot be given away.", f"There are {', '.join(one.name for one in THINGS)}."
        )
    return found
