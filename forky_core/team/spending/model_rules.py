"""Which models the people of each role may ask, as owners have set it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from forky_core.model.errors import BadContent
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase
from forky_core.team.roles import ASSIGNABLE, Role

_MOST_PATTERNS = 50
_LONGEST_PATTERN = 200


class ModelRules:
    """The allowed models of one workspace. Names are compared without regard to case.

    The offline models are always allowed: they cost nothing, and nothing leaves this server.
    """

    def __init__(self, database: TeamDatabase, audit: Audit, workspace: str) -> None:
        self._database = database
        self._audit = audit
        self._workspace = workspace
        self._version = -1
        self._patterns: Mapping[int, tuple[str, ...]] = {}

    def of(self, role: Role) -> tuple[str, ...] | None:
        """The patterns of a role's models, `*` standing for any characters; () for no model, None for every one."""
        version = self._database.version
        if version != self._version:
            rows = self._database.rows(
                "SELECT role, models FROM model_rules WHERE workspace = ?", self._workspace
            )
            self._patterns = {row["role"]: tuple(json.loads(row["models"])) for row in rows}
            self._version = version
        return self._patterns.get(role.value)

    def allows(self, role: Role, model: str) -> bool:
        """Whether a model, which must not be an offline one, may be asked in a role."""
        patterns = self.of(role)
        name = model.casefold()
        return patterns is None or any(fnmatchcase(name, pattern.casefold()) for pattern in patterns)

    def set(self, role: Role, models: Iterable[str] | None, *, by: str) -> None:
        """Set the models of a role; None allows every one.

        Raises:
            BadContent: there are too many patterns, or one is too long.
        """
        if role not in ASSIGNABLE:
            raise BadContent("There is no such role.")
        patterns = None
        if models is not None:
            patterns = tuple(dict.fromkeys(word for text in models if (word := text.strip())))
            if len(patterns) > _MOST_PATTERNS or any(len(word) > _LONGEST_PATTERN for word in patterns):
                raise BadContent(
                    f"At most {_MOST_PATTERNS} names of models fit.", "Use * for several at once."
                )
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM model_rules WHERE workspace = ? AND role = ?", (self._workspace, role.value)
            )
            if patterns is not None:
                connection.execute(
                    "INSERT INTO model_rules VALUES (?, ?, ?)",
                    (self._workspace, role.value, json.dumps(patterns)),
                )
            shown = "every model" if patterns is None else ", ".join(patterns)[:300] or "the offline models"
            self._audit.note("models of a role set", by, role=role.word, models=shown)
