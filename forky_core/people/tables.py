"""Every table of the database of a server's people, in what SQLite and PostgreSQL have in common."""

from __future__ import annotations

import re

_TABLES = """
CREATE TABLE people (
    id TEXT PRIMARY KEY, handle TEXT NOT NULL UNIQUE, name TEXT NOT NULL, email TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL
);
CREATE TABLE identities (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    secret TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL, PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_of ON identities (person);
CREATE TABLE members (
    workspace TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, role INTEGER NOT NULL,
    since INTEGER NOT NULL, PRIMARY KEY (workspace, person)
);
CREATE INDEX members_of ON members (person);
CREATE TABLE sessions (
    digest BLOB PRIMARY KEY, id TEXT NOT NULL UNIQUE, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    device TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL, expires INTEGER NOT NULL
);
CREATE INDEX sessions_of ON sessions (person);
CREATE TABLE invitations (
    digest BLOB PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, role INTEGER NOT NULL,
    email TEXT NOT NULL, made_by TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
    uses INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE conversations (
    workspace TEXT NOT NULL, conversation TEXT NOT NULL, owner TEXT NOT NULL, shared INTEGER NOT NULL DEFAULT 0,
    files_known INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (workspace, conversation)
);
CREATE TABLE shares (
    workspace TEXT NOT NULL, conversation TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, role INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, person)
);
CREATE INDEX shares_with ON shares (person);
CREATE TABLE given_files (
    workspace TEXT NOT NULL, file TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace, file, person)
);
CREATE TABLE named_files (
    workspace TEXT NOT NULL, file TEXT NOT NULL, conversation TEXT NOT NULL,
    PRIMARY KEY (workspace, file, conversation)
);
CREATE TABLE audit (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, previous TEXT NOT NULL, at INTEGER NOT NULL, person TEXT NOT NULL,
    event TEXT NOT NULL, about TEXT NOT NULL
);
"""
_PROTECTED_BRANCHES = """
CREATE TABLE protected_branches (
    workspace TEXT NOT NULL, conversation TEXT NOT NULL, pattern TEXT NOT NULL, approvals INTEGER NOT NULL,
    reviewers TEXT NOT NULL, bypass INTEGER NOT NULL, PRIMARY KEY (workspace, conversation, pattern)
);
"""
_TOGETHER = """
CREATE TABLE threads (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, conversation TEXT NOT NULL, message TEXT NOT NULL,
    quote TEXT NOT NULL, begun INTEGER NOT NULL, resolved INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX threads_of ON threads (workspace, conversation);
CREATE TABLE thread_comments (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE, person TEXT NOT NULL,
    text TEXT NOT NULL, at INTEGER NOT NULL, edited INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX thread_comments_of ON thread_comments (thread);
CREATE TABLE thread_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, workspace TEXT NOT NULL, conversation TEXT NOT NULL,
    thread TEXT NOT NULL, message TEXT NOT NULL, at INTEGER NOT NULL, person TEXT NOT NULL, event TEXT NOT NULL
);
CREATE INDEX thread_events_of ON thread_events (workspace, conversation);
CREATE TABLE notices (
    number INTEGER PRIMARY KEY AUTOINCREMENT, workspace TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, kind TEXT NOT NULL, conversation TEXT NOT NULL,
    cause TEXT NOT NULL, quote TEXT NOT NULL, title TEXT NOT NULL, about TEXT NOT NULL, at INTEGER NOT NULL,
    read INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX notices_of ON notices (person);
CREATE TABLE last_seen (
    workspace TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    conversation TEXT NOT NULL, operation INTEGER NOT NULL, event INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (workspace, person, conversation)
);
CREATE TABLE drafts (
    workspace TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, place TEXT NOT NULL,
    content TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (workspace, person, place)
);
"""
"""Threads, notices, last-seen marks and drafts."""
_GETTING_IN = """
CREATE TABLE one_time_links (
    digest BLOB PRIMARY KEY, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, purpose TEXT NOT NULL,
    about TEXT NOT NULL, made_by TEXT NOT NULL, expires INTEGER NOT NULL
);
CREATE INDEX one_time_links_of ON one_time_links (person);
CREATE TABLE proofs (
    session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE, at INTEGER NOT NULL
);
"""
_ATTEMPTS = """
CREATE TABLE attempts (id TEXT PRIMARY KEY, kind TEXT NOT NULL, client TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX attempts_of ON attempts (kind, client, at);
"""
"""What is counted within a minute: failed attempts to sign in (attempts.py)."""
_DELIVERY = """
CREATE TABLE delivery_choices (
    person TEXT PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE, mail TEXT NOT NULL, webhook TEXT NOT NULL,
    secret TEXT NOT NULL, digested INTEGER NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, channel TEXT NOT NULL,
    notice TEXT NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX deliveries_due ON deliveries (due);
"""
"""What earlier versions sent by mail and to webhooks. Nothing reads it; it is moved and backed up with the rest."""
_SPENDING = """
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
"""Allowances (`limits`), and what earlier versions kept about spending: it stays, and is exported with the file. Money
is in billionths of a US dollar, so that the sums of any number of calls are exact.
"""
_BACKUPS = """
CREATE TABLE backup_requests (id TEXT PRIMARY KEY, at INTEGER NOT NULL, state TEXT NOT NULL, told TEXT NOT NULL);
"""
"""Backups that a command has asked the running app for (people/backup/backup_desk.py)."""
_PARTS = (
    _TABLES,
    _PROTECTED_BRANCHES,
    _TOGETHER,
    _GETTING_IN,
    _ATTEMPTS,
    _DELIVERY,
    _SPENDING,
    _BACKUPS,
)
SCHEMA_TEXT = ";".join(_PARTS)
"""The statements that make every table, as SQLite takes them."""
TABLES_IN_ORDER = tuple(re.findall(r"CREATE TABLE (\w+)", SCHEMA_TEXT))
"""Every table after those that it refers to."""
