"""The formats of an experiment for programs. formats/reports/ writes pages, Markdown and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forky_core.experiments.exporting import data
from forky_core.experiments.results import ExperimentResult
from forky_core.model.errors import NotFound


@dataclass(frozen=True, slots=True)
class ExperimentWriter:
    """A format in which an experiment is written as a file, with its name and label."""

    name: str
    label: str
    suffix: str
    media_type: str
    write: Callable[[ExperimentResult], Iterator[bytes]]


WRITERS = (
    ExperimentWriter("json", "Results (JSON)", ".json", "application/json", data.write_json),
    ExperimentWriter(
        "yaml", "The experiment alone (YAML, to run again)", ".yaml", "application/yaml", data.write_yaml
    ),
)


def experiment_writer(name: str) -> ExperimentWriter:
    """Look up the format with this name. Raises NotFound if there is none."""
    found = next((one for one in WRITERS if one.name == name), None)
    if found is None:
        raise NotFound(
            f"Experiments are not written as “{name[:40]}”.",
            f"There are: {', '.join(one.name for one in WRITERS)}. A report of it is written as html, markdown or csv.",
        )
    return found
