"""The nouns of Forky as frozen values: messages, branches, generations, operations and the view they add up to.

History is Operation → View, as in jj: a view is the whole movable state of one conversation at one moment (its
title, branches with their rules, tags, kept tips, stashes); an operation is one recorded difference between two
views. Messages never change, so undo only ever swaps views (laws 1, 4 and 5).
"""

from __future__ import annotations

from forky_core.model.branch import Branch, Rules, Stash
from forky_core.model.generation import Failure, Generation, GenerationStatus, Reuse, Usage
from forky_core.model.ids import ConversationId, GenerationId, MessageId, Role
from forky_core.model.library import Blob, ConversationSummary, Hit
from forky_core.model.message import Linked, Message, PathOverlap, Stem, seal
from forky_core.model.operation import Change, Operation, Verb, operation_id
from forky_core.model.view import EMPTY_VIEW, View

__all__ = [
    "EMPTY_VIEW",
    "Blob",
    "Branch",
    "Change",
    "ConversationId",
    "ConversationSummary",
    "Failure",
    "Generation",
    "GenerationId",
    "GenerationStatus",
    "Hit",
    "Linked",
    "Message",
    "MessageId",
    "Operation",
    "PathOverlap",
    "Reuse",
    "Role",
    "Rules",
    "Stash",
    "Stem",
    "Usage",
    "Verb",
    "View",
    "operation_id",
    "seal",
]
