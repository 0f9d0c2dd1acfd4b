"""A ChatGPT data export of any size, in the shapes that real ones have (branches, tool calls, metadata, media).

The fields and their sizes follow what exports hold: a node with its parent and children, one visible answer that is
sometimes several nodes, siblings where a question was edited, code, and about as many bytes of metadata as of words.
"""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from forky_core.model.parts import Json

_VOCABULARY = (
    "the a of to in is that it for on with as this by from at or an be are not we can will one more when"
    " which if memory branch message conversation latency database writes reading paper tree merge fork"
    " python compiler measure because however therefore example value return number list function result"
    " naïve café 数据 “quoted”"
)
_WORDS = _VOCABULARY.split()
_CODE = '```python\ndef solve(values: list[int]) -> int:\n    """Sum\twith \\"care\\"."""\n    return sum(values)\n```'
_PICTURE = b"\x89PNG\r\n\x1a\n"


def _prose(dice: random.Random, words: int) -> str:
    lines = []
    while words > 0:
        lines.append(" ".join(dice.choices(_WORDS, k=min(words, 60))))
        words -= 60
    return ".\n\n".join(lines)


def _message(id: str, role: str, content: Json, at: float, parent: str, **metadata: Json) -> Json:
    return {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": True if role == "assistant" else None,
        "weight": 1.0,
        "metadata": {
            "request_id": f"9{id[1:]}",
            "message_source": None,
            "timestamp_": "absolute",
            "message_type": None,
            "parent_id": parent,
            "serialization_metadata": {"custom_symbol_offsets": []},
            "selected_sources": [],
            **metadata,
        },
        "recipient": "all",
        "channel": None,
    }


def _spoken(dice: random.Random, at: int, id: str, parent: str, media: str) -> Json:
    moment = 1_700_000_000.123456 + at * 37
    if at % 2 == 0:
        words = _prose(dice, dice.randint(5, 80))
        if not media:
            return _message(id, "user", {"content_type": "text", "parts": [words]}, moment, parent)
        pointer = {
            "content_type": "image_asset_pointer",
            "asset_pointer": f"sediment://{media}",
            "size_bytes": 100_000,
            "width": 1024,
            "height": 768,
            "fovea": None,
            "metadata": None,
        }
        return _message(
            id, "user", {"content_type": "multimodal_text", "parts": [pointer, words]}, moment, parent
        )
    words = _prose(dice, dice.randint(60, 420))
    if dice.random() < 0.2:
        words += "\n\n" + _CODE
    content: Json = {"content_type": "text", "parts": [words]}
    if dice.random() < 0.05:
        content = {"content_type": "code", "language": "python", "response_format_name": None, "text": words}
    return _message(
        id,
        "assistant",
        content,
        moment,
        parent,
        model_slug="gpt-4o",
        default_model_slug="gpt-4o",
        finish_details={"type": "stop", "stop_tokens": [200002]},
        is_complete=True,
        citations=[],
        content_references=[],
    )


def conversation(number: int, *, media: str = "") -> Json:
    """One conversation; `media` is the file id that a question of it shows."""
    dice = random.Random(number)
    ids = [f"{number:08x}-0000-4000-8000-000000000000"]
    mapping: dict[str, Json] = {ids[0]: {"id": ids[0], "message": None, "parent": None, "children": []}}
    for at in range(dice.randint(4, 60)):
        id = f"{number:08x}-{at + 1:04x}-4000-8000-{dice.getrandbits(48):012x}"
        edited = at % 2 == 0 and at > 2 and dice.random() < 0.15
        parent = ids[dice.randrange(0, len(ids) - 1, 2)] if edited else ids[-1]
        mapping[parent]["children"].append(id)
        spoken = _spoken(dice, at, id, parent, media if at == 0 else "")
        mapping[id] = {"id": id, "message": spoken, "parent": parent, "children": []}
        ids.append(id)
    name = f"c{number:07x}-0000-4000-8000-000000000000"
    return {
        "title": _prose(dice, 4),
        "create_time": 1_700_000_000.123456,
        "update_time": 1_700_009_999.5,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": ids[-1],
        "plugin_ids": None,
        "conversation_id": name,
        "conversation_template_id": None,
        "gizmo_id": None,
        "is_archived": False,
        "safe_urls": [],
        "default_model_slug": "gpt-4o",
        "id": name,
    }


def _pieces(size: int, media: list[str]) -> Iterator[bytes]:
    """The JSON of an export of about `size` bytes. Beyond 20 MB the conversations come again under other ids: the same
    words, so that a gigabyte is made in seconds, and no two nodes of one id.
    """
    made: list[str] = []
    written = number = 0
    while written < size:
        if written < 20_000_000:
            named = media[number] if number < len(media) else ""
            made.append(json.dumps(conversation(number, media=named)))
            text = made[-1]
        else:
            old = number % len(made)
            text = made[old].replace(f'"{old:08x}-', f'"{number:08x}-')
            text = text.replace(f'"c{old:07x}-', f'"c{number:07x}-')
        yield b"[" if number == 0 else b",\n"
        yield text.encode()
        written += len(text)
        number += 1
    yield b"]"


def write_export(path: Path, size: int) -> None:
    """`conversations.json` alone."""
    with path.open("wb") as out:
        _write(out, size, [])


def write_archive(path: Path, size: int, *, pictures: int) -> None:
    """A zip of about `size` bytes: a tenth of it the conversations, the rest pictures that they show, first in it."""
    media = [f"file_{number:032x}" for number in range(pictures)]
    each = size * 9 // 10 // pictures
    dice = random.Random(0)
    noise = dice.randbytes(1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
        for number, id in enumerate(media):
            with packed.open(f"{id}-picture.png", "w") as member:
                member.write(_PICTURE + number.to_bytes(8, "big"))
                for start in range(0, each, len(noise)):
                    member.write(noise[: each - start])
        info = zipfile.ZipInfo("conversations.json")
        info.compress_type = zipfile.ZIP_DEFLATED
        with packed.open(info, "w", force_zip64=True) as member:
            _write(member, size // 10 * 3, media)


def write_wide(path: Path, siblings: int) -> None:
    """One conversation of so many first messages, and an ordinary one behind it."""
    with path.open("w") as out:
        out.write('[{"title":"Wide","mapping":{"r":{"id":"r","parent":null,"message":null,"children":[]}')
        for at in range(siblings):
            said = _message(f"n{at}", "user", {"content_type": "text", "parts": ["Hi"]}, 1.7e9, "r")
            node = {"id": f"n{at}", "parent": "r", "message": said, "children": []}
            out.write(f',"n{at}":{json.dumps(node)}')
        out.write(f"}}}}}},{json.dumps(conversation(0))}]")


def write_deep(path: Path, messages: int) -> None:
    """LibreChat's recursive export: each message nested in the one that it answers."""
    with path.open("w") as out:
        out.write('{"conversationId":"c","recursive":true,"messages":[')
        for at in range(messages):
            said = {"messageId": f"m{at}", "text": "word " * 100, "isCreatedByUser": at % 2 == 0}
            out.write(json.dumps(said)[:-1] + ', "children":[')
        out.write("]}" * messages + "]}")


def write_long(path: Path, size: int) -> None:
    """A line of one text of about `size` bytes, and a short one below it."""
    words = json.dumps('some "quoted" words\n' * 5_000)[1:-1]
    with path.open("w") as out:
        out.write('{"messages":[{"role":"user","content":"')
        for _ in range(size // len(words)):
            out.write(words)
        out.write('"}]}\n{"messages":[{"role":"user","content":"Hi"}]}\n')


def _write(out: IO[bytes], size: int, media: list[str]) -> None:
    for piece in _pieces(size, media):
        out.write(piece)
