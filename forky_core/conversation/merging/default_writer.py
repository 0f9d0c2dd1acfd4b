"""Which model writes a merge where nobody named one: pages and the command line ask here."""

from __future__ import annotations

from forky_core.conversation.repo import Models
from forky_core.model import Rules


def default_writer(models: Models, rules: Rules) -> str | None:
    """The model that answers on a branch with these rules.

    None where that is an offline one, which only quotes, or where it cannot be asked: its key is missing, its server is
    not set up, or nobody offers it any more.
    """
    name = rules.model or models.default()
    return name if models.can_write(name) else None
