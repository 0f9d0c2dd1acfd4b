"""The order and the letters in which a voter sees the answers of a poll."""

from __future__ import annotations

from hashlib import blake2b

from forky_core.conversation.voting.poll import Poll, PollCandidate

LETTERS = "ABCDEFGHI"


def seen_by(poll: Poll, person: str) -> tuple[PollCandidate, ...]:
    """The candidates in the order in which this person sees them.

    While names and counts are hidden it is shuffled for each person, so that the first place helps no answer; from the
    reveal on all have one order and the same letters, so that they can talk of them.
    """
    if not poll.hidden:
        return poll.candidates
    seed = f"{poll.number} {poll.at} {poll.by} {person} ".encode()
    return tuple(
        sorted(poll.candidates, key=lambda one: blake2b(seed + one.message.encode(), digest_size=16).digest())
    )


def at_letter(poll: Poll, person: str, letter: str) -> PollCandidate | None:
    """The candidate that this person sees under a letter or a key from 1 to 9; None if there is none."""
    place = (
        (LETTERS.find(letter.upper()) if letter.isalpha() else "123456789".find(letter))
        if len(letter) == 1
        else -1
    )
    order = seen_by(poll, person)
    return order[place] if 0 <= place < len(order) else None
