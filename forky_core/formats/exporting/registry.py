"""Every exporter, in the order in which people are offered them.

A package of somebody else adds one by an entry point of the group `forky.exporters` that names an `Exporter`.
"""

from __future__ import annotations

from collections.abc import Mapping

from forky_core.formats.exporting.exporting import Exporter
from forky_core.formats.exporting.writers.chatgpt import ChatGPTTree
from forky_core.formats.exporting.writers.forky import ForkyFile
from forky_core.formats.exporting.writers.llm_database import LlmDatabase
from forky_core.formats.exporting.writers.markdown import Markdown
from forky_core.formats.exporting.writers.message_arrays import DIALECTS, Messages
from forky_core.formats.exporting.writers.page import WebPageExporter
from forky_core.formats.exporting.writers.shown import PresentationExporter, ReplayExporter
from forky_core.model.errors import NotFound
from forky_core.process.plugins import Registry

EXPORTERS: tuple[Exporter, ...] = (
    WebPageExporter(),
    PresentationExporter(),
    ReplayExporter(),
    ForkyFile(),
    Markdown(),
    ChatGPTTree(),
    Messages(),
    LlmDatabase(),
)
"""Those that Forky brings."""
REGISTRY = Registry("forky.exporters", Exporter, EXPORTERS)
_INSTEAD: Mapping[str, str] = {
    **{dialect: f"Write “messages” with the dialect {dialect}." for dialect in DIALECTS},
    "llama.cpp": "A Forky file (“forky”) is a session trace, too.",
    "notebook": "Write “markdown” or “html”.",
}
"""What to write instead of formats that Forky used to have."""


def exporters() -> tuple[Exporter, ...]:
    """Every exporter there is: those of Forky, of installed packages, and what this program has added."""
    return tuple(REGISTRY)


def exporter(name: str, dialect: str = "") -> Exporter:
    """The exporter of this name; of “messages”, the one that writes this dialect ("openai", if none is named).

    Raises:
        NotFound: there is none; the hint lists the names, or says what took its place.
    """
    found = REGISTRY.find(name)
    if found is None:
        raise NotFound(
            f"There is no format “{name[:40]}”.",
            _INSTEAD.get(name) or f"There are {', '.join(REGISTRY.names)}.",
        )
    if not dialect:
        return found
    known = next((one for one in DIALECTS if one == dialect), None)
    if known is None or name != Messages.name:
        raise NotFound(
            f"“{name[:40]}” is not written in a dialect “{dialect[:40]}”.",
            f"“{Messages.name}” has the dialects {', '.join(DIALECTS)}.",
        )
    return Messages(known)
