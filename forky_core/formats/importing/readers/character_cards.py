"""SillyTavern's and other programs' character cards: JSON, by itself or in a text chunk of a PNG picture.

A card is the beginning of a chat: its greetings are siblings at the root, its description is the system prompt. In a
picture only the chunks' heads and the card are read, never the pixels.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, picked, seq, word
from forky_core.formats.files.json_values import parse
from forky_core.formats.files.pictures import chunks
from forky_core.formats.openai_messages import text_parts
from forky_core.model.errors import BadContent
from forky_core.model.parts import Draft

_SPECS = ("chara_card_v2", "chara_card_v3")
_KEYWORDS = (b"ccv3", b"chara")
"""Keywords of the chunks that hold a card, the newer kind first."""


class CharacterCard:
    name: ClassVar[str] = "character-card"
    label: ClassVar[str] = "Character card"

    def fits(self, sample: Sample) -> bool:
        if sample.shape == "png":
            return any(keyword.decode() in sample.text for keyword in _KEYWORDS)
        return any(
            value.get("spec") in _SPECS or {"first_mes", "personality", "scenario"} <= value.keys()
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:  # noqa: ARG002 - it carries none
        try:
            if document.shape == "png":
                yield _card(obj(_in_picture(document.content())))
                return
            for value in document.values():
                yield value if isinstance(value, Unreadable) else _card(obj(value))
        except (BadContent, ValueError) as error:
            yield Unreadable(document.name, str(error))


def _in_picture(picture: bytes) -> object:
    """The card in a picture. Raises ValueError if there is none."""
    found = dict(chunks(picture))
    for keyword in _KEYWORDS:
        if keyword in found:
            try:
                text = base64.b64decode(found[keyword], validate=True).decode("utf-8", "replace")
            except binascii.Error as error:
                raise ValueError("The card in the picture is damaged.") from error
            return parse(text)
    raise ValueError("There is no card in the picture.")


def _card(value: Mapping[str, Any]) -> ParsedConversation:
    card = obj(value.get("data")) or value
    name = word(card.get("name"))

    def said(text: object) -> str:
        return word(text).replace("{{char}}", name).replace("<BOT>", name).strip()

    greetings = [
        text for text in map(said, [card.get("first_mes"), *seq(card.get("alternate_greetings"))]) if text
    ]
    about = [said(card.get(key)) for key in ("system_prompt", "description", "personality", "scenario")]
    return ParsedConversation(
        source_id="/".join(filter(None, (word(card.get("creator")), name))),
        title=name,
        nodes=tuple(
            Node(
                str(number),
                None,
                Draft("assistant", tuple(text_parts(text)), name or None),
                created=micros(card.get("creation_date")),
            )
            for number, text in enumerate(greetings, 1)
        ),
        current="1" if greetings else None,
        created=micros(card.get("creation_date")),
        system="\n\n".join(filter(None, about)) or None,
        extra=picked(
            card, "mes_example", "post_history_instructions", "creator_notes", "tags", "character_book"
        ),
    )
