"""Forky: version control for conversations with language models.

    from forky_core import Forky

Names are loaded when they are first asked for, so that a program which needs the values alone does not pay for the
database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky
    from forky_core.model.errors import ForkyError

__all__ = ["Conversation", "Forky", "ForkyError"]
__version__ = "0.1.0"

_HOMES = {
    "Conversation": "forky_core.conversation.conversation",
    "Forky": "forky_core.forky",
    "ForkyError": "forky_core.model.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - the import is what is put off

    return getattr(import_module(_HOMES[name]), name)
