"""Forky: version control for conversations with language models.

Everything a program needs is here; other modules may change without notice.

- **Conversations**: `Forky.open` gives a database, `Forky.create` a `Conversation`; its methods ask, fork, merge, undo.
  What they take and return: `Message`, `Rules`, `Operation`, `Usage`, and the parts that a message is made of.
- **Merging**: `MergePlan` is what a merge would write, `Choice` what is taken of a conflict, `contains` a check for
  `Conversation.bisect`. A `Strategy` is a way to merge; `add_strategy` offers one more, made of `plan_branch_merge` and
  `plan_of_lines`.
- **Files**: `preview` and `import_file` read other programs' exports; `shared`, `exporter`, `save_as` write them;
  `findings` and `redacted` take out what looks private.
- **Programs**: `SimpleBot`, `ChatBot` and `QueryBot`; `chat_call` and its kin read a provider's request, for
  `Forky.begin`; `ForkyLogger` records LiteLLM's calls, `ForkyChatMessageHistory` is LangChain's history.
- **Models**: anything with the methods of `Model` answers; it is told a `Request` and yields `TextDelta` and its kin.
- **Errors**: every one is a `ForkyError` with a sentence for a person.

Using it changes nothing of the process it runs in; `tune_process` is for programs that are Forky's own.

Names are loaded when they are first asked for, so that a program which needs the values alone does not pay for the
database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forky_core.bots import ChatBot, History, QueryBot, Recall, Recalled, ScoredMessage, SimpleBot
    from forky_core.context.memory_policy import ContextChoice, MemoryPolicy
    from forky_core.context.window import WindowChoice
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.merging.bisecting import contains
    from forky_core.documents.chunking import DocumentSection
    from forky_core.documents.kinds import DocumentKind
    from forky_core.forky import Forky
    from forky_core.formats.contract import Importer, Node, ParsedConversation
    from forky_core.formats.exporting.exporting import Exporter
    from forky_core.formats.exporting.redaction import findings, redacted
    from forky_core.formats.exporting.registry import exporter
    from forky_core.formats.exporting.sharing import save_as, shared
    from forky_core.formats.importing.landing import import_file, preview
    from forky_core.integrations.langchain import ForkyChatMessageHistory
    from forky_core.integrations.litellm import ForkyLogger
    from forky_core.llm.contract import (
        Done,
        Failed,
        Model,
        ModelInfo,
        Passage,
        ReasoningDelta,
        Request,
        TextDelta,
        ToolCallDone,
    )
    from forky_core.matching import (
        Call,
        anthropic_call,
        chat_call,
        prompt_hash,
        response_hash,
        responses_call,
    )
    from forky_core.matching.keys import path_keys
    from forky_core.merge.block import PayloadLine
    from forky_core.merge.branch_merge import plan_branch_merge
    from forky_core.merge.claims.conflict_resolution import Choice
    from forky_core.merge.incoming_changes import IncomingChanges
    from forky_core.merge.inputs import MergeInputs
    from forky_core.merge.models.squash import SquashRejected
    from forky_core.merge.options import MergeOptions
    from forky_core.merge.plan import MergePlan
    from forky_core.merge.plan_lines import plan_of_lines
    from forky_core.merge.strategies import add_strategy, remove_strategy, strategies
    from forky_core.merge.strategy import Strategy
    from forky_core.merge.wording import squash_header
    from forky_core.model import ConversationId, Message, MessageId, Operation, Role, Rules, Usage
    from forky_core.model.errors import (
        Ambiguous,
        BadCall,
        BadContent,
        BadName,
        ForkyError,
        ImportBrokenOff,
        InTheWay,
        ModelError,
        NameTaken,
        NotAllowed,
        NotFound,
        NothingToDo,
        NotInstalled,
        Outdated,
        RequestError,
        StoreBusy,
        StoreDamaged,
        StoreError,
        StoreFull,
        StoreTooNew,
    )
    from forky_core.model.parts import (
        AttachmentPart,
        Draft,
        MergePart,
        ReasoningPart,
        TextPart,
        ToolCallPart,
        ToolResultPart,
    )
    from forky_core.model.payload_kinds import PayloadKind
    from forky_core.process import tune_process

__all__ = [
    "Ambiguous",
    "AttachmentPart",
    "BadCall",
    "BadContent",
    "BadName",
    "Call",
    "ChatBot",
    "Choice",
    "ContextChoice",
    "Conversation",
    "ConversationId",
    "DocumentKind",
    "DocumentSection",
    "Done",
    "Draft",
    "Exporter",
    "Failed",
    "Forky",
    "ForkyChatMessageHistory",
    "ForkyError",
    "ForkyLogger",
    "History",
    "ImportBrokenOff",
    "Importer",
    "InTheWay",
    "IncomingChanges",
    "MemoryPolicy",
    "MergeInputs",
    "MergeOptions",
    "MergePart",
    "MergePlan",
    "Message",
    "MessageId",
    "Model",
    "ModelError",
    "ModelInfo",
    "NameTaken",
    "Node",
    "NotAllowed",
    "NotFound",
    "NotInstalled",
    "NothingToDo",
    "Operation",
    "Outdated",
    "ParsedConversation",
    "Passage",
    "PayloadKind",
    "PayloadLine",
    "QueryBot",
    "ReasoningDelta",
    "ReasoningPart",
    "Recall",
    "Recalled",
    "Request",
    "RequestError",
    "Role",
    "Rules",
    "ScoredMessage",
    "SimpleBot",
    "SquashRejected",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreTooNew",
    "Strategy",
    "TextDelta",
    "TextPart",
    "ToolCallDone",
    "ToolCallPart",
    "ToolResultPart",
    "Usage",
    "WindowChoice",
    "add_strategy",
    "anthropic_call",
    "chat_call",
    "contains",
    "exporter",
    "findings",
    "import_file",
    "path_keys",
    "plan_branch_merge",
    "plan_of_lines",
    "preview",
    "prompt_hash",
    "redacted",
    "remove_strategy",
    "response_hash",
    "responses_call",
    "save_as",
    "shared",
    "squash_header",
    "strategies",
    "tune_process",
]
__version__ = "0.1.0"

_HOMES = {
    "bots": ("ChatBot", "History", "QueryBot", "Recall", "Recalled", "ScoredMessage", "SimpleBot"),
    "conversation.conversation": ("Conversation",),
    "conversation.merging.bisecting": ("contains",),
    "forky": ("Forky",),
    "context.window": ("WindowChoice",),
    "context.memory_policy": ("ContextChoice", "MemoryPolicy"),
    "documents.chunking": ("DocumentSection",),
    "documents.kinds": ("DocumentKind",),
    "formats.exporting.exporting": ("Exporter",),
    "formats.contract": ("Importer", "Node", "ParsedConversation"),
    "formats.exporting.redaction": ("findings", "redacted"),
    "formats.exporting.registry": ("exporter",),
    "formats.exporting.sharing": ("save_as", "shared"),
    "formats.importing.landing": ("import_file", "preview"),
    "integrations.langchain": ("ForkyChatMessageHistory",),
    "integrations.litellm": ("ForkyLogger",),
    "llm.contract": (
        "Done",
        "Failed",
        "Model",
        "ModelInfo",
        "Passage",
        "ReasoningDelta",
        "Request",
        "TextDelta",
        "ToolCallDone",
    ),
    "matching": ("Call", "anthropic_call", "chat_call", "prompt_hash", "response_hash", "responses_call"),
    "matching.keys": ("path_keys",),
    "merge.block": ("PayloadLine",),
    "merge.branch_merge": ("plan_branch_merge",),
    "merge.claims.conflict_resolution": ("Choice",),
    "merge.incoming_changes": ("IncomingChanges",),
    "merge.inputs": ("MergeInputs",),
    "merge.models.squash": ("SquashRejected",),
    "merge.options": ("MergeOptions",),
    "merge.plan": ("MergePlan",),
    "merge.plan_lines": ("plan_of_lines",),
    "merge.strategies": ("add_strategy", "remove_strategy", "strategies"),
    "merge.strategy": ("Strategy",),
    "merge.wording": ("squash_header",),
    "model": ("ConversationId", "Message", "MessageId", "Operation", "Role", "Rules", "Usage"),
    "model.errors": (
        "Ambiguous",
        "BadCall",
        "BadContent",
        "BadName",
        "ForkyError",
        "ImportBrokenOff",
        "InTheWay",
        "ModelError",
        "NameTaken",
        "NotAllowed",
        "NotFound",
        "NothingToDo",
        "NotInstalled",
        "Outdated",
        "RequestError",
        "StoreBusy",
        "StoreDamaged",
        "StoreError",
        "StoreFull",
        "StoreTooNew",
    ),
    "model.parts": (
        "AttachmentPart",
        "Draft",
        "MergePart",
        "ReasoningPart",
        "TextPart",
        "ToolCallPart",
        "ToolResultPart",
    ),
    "model.payload_kinds": ("PayloadKind",),
    "process": ("tune_process",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - the import is what is put off

    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
