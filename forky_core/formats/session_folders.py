"""Where programs of agents keep their sessions on this machine: they are followed there, and written to be resumed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def session_folders() -> Mapping[str, Path]:
    """Return the folder of each program, or its database, by the program's name, whether or not it is there."""
    return {
        "Claude Code": _home("CLAUDE_CONFIG_DIR", "~/.claude") / "projects",
        "Codex": _home("CODEX_HOME", "~/.codex") / "sessions",
        "pi": _home("PI_CODING_AGENT_DIR", "~/.pi/agent") / "sessions",
        "Gemini CLI": Path("~/.gemini/tmp").expanduser(),
        "OpenCode": _home("XDG_DATA_HOME", "~/.local/share") / "opencode" / "opencode.db",
    }


def _home(variable: str, usual: str) -> Path:
    """The folder of a program, which a variable of its own moves."""
    return Path(os.environ.get(variable) or usual).expanduser()
