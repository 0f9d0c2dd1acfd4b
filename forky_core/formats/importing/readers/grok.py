"""Grok's export: `conversations[].responses[].response`, a tree by `parent_response_id`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers, names, unknown_role
from forky_core.formats.openai_messages import content_parts
from forky_core.formats.roles import role_of
from forky_core.model.parts import Draft, Part, ReasoningPart

PROGRAM = Program("Grok", frozenset(("media_types", "model_config_override", "request_metadata")))
_BESIDE = names(
    "steps web_search_results cited_web_search_results file_attachments card_attachments_json metadata"
)
_READ = frozenset(("message", "sender", "parent_response_id", "thinking_trace", *_BESIDE))


class Grok:
    name: ClassVar[str] = "grok"
    label: ClassVar[str] = "Grok export"

    def fits(self, sample: Sample) -> bool:
        return any(
            any(isinstance(one.get("responses"), list) for one in objs(value.get("conversations")))
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(
            document,
            lambda value: (_conversation(entry, files) for entry in objs(obj(value).get("conversations"))),
        )


def _conversation(entry: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    about = obj(entry.get("conversation"))
    return ParsedConversation(
        source_id=word(about.get("id")) or word(about.get("conversation_id")),
        title=word(about.get("title")),
        nodes=tuple(
            _node(obj(one.get("response")) or one, number, files)
            for number, one in enumerate(objs(entry.get("responses")), 1)
        ),
        current=ref(about.get("leaf_response_id")),
        created=micros(about.get("create_time")),
        extra=picked(about, "modify_time", "starred"),
    )


def _node(response: Mapping[str, Any], number: int, files: SourceFiles) -> Node:
    sender = response.get("sender")
    if word(sender).startswith("grok"):  # The name of a model, in answers of some years.
        sender = "assistant"
    role = role_of(sender)
    parts: list[Part] = []
    thought = words(response.get("thinking_trace"))
    if thought.strip():
        parts.append(ReasoningPart(thought))
    parts += content_parts(response.get("message"), files, PROGRAM)
    parts += leftovers(response, _READ, PROGRAM) + unknown_role(sender, PROGRAM, "sender")
    return Node(
        word(response.get("_id")) or word(response.get("response_id")) or f"#{number}",
        ref(response.get("parent_response_id")),
        Draft(role, tuple(parts)),
        created=micros(response.get("create_time")),
        model=word(response.get("model")) if role == "assistant" else "",
        extra=picked(response, *_BESIDE),
    )
