"""The tables of threads, notices, last-seen marks and drafts."""

TABLES = """
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
