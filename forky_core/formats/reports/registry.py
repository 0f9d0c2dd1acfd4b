"""Which things can be given away, and in which forms."""

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
    """For people, e.g. "Comparison"."""
    takes: ClassVar[str]
    """What `which` names, for the help of the command."""

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """The thing that `which` names. Raises a `RequestError` if there is none."""
        ...


THINGS: tuple[PublishedThing, ...] = (
    ComparisonThing(),
    ExperimentThing(),
    PollThing(),
    MergeThing(),
    ReplayThing(),
)


def web_page(report: Report) -> Iterator[bytes]:
    """The page of a report (forky_core/render/templates/report.html), piece by piece."""
    return map(str.encode, page("report", title=report.title, report=report))


def _table(report: Report) -> Iterator[bytes]:
    """The table of an experiment as CSV. The byte order mark tells spreadsheets its encoding.

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
"""In the order in which people are offered them."""
_FORMER_SUFFIXES = {".slides.html": "slides", ".ipynb": "notebook"}
_INSTEAD = {
    "slides": "Write “html”, which prints too.",
    "notebook": "Write “markdown”, or “csv” of an experiment.",
}
"""What to write instead of forms that Forky used to have."""


def forms_of(report: Report) -> tuple[PublicationForm, ...]:
    """The forms in which a report can be written: as a table only if it has one."""
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
    """The name of the form that a file's name suggests, also of one that is gone; "html" if it suggests none."""
    suffixes = _FORMER_SUFFIXES | {one.suffix: one.name for one in FORMS}
    name = path.name.lower() if path is not None else ""
    return next((form for suffix, form in suffixes.items() if name.endswith(suffix)), "html")


def published_thing(name: str) -> PublishedThing:
    """The thing of this name. Raises NotFound."""
    found = next((one for one in THINGS if one.name == name), None)
    if found is None:
        raise NotFound(
            f"“{name[:40]}” cannot be given away.", f"There are {', '.join(one.name for one in THINGS)}."
        )
    return found
