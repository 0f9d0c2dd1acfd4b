"""What a package or a program needs that adds something to Forky (docs/extending.md shows each).

`Strategy`, `Importer`, `Exporter`, `MemoryPolicy` and `DocumentKind` are what it can add, with what each is made of. A
strategy is made of `plan_branch_merge` and `plan_of_lines`. `add_strategy` and `add_document_kind` add one while a
program runs. A protocol of `/v1` needs `forky_core.protocols`. `tune_process` is for programs that are Forky's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.lazy_names import lazy_names

if TYPE_CHECKING:
    from forky_core.context.memory_policy import (
        ContextChoice as ContextChoice,
        MemoryPolicy as MemoryPolicy,
        PolicyInputs as PolicyInputs,
    )
    from forky_core.context.window import WindowChoice as WindowChoice
    from forky_core.documents.chunking import DocumentSection as DocumentSection
    from forky_core.documents.kinds import DocumentKind as DocumentKind
    from forky_core.documents.registry import (
        add_document_kind as add_document_kind,
        remove_document_kind as remove_document_kind,
    )
    from forky_core.documents.source import DocumentSource as DocumentSource
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
    from forky_core.llm.contract import Passage as Passage
    from forky_core.llm.process_tuning import tune_process as tune_process
    from forky_core.merge.block import PayloadLine as PayloadLine
    from forky_core.merge.branch_merge import plan_branch_merge as plan_branch_merge
    from forky_core.merge.incoming_changes import IncomingChanges as IncomingChanges
    from forky_core.merge.inputs import MergeInputs as MergeInputs
    from forky_core.merge.options import MergeOptions as MergeOptions
    from forky_core.merge.branch_merge import plan_of_lines as plan_of_lines
    from forky_core.merge.strategies import (
        add_strategy as add_strategy,
        remove_strategy as remove_strategy,
        strategies as strategies,
    )
    from forky_core.merge.strategy import Strategy as Strategy
    from forky_core.merge.wording import squash_header as squash_header
    from forky_core.model import ConversationId as ConversationId, Role as Role
    from forky_core.model.payload_kinds import PayloadKind as PayloadKind
else:
    __all__, __getattr__, __dir__ = lazy_names(globals(), __spec__)
