"""A team: people who sign in, the roles they have in a workspace, and what each of them may see and change.

Everything here is kept in one SQLite file beside the conversations (`database.py` says why). `guarded_store.py` is the
only place that decides what a person may read or write.
"""
