"""ShareGPT: `conversations` of `{from, value}`. Several messages of one side in a row, and answers first, occur."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain, read_values
from forky_core.formats.contract import ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import micros, obj, objs, picked, word, words
from forky_core.formats.files.json_values import parse
from forky_core.formats.leftovers import Program, leftovers, says_something, unknown_role
from forky_core.formats.openai_messages import text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model.parts import Part, ToolResultPart

PROGRAM = Program("ShareGPT")
_READ = ("from", "value")


class ShareGPT:
    name: ClassVar[str] = "sharegpt"
    label: ClassVar[str] = "ShareGPT"

    def fits(self, sample: Sample) -> bool:
        return any(
            any("from" in one and "value" in one for one in objs(value.get("conversations")))
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        return read_values(document, lambda value: [_conversation(obj(value))])


def _conversation(value: Mapping[str, Any]) -> ParsedConversation:
    chain = Chain()
    for message in objs(value.get("conversations")):
        said, text = word(message.get("from")), words(message.get("value"))
        read = _READ if text.strip() or not says_something(message.get("value")) else ("from",)
        at = micros(message.get("created_at")) or micros(message.get("timestamp"))
        chain.add(
            [*_parts(said, text), *leftovers(message, read, PROGRAM), *unknown_role(said, PROGRAM, "from")],
            role_of(said),
            created=at,
        )
    return chain.conversation(
        word(value.get("id")),
        word(value.get("title")),
        system=word(value.get("system")) or None,
        model=word(value.get("model")),
        extra=picked(value, "tools"),
    )


def _parts(said: str, text: str) -> list[Part]:
    if said in ("observation", "tool"):
        return [ToolResultPart("", text)]
    if said == "function_call":
        try:
            return [tool_call(obj(parse(text)), "")]
        except ValueError:
            return text_parts(text)
    return text_parts(text)
