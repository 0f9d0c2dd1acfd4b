"""What a program's token may do."""

from __future__ import annotations

from typing import Literal, get_args

TokenScope = Literal["read", "ask", "propose", "review", "land"]
"""What a token may do: read what it reaches; ask models; write on branches of its own and ask for merges; review such
requests; change everything that its owner may change, and land merges."""
SCOPES: tuple[TokenScope, ...] = get_args(TokenScope)
