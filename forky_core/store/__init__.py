"""Stores of conversations: the contract they fulfil, and its implementations.

`contract.py` and `document_contract.py` say what Forky needs of a store; duckdb/ and memory/ implement it. The pure
parts that they share are here too (deciding, auditing, words).
"""
