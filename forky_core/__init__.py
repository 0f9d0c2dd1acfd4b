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

import re
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"


def _source() -> str:
    """The source of this module, wherever it was loaded from: a folder or a zip file."""
    loader: Any = __spec__.loader
    found: str | None = loader.get_source(__name__)
    if found is None:
        raise ImportError(
            "Forky reads its public names from its source files, which were left out here. Keep them."
        )
    return found


_IMPORTS = re.compile(r"^    from (forky_core[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
_HOMES = {
    name: home for home, names in _IMPORTS.findall(_source()) for name in re.findall(r"(\w+) as", names)
}
"""The module of each public name, as the imports below say it, which are the only list of them."""
_OFFERED = [name for name, home in _HOMES.items() if ".integrations." not in home]

# A type checker follows these imports and takes a name for public that is imported `as` itself; a program does not run
# them. In order they would be one import for each name.
# isort: off
if TYPE_CHECKING:
    from forky_core.bots import (
        ChatBot as ChatBot,
        History as History,
        QueryBot as QueryBot,
        Recall as Recall,
        Recalled as Recalled,
        ScoredMessage as ScoredMessage,
        SimpleBot as SimpleBot,
    )
    from forky_core.context.memory_policy import (
        ContextChoice as ContextChoice,
        MemoryPolicy as MemoryPolicy,
        PolicyInputs as PolicyInputs,
    )
    from forky_core.context.window import WindowChoice as WindowChoice
    from forky_core.conversation.conversation import Conversation as Conversation
    from forky_core.conversation.merging.bisecting import contains as contains
    from forky_core.conversation.namespaces.bisections import Bisections as Bisections
    from forky_core.conversation.namespaces.branch_documents import BranchDocuments as BranchDocuments
    from forky_core.conversation.namespaces.branch_merges import BranchMerges as BranchMerges
    from forky_core.conversation.namespaces.branch_rules import BranchRules as BranchRules
    from forky_core.conversation.namespaces.branches import Branches as Branches
    from forky_core.conversation.namespaces.conversation_history import (
        ConversationHistory as ConversationHistory,
    )
    from forky_core.conversation.namespaces.merge_requests import MergeRequests as MergeRequests
    from forky_core.conversation.namespaces.model_calls import ModelCalls as ModelCalls
    from forky_core.conversation.namespaces.participants import Participants as Participants
    from forky_core.conversation.namespaces.running_replies import RunningReplies as RunningReplies
    from forky_core.conversation.namespaces.stashes import Stashes as Stashes
    from forky_core.conversation.namespaces.tags import Tags as Tags
    from forky_core.conversation.voting.polls import Polls as Polls
    from forky_core.documents.chunking import DocumentSection as DocumentSection
    from forky_core.documents.kinds import DocumentKind as DocumentKind
    from forky_core.documents.registry import (
        add_document_kind as add_document_kind,
        remove_document_kind as remove_document_kind,
    )
    from forky_core.documents.source import DocumentSource as DocumentSource
    from forky_core.experiments.cells import CellResult as CellResult
    from forky_core.experiments.checks.verdict import CheckVerdict as CheckVerdict, Verdict as Verdict
    from forky_core.experiments.experiment_run import (
        ExperimentRun as ExperimentRun,
        RunProgress as RunProgress,
    )
    from forky_core.experiments.experiments import (
        Experiments as Experiments,
        rows_of_conversation as rows_of_conversation,
    )
    from forky_core.experiments.exporting.registry import (
        ExperimentWriter as ExperimentWriter,
        experiment_writer as experiment_writer,
    )
    from forky_core.experiments.files.experiment_file import read_experiment as read_experiment
    from forky_core.experiments.intervals import Interval as Interval
    from forky_core.experiments.results import (
        Agreement as Agreement,
        ColumnComparison as ColumnComparison,
        ColumnSummary as ColumnSummary,
        ExperimentResult as ExperimentResult,
    )
    from forky_core.forky import Forky as Forky
    from forky_core.formats.contract import (
        Importer as Importer,
        Node as Node,
        ParsedConversation as ParsedConversation,
        Sample as Sample,
        SourceDocument as SourceDocument,
        SourceFiles as SourceFiles,
        Unreadable as Unreadable,
    )
    from forky_core.formats.exporting.exporting import Exporter as Exporter
    from forky_core.formats.exporting.redaction import findings as findings, redacted as redacted
    from forky_core.formats.exporting.registry import exporter as exporter
    from forky_core.formats.exporting.sharing import export_value as export_value, save_as as save_as
    from forky_core.formats.importing.landing import import_file as import_file, preview as preview
    from forky_core.integrations.langchain import ForkyChatMessageHistory as ForkyChatMessageHistory
    from forky_core.integrations.litellm import ForkyLogger as ForkyLogger
    from forky_core.llm.contract import (
        Done as Done,
        Failed as Failed,
        Model as Model,
        ModelInfo as ModelInfo,
        Passage as Passage,
        ReasoningDelta as ReasoningDelta,
        Request as Request,
        TextDelta as TextDelta,
        ToolCallDone as ToolCallDone,
    )
    from forky_core.llm.function_model import FunctionModel as FunctionModel
    from forky_core.matching.keys import (
        path_keys as path_keys,
        prompt_hash as prompt_hash,
        response_hash as response_hash,
    )
    from forky_core.merge.block import PayloadLine as PayloadLine
    from forky_core.merge.branch_merge import plan_branch_merge as plan_branch_merge
    from forky_core.merge.conflicts.conflict import Choice as Choice, Conflict as Conflict
    from forky_core.merge.incoming_changes import IncomingChanges as IncomingChanges
    from forky_core.merge.inputs import MergeInputs as MergeInputs
    from forky_core.merge.options import MergeOptions as MergeOptions
    from forky_core.merge.plan import MergePlan as MergePlan
    from forky_core.merge.plan_lines import plan_of_lines as plan_of_lines
    from forky_core.merge.strategies import (
        add_strategy as add_strategy,
        remove_strategy as remove_strategy,
        strategies as strategies,
    )
    from forky_core.merge.strategy import Strategy as Strategy
    from forky_core.merge.wording import squash_header as squash_header
    from forky_core.merge.written.plan import SquashRejected as SquashRejected
    from forky_core.model import (
        ConversationId as ConversationId,
        Message as Message,
        MessageId as MessageId,
        Operation as Operation,
        Role as Role,
        Rules as Rules,
        Usage as Usage,
    )
    from forky_core.model.errors import (
        Ambiguous as Ambiguous,
        BadCall as BadCall,
        BadContent as BadContent,
        BadName as BadName,
        ForkyError as ForkyError,
        ImportBrokenOff as ImportBrokenOff,
        InTheWay as InTheWay,
        ModelError as ModelError,
        NameTaken as NameTaken,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        NothingToDo as NothingToDo,
        NotInstalled as NotInstalled,
        Outdated as Outdated,
        RequestError as RequestError,
        StoreBusy as StoreBusy,
        StoreDamaged as StoreDamaged,
        StoreError as StoreError,
        StoreFull as StoreFull,
        StoreTooNew as StoreTooNew,
    )
    from forky_core.model.experiment import (
        CellAddress as CellAddress,
        Experiment as Experiment,
        ExperimentColumn as ExperimentColumn,
        ExperimentRow as ExperimentRow,
        RowCheck as RowCheck,
    )
    from forky_core.model.memory import Memory as Memory
    from forky_core.model.parts import (
        AttachmentPart as AttachmentPart,
        Draft as Draft,
        MergePart as MergePart,
        ReasoningPart as ReasoningPart,
        TextPart as TextPart,
        ToolCallPart as ToolCallPart,
        ToolResultPart as ToolResultPart,
    )
    from forky_core.model.payload_kinds import PayloadKind as PayloadKind
    from forky_core.model.room import Person as Person, Room as Room
    from forky_core.llm.process_tuning import tune_process as tune_process
    from forky_core.people.links.link import Link as Link, LinkDraft as LinkDraft, NewLink as NewLink
    from forky_core.people.links.links import Links as Links
    from forky_core.people.links.making import make_link as make_link
    from forky_core.formats.reports.private_texts import (
        private_values as private_values,
        without_private as without_private,
    )
    from forky_core.formats.reports.publishing import report_of as report_of, write_report as write_report
    from forky_core.formats.reports.report import Report as Report
    from forky_core.conversation.voting.poll import Poll as Poll, Vote as Vote
    from forky_core.conversation.voting.tally import Tally as Tally
    from forky_core.wire.anthropic import anthropic_call as anthropic_call
    from forky_core.wire.call import Call as Call
    from forky_core.wire.chat import chat_call as chat_call
    from forky_core.wire.responses import responses_call as responses_call
else:
    __all__ = list(_OFFERED)


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - the import is what is put off

    if name not in _HOMES:
        new = import_module(f"{__name__}.process.deprecations").replacement(name)
        if new is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        name = new
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_OFFERED))
