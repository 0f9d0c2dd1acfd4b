"""Every importer, in the order in which they are asked: the first that fits reads the document.

The order is that of what could be mistaken for what: a narrow sign comes before a wide one. A package of somebody else
adds an importer by an entry point of the group `forky.importers` that names one; it is asked after ours and before the
two whose signs are so wide that they fit nearly every program's files.
"""

from __future__ import annotations

from forky_core.formats.contract import Importer, Sample
from forky_core.formats.importing.readers.ai_studio import AIStudio
from forky_core.formats.importing.readers.big_agi import BigAGI
from forky_core.formats.importing.readers.chatbox import Chatbox
from forky_core.formats.importing.readers.chatgpt import ChatGPT
from forky_core.formats.importing.readers.cherry_studio import CherryStudio
from forky_core.formats.importing.readers.claude_ai import ClaudeAI
from forky_core.formats.importing.readers.claude_code import ClaudeCode
from forky_core.formats.importing.readers.codex import Codex
from forky_core.formats.importing.readers.cursor import Cursor
from forky_core.formats.importing.readers.deepseek import DeepSeek
from forky_core.formats.importing.readers.forky_markdown import ForkyMarkdown
from forky_core.formats.importing.readers.gemini_cli import GeminiCLI
from forky_core.formats.importing.readers.grok import Grok
from forky_core.formats.importing.readers.langchain import LangChain
from forky_core.formats.importing.readers.librechat import LibreChat
from forky_core.formats.importing.readers.llm_logs import LlmLogs
from forky_core.formats.importing.readers.lm_studio import LMStudio
from forky_core.formats.importing.readers.lobe_chat import LobeChat
from forky_core.formats.importing.readers.looms import Loom
from forky_core.formats.importing.readers.message_arrays import MessageArrays
from forky_core.formats.importing.readers.node_graphs import CanvasChat, FirstForky
from forky_core.formats.importing.readers.open_webui import OpenWebUI
from forky_core.formats.importing.readers.opencode import OpenCode
from forky_core.formats.importing.readers.openhands import OpenHands
from forky_core.formats.importing.readers.pi import Pi
from forky_core.formats.importing.readers.qwen_code import QwenCode
from forky_core.formats.importing.readers.recorded_calls import RecordedCalls
from forky_core.formats.importing.readers.session_traces import SessionTraces
from forky_core.formats.importing.readers.share_pages import SharePage
from forky_core.formats.importing.readers.sharegpt import ShareGPT
from forky_core.formats.importing.readers.silly_tavern import SillyTavern
from forky_core.formats.importing.readers.takeout_gemini import TakeoutGemini
from forky_core.formats.importing.readers.terminal_logs import Aider, ClaudeCodeExport
from forky_core.formats.importing.readers.trajectories import ATIF, SWEAgent
from forky_core.formats.importing.readers.transcripts import Transcripts
from forky_core.formats.importing.readers.vscode_chat import VSCodeChat
from forky_core.process import events
from forky_core.process.plugins import Registry

_NARROW: tuple[Importer, ...] = (
    LlmLogs(),
    Cursor(),
    FirstForky(),
    RecordedCalls(),
    SessionTraces(),
    Pi(),
    QwenCode(),
    ClaudeCode(),
    Codex(),
    GeminiCLI(),
    VSCodeChat(),
    OpenCode(),
    LMStudio(),
    CanvasChat(),
    ATIF(),
    SWEAgent(),
    OpenHands(),
    CherryStudio(),
    SillyTavern(),
    DeepSeek(),
    ChatGPT(),
    SharePage(),
    ClaudeAI(),
    OpenWebUI(),
    LibreChat(),
    Grok(),
    AIStudio(),
    TakeoutGemini(),
    Loom(),
    Chatbox(),
    LobeChat(),
    BigAGI(),
    LangChain(),
    ShareGPT(),
    ForkyMarkdown(),
    Aider(),
    ClaudeCodeExport(),
)
WIDE: tuple[Importer, ...] = (Transcripts(), MessageArrays())
"""Any text in which people take turns, and anything with messages."""
IMPORTERS: tuple[Importer, ...] = (*_NARROW, *WIDE)
"""Those that Forky brings."""
REGISTRY = Registry("forky.importers", Importer, IMPORTERS)


def importers() -> tuple[Importer, ...]:
    """Every importer there is, in the order in which they are asked."""
    return (*_NARROW, *REGISTRY.others, *WIDE)


def importer_for(sample: Sample) -> Importer | None:
    """The importer that reads this; None where the format is not known."""
    return next((importer for importer in importers() if _fits(importer, sample)), None)


def _fits(importer: Importer, sample: Sample) -> bool:
    """Whether it reads this. One of a package that raises an exception does not, so that others are asked."""
    if importer in IMPORTERS:
        return importer.fits(sample)
    try:
        return importer.fits(sample)
    except Exception as fault:  # noqa: BLE001 - somebody else's code must not end every import
        events.plugin_skipped(
            group=REGISTRY.group, name=importer.name, reason="it failed to look at a file", fault=fault
        )
        return False
