"""Where conversations are kept: a contract, and the stores that keep it.

`contract.py` and `document_contract.py` say what Forky needs; the stores in duckdb/ and memory/ keep it, and share what
is pure (deciding, auditing, words).
"""
