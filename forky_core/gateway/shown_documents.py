"""Draws the documents of `/present/…` (forky_core/render/), and keeps the last few.

A hundred people who open the same presentation wait for one drawing of it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from forky_core.gateway.audience import LONGEST_QUESTION
from forky_core.model.errors import NotFound
from forky_core.render.page import with_served

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.workspace import Workspace
    from forky_core.model import View

DRAWN = 6
"""Documents that are kept."""


class ShownDocuments:
    """The documents of one workspace; safe from any thread."""

    def __init__(self, workspace: Callable[[str], Workspace], font: str = "") -> None:
        """`font` is the path of the app's type below the root of the server."""
        self._font = font
        self._workspace = workspace
        self._drawn: OrderedDict[tuple[object, ...], str] = OrderedDict()
        self._drawing = threading.Lock()

    def presentation(
        self, person: str, conversation: str, place: str, *, follow: str = "", at: str = ""
    ) -> str:
        """The presentation of the branch that `place` (the query of its address) names, at the step `at`.

        `person` is whose view of the conversation it is, by id.

        A message without a branch is shown on one that leads there. `follow` is the address of the steps for somebody
        who follows: then it has nothing for the presenter.

        Raises:
            NotFound: there is no such conversation, branch or message, or it is in the trash.
        """
        from forky_core.render.material import (  # noqa: PLC0415 - the server's start does without
            model_labels,
            shown_conversation,
            somebody,
        )
        from forky_core.render.presentation import presentation_page  # noqa: PLC0415 - as above
        from forky_core.render.steps import key_of, presentation  # noqa: PLC0415 - as above
        from forky_core.views.places import branch_for  # noqa: PLC0415 - as above

        asked = parse_qs(place)
        branch, message = (next(iter(asked.get(name, ())), "") for name in ("b", "m"))
        forky = self._workspace(person)
        chat = shown_chat(forky, conversation, branch or None)
        if message and not branch:
            found = chat.message(message).id
            chat = chat.checkout(branch_for(found, chat.view, chat.visible, chat.branch_name))
        if message and not at:
            at = key_of(chat.message(message).id)

        def draw() -> str:
            label, author = model_labels(forky.models.models()), somebody if follow else chat.people.author_of
            shown = shown_conversation(chat, forky.store, label=label, author=author)
            made = presentation(shown, sides)
            return "".join(
                presentation_page(made, served=True, for_speaker=not follow, for_followers=bool(follow))
            )

        sides = tuple(asked.get("with", ()))
        page = self._kept(
            (
                "presentation",
                "" if follow else f"of {person}",
                chat.id,
                chat.view.version,
                chat.branch_name,
                *sides,
            ),
            draw,
        )
        back = {"c": str(chat.id), "b": chat.branch_name} | ({"m": message} if message else {})
        told: dict[str, str | bool] = {
            "conversation": str(chat.id),
            "place": place,
            "at": at,
            "back": f"{'../../' if follow else '../'}?{urlencode(back)}",
        }
        told |= {"font": f"{'../../' if follow else '../'}{self._font}"} if self._font else {}
        told |= (
            {"follow": follow, "longest": str(LONGEST_QUESTION)}
            if follow
            else {"begin": f"{chat.id}/stage", "notes": f"{chat.id}/notes"}
        )
        return with_served(page, told)

    def replay(self, person: str, conversation: str) -> str:
        """The replay of a conversation that a person may see. Raises NotFound if there is none, or if it is in the
        trash.
        """
        from forky_core.formats.reports.private_texts import reworded_value  # noqa: PLC0415 - the server's start does without
        from forky_core.render.material import log_of, model_labels, shown_conversation  # noqa: PLC0415 - as above
        from forky_core.render.replay import replay  # noqa: PLC0415 - as above
        from forky_core.render.replay_page import replay_page  # noqa: PLC0415 - as above

        forky = self._workspace(person)
        chat = shown_chat(forky, conversation)

        def draw() -> str:
            label = model_labels(forky.models.models())
            shown = shown_conversation(chat, forky.store, label=label, author=chat.people.author_of)
            made = replay(shown, *log_of(chat, forky.store), cells=False)
            made = reworded_value(made, forky.name_of)
            return "".join(replay_page(made, served=True))

        page = self._kept(("replay", person, chat.id, chat.view.version), draw)
        return with_served(page, {"back": f"../../history?{urlencode({'c': str(chat.id)})}"})

    def _kept(self, key: tuple[object, ...], draw: Callable[[], str]) -> str:
        """The document of this key, drawn once while it is among the last few."""
        with self._drawing:
            page = self._drawn.get(key)
            if page is None:
                page = self._drawn[key] = draw()
                if len(self._drawn) > DRAWN:
                    self._drawn.popitem(last=False)
            self._drawn.move_to_end(key)
            return page


def shown_chat(forky: Workspace, conversation: str, branch: str | None = None) -> Conversation:
    """A conversation that may be shown to others. Raises NotFound if there is none, or if it is in the trash."""
    chat = forky.conversation(conversation, branch)
    require_shown(chat.view)
    return chat


def require_shown(view: View) -> None:
    """Raise NotFound if the conversation of this view is in the trash: nobody is shown what was thrown away."""
    if view.trashed:
        raise NotFound("This conversation is in the trash.", "Take it back, and this address works again.")
