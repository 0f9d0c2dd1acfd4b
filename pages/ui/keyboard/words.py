"""One line about each of Forky's words, which buttons and labels with that word show on hover and on focus."""

from __future__ import annotations

_LINES = """
accept: Land what a merge request proposes.
branch: A named line of the conversation, which moves on as something is said on it.
check out: Go to a branch or a message and continue there. Nothing is changed.
cherry-pick: Bring chosen messages only.
conflict: Statements of different branches that cannot all hold.
exclude: Leave a message out of what the model is sent, on this branch.
fork: Begin a new branch at this message. Nothing is copied and nothing is lost.
full: Show the messages of the branch as they are.
fuse: Make one answer of several answers to the same question.
graft: Merge a branch of another conversation.
land: Carry out what the preview shows, as one step that can be undone.
merge: Bring what one branch learned into another, as one message that you read before it lands.
merge request: Propose a merge, so that somebody else decides about it.
move the branch here: Promote: point the branch at this message.
octopus: Merge several branches at once.
pin: Keep a message in what the model is sent, whatever the memory leaves out.
promote: Point the branch at this message.
prune: Take away from here on what no branch needs. It can be undone.
regenerate: Have the question answered once more. Both answers stay, side by side.
restore: Return to how everything was at this point of the history.
revert: Leave messages out of everything that is sent from here on. Nothing is removed.
squash: Bring a short digest of the branch, each line with the message it comes from.
stash: Put a draft or the last messages aside, and take them up elsewhere.
tag: A name for one message, which does not move.
take back: Revert: leave messages out of everything that is sent from here on. Nothing is removed.
three-way: Settle where the branches disagree, above a squash of what is merged.
"""
WORDS = dict(line.split(": ", maxsplit=1) for line in _LINES.strip().splitlines())
"""The lines by their word in lower case; docs/glossary.md says more."""
