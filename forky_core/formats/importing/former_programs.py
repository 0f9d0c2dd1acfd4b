"""Names programs whose files Forky used to import, so that no general importer reads such a file wrongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forky_core.formats.contract import Sample
from forky_core.formats.fields import obj, objs
from forky_core.model.parts import Json

NO_LONGER = (
    "It is a file of {}, which Forky no longer reads. Write its conversations as lists of messages with a “role” and a "
    "“content”, and import those."
)
_CARDS = ("chara_card_v2", "chara_card_v3")
_SIGNS: Mapping[str, Callable[[Mapping[str, Json]], bool]] = {
    "Portable AI Memory": lambda value: value.get("schema") == "portable-ai-memory-conversation",
    "Chatbot UI": lambda value: "version" in value and isinstance(value.get("history"), list),
    "TypingMind": lambda value: any(
        "chatID" in chat for chat in (value, *objs(obj(value.get("data")).get("chats")))
    ),
    "Open Assistant": lambda value: "message_tree_id" in value,
    "a program for character cards": lambda value: value.get("spec") in _CARDS,
}


def no_longer_read(sample: Sample) -> str:
    """The sentence that names the program of a file that is no longer imported; "" for every other file."""
    programs = (name for name, fits in _SIGNS.items() if any(map(fits, sample.objects)))
    return next((NO_LONGER.format(name) for name in programs), "")
