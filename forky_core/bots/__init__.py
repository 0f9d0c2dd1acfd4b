"""Small bots for programs: a few lines over the same conversations, models and documents that the app has.

A bot uses the same code as the app. It asks on a Forky branch, so its context is built, sent, recorded and undone like
everything else; its memory is a branch, its knowledge a shelf of documents, and both have one interface, `Recall`. The
arguments and methods are those that programs written for LlamaBot use (docs/python.md).
"""

from __future__ import annotations

from forky_core.bots.bots import ChatBot as ChatBot
from forky_core.bots.bots import QueryBot as QueryBot
from forky_core.bots.bots import SimpleBot as SimpleBot
from forky_core.bots.document_store import DocumentStore as DocumentStore
from forky_core.bots.document_store import RetrievedText as RetrievedText
from forky_core.bots.history import (
    History as History,
)
from forky_core.bots.history import (
    Recall as Recall,
)
from forky_core.bots.history import (
    Recalled as Recalled,
)
from forky_core.bots.history import (
    ScoredMessage as ScoredMessage,
)
from forky_core.bots.messages import (
    AIMessage as AIMessage,
)
from forky_core.bots.messages import (
    BotMessage as BotMessage,
)
from forky_core.bots.messages import (
    HumanMessage as HumanMessage,
)
from forky_core.bots.messages import (
    PromptRecorder as PromptRecorder,
)
from forky_core.bots.messages import (
    SystemMessage as SystemMessage,
)
from forky_core.bots.messages import (
    autorecord as autorecord,
)
