"""One line about each of Forky's words, which buttons and labels with that word show on hover and on focus."""

from __future__ import annotations

_LINES = """
accept: Bring in what a request for review proposes.
ask for a review: Show others what you would bring back, so that somebody else decides. Git: merge request.
branch: A named line of the conversation, which moves on as something is said on it.
bring back: Bring what one branch learned into another, as one message that you read first. Git: merge.
bring it in: Carry out what the preview shows, as one step that can be undone.
check out: Go to a branch or a message and continue there. Nothing is changed.
clear away: Take away from here on what no branch needs. It can be undone. Git: prune.
conflict: Statements of different branches that cannot all hold.
exclude: Leave a message out of what the model is sent, on this branch.
full: Show the messages of the branch as they are.
graft: Bring back a branch of another conversation.
leave out from here on: Leave messages out of everything that is sent from here on. Nothing is removed. Git: revert.
make one answer of several: One answer, made of several to the same question.
octopus: Bring several branches back at once.
pin: Keep a message in what the model is sent, whatever the memory leaves out.
prefer this answer: Point the branch at this message.
put aside: Keep a draft or the last messages for later, and take them up elsewhere. Git: stash.
regenerate: Have the question answered once more. Both answers stay, side by side.
restore: Return to how everything was at this point of the history.
start a branch: Begin a new branch at this message. Nothing is copied and nothing is lost. Git: fork.
tag: A name for one message, which does not move.
three-way: Settle where the branches disagree, above a short note of what is brought back.
cherry-pick: Bring chosen messages only.
squash: Bring a short note of the branch, each line with the message it comes from.
"""
WORDS = dict(line.split(": ", maxsplit=1) for line in _LINES.strip().splitlines())
"""The lines by their word in lower case; docs/glossary.md says more."""
