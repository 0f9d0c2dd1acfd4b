"""Reads an experiment from a file of any supported format, which is recognised by the file's content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forky_core.experiments.files import own_form, promptfoo
from forky_core.experiments.files.cases import cases_in_text
from forky_core.experiments.files.loading import Folder, decoded, text_in, yaml_in
from forky_core.experiments.validation import LONGEST_NAME
from forky_core.model.errors import BadContent
from forky_core.model.experiment import Experiment

ENDINGS = ("yaml", "yml", "json", "csv", "tsv", "jsonl", "ndjson", "txt")
"""The suffixes of files that can be read."""


def read_experiment(file: str | Path) -> Experiment:
    """Read an experiment from a file: Forky's own form or promptfoo's configuration (YAML, JSON), or a table of cases
    (CSV, JSON Lines, text), which has no columns yet.

    Its `notes` name what the file asks for and Forky does not support.

    Raises:
        BadContent: the file cannot be read.
    """
    path = Path(file)
    return experiment_in_text(text_in(path), path.name, Folder(path.parent))


def experiment_in_bytes(content: bytes, name: str) -> Experiment:
    """Read an experiment from an uploaded file; its notes name the files that it refers to as missing."""
    return experiment_in_text(decoded(content, name), name, Folder(None))


def experiment_in_text(text: str, name: str, folder: Folder) -> Experiment:
    """Read an experiment as `read_experiment` does, from a text; the suffix of `name` says the format of a table."""
    stem = named_after(name)
    ending = name.lower().rpartition(".")[2]
    if ending in ("yaml", "yml", "json"):
        entry = yaml_in(text, name)
        if isinstance(entry, Mapping):
            if promptfoo.SIGNS & set(entry) and not {"rows", "columns"} & set(entry):
                return promptfoo.experiment_in(entry, stem, folder)
            if not own_form.FIELDS & set(entry):
                raise BadContent(
                    f"“{name[:100]}” is no experiment: it has neither rows and columns nor promptfoo's prompts and tests."
                )
            return own_form.experiment_in(entry, stem, folder)
        if not isinstance(entry, list):
            raise BadContent(f"“{name[:100]}” is no experiment and no list of cases.")
    rows = cases_in_text(text, name)
    if not rows:
        raise BadContent(f"“{name[:100]}” has no case in it.")
    return Experiment(stem, rows)


def named_after(file: str) -> str:
    """Return a name for an experiment from the name of its file."""
    stem = Path(file).name.partition(".")[0].strip().replace("/", "-")
    if stem.lower() in ("promptfooconfig", ""):
        stem = "promptfoo"
    return stem[:LONGEST_NAME].strip() or "experiment"
