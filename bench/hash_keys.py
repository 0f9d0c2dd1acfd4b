"""The table one would write first: messages under their hash, each naming its parent's, and a path by recursion.

Nothing in it says which conversation a parent is in, so every step of the recursion looks among all messages. It holds
the million's own messages, in the order they were written, in a DuckDB file of its own, with DuckDB's own settings.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

_FILL = """
CREATE TABLE peer.messages AS
SELECT 'b2:' || replace(m.id::TEXT, '-', '') AS id, 'b2:' || replace(p.id::TEXT, '-', '') AS parent,
  c.id AS conversation, m.role, m.text AS content, m.created
FROM ours.messages m JOIN ours.conversations c ON c.conversation = m.conversation
LEFT JOIN ours.messages p ON p.conversation = m.conversation AND p.message = m.parent
ORDER BY m.created
"""
_PATH = """
WITH RECURSIVE path AS (
  SELECT id, parent, role, content, created, 0 AS above FROM messages WHERE id = $id
  UNION ALL
  SELECT m.id, m.parent, m.role, m.content, m.created, path.above + 1
  FROM messages m JOIN path ON m.id = path.parent
) SELECT * FROM path ORDER BY above DESC
"""


class HashKeyed:
    def __init__(self, ours: Path, folder: Path) -> None:
        """Of the messages in `ours`, a file that nobody has open."""
        path = folder / "hashes.duckdb"
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{ours}' AS ours (READ_ONLY)")
            connection.execute(f"ATTACH '{path}' AS peer")
            connection.execute(_FILL)
        self._connection = duckdb.connect(str(path))

    def path(self, head: str) -> int:
        """How many messages it has."""
        return len(self._connection.execute(_PATH, {"id": head}).fetchall())

    def close(self) -> None:
        self._connection.close()
