"""How a public name is retired: it works for a while, and warns whoever uses it.

The warning is a `DeprecationWarning`, which Python shows in a program's main module and in tests. Its sentence names
the new word and the version in which the old one goes away: “`Message.words` is now `Message.text`; it goes away in
Forky 0.4.” CONTRIBUTING.md says when a name may be retired. tests/process/test_deprecations.py reads every use and
fails in the version in which an old name should be gone.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "FORMER_MODULES",
    "RETIRED",
    "deprecated",
    "find_former_modules",
    "retired_name",
    "retired_names",
    "sentence",
]

GONE_IN = "0.2"
"""The first version without the names and modules of the tables below."""
_MOVED = {
    "bots": "History Recall Recalled ScoredMessage",
    "experiments": "Agreement CellAddress CellResult CheckVerdict ColumnComparison ColumnSummary Experiment"
    " ExperimentColumn ExperimentResult ExperimentRow ExperimentRun ExperimentWriter Experiments Interval RowCheck"
    " RunProgress Verdict experiment_writer read_experiment rows_of_conversation",
    "extending": "ContextChoice ConversationId DocumentKind DocumentSection DocumentSource Exporter Importer"
    " IncomingChanges MemoryPolicy MergeInputs MergeOptions Node ParsedConversation Passage PayloadKind PayloadLine"
    " PolicyInputs Role Sample SourceDocument SourceFiles Strategy Unreadable WindowChoice add_document_kind"
    " add_strategy plan_branch_merge plan_of_lines remove_document_kind remove_strategy squash_header strategies"
    " tune_process",
    "protocols": "BadCall Call anthropic_call chat_call path_keys prompt_hash response_hash responses_call",
    "sharing": "Link LinkDraft Links NewLink Poll Polls Report Tally Vote findings make_link private_values redacted"
    " report_of without_private write_report",
    "conversation.namespaces.bisections": "Bisections",
    "conversation.namespaces.branch_documents": "BranchDocuments",
    "conversation.namespaces.branch_merges": "BranchMerges",
    "conversation.namespaces.branch_rules": "BranchRules",
    "conversation.namespaces.branches": "Branches",
    "conversation.namespaces.conversation_history": "ConversationHistory",
    "conversation.namespaces.merge_requests": "MergeRequests",
    "conversation.namespaces.model_calls": "ModelCalls",
    "conversation.namespaces.participants": "Participants",
    "conversation.namespaces.running_replies": "RunningReplies",
    "conversation.namespaces.stashes": "Stashes",
    "conversation.namespaces.tags": "Tags",
}
RETIRED: dict[str, str] = {
    f"forky_core.{name}": f"forky_core.{home}.{name}"
    for home, names in _MOVED.items()
    for name in names.split()
}
"""Retired names of modules, each with the public name that replaces it."""
RETIRED["forky_core.process.tune_process"] = RETIRED["forky_core.tune_process"]
for _name in ("anthropic_call", "chat_call", "prompt_hash", "response_hash", "responses_call"):
    RETIRED[f"forky_core.matching.{_name}"] = RETIRED[f"forky_core.{_name}"]
FORMER_MODULES: dict[str, str] = {
    f"forky_core.{old}": f"forky_core.{new}".rstrip(".")
    for old, new in {
        "csv_lines": "text.csv_lines",
        "deprecations": "process.deprecations",
        "extras": "process.extras",
        "fences": "text.fences",
        "formats.arriving.landing": "",
        "formats.landing": "",
        "formats.leaving.redaction": "sharing",
        "formats.leaving.sharing": "",
        "formats.redaction": "sharing",
        "formats.sharing": "",
        "gateway.v1.calls": "protocols",
        "graph": "model.graph",
        "merge.claims.conflict_resolution": "",
        "merge.claims.settling": "",
        "merge.settling": "",
        "observability.events": "process.events",
        "offline.models": "documents.offline_models",
        "opaque": "model.opaque",
        "parts": "",
        "plugins": "process.plugins",
        "private_files": "process.private_files",
        "publishing.registry": "formats.reports.registry",
        "repo.bisecting": "",
        "repo.merges.bisecting": "",
        "scheduling": "process.scheduling",
        "settings": "process.settings",
        "team.guarded_models": "people.guarded_models",
        "team.guarded_store": "people.guarded_store",
        "team.people_on_server": "people.people_on_server",
        "team.threads": "people.threads",
    }.items()
}
"""Former modules that the documentation of an earlier build named, each with the module that has their names now."""


if TYPE_CHECKING:
    # Type checkers know `typing_extensions` even where it is not installed, and mark each use of a retired function.
    from typing_extensions import deprecated
else:

    def deprecated(message: str, /) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Make each call of a function or a method warn its caller, as Python 3.13's `warnings.deprecated` does.

        `message` is a literal of the form that the module's docstring shows.
        """

        def mark(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def retired(*arguments: Any, **named: Any) -> Any:
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                return function(*arguments, **named)

            retired.__deprecated__ = message
            return retired

        return mark


def sentence(old: str, new: str) -> str:
    """Return the warning for a name or a module of the tables."""
    return f"`{old}` is now `{new}`; it goes away in Forky {GONE_IN}."


def retired_name(module: str, name: str) -> Any:
    """Warn about a retired name of a module and return its value. The module's `__getattr__` calls it.

    Raises:
        AttributeError: the module has no such retired name.
    """
    old = f"{module}.{name}"
    new = RETIRED.get(old)
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    # Level 3 is the code that uses the name: levels 1 and 2 are this function and the module's `__getattr__`.
    warnings.warn(sentence(old, new), DeprecationWarning, stacklevel=3)
    home, _, name = new.rpartition(".")
    return getattr(import_module(home), name)


def retired_names(module: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module whose retired names are all that it looks up."""
    return lambda name: retired_name(module, name)


class _FormerModule(ModuleType):
    """Replaces a module that moved: it looks each name up in the module that has it now, after a warning."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks every module for these.
            raise AttributeError(name)
        new = FORMER_MODULES[self.__name__]
        warnings.warn(sentence(self.__name__, new), DeprecationWarning, stacklevel=2)
        return getattr(import_module(new), name)


def find_former_modules() -> None:
    """Make the modules of `FORMER_MODULES` importable. Their successors are imported at the first use of a name."""
    for old in FORMER_MODULES:
        sys.modules[old] = _FormerModule(old)
