"""Which model writes a merge where nobody named one."""

from __future__ import annotations

from forky_core.errors import ForkyError
from forky_core.llm.offline import PROVIDER as OFFLINE
from forky_core.model import Rules
from forky_core.repo.repo import Models


def default_writer(models: Models, rules: Rules) -> str | None:
    """The model that answers on the target under these rules; None where it is an offline one, which only quotes."""
    try:
        info = models.model(rules.model or models.default()).info()
    except ForkyError:
        return None
    return None if info.provider == OFFLINE else info.name
