"""Every exporter, in the order in which people are offered them.

A package of somebody else adds one by an entry point of the group `forky.exporters` that names an `Exporter`.
"""

from __future__ import annotations

from forky_core.formats.exporting.exporting import Exporter
from forky_core.formats.exporting.writers.chatgpt import ChatGPTTree
from forky_core.formats.exporting.writers.forky import ForkyFile
from forky_core.formats.exporting.writers.llm_database import LlmDatabase
from forky_core.formats.exporting.writers.markdown import Markdown
from forky_core.formats.exporting.writers.message_arrays import (
    AnthropicMessages,
    OpenAIMessages,
    ShareGPTFile,
)
from forky_core.formats.exporting.writers.notebook import NotebookExporter
from forky_core.formats.exporting.writers.page.writing import Page
from forky_core.formats.exporting.writers.session_trace import SessionTrace
from forky_core.formats.exporting.writers.shown import PresentationExporter, ReplayExporter
from forky_core.model.errors import NotFound
from forky_core.plugins import Registry

EXPORTERS: tuple[Exporter, ...] = (
    Page(),
    PresentationExporter(),
    ReplayExporter(),
    ForkyFile(),
    Markdown(),
    NotebookExporter(),
    ChatGPTTree(),
    OpenAIMessages(),
    AnthropicMessages(),
    ShareGPTFile(),
    SessionTrace(),
    LlmDatabase(),
)
"""Those that Forky brings."""
REGISTRY = Registry("forky.exporters", Exporter, EXPORTERS)


def exporters() -> tuple[Exporter, ...]:
    """Every exporter there is: those of Forky, of installed packages, and what this program has added."""
    return tuple(REGISTRY)


def exporter(name: str) -> Exporter:
    """The exporter of this name.

    Raises:
        NotFound: there is none; the hint lists the names.
    """
    found = REGISTRY.find(name)
    if found is None:
        raise NotFound(f"There is no format “{name[:40]}”.", f"There are {', '.join(REGISTRY.names)}.")
    return found
