"""What stands behind a name of `Conversation`: `chat.rules`, `chat.people`, `chat.requests` and so on.

Each class offers the verbs of one topic on the branch that the handle has checked out. It stores the handle and not the
name of the branch, so that it stays right when the branch is renamed.
"""
