"""A branch for the writer and the checks of a note: numbered messages, their speakers, and their statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from forky_core.merge.claims.pieces import Clause, pieces
from forky_core.merge.models.statements import CheckedSentence, sentences_of
from forky_core.merge.note.passages import call_text
from forky_core.merge.wording import message_as_text, speaker_of
from forky_core.model import Message, MessageId
from forky_core.model.parts import ToolCallPart

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_CAPITAL_WORD = re.compile(r"\b[A-ZÄÖÜÉ][\w'’-]*[a-z]\b")
_CAPITAL_WITHIN = re.compile(
    r"(?<=[\w,;/&(“\"'’] )[A-ZÄÖÜÉ][\w'’-]*[a-z]\b|(?<=[(“\"/])[A-ZÄÖÜÉ][\w'’-]*[a-z]\b"
)
_SMALL_WORD = re.compile(r"\b[a-zäöüé][\w'’-]+\b")
_GERMAN = frozenset(
    [
        "der",
        "die",
        "das",
        "und",
        "ist",
        "nicht",
        "ein",
        "eine",
        "den",
        "dem",
        "mit",
        "auf",
        "für",
        "sich",
        "auch",
        "es",
        "wir",
        "ich",
        "im",
        "zu",
        "von",
        "bei",
    ]
)
_GERMAN_SHARE = 0.1


@dataclass(frozen=True)
class Transcript:
    """The messages of a branch in order; a note cites them as m1, m2 …"""

    messages: tuple[Message, ...]
    known: tuple[str, ...] = ()
    """Texts that the reader knows from the branch that is merged into; a note may use names from them."""
    texts: dict[MessageId, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", {message.id: _words(message) for message in self.messages})

    def prose(self) -> Iterator[str]:
        """Return the texts of people and models."""
        return (message.text for message in self.messages if message.role != "tool")

    @cached_property
    def sentences(self) -> tuple[tuple[CheckedSentence, ...], ...]:
        """The sentences of each message."""
        return tuple(
            sentences_of(self.texts[message.id], role=message.role, speaker=speaker_of(message))
            for message in self.messages
        )

    @cached_property
    def statements(self) -> tuple[Clause, ...]:
        """The statements of people and models in prose; `turn` is the index of the message."""
        return tuple(
            one
            for one in pieces(self.messages)
            if one.passage.shape == "prose" and one.passage.role != "tool"
        )

    @cached_property
    def speakers(self) -> frozenset[str]:
        """The names of the speakers in lower case, whole and word by word."""
        names = {speaker_of(message).casefold() for message in self.messages}
        return frozenset(
            {*names, *(word for name in names for word in re.split(r"[\s_-]+", name) if len(word) > 1)}
        )

    @cached_property
    def unspaced(self) -> bool:
        """Whether the branch is in a language without spaces."""
        sample = "\n".join(self.prose())[:20_000]
        return len(_UNSPACED.findall(sample)) > 0.3 * len(_LETTER.findall(sample))

    @cached_property
    def capital_nouns(self) -> bool:
        """Whether the branch is in German, which capitalises every noun."""
        words = _WORD.findall("\n".join(self.prose())[:20_000])
        return len(words) > 0 and sum(word.casefold() in _GERMAN for word in words) > _GERMAN_SHARE * len(
            words
        )

    @cached_property
    def places(self) -> dict[MessageId, int]:
        """The index of each message in the branch, from 0."""
        return {message.id: at for at, message in enumerate(self.messages)}

    @cached_property
    def whole(self) -> str:
        """The text of all messages."""
        return "\n".join(self.texts.values())

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Words that are capitalised somewhere within a sentence."""
        return frozenset(_CAPITAL_WITHIN.findall(self.whole))

    @cached_property
    def initials(self) -> frozenset[str]:
        """Words that are capitalised anywhere."""
        return frozenset(_CAPITAL_WORD.findall(self.whole))

    @cached_property
    def smalls(self) -> frozenset[str]:
        """Words that stand in lower case somewhere."""
        return frozenset(_SMALL_WORD.findall(self.whole))


def numbered(messages: Sequence[Message]) -> dict[str, MessageId]:
    """Map the short ids “m1”, “m2” … to the messages' ids."""
    return {f"m{at}": message.id for at, message in enumerate(messages, 1)}


def _words(message: Message) -> str:
    """Return everything that can be quoted from a message; a tool call's arguments are decoded."""
    calls = [call_text(part) for part in message.parts if isinstance(part, ToolCallPart)]
    return (
        "\n".join((*((message.text,) if calls and message.text else ()), *calls))
        if calls
        else message_as_text(message)
    )
