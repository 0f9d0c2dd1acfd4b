"""Which formats there are, in the order they are asked in: the first that fits reads the document.

The order is that of what could be mistaken for what: a narrow sign comes before a wide one.
"""

from __future__ import annotations

from forky_core.formats.contract import Importer, Sample
from forky_core.formats.importers.chatbot_ui import ChatbotUI
from forky_core.formats.importers.chatgpt import ChatGPT
from forky_core.formats.importers.claude_ai import ClaudeAI
from forky_core.formats.importers.grok import Grok
from forky_core.formats.importers.librechat import LibreChat
from forky_core.formats.importers.message_arrays import MessageArrays
from forky_core.formats.importers.oasst import OpenAssistant
from forky_core.formats.importers.open_webui import OpenWebUI
from forky_core.formats.importers.pam import PortableAIMemory
from forky_core.formats.importers.session_traces import SessionTraces
from forky_core.formats.importers.sharegpt import ShareGPT

IMPORTERS: tuple[Importer, ...] = (
    SessionTraces(),
    OpenAssistant(),
    ChatGPT(),
    ClaudeAI(),
    OpenWebUI(),
    LibreChat(),
    ChatbotUI(),
    Grok(),
    ShareGPT(),
    PortableAIMemory(),
    # The widest sign of all: anything with messages.
    MessageArrays(),
)


def importer_for(sample: Sample) -> Importer | None:
    """The importer that reads this; None where the format is not known."""
    return next((importer for importer in IMPORTERS if importer.fits(sample)), None)
