"""What those who follow a presentation do themselves: they ask questions, and vote, on the page on which they follow.

A follower is a guest, known by a secret that their browser made: nobody signs in, and nothing of it proves who they
are. A guest's vote is stored under a name made from that secret, so that each browser has one vote. Questions wait in
memory for the presenter alone, and end with the presentation: an audience writes nothing into a conversation.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from forky_core.model.errors import BadContent, NotAllowed, NotFound

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.replies.reply_job import ReplyJob

LONGEST_QUESTION = 500
"""Characters of a question."""
MOST_WAITING = 50
"""Questions that wait for the presenter."""
BETWEEN = 10.0
"""Seconds between two questions of one guest."""
OF_A_NETWORK = 30
"""Questions of one network within `WINDOW`: a room full of phones has one address."""
WINDOW = 60.0
"""Seconds."""
MOST_GUESTS = 500
"""Guests who vote during one presentation."""
_FEWEST_DIGITS = 16
"""Characters of a guest's secret."""


@dataclass(eq=False)
class AudienceQuestion:
    """A question that somebody who follows has asked."""

    number: int
    text: str
    branch: str = ""
    """The branch on which it was put to a model; "" while it waits."""
    said: str = ""
    """Why no model answers it."""
    job: ReplyJob | None = None

    def told(self) -> dict[str, Any]:
        """What the presenter's page is told: also where the answer is, once it is there."""
        from forky_core.render.steps import key_of  # noqa: PLC0415 - the server's start does without

        answer = self.job.message if self.job is not None else None
        failed = self.job is not None and not self.job.running and answer is None
        said = "No answer came." if failed else self.said
        at = key_of(answer.id) if answer is not None else ""
        return {"number": self.number, "text": self.text, "branch": self.branch, "said": said, "at": at}


@dataclass(eq=False)
class Audience:
    """The questions and the guests of one presentation; only the server's event loop uses it."""

    clock: Callable[[], float] = time.monotonic
    questions: dict[int, AudienceQuestion] = field(default_factory=dict)
    """Those that wait or were put to a model, by number, oldest first."""
    guests: set[str] = field(default_factory=set)
    """The names under which guests have voted."""
    _last: int = 0
    _changes: int = 0
    _asked: dict[str, deque[float]] = field(default_factory=dict)
    """When each guest and each network asked last."""

    @property
    def version(self) -> int:
        """Rises when the presenter's page has something new to fetch."""
        return self._changes + sum(
            one.job is not None and not one.job.running for one in self.questions.values()
        )

    def ask(self, text: str, guest: str, network: str) -> AudienceQuestion:
        """Keep a question for the presenter.

        Raises:
            BadContent: it is empty or too long.
            NotAllowed: this guest or their network asks too often, or too many questions wait.
        """
        words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        if not words:
            raise BadContent("There is no question yet.", "Type one.")
        if len(words) > LONGEST_QUESTION:
            raise BadContent(
                f"A question has at most {LONGEST_QUESTION} characters; this one has {len(words)}."
            )
        if len(self.questions) >= MOST_WAITING:
            raise NotAllowed("Many questions wait already.", "Try again in a moment.")
        now = self.clock()
        self._asked = {
            name: times for name, times in self._asked.items() if times and times[-1] > now - WINDOW
        }
        own, near = (
            self._asked.setdefault(name, deque(maxlen=OF_A_NETWORK)) for name in (f"guest {guest}", network)
        )
        if own and own[-1] > now - BETWEEN:
            raise NotAllowed(f"One question every {BETWEEN:.0f} seconds.", "Send this one in a moment.")
        if len(near) == OF_A_NETWORK and near[0] > now - WINDOW:
            raise NotAllowed("Many questions came from here in the last minute.", "Try again in a moment.")
        own.append(now)
        near.append(now)
        self._last += 1
        self._changes += 1
        question = self.questions[self._last] = AudienceQuestion(self._last, words)
        return question

    def find(self, number: object) -> AudienceQuestion:
        """Raises NotFound if it was dropped."""
        if not isinstance(number, int) or number not in self.questions:
            raise NotFound("This question is not there any more.")
        return self.questions[number]

    def drop(self, number: object) -> None:
        """Take a question off the list. Raises NotFound if it was dropped already."""
        del self.questions[self.find(number).number]
        self._changes += 1

    def admit(self, guest: str) -> str:
        """The name under which a guest votes. Raises as `guest_name` does, and NotAllowed if too many vote."""
        name = guest_name(guest)
        if name not in self.guests and len(self.guests) >= MOST_GUESTS:
            raise NotAllowed("Too many people vote in this presentation already.")
        self.guests.add(name)
        return name


def guest_name(secret: str) -> str:
    """The name of a guest, made from the secret of their browser. Raises BadContent for what is none."""
    if not _FEWEST_DIGITS <= len(secret) <= 64 or not secret.isalnum():
        raise BadContent("This page is not complete.", "Load it again.")
    return f"Guest {sha256(secret.encode()).hexdigest()[:8]}"


def put_to_model(chat: Conversation, at: str, question: AudienceQuestion) -> None:
    """Ask the question on a new branch: below the answer that the step `at` shows, else at the end of the branch.

    Raises as `post_from` does.
    """
    from forky_core.render.steps import key_of  # noqa: PLC0415 - the server's start does without

    shown = at.partition("~")[0]
    points = [one.id for one in chat.path() if one.role != "user"]
    point = next((id for id in points if key_of(id) == shown), points[-1] if points else None)
    made, result = chat.people.post_from(point, question.text)
    question.branch, question.said, question.job = made.branch_name, result.silent, result.job


def ballot_for(chat: Conversation, number: int, label: Callable[[str], str]) -> dict[str, Any]:
    """A poll as the page of a follower draws it; `chat` is the conversation as this guest.

    Models, branches and counts are in it only where the poll does not hide them. Raises NotFound if there is no such
    poll.
    """
    from forky_core.views.voting import CHOICES, ballot_of, outcome_of  # noqa: PLC0415 - the server's start does without

    ballot = ballot_of(chat, number)
    poll = ballot.poll
    options: dict[str, dict[str, Any]] = {
        one.letter: {
            "choice": one.letter,
            "name": one.letter,
            "prose": _prose(one.text) if one.turns else "",
            "by": one.made_by(label),
        }
        for one in ballot.options
    }
    others: dict[str, dict[str, Any]] = {
        choice: {"choice": choice, "name": name} for choice, name in CHOICES.items()
    }
    if not poll.hidden:
        result = outcome_of(chat, number)
        for row in result.rows:
            options[row.option.letter] |= {"votes": row.votes, "share": row.share, "leads": row.leads}
        others["tie"]["votes"], others["bad"]["votes"] = result.ties, result.bad
    return {
        "title": poll.title or "Which answer is better?",
        "open": poll.open,
        "mine": ballot.chosen,
        "voters": ballot.voters,
        "options": list(options.values()),
        "others": list(others.values()),
    }


@lru_cache(maxsize=32)
def _prose(text: str) -> str:
    """An answer as HTML, drawn by the same rules as the steps of the presentation."""
    from forky_core.render.page import fragment  # noqa: PLC0415 - the server's start does without

    return fragment("parts.html", "long_text", text).strip()
