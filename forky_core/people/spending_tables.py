"""The tables in which the people's database keeps allowances (`limits`), and what earlier versions of Forky kept there
about spending: it stays, and is exported with the file.
"""

from __future__ import annotations

SPENDING_TABLES = """
CREATE TABLE provider_keys (
    workspace TEXT NOT NULL, person TEXT NOT NULL, provider TEXT NOT NULL, sealed BLOB NOT NULL,
    added INTEGER NOT NULL, PRIMARY KEY (workspace, person, provider)
);
CREATE TABLE model_rules (
    workspace TEXT NOT NULL, role INTEGER NOT NULL, models TEXT NOT NULL, PRIMARY KEY (workspace, role)
);
CREATE TABLE limits (
    workspace TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
    PRIMARY KEY (workspace, person, name)
);
CREATE TABLE balances (
    workspace TEXT NOT NULL, person TEXT NOT NULL, unit TEXT NOT NULL, amount INTEGER NOT NULL,
    granted INTEGER NOT NULL, PRIMARY KEY (workspace, person, unit)
);
CREATE TABLE holds (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, person TEXT NOT NULL, dollars INTEGER NOT NULL,
    messages INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0, arrived INTEGER NOT NULL DEFAULT 0,
    model TEXT NOT NULL, conversation TEXT NOT NULL, branch TEXT NOT NULL, day TEXT NOT NULL, until INTEGER NOT NULL
);
CREATE INDEX holds_of ON holds (workspace, person);
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY, workspace TEXT NOT NULL, at INTEGER NOT NULL, day TEXT NOT NULL, person TEXT NOT NULL,
    dollars INTEGER NOT NULL, messages INTEGER NOT NULL, priced INTEGER NOT NULL, own_key INTEGER NOT NULL,
    model TEXT NOT NULL, conversation TEXT NOT NULL, branch TEXT NOT NULL, hold TEXT UNIQUE
);
CREATE INDEX ledger_days ON ledger (workspace, person, day);
CREATE TABLE uploads (
    workspace TEXT NOT NULL, person TEXT NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL, day TEXT NOT NULL,
    kept INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (workspace, person, file)
)
"""
"""Money is in billionths of a US dollar, so that the sums of any number of calls are exact."""
