"""The model that writes a merge by default, for pages and the command line."""

from __future__ import annotations

from forky_core.conversation.session import Models
from forky_core.model import Rules


def default_writer(models: Models, rules: Rules) -> str | None:
    """The model that answers on a branch with these rules.

    None if that is an offline one, which only quotes, or if it cannot be asked: its key is missing, its server is not
    set up, or nobody offers it any more.
    """
    name = rules.model or models.default()
    return name if models.can_write(name) else None
