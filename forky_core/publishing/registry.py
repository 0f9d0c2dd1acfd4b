"""Which things can be given away, and in which forms.

A package of somebody else adds a form by an entry point of the group `forky.forms` that names a
`PublicationForm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from forky_core.model.errors import NotFound
from forky_core.plugins import Registry
from forky_core.publishing.forms.csv_table import CsvTable
from forky_core.publishing.forms.form import PublicationForm
from forky_core.publishing.forms.notebook import ReportNotebook
from forky_core.publishing.forms.plain_markdown import PlainMarkdown
from forky_core.publishing.forms.slides import Slides
from forky_core.publishing.forms.web_page import WebPage
from forky_core.publishing.report import Report
from forky_core.publishing.things.comparison import ComparisonThing
from forky_core.publishing.things.experiment import ExperimentThing
from forky_core.publishing.things.material import Material
from forky_core.publishing.things.merge import MergeThing
from forky_core.publishing.things.poll import PollThing
from forky_core.publishing.things.replay import ReplayThing


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
FORMS: tuple[PublicationForm, ...] = (WebPage(), Slides(), PlainMarkdown(), ReportNotebook(), CsvTable())
"""Those that Forky brings, in the order in which people are offered them."""
REGISTRY = Registry("forky.forms", PublicationForm, FORMS)


def publication_forms() -> tuple[PublicationForm, ...]:
    """Every form there is: those of Forky, of installed packages, and what this program has added."""
    return tuple(REGISTRY)


def publication_form(name: str) -> PublicationForm:
    """The form of this name. Raises NotFound."""
    found = REGISTRY.find(name)
    if found is None:
        raise NotFound(f"There is no form “{name[:40]}”.", f"There are {', '.join(REGISTRY.names)}.")
    return found


def published_thing(name: str) -> PublishedThing:
    """The thing of this name. Raises NotFound."""
    found = next((one for one in THINGS if one.name == name), None)
    if found is None:
        raise NotFound(
            f"“{name[:40]}” cannot be given away.", f"There are {', '.join(one.name for one in THINGS)}."
        )
    return found
