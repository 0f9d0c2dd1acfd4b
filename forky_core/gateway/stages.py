"""Presentations that others follow: who presents, at which step, and who waits for the next one.

A stage lives in this process and is never stored. Those who follow wait for the latest step and not for each: whoever
is slow misses steps and never delays anybody, and nothing is kept for them. A second presenter of the same conversation
takes the stage over: its epoch rises, those who follow stay, and the first presenter's next step is refused with a
sentence. Everything here runs in the event loop of the server.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hmac import compare_digest

from forky_core.gateway.audience import Audience
from forky_core.gateway.fair_dict import FairDict
from forky_core.model.errors import NotAllowed, NotFound

MOST_STAGES = 200
"""Stages that are kept; where there would be more, one of whoever has most ends that was not touched for longest."""
GONE = 10.0
"""Seconds without its page after which a presenter is taken to have gone."""
LONGEST_STEP = 200
"""Characters of the name of a step."""
LONGEST_PLACE = 2_000
"""Characters of the address of what is presented."""


class TakenOver(NotAllowed):
    """Somebody else presents there now."""


@dataclass(eq=False)
class Stage:
    """What is presented to those who follow."""

    id: str
    conversation: str
    place: str
    """The query of the page that is presented: branch, message and comparison."""
    at: str
    """The name of the step."""
    token: str = field(repr=False)
    """What the presenter's page proves itself with. Those who follow never get it."""
    person: str = ""
    """Who presents, by id: those who follow see what this person may see."""
    epoch: int = 1
    """Rises when another presenter takes over."""
    number: int = 1
    """Rises with every step, so that whoever follows knows what they have."""
    ended: bool = False
    looked_at: float = 0.0
    """When a follower looked last whether its conversation may be shown; time.monotonic()."""
    is_shown: bool = True
    """Whether it was not in the trash then."""
    poll: int = 0
    """The number of the poll that those who follow can vote in, or whose result they can see; 0: there is none."""
    voting: bool = False
    """Whether that poll is open."""
    audience: Audience = field(default_factory=Audience)
    """What those who follow ask, and who of them votes."""
    _presenting: int = 0
    """Streams of the presenter's own page."""
    _left_at: float = field(default_factory=time.monotonic)
    """When the last of these ended, or the stage began."""
    _told: tuple[object, ...] = ()
    _event: bytes = b""
    _waiting: set[asyncio.Event] = field(default_factory=set)
    _followers: set[object] = field(default_factory=set)

    @property
    def followers(self) -> int:
        """How many follow now."""
        return len(self._followers)

    @property
    def is_left(self) -> bool:
        """Whether the presenter's page has been gone for longer than a reload takes."""
        return self._presenting == 0 and time.monotonic() - self._left_at > GONE

    def event(self) -> bytes:
        """The latest step as a server-sent event, encoded once for all who get it."""
        step = (self.at, self.place, self.epoch, self.number)
        told = (*step, self.followers, self.is_left, self.poll, self.voting, self.audience.version)
        if told != self._told:
            names = ("at", "place", "epoch", "number", "followers", "away", "poll", "voting", "asked")
            self._told = told
            self._event = f"data: {json.dumps(dict(zip(names, told, strict=True)))}\n\n".encode("ascii")
        return self._event

    @contextmanager
    def joined(self, follower: object, *, presents: bool = False) -> Iterator[None]:
        """Count one who follows, or the presenter's own page, within the block."""
        if presents:
            self._presenting += 1
        else:
            self._followers.add(follower)
        try:
            yield
        finally:
            self._followers.discard(follower)
            if presents:
                self._presenting -= 1
                self._left_at = time.monotonic()

    async def changed(self, number: int, woken: asyncio.Event, seconds: float) -> bool:
        """Wait until there is a step after `number`; False if none came in that time. `woken` ends the wait, too."""
        if self.number != number or self.ended:
            return True
        self._waiting.add(woken)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), seconds)
        finally:
            self._waiting.discard(woken)
        return self.number != number or self.ended

    def tell(self) -> None:
        """Wake everybody who waits."""
        self.number += 1
        for woken in self._waiting:
            woken.set()


class Stages:
    """The stages of this process."""

    def __init__(
        self, most: int = MOST_STAGES, *, ended: Callable[[Stage], None] = lambda _stage: None
    ) -> None:
        """`ended` is called with a stage that has ended."""
        self._ended = ended
        self._by_id: FairDict[str, Stage] = FairDict(most)

    def of(self, conversation: str) -> Stage | None:
        """The stage of a conversation that somebody presents."""
        return next(iter(self._of(conversation)), None)

    def begin(
        self, conversation: str, place: str, at: str, person: str = "", *, id: str = ""
    ) -> tuple[Stage, bool]:
        """The stage of a conversation for a new presenter, and whether it was taken over from another one.

        `id` is the secret of the link by which others follow, if it is not taken over.
        """
        found = self.of(conversation)
        if found is None:
            found = Stage(
                id or secrets.token_urlsafe(16),
                conversation,
                place[:LONGEST_PLACE],
                at[:LONGEST_STEP],
                secrets.token_urlsafe(24),
                person,
            )
            dropped = self._by_id.put(found.id, found, person)
            if dropped is not None:
                self._end(dropped[1])
            return found, False
        found.token, found.epoch = secrets.token_urlsafe(24), found.epoch + 1
        found.person = person
        found.place, found.at = place[:LONGEST_PLACE], at[:LONGEST_STEP]
        found.tell()
        return found, True

    def find(self, id: str) -> Stage | None:
        return self._by_id.get(id)

    def step(self, id: str, token: str, at: str, place: str = "") -> Stage:
        """Show a step to everybody who follows; of the page `place`, if the presenter has gone on to another one.

        Raises:
            NotFound: it has ended.
            TakenOver: the token is not the present presenter's.
        """
        stage = self.mine(id, token)
        where = at[:LONGEST_STEP], place[:LONGEST_PLACE] or stage.place
        if (stage.at, stage.place) != where:
            stage.at, stage.place = where
            stage.tell()
        return stage

    def end(self, id: str, token: str) -> None:
        """End it for everybody. Raises as `step` does."""
        self._end(self.mine(id, token))

    def end_all_of(self, conversation: str) -> None:
        """End the stage of a conversation that was deleted for good."""
        for stage in self._of(conversation):
            self._end(stage)

    def _of(self, conversation: str) -> list[Stage]:
        return [one for _, one in self._by_id.items() if one.conversation == conversation]

    def mine(self, id: str, token: str) -> Stage:
        """The stage that whoever has this token presents. Raises as `step` does."""
        stage = self._by_id.get(id)
        if stage is None:
            raise NotFound("Nobody follows any more: the presentation was ended.", "Press V to begin again.")
        if not compare_digest(stage.token.encode(), token.encode("utf-8", "replace")):
            raise TakenOver(
                "Somebody else presents this conversation now, and whoever followed you follows them.",
                "Press V to take it back.",
            )
        self._by_id.touch(id)
        return stage

    def _end(self, stage: Stage) -> None:
        self._by_id.pop(stage.id)
        stage.ended = True
        stage.tell()
        self._ended(stage)
