"""A path read once under a branch's rules: plain messages, messages that need conversion, masked messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.context.conversion_cache import Converter, PlainMessages
from forky_core.context.convert import Converted, FileAccess
from forky_core.context.masking import Lookup, begins_anew, masked, turns_of
from forky_core.context.quoting import merge_footer
from forky_core.model import Message, MessageId, Rules
from forky_core.model.parts import MergePart
from forky_core.model.wires import PLAIN, Wire

_OVERRIDDEN = "Overridden by the branch's own system prompt."
_HIDDEN = "A structural message of an import."


@dataclass(frozen=True, slots=True)
class ConvertedPath:
    path: Sequence[Message]
    rules: Rules
    lookup: Lookup
    convert: Converter
    file_access: FileAccess
    said: PlainMessages
    """The plain messages of the path."""
    shown: Mapping[int, Converted]
    """The other messages, and the pinned and masked ones, by their index on the path in order."""
    masked: Mapping[MessageId, str]
    """The reason why each masked message is left out."""
    wire: Wire = PLAIN
    """The protocol of the model that reads it."""

    @property
    def prompt(self) -> str:
        """The branch's own system prompt; "" if none is sent."""
        own = self.rules.system
        return own if own and own.strip() else ""

    def out(self, message: Message, brought_by: MergePart | None = None) -> str:
        """Return why the message is left out under any memory policy; "" if it is not. `brought_by` is the payload
        below which it is shown once more.
        """
        if brought_by is not None and brought_by.kind.begins_anew:
            return ""
        if message.hidden:
            return _HIDDEN
        if message.role == "system" and self.rules.system is not None:
            return _OVERRIDDEN
        return self.masked.get(message.id, "")

    def takes_part(self) -> list[bool]:
        """Return for each message whether a memory policy may leave it out: it could be sent, and is no system
        message.
        """
        parts = [True] * len(self.path)
        for at, one in self.shown.items():
            message = self.path[at]
            says = bool(one.messages) or any(part.brings_turns for part in message.merges)
            sent = one.ordinary and message.id not in self.masked
            parts[at] = says and (sent or (message.role != "system" and not self.out(message)))
        return parts

    def turns_of(self, message: Message) -> tuple[list[Converted], list[str]]:
        """Return what a full merge shows besides its own text: its turns, and the line that closes each source."""
        brings = [part for part in message.merges if part.brings_turns]
        turns = [(part, turn) for part in brings for turn in turns_of(part, self.lookup)]
        shown = [
            self.convert(turn, self.file_access, self.wire)
            for part, turn in turns
            if turn.role != "system" and not self.out(turn, part)
        ]
        return shown, [merge_footer(part) for part in brings if not part.kind.begins_anew]


def read_path(
    path: Sequence[Message],
    rules: Rules,
    lookup: Lookup,
    convert: Converter,
    file_access: FileAccess,
    wire: Wire = PLAIN,
) -> ConvertedPath:
    said = convert.said(path)
    others = [path[at] for at in said.others]
    hides = rules.exclusions or any(one.reverts or begins_anew(one) for one in others)
    out = masked(path, rules.exclusions, lookup) if hides else {}
    places = set(said.others)
    if special := frozenset((*out, *rules.pins)):
        places.update(at for at, message in enumerate(path) if message.id in special)
    shown = {
        at: convert(path[at], file_access, wire, after_result=at > 0 and path[at - 1].role == "tool")
        for at in sorted(places)
    }
    return ConvertedPath(path, rules, lookup, convert, file_access, said, shown, out, wire)
