"""The store that keeps conversations in one DuckDB file.

`store.py` implements the contract. Around it: the statements (sql/), the file (file/), the one thread that writes
(write/), the functions that read rows (read/), and the cache of what pages need on every run (cache/).
"""
