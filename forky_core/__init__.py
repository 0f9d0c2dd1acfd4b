"""Forky: version control for conversations with language models.

Everything a program needs is here and in `forky_core.protocols`; other modules may change without notice.

- **Conversations**: `Forky.open` gives a database, `Forky.create` a `Conversation`; its methods ask, fork, merge, undo.
  The rest is behind a name for its topic: `chat.rules` is a `BranchRules`, `chat.people` are the `Participants`, of
  whom each is a `Person` in a `Room`. `Memory` says how much of a long conversation is sent.
  What they take and return: `Message`, `Rules`, `Operation`, `Usage`, and the parts that a message is made of.
- **Merging**: `MergePlan` is what a merge would write, `Choice` what is taken of a conflict, `contains` a check for
  `chat.bisections.run`. A `Strategy` is a way to merge; `add_strategy` offers one more, made of `plan_branch_merge` and
  `plan_of_lines`.
- **Votes**: `Conversation.polls` gives the `Polls` of a conversation: a `Poll` on answers, each `Vote`, the `Tally`.
- **Experiments**: an `Experiment` is a grid of `ExperimentRow` and `ExperimentColumn` with `RowCheck`s; `Experiments`
  saves and runs those of a conversation, `read_experiment` reads a file, `rows_of_conversation` takes a branch's
  questions, `experiment_writer` writes a file for programs.
- **Files**: `preview` and `import_file` read other programs' exports; `export_value`, `exporter`, `save_as` write them;
  `findings` and `redacted` take out what looks private.
- **Giving away**: `report_of` makes a `Report` of a comparison, an experiment, a poll, a merge or a replay,
  `write_report` writes it as a page or Markdown, an experiment also as a table. `make_link` makes an address at which
  others read one thing, or a part of a conversation; `Links` lists and revokes these.
- **Programs**: `SimpleBot`, `ChatBot` and `QueryBot`; `chat_call` and its kin read a provider's request, for
  `Forky.begin`. `ForkyLogger` records LiteLLM's calls, and `ForkyChatMessageHistory` is LangChain's history; each needs
  that package, so `from forky_core import *` leaves both out.
- **Extending**: `Importer`, `Exporter`, `MemoryPolicy`, `DocumentKind` and `Strategy` are what a
  package can add, with what each is made of; `add_document_kind` adds a kind from a program. `forky_core.protocols` is
  for packages that add a protocol of `/v1`.
- **Models**: `Forky.add_model` offers a model of the program: a `FunctionModel`, or anything with the methods of
  `Model`, which is given a `Request` and yields `TextDelta` and its kin.
- **Errors**: every one is a `ForkyError` with a sentence for a person.

Using it changes nothing of the process it runs in; `tune_process` is for programs that are Forky's own.

Names are loaded when they are first asked for, so that a program which needs the values alone does not pay for the
database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forky_core.bots import ChatBot, History, QueryBot, Recall, Recalled, ScoredMessage, SimpleBot
    from forky_core.context.memory_policy import ContextChoice, MemoryPolicy, PolicyInputs
    from forky_core.context.window import WindowChoice
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.merging.bisecting import contains
    from forky_core.conversation.namespaces.bisections import Bisections
    from forky_core.conversation.namespaces.branch_documents import BranchDocuments
    from forky_core.conversation.namespaces.branch_merges import BranchMerges
    from forky_core.conversation.namespaces.branch_rules import BranchRules
    from forky_core.conversation.namespaces.branches import Branches
    from forky_core.conversation.namespaces.conversation_history import ConversationHistory
    from forky_core.conversation.namespaces.merge_requests import MergeRequests
    from forky_core.conversation.namespaces.model_calls import ModelCalls
    from forky_core.conversation.namespaces.participants import Participants
    from forky_core.conversation.namespaces.running_replies import RunningReplies
    from forky_core.conversation.namespaces.stashes import Stashes
    from forky_core.conversation.namespaces.tags import Tags
    from forky_core.conversation.voting.polls import Polls
    from forky_core.documents.chunking import DocumentSection
    from forky_core.documents.kinds import DocumentKind
    from forky_core.documents.registry import add_document_kind, remove_document_kind
    from forky_core.documents.source import DocumentSource
    from forky_core.experiments.cells import CellResult
    from forky_core.experiments.checks.verdict import CheckVerdict, Verdict
    from forky_core.experiments.experiment_run import ExperimentRun, RunProgress
    from forky_core.experiments.experiments import Experiments, rows_of_conversation
    from forky_core.experiments.exporting.registry import ExperimentWriter, experiment_writer
    from forky_core.experiments.files.experiment_file import read_experiment
    from forky_core.experiments.intervals import Interval
    from forky_core.experiments.results import Agreement, ColumnComparison, ColumnSummary, ExperimentResult
    from forky_core.forky import Forky
    from forky_core.formats.contract import (
        Importer,
        Node,
        ParsedConversation,
        Sample,
        SourceDocument,
        SourceFiles,
        Unreadable,
    )
    from forky_core.formats.exporting.exporting import Exporter
    from forky_core.formats.exporting.redaction import findings, redacted
    from forky_core.formats.exporting.registry import exporter
    from forky_core.formats.exporting.sharing import export_value, save_as
    from forky_core.formats.importing.landing import import_file, preview
    from forky_core.integrations.langchain import ForkyChatMessageHistory as ForkyChatMessageHistory
    from forky_core.integrations.litellm import ForkyLogger as ForkyLogger
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
    from forky_core.llm.function_model import FunctionModel
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
    from forky_core.model.experiment import (
        CellAddress,
        Experiment,
        ExperimentColumn,
        ExperimentRow,
        RowCheck,
    )
    from forky_core.model.memory import Memory
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
    from forky_core.model.room import Person, Room
    from forky_core.process import tune_process
    from forky_core.publishing.links.link import Link, LinkDraft, NewLink
    from forky_core.publishing.links.links import Links
    from forky_core.publishing.links.making import make_link
    from forky_core.publishing.private_texts import private_values, without_private
    from forky_core.publishing.publishing import report_of, write_report
    from forky_core.publishing.report import Report
    from forky_core.votes.poll import Poll, Vote
    from forky_core.votes.tally import Tally

__all__ = [
    "Agreement",
    "Ambiguous",
    "AttachmentPart",
    "BadCall",
    "BadContent",
    "BadName",
    "Bisections",
    "BranchDocuments",
    "BranchMerges",
    "BranchRules",
    "Branches",
    "Call",
    "CellAddress",
    "CellResult",
    "ChatBot",
    "CheckVerdict",
    "Choice",
    "ColumnComparison",
    "ColumnSummary",
    "ContextChoice",
    "Conversation",
    "ConversationHistory",
    "ConversationId",
    "DocumentKind",
    "DocumentSection",
    "DocumentSource",
    "Done",
    "Draft",
    "Experiment",
    "ExperimentColumn",
    "ExperimentResult",
    "ExperimentRow",
    "ExperimentRun",
    "ExperimentWriter",
    "Experiments",
    "Exporter",
    "Failed",
    "Forky",
    "ForkyError",
    "FunctionModel",
    "History",
    "ImportBrokenOff",
    "Importer",
    "InTheWay",
    "IncomingChanges",
    "Interval",
    "Link",
    "LinkDraft",
    "Links",
    "Memory",
    "MemoryPolicy",
    "MergeInputs",
    "MergeOptions",
    "MergePart",
    "MergePlan",
    "MergeRequests",
    "Message",
    "MessageId",
    "Model",
    "ModelCalls",
    "ModelError",
    "ModelInfo",
    "NameTaken",
    "NewLink",
    "Node",
    "NotAllowed",
    "NotFound",
    "NotInstalled",
    "NothingToDo",
    "Operation",
    "Outdated",
    "ParsedConversation",
    "Participants",
    "Passage",
    "PayloadKind",
    "PayloadLine",
    "Person",
    "PolicyInputs",
    "Poll",
    "Polls",
    "QueryBot",
    "ReasoningDelta",
    "ReasoningPart",
    "Recall",
    "Recalled",
    "Report",
    "Request",
    "RequestError",
    "Role",
    "Room",
    "RowCheck",
    "Rules",
    "RunProgress",
    "RunningReplies",
    "Sample",
    "ScoredMessage",
    "SimpleBot",
    "SourceDocument",
    "SourceFiles",
    "SquashRejected",
    "Stashes",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreTooNew",
    "Strategy",
    "Tags",
    "Tally",
    "TextDelta",
    "TextPart",
    "ToolCallDone",
    "ToolCallPart",
    "ToolResultPart",
    "Unreadable",
    "Usage",
    "Verdict",
    "Vote",
    "WindowChoice",
    "add_document_kind",
    "add_strategy",
    "anthropic_call",
    "chat_call",
    "contains",
    "experiment_writer",
    "export_value",
    "exporter",
    "findings",
    "import_file",
    "make_link",
    "path_keys",
    "plan_branch_merge",
    "plan_of_lines",
    "preview",
    "private_values",
    "prompt_hash",
    "read_experiment",
    "redacted",
    "remove_document_kind",
    "remove_strategy",
    "report_of",
    "response_hash",
    "responses_call",
    "rows_of_conversation",
    "save_as",
    "squash_header",
    "strategies",
    "tune_process",
    "without_private",
    "write_report",
]
__version__ = "0.1.0"

_HOMES = {
    "bots": ("ChatBot", "History", "QueryBot", "Recall", "Recalled", "ScoredMessage", "SimpleBot"),
    "conversation.conversation": ("Conversation",),
    "conversation.merging.bisecting": ("contains",),
    "conversation.namespaces.bisections": ("Bisections",),
    "conversation.namespaces.branch_documents": ("BranchDocuments",),
    "conversation.namespaces.branch_merges": ("BranchMerges",),
    "conversation.namespaces.branch_rules": ("BranchRules",),
    "conversation.namespaces.branches": ("Branches",),
    "conversation.namespaces.conversation_history": ("ConversationHistory",),
    "conversation.namespaces.merge_requests": ("MergeRequests",),
    "conversation.namespaces.model_calls": ("ModelCalls",),
    "conversation.namespaces.participants": ("Participants",),
    "conversation.namespaces.running_replies": ("RunningReplies",),
    "conversation.namespaces.stashes": ("Stashes",),
    "conversation.namespaces.tags": ("Tags",),
    "conversation.voting.polls": ("Polls",),
    "forky": ("Forky",),
    "context.window": ("WindowChoice",),
    "context.memory_policy": ("ContextChoice", "MemoryPolicy", "PolicyInputs"),
    "documents.chunking": ("DocumentSection",),
    "documents.kinds": ("DocumentKind",),
    "documents.registry": ("add_document_kind", "remove_document_kind"),
    "documents.source": ("DocumentSource",),
    "experiments.cells": ("CellResult",),
    "experiments.checks.verdict": ("CheckVerdict", "Verdict"),
    "experiments.experiment_run": ("ExperimentRun", "RunProgress"),
    "experiments.experiments": ("Experiments", "rows_of_conversation"),
    "experiments.exporting.registry": ("ExperimentWriter", "experiment_writer"),
    "experiments.files.experiment_file": ("read_experiment",),
    "experiments.intervals": ("Interval",),
    "experiments.results": ("Agreement", "ColumnComparison", "ColumnSummary", "ExperimentResult"),
    "formats.exporting.exporting": ("Exporter",),
    "formats.contract": (
        "Importer",
        "Node",
        "ParsedConversation",
        "Sample",
        "SourceDocument",
        "SourceFiles",
        "Unreadable",
    ),
    "formats.exporting.redaction": ("findings", "redacted"),
    "formats.exporting.registry": ("exporter",),
    "formats.exporting.sharing": ("export_value", "save_as"),
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
    "llm.function_model": ("FunctionModel",),
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
    "model.experiment": ("CellAddress", "Experiment", "ExperimentColumn", "ExperimentRow", "RowCheck"),
    "model.memory": ("Memory",),
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
    "model.room": ("Person", "Room"),
    "process": ("tune_process",),
    "publishing.links.link": ("Link", "LinkDraft", "NewLink"),
    "publishing.links.links": ("Links",),
    "publishing.links.making": ("make_link",),
    "publishing.private_texts": ("private_values", "without_private"),
    "publishing.publishing": ("report_of", "write_report"),
    "publishing.report": ("Report",),
    "votes.poll": ("Poll", "Vote"),
    "votes.tally": ("Tally",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - the import is what is put off

    if name not in _HOME_OF:
        new = import_module(f"{__name__}.deprecations").replacement(name)
        if new is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        name = new
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
