"""The forms in which an experiment can be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forky_core.experiments.exporting import data, markdown, page
from forky_core.experiments.results import ExperimentResult
from forky_core.model.errors import NotFound


@dataclass(frozen=True, slots=True)
class ExperimentWriter:
    """A form."""

    name: str
    label: str
    suffix: str
    media_type: str
    write: Callable[[ExperimentResult], Iterator[bytes]]


WRITERS = (
    ExperimentWriter("html", "Web page (HTML, for anybody)", ".html", "text/html", page.write),
    ExperimentWriter("csv", "Table (CSV, a line for each cell)", ".csv", "text/csv", data.write_csv),
    ExperimentWriter("markdown", "Markdown", ".md", "text/markdown", markdown.write),
    ExperimentWriter("json", "Results (JSON)", ".json", "application/json", data.write_json),
    ExperimentWriter(
        "yaml", "The experiment alone (YAML, to run again)", ".yaml", "application/yaml", data.write_yaml
    ),
)


def experiment_writer(name: str) -> ExperimentWriter:
    """The form of this name. Raises NotFound."""
    found = next((one for one in WRITERS if one.name == name), None)
    if found is None:
        raise NotFound(
            f"Experiments are not written as “{name[:40]}”.",
            f"There are: {', '.join(one.name for one in WRITERS)}.",
        )
    return found
