"""A branch as the writer and the checks of a note see it: numbered messages, who said each, and its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from forky_core.merge.claims.pieces import Clause, pieces
from forky_core.merge.claims.supersessions import Superseded
from forky_core.merge.models.statements import CheckedSentence, sentences_of
from forky_core.merge.note.passages import call_text
from forky_core.merge.wording import speaker_of, spoken
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
    """The messages of a branch in order; a note names them m1, m2 …"""

    messages: tuple[Message, ...]
    known: tuple[str, ...] = ()
    """What the reader knows from the branch that is merged into; names may come from there."""
    superseded: tuple[Superseded, ...] = ()
    """What the branch took back of itself."""
    texts: dict[MessageId, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", {message.id: _words(message) for message in self.messages})

    def prose(self) -> Iterator[str]:
        """What people and models said."""
        return (message.text for message in self.messages if message.role != "tool")

    @cached_property
    def sentences(self) -> tuple[tuple[CheckedSentence, ...], ...]:
        """The statements of each message."""
        return tuple(
            sentences_of(self.texts[message.id], role=message.role, speaker=speaker_of(message))
            for message in self.messages
        )

    @cached_property
    def statements(self) -> tuple[Clause, ...]:
        """What people and models say in prose, one thing each; `turn` is the place of the message."""
        return tuple(
            one
            for one in pieces(self.messages)
            if one.passage.shape == "prose" and one.passage.role != "tool"
        )

    @cached_property
    def speakers(self) -> frozenset[str]:
        """The names of those who speak, in small letters, whole and word by word."""
        names = {speaker_of(message).casefold() for message in self.messages}
        return frozenset(
            {*names, *(word for name in names for word in re.split(r"[\s_-]+", name) if len(word) > 1)}
        )

    @cached_property
    def unspaced(self) -> bool:
        """Whether it is written in a language without spaces."""
        sample = "\n".join(self.prose())[:20_000]
        return len(_UNSPACED.findall(sample)) > 0.3 * len(_LETTER.findall(sample))

    @cached_property
    def capital_nouns(self) -> bool:
        """Whether it is written in German, which gives every noun a capital."""
        words = _WORD.findall("\n".join(self.prose())[:20_000])
        return len(words) > 0 and sum(word.casefold() in _GERMAN for word in words) > _GERMAN_SHARE * len(
            words
        )

    @cached_property
    def places(self) -> dict[MessageId, int]:
        """The place of each message in the branch, from 0."""
        return {message.id: at for at, message in enumerate(self.messages)}

    @cached_property
    def whole(self) -> str:
        """All that was said."""
        return "\n".join(self.texts.values())

    @cached_property
    def capitals(self) -> frozenset[str]:
        """The words that are written with a capital somewhere within a sentence."""
        return frozenset(_CAPITAL_WITHIN.findall(self.whole))

    @cached_property
    def initials(self) -> frozenset[str]:
        """The words that are written with a capital anywhere."""
        return frozenset(_CAPITAL_WORD.findall(self.whole))

    @cached_property
    def smalls(self) -> frozenset[str]:
        """The words that are written without a capital somewhere."""
        return frozenset(_SMALL_WORD.findall(self.whole))


def numbered(messages: Sequence[Message]) -> dict[str, MessageId]:
    """The id behind each short one."""
    return {f"m{at}": message.id for at, message in enumerate(messages, 1)}


def _words(message: Message) -> str:
    """All that can be quoted of a message: a tool's call with its arguments decoded."""
    calls = [call_text(part) for part in message.parts if isinstance(part, ToolCallPart)]
    return (
        "\n".join((*((message.text,) if calls and message.text else ()), *calls))
        if calls
        else spoken(message)
    )
