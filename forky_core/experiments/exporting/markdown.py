"""An experiment as Markdown: the columns with their intervals, what they show, and each row's answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forky_core.experiments.cells import CellResult
from forky_core.experiments.checks.registry import title
from forky_core.experiments.exporting.facts import dollars, seconds, share, state
from forky_core.experiments.plan import title_of
from forky_core.experiments.results import ExperimentResult
from forky_core.experiments.wording import counted
from forky_core.model.experiment import CellAddress

_SIGNS = {True: "✓", False: "✗", None: "·"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$])")


def write(result: ExperimentResult) -> Iterator[bytes]:
    experiment = result.experiment
    yield f"# {_inline(experiment.name)}\n\n".encode()
    if experiment.about:
        yield f"{_inline(experiment.about)}\n\n".encode()
    size = f"{counted(len(experiment.rows), 'row')} × {counted(len(experiment.columns), 'column')}"
    yield f"{size}, {counted(result.calls, 'call')}, {dollars(result.cost)}.\n\n".encode()
    if result.verdict:
        yield f"{_inline(result.verdict)}\n\n".encode()
    if result.agreement is not None:
        yield f"{_inline(result.agreement.sentence)}\n\n".encode()
    yield b"| column | passes (95 %) | answered | cost | tokens | median time | open |\n|---|---|---|---|---|---|---|\n"
    for column in result.columns:
        tokens = f"{column.prompt_tokens + column.completion_tokens:,}"
        yield (
            f"| {_inline(column.label)} | {share(column)} | {column.answered:,} of {column.cells:,} | "
            f"{dollars(column.cost)} | {tokens} | {seconds(column.seconds)} | {state(column)} |\n"
        ).encode()
    for warning in result.warnings:
        yield f"\n> {_inline(warning)}\n".encode()
    for row in experiment.rows:
        yield f"\n## {row.id}. {_inline(title_of(row))}\n".encode()
        for column in result.columns:
            for sample in range(1, column.column.samples + 1):
                cell = result.cells[CellAddress(row.id, column.column.id, sample)]
                more = f", sample {sample}" if sample > 1 else ""
                yield f"\n**{_inline(column.label)}{more}** {_SIGNS[cell.passed]}\n\n".encode()
                yield from _cell(cell)


def _cell(cell: CellResult) -> Iterator[bytes]:
    if cell.text:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", cell.text)), default=0))
        yield f"{fence}text\n{cell.text.rstrip()}\n{fence}\n".encode("utf-8", "replace")
    if cell.status != "done":
        yield f"{_inline(cell.reply.why or 'Not asked yet.')}\n".encode()
    for one in cell.verdicts:
        line = f"- {_SIGNS[one.verdict.passed]} {_inline(title(one.check))}: {_inline(one.verdict.reason)}\n"
        yield line.encode("utf-8", "replace")


def _inline(text: str) -> str:
    """A text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
