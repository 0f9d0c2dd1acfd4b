"""One simulated person: what they do in Forky, click by click, and how long each click took.

What somebody does is an *act* of several clicks, with a pause to think before each. An act looks at the page as the
server has drawn it: it follows the links and presses the buttons that are there, and afterwards checks that the page
shows what was done. If it does not, that is an error, unless the page says that somebody else was first.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

import httpx

from bench.load.seats import Seat
from bench.tab.connection import Traffic
from bench.tab.tab import Missing, Tab

DECK = {"read": 6, "ask": 4, "open": 1, "fork": 2, "merge": 1, "search": 3, "import": 1, "vote": 1}
"""How many of so many acts are of each kind. The first acts of a person are one of each."""
SPREAD = 0.6
"""Of the logarithm of a pause: of ten, one is shorter than half the usual one, and one longer than twice."""
_LOOK = 1.0
"""Seconds between two looks whether the load is over, while somebody thinks."""
_WORDS = ("queue", "compressing", "memory", "lock", "database", "thread", "sending measured", "stage costs")
"""What is looked for: words of bench/conversations.py, and some that nobody has said."""


@dataclass(slots=True)
class Diary:
    """What everybody in a load did and met."""

    clicks: list[tuple[str, float]] = field(default_factory=list)
    """The kind of each click, and the milliseconds until its answer was drawn."""
    waits: list[tuple[str, float]] = field(default_factory=list)
    """What no click waits for: replies, and files that are looked through."""
    errors: list[str] = field(default_factory=list)
    races: int = 0
    """How often the page said that somebody else was first, or that something else is in the way."""
    acts: int = 0
    traffic: Traffic = field(default_factory=Traffic)


class _Over(Exception):
    """The load is over: what somebody is in the middle of is left."""


class Person:
    """Somebody with a tab."""

    def __init__(
        self, url: str, http: httpx.AsyncClient, seat: Seat, diary: Diary, seed: int, think: float
    ) -> None:
        """`think` is the median of the seconds before a click."""
        self.seat = seat
        self.diary = diary
        self.tab: Tab | None = None
        self._url = url
        self._http = http
        self._rng = random.Random(seed)
        self._think = think
        self._said = 0
        self._seed = seed
        self._called = f"{seat.name} {seed}"  # The same one is there twice: alone, and then among all.
        self._stack = AsyncExitStack()
        self._is_over: Callable[[], bool] = lambda: False
        self._acts: dict[str, Callable[[], Awaitable[None]]] = {
            "read": self._read,
            "ask": self._ask,
            "open": self._open,
            "fork": self._fork,
            "merge": self._merge,
            "search": self._search,
            "import": self._import,
            "vote": self._vote,
        }

    @property
    def writing(self) -> bool:
        """Whether a reply grows on this person's page now."""
        return self.tab is not None and self.tab.writing

    async def stay(self, is_over: Callable[[], bool], *, rounds: int = 0, arriving: float = 0.0) -> None:
        """Act until it is over, but at least so many rounds: one of each kind, and then the whole deck each time.

        Begins some time within the first `arriving` seconds.
        """
        try:
            await self._arrive(arriving)
            done, deck = 0, list(self._acts)
            self._is_over = lambda: is_over() and done >= rounds
            self._rng.shuffle(deck)
            while not self._is_over():
                if not deck:
                    done += 1
                    deck = [act for act, often in DECK.items() for _ in range(often)]
                    self._rng.shuffle(deck)
                    continue
                await self._act(deck.pop(), self._acts)
        finally:
            await self._leave()

    async def watch(self, is_over: Callable[[], bool], *, arriving: float = 0.0) -> None:
        """Watch long replies, one after another without a thought, until it is over. Begins as `stay` does."""
        self._is_over = is_over
        try:
            await self._arrive(arriving)
            self._think = 0.0
            while not is_over():
                await self._act("watch", {"watch": lambda: self._watch(is_over)})
        finally:
            await self._leave()

    async def _arrive(self, arriving: float) -> None:
        """Open the first tab after a while, without a thought."""
        think, self._think = self._think, 0.0
        await asyncio.sleep(self._rng.random() * arriving)
        await self._act("open", self._acts)
        self._think = think

    async def _act(self, name: str, acts: dict[str, Callable[[], Awaitable[None]]]) -> None:
        try:
            if self.tab is None and name != "open":
                await self._open()
            await acts[name]()
            self.diary.acts += 1
        except _Over:
            pass
        except (Missing, httpx.HTTPError, OSError, TimeoutError) as error:
            said = f"{self.seat.name}, {name}: {type(error).__name__}: {error}"
            self.diary.errors.append(said + self._notice())
            await self._leave()
        finally:
            if self.tab is not None:
                self._note_faults(name)

    def _note_faults(self, act: str) -> None:
        assert self.tab is not None
        self.diary.errors += [f"{self.seat.name}, {act}: {fault}" for fault in self.tab.faults]
        self.tab.faults.clear()

    async def _leave(self) -> None:
        if self.tab is not None:
            await self._stack.aclose()
            self._note_faults("leaving")
            self._stack, self.tab = AsyncExitStack(), None

    async def _pause(self) -> None:
        ends = time.monotonic() + self._think * self._rng.lognormvariate(0, SPREAD)
        while (rest := ends - time.monotonic()) > 0:
            await asyncio.sleep(min(rest, _LOOK))
            if self._is_over():
                raise _Over

    async def _click(self, kind: str, press: Callable[[Tab], Awaitable[float]]) -> Tab:
        """Think, then press."""
        await self._pause()
        assert self.tab is not None
        took = await press(self.tab)
        self.diary.clicks.append((kind, took))
        return self.tab

    async def _see(self, kind: str, shown: Callable[[Tab], bool], what: str) -> None:
        """Wait for what needs no press."""
        assert self.tab is not None
        self.diary.waits.append((kind, await self.tab.until(shown, what)))

    def _notice(self) -> str:
        """What the page says about the last press; "" where it says nothing."""
        node = self.tab.find("notice") if self.tab is not None else None
        if node is None:
            return ""
        said = [
            one.widget.body
            for one in node.walk()
            if one.element and one.element.WhichOneof("type") == "markdown"
        ]
        return f" (the page says: {said[0]})" if said else ""

    # Opening and reading.

    async def _open(self, conversation: str = "") -> None:
        """A new tab, at one's own conversation or in the room."""
        await self._leave()
        await self._pause()
        query = urlencode(
            {"c": conversation or self._rng.choice((self.seat.own, self.seat.room)), "b": "main"}
        )
        tab = Tab(self._url, self._http, query=query, traffic=self.diary.traffic)
        begun = asyncio.get_running_loop().time()
        self.tab = tab
        await self._stack.enter_async_context(tab.opened(shown=lambda page: "chat.draft" in page))
        self.diary.clicks.append(("open", (asyncio.get_running_loop().time() - begun) * 1000))

    async def _chat(self) -> Tab:
        """The Chat page, where one is not there already."""
        assert self.tab is not None
        if self.tab.page == self.tab.pages.get(""):
            return self.tab
        return await self._click("to Chat", lambda tab: tab.go("", shown=lambda page: "chat.draft" in page))

    async def _library(self) -> Tab:
        tab = await self._click(
            "to Library", lambda tab: tab.go("library", shown=lambda page: "library.search" in page)
        )
        if "import.file.*" in tab:  # The Library shows the shelf at which this person left it.
            tab = await self._click(
                "to Conversations",
                lambda tab: tab.fill(
                    "library.tab", ["Conversations"], shown=lambda page: "import.file.*" not in page
                ),
            )
        return tab

    async def _read(self) -> None:
        """Choose a conversation in the Library; look at earlier messages, and at another branch."""
        tab = await self._library()
        if not tab.links(""):  # The Library still shows what this person looked for, which nobody has said.
            tab = await self._click(
                "end a search",
                lambda tab: tab.fill("library.search", "", shown=lambda page: bool(page.links(""))),
            )
        mine = [
            query
            for _, query in tab.links("")
            if dict(parse_qsl(query)).get("c") in (self.seat.own, self.seat.room)
        ]
        found = mine or [query for _, query in tab.links("")]
        if not found:
            raise Missing("the Library lists no conversation")
        query = self._rng.choice(found)
        wanted = dict(parse_qsl(query))["c"]
        tab = await self._click(
            "open from Library",
            lambda tab: tab.go(
                "", query, shown=lambda page: page.place.get("c") == wanted and "chat.draft" in page
            ),
        )
        if "chat.earlier" in tab:
            tab = await self._click("show earlier", lambda tab: tab.press("chat.earlier"))
        box = tab.component("forky_branchbox")
        others = [name for name, *_ in box["branches"] if name != box["now"]]
        if others:
            branch = self._rng.choice(others)
            await self._click(
                "switch branch",
                lambda tab: tab.tell(
                    "forky_branchbox",
                    "chosen",
                    {"branch": branch, "n": tab.component("forky_branchbox")["heard"] + 1},
                    shown=lambda page: page.place.get("b") == branch,
                ),
            )

    # Asking and forking.

    async def _ask(self) -> None:
        tab = await self._chat()
        if "chat.stop" in tab:  # Somebody else's question is being answered there.
            await self._see("a reply", lambda page: "chat.send.*" in page, "the end of a reply")
        await self._send()

    async def _send(self) -> None:
        """Type a question, send it, and wait for the answer."""
        self._said += 1
        words = self._rng.choice(_WORDS)
        question = f"What of {words}, asks {self.seat.name} for the {self._said}. time?"

        def said(page: Tab) -> bool:
            return question in page.texts() or "line-race" in page or bool(page.find("notice"))

        async def type_and_send(tab: Tab) -> float:
            if "chat.stop" in tab:  # Somebody asked here while this person thought.
                await self._see("a reply", lambda page: "chat.send.*" in page, "the end of a reply")
            place = (tab.component("forky.drafting") or {}).get("place", "")
            await tab.tell("forky.drafting", "draft", {"place": place, "text": question})
            await tab.fill("chat.draft", question)
            return await tab.press("chat.send.*", shown=said)

        tab = await self._click("send", type_and_send)
        if "line-race" in tab:
            self.diary.races += 1
            tab = await self._click(
                "send all the same", lambda tab: tab.press("chat.race_continue", shown=said)
            )
        if question not in tab.texts():
            notice = self._notice()
            if not notice:
                raise Missing("the question is not on the page")
            self.diary.races += 1
            return
        await self._see(
            "a reply", lambda page: "chat.send.*" in page and "forky.live" not in _components(page), "a reply"
        )

    async def _fork(self) -> None:
        """Start a branch at a message: ask something there."""
        tab = await self._chat()
        cells = _cells(tab)
        if not cells:
            raise Missing("the conversation has no message")
        message = self._rng.choice(cells[-6:])
        self._said += 1
        await self._click(
            "fork",
            lambda tab: tab.tell(
                "forky.acts",
                "act",
                {"name": "fork", "id": message, "n": self._said},
                shown=lambda page: "line-forking" in page,
            ),
        )
        await self._send()

    async def _merge(self) -> None:
        """Merge a branch into main; where every one was merged, fork and ask first."""
        if not await self._land():
            await self._fork()
            await self._land()

    async def _land(self) -> bool:
        """Whether there was something to land, and it landed."""
        assert self.tab is not None
        if self.tab.place.get("c") == self.seat.room or "c" not in self.tab.place:
            await self._open(self.seat.own)
        tab = await self._click(
            "to Merge", lambda tab: tab.go("merge", shown=lambda page: "bar.menu" in page)
        )
        if "merge.land" not in tab:
            return False
        tab = await self._click(
            "land",
            lambda tab: tab.press(
                "merge.land", shown=lambda page: "merge-landed" in page or "merge-overtaken" in page
            ),
        )
        if "merge-landed" not in tab:
            self.diary.races += 1
        await self._chat()
        return True

    # Searching, importing, voting.

    async def _search(self) -> None:
        await self._library()
        words = self._rng.choice(_WORDS)

        def found(page: Tab) -> bool:
            return "found-group-*" in page or "No message holds" in page.texts()

        tab = await self._click("search", lambda tab: tab.fill("library.search", words, shown=found))
        hits = [query for _, query in tab.links("") if "m=" in query]
        if hits:
            query = self._rng.choice(hits)
            await self._click(
                "open what was found", lambda tab: tab.go("", query, shown=lambda page: "chat.draft" in page)
            )

    async def _import(self) -> None:
        self._said += 1
        await self._library()
        await self._click(
            "to Import",
            lambda tab: tab.fill("library.tab", ["Import"], shown=lambda page: "import.file.*" in page),
        )
        title = f"Brought by {self._called} as number {self._said}"
        content = _file(title, self._rng).encode()
        tab = await self._click("drop a file", lambda tab: tab.upload("import.file.*", "talk.json", content))
        await self._see("a look at a file", lambda page: "import.land" in page, "what is in a file")
        tab = await self._click("import", lambda tab: tab.press("import.land"))
        await self._see("an import", lambda page: "import.next" in page, "the end of an import")
        if title not in " ".join(label for label, _ in tab.links("")):
            raise Missing("what was imported is not listed")
        await self._click(
            "done", lambda tab: tab.press("import.next", shown=lambda page: "import.file.*" in page)
        )

    async def _vote(self) -> None:
        await self._open(self.seat.room)
        tab = await self._click(
            "to Votes", lambda tab: tab.go("vote", shown=lambda page: "column-votes" in page)
        )
        polls = [
            query
            for _, query in tab.links("vote")
            if dict(parse_qsl(query)).get("poll") == str(self.seat.poll)
        ]
        if not polls:
            raise Missing("the poll is not listed")
        tab = await self._click(
            "open a poll",
            lambda tab: tab.go(
                "vote", polls[0], shown=lambda page: "vote.choose.A" in page or "vote.join" in page
            ),
        )
        if "vote.join" in tab:

            async def join(tab: Tab) -> float:
                await tab.fill("vote.name", self.seat.name)
                return await tab.press("vote.join", shown=lambda page: "vote.choose.A" in page)

            await self._click("take a name", join)
        choice = self._rng.choice("AB")
        await self._click(
            "vote",
            lambda tab: tab.press(
                f"vote.choose.{choice}", shown=lambda page: f"Your vote: {choice}" in page.texts()
            ),
        )

    # Long replies.

    async def _watch(self, is_over: Callable[[], bool]) -> None:
        assert self.tab is not None
        if self.tab.place.get("c") != self.seat.long:
            await self._open(self.seat.long)
        tab = self.tab
        self._said += 1
        question = f"How long is a piece of string, asks {self.seat.name} for the {self._said}. time?"
        await tab.fill("chat.draft", question)
        await self._click(
            "send", lambda tab: tab.press("chat.send.*", shown=lambda page: question in page.texts())
        )
        while not is_over() and (tab.writing or "chat.stop" in tab):  # noqa: ASYNC110 - either may end it
            await asyncio.sleep(0.5)


def _components(page: Tab) -> set[str]:
    return {
        node.widget.component_name.rpartition("/")[2]
        for node in page.nodes()
        if node.element is not None and node.element.WhichOneof("type") == "bidi_component"
    }


def _cells(page: Tab) -> list[str]:
    """The ids of the messages on the Chat page, in their order."""
    return [
        id
        for node in page.nodes()
        if node.element is not None and node.element.WhichOneof("type") == "bidi_component"
        if node.widget.component_name == "forky.cells"
        for id, _ in json.loads(node.widget.json)[1]
    ]


def _file(title: str, rng: random.Random) -> str:
    """A talk as many programs export it: a list of messages with a title."""
    messages = [
        {"role": "user" if turn % 2 == 0 else "assistant", "content": f"{title}, turn {turn}: {rng.random()}"}
        for turn in range(8)
    ]
    return json.dumps({"title": title, "messages": messages})
