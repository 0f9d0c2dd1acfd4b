"""`/present/…`: a conversation as a presentation or a replay, and the step of a presenter for those who follow.

- `GET /present/{conversation}?b=…&m=…&with=…`: the presentation of a branch, with the comparison that is named.
- `GET /present/{conversation}/replay`: the replay of its history.
- `POST /present/{conversation}/notes` with `{"message", "text"}`: what the speaker wants to say at a message.
- `POST /present/{conversation}/stage` with `{"at", "place"}`: begin to present to others, or take over from whoever
  does; the answer has the `id` for those who follow, the address `/s/{id}` as a picture for phones (`code`), and the
  `token` for the presenter. The id is the secret of a link (people/links/): who may share the conversation may make
  it, it is listed, counted and revoked with all others, and ends with the presentation.
- `POST /present/step/{id}` with `{"token", "at", "place"}` or `{"token", "end": true}`: show a step, or end it for
  everybody. With `{"token", "question", "drop"}`, a question of the audience is put to a model on a new branch, or
  dropped. The answer has the `questions` that there are.
- `GET /present/watch/{id}`: the presentation for those who follow; they cannot present with it.
- `GET /present/follow/{id}`: server-sent events, each with the latest step: `data: {"at", "place", "epoch", "number"}`,
  and with the number of a `poll` in which they can vote while it is `voting`, or whose result they can see then;
  `asked` rises when the presenter's page has questions to fetch; `event: end` where it ends. The presenter's own page
  asks with `?after=1`, and is not counted. Every few seconds an event says how many follow, which also keeps the
  connection open.
- `POST /present/ask/{id}` with `{"guest", "text"}`: a question of somebody who follows, for the presenter.
- `POST /present/ballot/{id}` with `{"guest"}`: the poll of the moment as a guest sees it; with a `choice`, they vote.

Nothing is shown of a conversation in the trash: each of these answers 404, and the events end. Its links work again
once it is taken back; with a conversation that is deleted for good, they are gone.

access.gate.Gate decides who may ask any of this: foreign pages never arrive here. Whoever is not signed in may watch,
follow, ask and vote, if they have the id, which cannot be guessed; everything else is for who is. The documents run
one script, which their policy names by its hash.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from forky_core.gateway.access.person import person_of
from forky_core.gateway.asgi import AsgiApp, Receive, Scope, Send, answer, header, read_body
from forky_core.gateway.audience import Audience, ballot_for, guest_name, put_to_model
from forky_core.gateway.events import HEADERS, STUCK, EventStream, disconnected
from forky_core.gateway.links import PREFIX as LINKS
from forky_core.gateway.links import say, status
from forky_core.gateway.serving import server_stops
from forky_core.gateway.shown_documents import ShownDocuments, require_shown, shown_chat
from forky_core.gateway.stages import LONGEST_PLACE, Stage, Stages, TakenOver
from forky_core.model import ConversationId
from forky_core.model.errors import (
    ForkyError,
    NotAllowed,
    NotFound,
    NothingToDo,
    NotInstalled,
    Outdated,
    RequestError,
)
from forky_core.model.parts import json_object
from forky_core.people.attempts import network_of
from forky_core.render.page import whole_page

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.workspace import Workspace
    from forky_core.model import View
    from forky_core.people.links.link import Link
    from forky_core.people.links.links import Links

PREFIX = "/present"
MOST = 500
"""The most who follow at once; further ones get 503."""
LONGEST_BODY = 8_000
"""Bytes of a presenter's request …"""
LONGEST_NOTE = 200_000
"""… and of a note."""
ALIVE = 3.0
"""Seconds without a step after which an event says how many follow."""
PRESENTER = 1
"""`?after=` of the presenter's own stream."""


class Presenting:
    """The endpoints, each an ASGI app.

    `workspace` returns the one that a person sees, by their id. `links` returns the links that a person sees; for None,
    all of them (default: those of one person alone). `may_share` says whether whoever made a link may still share what
    it shows. `whole` returns the workspace in which guests vote (default: that of nobody). All may wait, and are called
        in a thread. `font` is the path of the app's type below the server's root.
    """

    def __init__(
        self,
        workspace: Callable[[str], Workspace],
        links: Callable[[str | None], Links] | None = None,
        may_share: Callable[[Link], bool] = lambda _link: True,
        *,
        whole: Callable[[], Workspace] | None = None,
        font: str = "",
        most: int = MOST,
        stuck: float = STUCK,
        alive: float = ALIVE,
    ) -> None:
        self._workspace = workspace
        self._links = links if links is not None else self._unnoted
        self._may_share = may_share
        self._whole = whole if whole is not None else lambda: workspace("")
        self.stages = Stages(ended=self._ended)
        self.follow = Following(self.stages, self._is_shown, most=most, stuck=stuck, alive=alive)
        self._documents = ShownDocuments(workspace, font)
        self._closing: set[asyncio.Future[None]] = set()
        """Links that are being revoked; the loop itself keeps no task alive."""
        self._turn = asyncio.Lock()
        """Held while a document is drawn or a vote is taken: a hundred of them take one thread of the server's few."""

    @property
    def endpoints(self) -> tuple[tuple[str, AsgiApp], ...]:
        """Each path below `PREFIX` with the app that answers it; the first that fits counts."""
        return (
            ("watch/{id}", MethodEndpoint(self.watch)),
            ("follow/{id}", self.follow),
            ("step/{id}", MethodEndpoint(self.step)),
            ("ask/{id}", MethodEndpoint(self.ask)),
            ("ballot/{id}", MethodEndpoint(self.ballot)),
            ("{conversation}", MethodEndpoint(self.show)),
            ("{conversation}/replay", MethodEndpoint(self.replay)),
            ("{conversation}/stage", MethodEndpoint(self.begin)),
            ("{conversation}/notes", MethodEndpoint(self.note)),
        )

    async def show(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """`GET /present/{conversation}`."""
        await self._document(
            scope, send, "../", lambda: self._documents.presentation(person_of(scope), *_asked(scope))
        )

    async def replay(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """`GET /present/{conversation}/replay`."""
        conversation = scope["path_params"]["conversation"]
        await self._document(
            scope, send, "../../", lambda: self._documents.replay(person_of(scope), conversation)
        )

    async def watch(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """`GET /present/watch/{id}`."""
        secret = scope["path_params"]["id"]
        stage = self.stages.find(secret)
        is_shown = stage is not None and await self._is_shown(stage)
        try:
            link = await asyncio.to_thread(lambda: self._links(None).find(secret))
        except NotFound as error:
            await say(scope, send, status(error), str(error))
            return
        if stage is None or not is_shown:
            await say(scope, send, 410, "This presentation has ended.")
            return
        if scope["method"] == "GET":
            await asyncio.to_thread(lambda: self._links(None).count(link))
        follow = f"../follow/{stage.id}"
        asked, at = (stage.person, stage.conversation, stage.place), stage.at
        await self._document(
            scope, send, "../../", lambda: self._documents.presentation(*asked, follow=follow, at=at)
        )

    async def begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /present/{conversation}/stage`."""
        told = await _told(scope, receive, send)
        if told is None:
            return
        conversation = scope["path_params"]["conversation"]
        person = person_of(scope)
        try:
            known, secret = await asyncio.to_thread(self._begun, person, conversation, _text(told, "place"))
        except ForkyError as error:
            await _refuse(scope, send, _status(error), str(error))
            return
        before = self.stages.of(known)
        if before is not None and before.id != secret:
            self.stages.end_all_of(known)
        stage, taken = self.stages.begin(known, _text(told, "place"), _text(told, "at"), person, id=secret)
        sentence = "Whoever opens this link sees your steps, and cannot change anything."
        if taken:
            sentence = (
                f"You present in the place of somebody else, whose followers now follow you. {sentence}"
            )
        origin = header(scope, b"origin")
        address = f"{origin}{LINKS}/{stage.id}"
        code = await asyncio.to_thread(_code_of, address) if origin else ""
        body = {
            "id": stage.id,
            "token": stage.token,
            "epoch": stage.epoch,
            "sentence": sentence,
            "code": code,
        }
        await _json(scope, send, 200, body)

    async def step(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /present/step/{id}`."""
        told = await _told(scope, receive, send)
        if told is None:
            return
        id, token = scope["path_params"]["id"], _text(told, "token")
        stage = self.stages.find(id)
        try:
            if told.get("end"):
                self.stages.end(id, token)
            else:
                if stage is not None:
                    await asyncio.to_thread(self._require_shown, stage)
                stage = self.stages.mine(id, token)
                if told.get("drop"):
                    stage.audience.drop(told.get("question"))
                elif "question" in told:
                    async with self._turn:
                        await asyncio.to_thread(self._put, stage, stage.audience, told["question"])
                else:
                    self.stages.step(id, token, _text(told, "at"), _text(told, "place"))
        except ForkyError as error:
            await _refuse(scope, send, _status(error), str(error))
            return
        asked = [one.told() for one in stage.audience.questions.values()] if stage is not None else []
        await _json(scope, send, 200, {"questions": asked})

    async def ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /present/ask/{id}`."""
        if (found := await self._guest_at(scope, receive, send)) is None:
            return
        stage, told = found
        client = scope.get("client")
        try:
            network = network_of(client[0]) if client else ""
            stage.audience.ask(_text(told, "text"), guest_name(_text(told, "guest")), network)
        except ForkyError as error:
            await _refuse(scope, send, _status(error), str(error))
            return
        stage.tell()
        await _json(scope, send, 200, {})

    async def ballot(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /present/ballot/{id}`."""
        if (found := await self._guest_at(scope, receive, send)) is None:
            return
        stage, told = found
        choice = _text(told, "choice")
        try:
            guest = _text(told, "guest")
            name = stage.audience.admit(guest) if choice else guest_name(guest)
            async with self._turn:
                drawn = await asyncio.to_thread(self._voted, stage, name, choice)
        except ForkyError as error:
            await _refuse(scope, send, _status(error), str(error))
            return
        await _json(scope, send, 200, drawn)

    async def _guest_at(
        self, scope: Scope, receive: Receive, send: Send
    ) -> tuple[Stage, dict[str, Any]] | None:
        """The stage that a guest follows, and what they posted; None if that was answered with a refusal."""
        told = await _told(scope, receive, send)
        if told is None:
            return None
        stage = self.stages.find(scope["path_params"]["id"])
        if stage is None or not await self._is_shown(stage):
            await _refuse(scope, send, 404, Following.unknown)
            return None
        return stage, told

    def _put(self, stage: Stage, audience: Audience, number: object) -> None:
        """Put a question to a model, as the presenter; one that was put already stays as it is."""
        question = audience.find(number)
        if question.branch:
            return
        branch = next(iter(parse_qs(stage.place).get("b", ())), None)
        put_to_model(
            shown_chat(self._workspace(stage.person), stage.conversation, branch), stage.at, question
        )

    def _voted(self, stage: Stage, name: str, choice: str) -> dict[str, Any]:
        """The poll of the moment as a guest sees it, after their vote if they made a choice."""
        from forky_core.render.material import model_labels  # noqa: PLC0415 - the server's start does without

        forky = self._whole()
        chat = shown_chat(forky, stage.conversation).people.as_person(name)
        if choice:
            chat.polls.vote(stage.poll, choice)
        return ballot_for(chat, stage.poll, model_labels(forky.models.models()))

    def _begun(self, person: str, conversation: str, place: str) -> tuple[ConversationId, str]:
        """The conversation that is presented, and the secret of the link by which others follow.

        Raises:
            NotFound: this person may not see the conversation, or it is in the trash.
            NotAllowed: they may not share it.
        """
        chat = shown_chat(self._workspace(person), conversation)
        links = self._links(person)
        stage = self.stages.of(chat.id)
        if stage is not None:
            with suppress(NotFound):  # It was revoked: then others follow by a new one.
                links.hand_over(self._links(None).find(stage.id), person)
                return chat.id, stage.id
        made = links.make_audience(chat.id, (place[:LONGEST_PLACE],), title=chat.title, by=person)
        return chat.id, made.secret

    def _unnoted(self, person: str | None) -> Links:
        """The links that a person sees, on the server of one person."""
        from forky_core.people.links.links import Links  # noqa: PLC0415 - the server's start does without

        return Links(self._workspace(person or "").store)

    def _ended(self, stage: Stage) -> None:
        """Revoke the link of a presentation that has ended, without waiting for it."""
        closing = asyncio.ensure_future(asyncio.to_thread(self._close, stage))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _close(self, stage: Stage) -> None:
        """Revoke the link of a presentation that has ended."""
        with suppress(ForkyError):
            links = self._links(None)
            links.revoke(links.find(stage.id).id)

    def _require_shown(self, stage: Stage) -> None:
        require_shown(self._workspace(stage.person).store.view(ConversationId(stage.conversation)))

    async def _is_shown(self, stage: Stage) -> bool:
        """Whether the conversation of a stage is there and not in the trash. The stage of one that is gone ends."""

        def looked() -> View:
            view = self._workspace(stage.person).store.view(ConversationId(stage.conversation))
            if not view.trashed and not self._may_share(self._links(None).find(stage.id)):
                raise NotAllowed("Whoever presents may not share this conversation any more.")
            _note_poll(stage, view)
            return view

        try:
            view = await asyncio.to_thread(looked)
        except (NotFound, NotAllowed):
            self.stages.end_all_of(stage.conversation)
            return False
        except ForkyError:
            return True  # Those who follow keep what they see while the database cannot be read.
        return not view.trashed

    async def note(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /present/{conversation}/notes`."""
        told = await _told(scope, receive, send, longest=LONGEST_NOTE)
        if told is None:
            return
        conversation, message, text = (
            scope["path_params"]["conversation"],
            _text(told, "message"),
            _text(told, "text"),
        )
        try:
            await asyncio.to_thread(
                lambda: self._workspace(person_of(scope)).conversation(conversation).note(message, text)
            )
        except NothingToDo:
            pass  # It says that already.
        except ForkyError as error:
            await _refuse(scope, send, _status(error), str(error))
            return
        await _json(scope, send, 200, {})

    async def _document(self, scope: Scope, send: Send, back: str, draw: Callable[[], str]) -> None:
        if scope["method"] not in {"GET", "HEAD"}:
            await _refuse(scope, send, 405, "Only GET.")
            return
        try:
            async with self._turn:
                page = await asyncio.to_thread(draw)
        except ForkyError as error:
            await _say(scope, send, _status(error), str(error), back)
            return
        quiet = [(b"x-robots-tag", b"noindex, nofollow")]
        await answer(scope, send, 200, page.encode(), "text/html; charset=utf-8", quiet)


class MethodEndpoint:
    """A method as an ASGI app: of a function, a router would take another signature."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class Following(EventStream[Stage]):
    """`GET /present/follow/{id}`: the steps as events. The presenter's own page asks with `?after=1`."""

    unknown = "This presentation has ended."
    crowded = "Too many follow already. Try again in a moment."

    def __init__(
        self,
        stages: Stages,
        is_shown: Callable[[Stage], Awaitable[bool]],
        *,
        most: int,
        stuck: float,
        alive: float,
    ) -> None:
        super().__init__(most)
        self._stages, self._is_shown = stages, is_shown
        self._stuck, self._alive = stuck, alive

    async def _found(self, id: str, _person: str) -> Stage | None:
        """Whoever has the link may follow."""
        stage = self._stages.find(id)
        return stage if stage is not None and await self._look(stage) else None

    async def _tell(self, thing: Stage, known: int, receive: Receive, send: Send) -> None:
        woken = asyncio.Event()
        left = asyncio.ensure_future(disconnected(receive))
        left.add_done_callback(lambda _: woken.set())
        try:
            with thing.joined(woken, presents=known == PRESENTER):
                await self._follow(thing, woken, left, send)
        except OSError:
            pass  # The client disconnected in the middle of an event, or stopped reading.
        finally:
            left.cancel()

    async def _follow(
        self, stage: Stage, woken: asyncio.Event, left: asyncio.Future[None], send: Send
    ) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        while not (left.done() or server_stops()) and await self._goes_on(stage):
            number = stage.number
            woken.clear()
            await self._send(send, stage.event())
            await stage.changed(number, woken, self._alive)
        if stage.ended or not stage.is_shown:
            await self._send(send, b"event: end\ndata:\n\n")
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _goes_on(self, stage: Stage) -> bool:
        """Whether there is more to tell. One of those who follow looks from time to time whether it may be shown."""
        if not stage.ended and time.monotonic() - stage.looked_at > self._alive:
            await self._look(stage)
        return not stage.ended and stage.is_shown

    async def _look(self, stage: Stage) -> bool:
        stage.looked_at = time.monotonic()
        stage.is_shown = await self._is_shown(stage)
        return stage.is_shown

    async def _send(self, send: Send, body: bytes) -> None:
        async with asyncio.timeout(self._stuck):
            await send({"type": "http.response.body", "body": body, "more_body": True})


def _note_poll(stage: Stage, view: View) -> None:
    """Note the newest poll if it is open; one that was open while somebody presented stays, with its result."""
    from forky_core.conversation.voting.poll import polls_in  # noqa: PLC0415 - the server's start does without

    # On a team's server those without sign-in vote in what the presenter asks, and see no more of the conversation.
    mine = (one for one in polls_in(view) if not stage.person or one.by == stage.person)
    newest = next(mine, None)
    stage.voting = newest is not None and newest.open
    if newest is None or (not newest.open and newest.number != stage.poll):
        stage.poll = 0
    else:
        stage.poll = newest.number


def _status(error: ForkyError) -> int:
    """The status for an error that a person reads as a sentence."""
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, TakenOver | Outdated):
        return 409
    return 400 if isinstance(error, RequestError) else 503


def _asked(scope: Scope) -> tuple[str, str]:
    return scope["path_params"]["conversation"], scope["query_string"].decode("latin-1")


def _text(told: dict[str, Any], name: str) -> str:
    value = told.get(name, "")
    return value if isinstance(value, str) else ""


async def _told(
    scope: Scope, receive: Receive, send: Send, *, longest: int = LONGEST_BODY
) -> dict[str, Any] | None:
    """The object that was posted; None where something else was, which has been answered then."""
    if scope["method"] != "POST":
        await _refuse(scope, send, 405, "Only POST.")
        return None
    body = await read_body(receive, longest)
    if body is None:
        await _refuse(scope, send, 413, "That is too long.")
        return None
    if (told := json_object(body)) is None:
        await _refuse(scope, send, 400, "Post a JSON object.")
        return None
    return told


def _code_of(address: str) -> str:
    """An address as a picture for phones, in a data address; "" where the package that draws it is not installed."""
    from forky_core.render.qr import qr_uri  # noqa: PLC0415 - the server's start does without

    try:
        return qr_uri(address)
    except NotInstalled:
        return ""


async def _json(scope: Scope, send: Send, status: int, body: dict[str, Any]) -> None:
    await answer(scope, send, status, json.dumps(body).encode(), "application/json")


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    await _json(scope, send, status, {"error": {"message": sentence}})


async def _say(scope: Scope, send: Send, status: int, sentence: str, back: str) -> None:
    page = whole_page("sentence", sentence=sentence, back=back)
    await answer(scope, send, status, page.encode(), "text/html; charset=utf-8")
