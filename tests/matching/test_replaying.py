"""Replaying every root-to-leaf array of a tree, in any order and by two threads at once, rebuilds exactly the tree.

Trees have rounds of tools, pictures and names, and each array is spelled anew by one of the APIs. What a client changes
when it sends history back is drawn for every array: ids of calls, white space around, how accents are composed, blocks
or plain text, the order of arguments' keys, thoughts, and the system prompt, repeated or not.
"""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from random import Random
from threading import Barrier
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.recording import Reply
from forky_core.model import Message
from forky_core.model.parts import AttachmentPart, OpaquePart, ToolCallPart, ToolResultPart
from forky_core.wire.anthropic import anthropic_call
from forky_core.wire.call import Call
from forky_core.wire.chat import chat_call
from forky_core.wire.responses import responses_call
from tests.builders import workspace
from tests.examples import examples

Json = dict[str, Any]
LINK = "https://example.org/a.png"
PICTURES = {
    hashlib.sha256(content).hexdigest(): base64.b64encode(content).decode()
    for content in (b"\x89PNG\r\n\x1a\n one", b"\x89PNG\r\n\x1a\n two")
}
TEXTS = st.sampled_from(("a", "b", "", "Zoë", "  in\n  dent", "\ufb01", "\u1100\u1161", "a\n\nb", "\u2126"))
ARGUMENTS = st.sampled_from(("{}", '{"a":1,"b":"ë"}', '{"a":2}'))


class Turn(NamedTuple):
    """What one message says; of a tool's result `call` is where on the path it was called and which call it was."""

    role: str
    text: str
    name: str | None = None
    picture: str | None = None
    calls: tuple[tuple[str, str], ...] = ()
    call: tuple[int, int] = (0, 0)


Path = tuple[Turn, ...]


def waiting(path: Path) -> list[tuple[int, int]]:
    """The calls of the last message that made some, which have no result yet."""
    at = max((at for at, turn in enumerate(path) if turn.calls), default=None)
    if at is None:
        return []
    answered = {turn.call for turn in path if turn.role == "tool"}
    return [(at, number) for number in range(len(path[at].calls)) if (at, number) not in answered]


@st.composite
def turns(draw: st.DrawFn, path: Path) -> Turn:
    """Something that may follow."""
    open_calls = waiting(path)
    kind = draw(st.sampled_from(["user", "assistant", "calling", *(["tool"] * 3 if open_calls else [])]))
    text = draw(TEXTS)
    if kind == "tool":
        return Turn("tool", text, call=draw(st.sampled_from(open_calls)))
    if kind == "calling":
        calls = st.lists(st.tuples(st.sampled_from("fg"), ARGUMENTS), min_size=1, max_size=3)
        return Turn("assistant", text, calls=tuple(draw(calls)))
    if kind == "assistant":
        return Turn("assistant", text)
    picture = draw(st.sampled_from([None, None, LINK, *PICTURES]))
    return Turn("user", text, draw(st.sampled_from([None, None, "Ann"])), picture)


@st.composite
def trees(draw: st.DrawFn, roots: int = 1) -> list[Path]:
    """The root-to-leaf paths of a random tree, some of it below a greeting of the assistant's."""
    nodes: list[Path] = []
    for number in range(draw(st.integers(1, roots))):
        opening = (Turn("user", f"root {number}"),)
        greeted = (Turn("assistant", f"greeting {number}"), *opening)
        nodes.append(greeted if draw(st.booleans()) else opening)
    for _ in range(draw(st.integers(0, 20))):
        above = draw(st.sampled_from(nodes))
        nodes.append((*above, draw(turns(above))))
    leaves = {path for path in nodes if not any(other[:-1] == path for other in nodes)}
    return draw(st.permutations(sorted(leaves, key=repr)))


# One array, as a client of each API might spell it


class Spelling:
    """How one array is written: chances are drawn anew for each piece of it."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._prefix = chance.choice(("call_", "toolu_", "x")) + str(chance.randrange(5))
        self.system = chance.choice((None, "Be brief.", "Be polite."))

    def often(self, often: float) -> bool:
        return self._chance.random() < often

    def id(self, call: tuple[int, int]) -> str:
        return f"{self._prefix}-{call[0]}-{call[1]}"

    def text(self, text: str) -> str:
        composed = unicodedata.normalize(self._chance.choice(("NFC", "NFD")), text)
        return self._chance.choice(("", " ", "\n")) + composed + self._chance.choice(("", " ", "\n"))

    def arguments(self, text: str) -> str:
        value = json.loads(text)
        if self.often(0.5):
            value = dict(reversed(value.items()))
        return json.dumps(value, ensure_ascii=self.often(0.5), indent=self._chance.choice((None, 2)))

    def empty(self) -> Any:
        return self._chance.choice(("", None, []))


def as_chat(path: Path, spelling: Spelling) -> Call:
    messages: list[Json] = []
    prompt = {"role": "system", "content": spelling.system}
    if spelling.system:
        messages.append(prompt)
    for at, turn in enumerate(path):
        text = spelling.text(turn.text)
        said: Json = {"role": turn.role, "content": text if text.strip() else spelling.empty()}
        if turn.name:
            said["name"] = turn.name
        if turn.picture:
            block = {"type": "image_url", "image_url": {"url": address(turn.picture)}}
            said["content"] = [{"type": "text", "text": text}, block]
        if turn.role == "assistant" and spelling.often(0.2):
            said["reasoning_content"] = "Hm."
        if turn.calls:
            said["tool_calls"] = [
                {
                    "id": spelling.id((at, number)),
                    "type": "function",
                    "function": {"name": name, "arguments": spelling.arguments(arguments)},
                }
                for number, (name, arguments) in enumerate(turn.calls)
            ]
        if turn.role == "tool":
            said |= {"content": text, "tool_call_id": spelling.id(turn.call)}
        messages.append(said)
        if spelling.system and spelling.often(0.1):
            messages.append(prompt)
    return chat_call({"messages": messages})


def as_anthropic(path: Path, spelling: Spelling) -> Call:
    """Neighbouring results stand in one message, together with what the user says next."""
    messages: list[Json] = []
    results: list[Json] = []
    for at, turn in enumerate(path):
        text = spelling.text(turn.text)
        blocks: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
        if turn.role == "tool":
            result = {"type": "tool_result", "tool_use_id": spelling.id(turn.call), "content": text}
            results.append(result)
            continue
        if turn.role == "assistant":
            if results:
                messages.append({"role": "user", "content": results})
                results = []
            if spelling.often(0.2):
                blocks.insert(0, {"type": "thinking", "thinking": "Hm.", "signature": "s"})
            blocks += [
                {
                    "type": "tool_use",
                    "id": spelling.id((at, number)),
                    "name": name,
                    "input": json.loads(given),
                }
                for number, (name, given) in enumerate(turn.calls)
            ]
        elif turn.picture:
            source: Json = {"type": "url", "url": turn.picture}
            if turn.picture in PICTURES:
                source = {"type": "base64", "media_type": "image/png", "data": PICTURES[turn.picture]}
            blocks.append({"type": "image", "source": source})
        if results and not blocks:
            messages.append({"role": "user", "content": results})
            results = []
        messages.append({"role": turn.role, "content": [*results, *blocks]})
        results = []
    if results:
        messages.append({"role": "user", "content": results})
    return anthropic_call({"messages": messages, **({"system": spelling.system} if spelling.system else {})})


def as_responses(path: Path, spelling: Spelling) -> Call:
    items: list[Json] = []
    for at, turn in enumerate(path):
        text = spelling.text(turn.text)
        if turn.role == "tool":
            items.append({"type": "function_call_output", "call_id": spelling.id(turn.call), "output": text})
        elif turn.role == "user":
            content: list[Json] = [{"type": "input_text", "text": text}]
            if turn.picture:
                content.append({"type": "input_image", "image_url": address(turn.picture)})
            items.append({"role": "user", "content": content})
        else:
            if text.strip() or not turn.calls:
                words = [{"type": "output_text", "text": text}]
                items.append({"type": "message", "role": "assistant", "content": words})
            items += [
                {
                    "type": "function_call",
                    "call_id": spelling.id((at, number)),
                    "name": name,
                    "arguments": spelling.arguments(given),
                }
                for number, (name, given) in enumerate(turn.calls)
            ]
    return responses_call({"input": items, **({"instructions": spelling.system} if spelling.system else {})})


def address(picture: str) -> str:
    return f"data:image/png;base64,{PICTURES[picture]}" if picture in PICTURES else picture


def spelled(path: Path, chance: Random) -> Call:
    """By an API that can say it: only chat has names, and responses join what the assistant says twice in a row."""
    ways: list[Callable[[Path, Spelling], Call]] = [as_chat]
    if not any(turn.name for turn in path):
        ways.append(as_anthropic)
        if not any(a.role == b.role == "assistant" for a, b in pairwise(path)):
            ways.append(as_responses)
    return chance.choice(ways)(path, Spelling(chance))


# What is stored, in the same words


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def plain(path: Path) -> Path:
    """Without what spellings change."""
    return tuple(
        turn._replace(text=folded(turn.text), call=(0, turn.call[1]) if turn.role == "tool" else (0, 0))
        for turn in path
    )


def stored(messages: Iterable[Message]) -> Path:
    calls: dict[str | None, int] = {}
    found: list[Turn] = []
    for message in messages:
        made = [part for part in message.parts if isinstance(part, ToolCallPart)]
        calls.update({part.tool_call_id: number for number, part in enumerate(made)})
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        found += [Turn("tool", folded(one.output), call=(0, calls[one.tool_call_id])) for one in results]
        if results or message.role == "system":
            continue
        picture = next((one.sha256 for one in message.parts if isinstance(one, AttachmentPart)), None)
        for part in message.parts:
            if isinstance(part, OpaquePart):
                picture = json.loads(part.json)["image_url"]["url"]
        given = tuple((part.name, part.arguments) for part in made)
        found.append(Turn(message.role, folded(message.text), message.name, picture, given))
    return tuple(found)


def assert_is(chat: Conversation, paths: Sequence[Path]) -> None:
    seen = chat.visible.messages
    found = [stored(chat.path(id)) for id, message in seen.items() if message.role != "system"]
    assert len(found) == len(set(found)), "a message is there twice"
    assert set(found) == {plain(path)[:at] for path in paths for at in range(1, len(path) + 1)}
    heads = [stored(chat.checkout(name).path()) for name in chat.branches]
    assert {plain(path) for path in paths} <= set(heads)
    assert len(heads) == len(set(heads)), "two branches end at one message"


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=examples(25), deadline=None)
def test_arrays_of_three_apis_in_any_spelling_rebuild_one_tree(paths: list[Path], chance: Random) -> None:
    forky, _ = workspace()
    chat = forky.create()
    for path in (*paths, *paths):
        call = spelled(path, chance)
        chat.calls.find_or_create(call)
        assert chat.calls.find_or_create(call).operation is None
    assert_is(chat, paths)
    assert forky.verify().clean


@given(trees(roots=3), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_the_calls_of_a_program_rebuild_each_tree_by_its_opening(paths: list[Path], chance: Random) -> None:
    forky, _ = workspace()
    for path in paths:
        forky.record(spelled(path, chance), Reply(()), scope="s")
    openings: dict[Path, list[Path]] = {}
    for path in paths:
        end = next(at for at, turn in enumerate(path) if turn.role == "user") + 1
        openings.setdefault(plain(path)[:end], []).append(path)
    chats = [forky.conversation(line.id) for line in forky.conversations()]
    assert len(chats) == len(openings)
    for chat in chats:
        head = stored(chat.path())
        (mine,) = (found for opening, found in openings.items() if head[: len(opening)] == opening)
        assert_is(chat, mine)


def at_once(paths: Sequence[Path], chance: Random, send: Callable[[Call], object]) -> None:
    """Two threads send all of them, each in an order and in spellings of its own."""
    both = Barrier(2)

    def replay(calls: Sequence[Call]) -> None:
        both.wait()
        for call in calls:
            send(call)

    orders = [[spelled(path, chance) for path in chance.sample(paths, len(paths))] for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(replay, order) for order in orders]:
            done.result()


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_two_threads_at_once_rebuild_the_same_tree(paths: list[Path], chance: Random) -> None:
    forky, _ = workspace()
    chat = forky.create()
    at_once(paths, chance, chat.calls.find_or_create)
    assert_is(chat, paths)
    assert forky.verify().clean


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_two_programs_at_once_rebuild_the_same_tree(paths: list[Path], chance: Random) -> None:
    """Through the recorder, which may found the conversation in either thread."""
    forky, _ = workspace()
    at_once(paths, chance, lambda call: forky.begin(call, scope="s").cut("Nothing came."))
    (line,) = forky.conversations()
    assert_is(forky.conversation(line.id), paths)
