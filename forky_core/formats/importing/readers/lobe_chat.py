"""LobeChat's backups, old (`state`) and new (`data`): flat messages, joined by topic, parent and thread.

A message without a parent follows the previous one in its topic. The settings and users in the file are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model.parts import Draft, Json, Part, ReasoningPart, ToolResultPart

PROGRAM = Program(
    "LobeChat",
    frozenset(
        names(
            "topicId sessionId threadId parentId agentId groupId clientId userId quotaId observationId"
            " traceId meta extra plugin accessedAt targetId"
        )
    ),
)
_BESIDE = names("provider translate search favorite files fileList imageList error pluginState")
_READ = frozenset(("content", "reasoning", "tools", "tool_call_id", "pluginError", *_BESIDE))


class LobeChat:
    name: ClassVar[str] = "lobechat"
    label: ClassVar[str] = "LobeChat backup"

    def fits(self, sample: Sample) -> bool:
        return any(
            ("exportType" in value and isinstance(value.get("state"), dict))
            or (
                isinstance(obj(value.get("data")).get("messages"), list)
                and ("schemaHash" in value or "mode" in value)
            )
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(
            document,
            lambda value: _topics(obj(obj(value).get("state")) or obj(obj(value).get("data")), files),
        )


def _topics(state: Mapping[str, Any], files: SourceFiles) -> Iterator[ParsedConversation]:
    topics = _by_id(state, "topics")
    groups = {**_by_id(state, "agents"), **_by_id(state, "sessions")}
    threads = _by_id(state, "threads")
    plugins = _by_id(state, "messagePlugins")
    said: dict[str, list[Mapping[str, Any]]] = {}
    for message in objs(state.get("messages")):
        id = word(message.get("topicId"))
        said.setdefault(id or f"session {word(message.get('sessionId'))}", []).append(message)
    for id, messages in said.items():
        topic = topics.get(id, {})
        group = groups.get(word(topic.get("sessionId")) or word(messages[0].get("sessionId")), {})
        nodes, current = _tree(messages, threads, plugins, files)
        config = obj(group.get("config"))
        yield ParsedConversation(
            source_id=id,
            title=word(topic.get("title"))
            or word(obj(group.get("meta")).get("title"))
            or word(group.get("title")),
            nodes=nodes,
            current=current,
            created=micros(topic.get("createdAt")),
            system=word(config.get("systemRole")) or word(group.get("systemRole")) or None,
            model=word(config.get("model")),
            extra=picked(topic, "favorite", "historySummary"),
        )


def _by_id(state: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    return {word(entry.get("id")): entry for entry in objs(state.get(key))}


def _tree(
    messages: list[Mapping[str, Any]],
    threads: Mapping[str, Mapping[str, Any]],
    plugins: Mapping[str, Mapping[str, Any]],
    files: SourceFiles,
) -> tuple[tuple[Node, ...], str | None]:
    nodes: list[Node] = []
    last: dict[str, str] = {}
    """The newest message of each thread; "" is the topic itself."""
    for number, message in enumerate(sorted(messages, key=lambda one: micros(one.get("createdAt"))), 1):
        id = word(message.get("id")) or f"#{number}"
        thread = word(message.get("threadId"))
        begins = ref(threads.get(thread, {}).get("sourceMessageId")) if thread else None
        parent = ref(message.get("parentId")) or last.get(thread) or begins
        nodes += _nodes(id, parent, message, plugins.get(id, {}), files)
        last[thread] = id
    return tuple(nodes), last.get("")


def _nodes(
    id: str, parent: str | None, message: Mapping[str, Any], plugin: Mapping[str, Any], files: SourceFiles
) -> list[Node]:
    role = role_of(message.get("role"))
    parts: list[Part] = []
    if role == "tool":
        called = obj(message.get("plugin")) or plugin
        id_of_call = ref(message.get("tool_call_id")) or ref(called.get("toolCallId"))
        failed = word(obj(message.get("pluginError")).get("message")) or None
        parts.append(
            ToolResultPart(word(called.get("apiName")), words(message.get("content")), id_of_call, failed)
        )
    else:
        thought = words(message.get("reasoning"))
        parts += [ReasoningPart(thought)] if thought.strip() else []
        parts += content_parts(message.get("content"), files, PROGRAM)
    for call in objs(message.get("tools")):
        named = {"name": call.get("apiName"), "arguments": call.get("arguments", "")}
        parts += leftovers(call, ("apiName", "arguments", "identifier"), PROGRAM, within="tools.")
        parts.append(tool_call(named, word(call.get("id"))))
    parts += leftovers(message, _READ, PROGRAM)
    model = word(message.get("model")) or word(obj(message.get("extra")).get("fromModel"))
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(message.get("createdAt")),
        model=model if role == "assistant" else "",
        status="interrupted" if message.get("error") and role == "assistant" else "done",
        failure=_failure(message.get("error")) if role == "assistant" else "",
        extra=picked(message, *_BESIDE),
    )
    return spread(node, parts, role)


def _failure(error: Json) -> str:
    """Why a reply failed, as the program describes it."""
    return word(error) or word(obj(error).get("message")) or word(obj(error).get("type"))
