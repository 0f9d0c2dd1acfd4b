"""Which formats there are, in the order they are asked in: the first that fits reads the document.

The order is that of what could be mistaken for what: a narrow sign comes before a wide one.
"""

from __future__ import annotations

from forky_core.formats.contract import Importer, Sample
from forky_core.formats.importing.readers.ai_studio import AIStudio
from forky_core.formats.importing.readers.big_agi import BigAGI
from forky_core.formats.importing.readers.character_cards import CharacterCard
from forky_core.formats.importing.readers.chatbot_ui import ChatbotUI
from forky_core.formats.importing.readers.chatbox import Chatbox
from forky_core.formats.importing.readers.chatgpt import ChatGPT
from forky_core.formats.importing.readers.claude_ai import ClaudeAI
from forky_core.formats.importing.readers.claude_code import ClaudeCode
from forky_core.formats.importing.readers.codex import Codex
from forky_core.formats.importing.readers.copilot_csv import CopilotCSV
from forky_core.formats.importing.readers.deepseek import DeepSeek
from forky_core.formats.importing.readers.forky_markdown import ForkyMarkdown
from forky_core.formats.importing.readers.grok import Grok
from forky_core.formats.importing.readers.langchain import LangChain
from forky_core.formats.importing.readers.librechat import LibreChat
from forky_core.formats.importing.readers.llm_logs import LlmLogs
from forky_core.formats.importing.readers.lobe_chat import LobeChat
from forky_core.formats.importing.readers.looms import Loom
from forky_core.formats.importing.readers.message_arrays import MessageArrays
from forky_core.formats.importing.readers.oasst import OpenAssistant
from forky_core.formats.importing.readers.open_webui import OpenWebUI
from forky_core.formats.importing.readers.pam import PortableAIMemory
from forky_core.formats.importing.readers.pi import Pi
from forky_core.formats.importing.readers.recorded_calls import RecordedCalls
from forky_core.formats.importing.readers.session_traces import SessionTraces
from forky_core.formats.importing.readers.share_pages import SharePage
from forky_core.formats.importing.readers.sharegpt import ShareGPT
from forky_core.formats.importing.readers.silly_tavern import SillyTavern
from forky_core.formats.importing.readers.takeout_gemini import TakeoutGemini
from forky_core.formats.importing.readers.transcripts import Transcripts
from forky_core.formats.importing.readers.typing_mind import TypingMind

IMPORTERS: tuple[Importer, ...] = (
    LlmLogs(),
    RecordedCalls(),
    SessionTraces(),
    Pi(),
    ClaudeCode(),
    Codex(),
    SillyTavern(),
    CharacterCard(),
    OpenAssistant(),
    DeepSeek(),
    ChatGPT(),
    SharePage(),
    ClaudeAI(),
    OpenWebUI(),
    LibreChat(),
    ChatbotUI(),
    Grok(),
    AIStudio(),
    TakeoutGemini(),
    Loom(),
    Chatbox(),
    TypingMind(),
    LobeChat(),
    BigAGI(),
    LangChain(),
    ShareGPT(),
    PortableAIMemory(),
    CopilotCSV(),
    ForkyMarkdown(),
    Transcripts(),
    # The widest sign of all: anything with messages.
    MessageArrays(),
)


def importer_for(sample: Sample) -> Importer | None:
    """The importer that reads this; None where the format is not known."""
    return next((importer for importer in IMPORTERS if importer.fits(sample)), None)
