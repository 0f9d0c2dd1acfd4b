from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Event

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.model_reading import ModelReader
from forky_core.llm.contract import ModelInfo, Request
from forky_core.llm.scripted import Fail, ScriptedModel
from forky_core.merge.models import cache_keys as keys_of_caches
from forky_core.merge.models.cache_keys import cache_keys
from forky_core.model import Message
from forky_core.model.errors import ModelError
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json, canonical_json
from tests.builders import ScriptedModels, talk, workspace

WINDOW = 80
"""Tokens, so that half of it holds two of the messages below."""


def long_talk(messages: int) -> tuple[Conversation, ScriptedModels]:
    """A conversation that “scripted/two”, whose window is small, reads in pieces of two messages."""
    forky, models = workspace()
    info = ModelInfo("scripted/two", "Two", "Scripted", context_window=WINDOW)
    models.two = ScriptedModel(info=info, answer=_claims)
    return talk(forky.create("Long"), *(_line(number) for number in range(messages))), models


def _line(number: int) -> str:
    return f"The worker {number} listens on one of the ports from {9000 + number} upwards."


def _claims(request: Request) -> str:
    """One sound claim for each message of the transcript."""
    rows = str(request.messages[0]["content"]).split("</transcript>")[0].split('<m id="')[1:]
    lines = [(row.split('"')[0], row.split("\n")[1]) for row in rows]
    claims = [
        {"type": "fact", "key": line.split(" listens")[0], "text": line, "cites": [id], "quote": line}
        for id, line in lines
    ]
    return json.dumps({"claims": claims})


def read_by(chat: Conversation, turns: Sequence[Message]) -> list[str]:
    reader = ModelReader(chat._session, "scripted/two", "", Event())
    return [claim.text for claim in reader.read(turns).claims]


def kept(chat: Conversation, turns: Sequence[Message]) -> Mapping[str, str]:
    keys = cache_keys((turn.id for turn in turns), "scripted/two")
    return chat._session.store.derived(chat.id, keys)


def test_a_key_stands_for_all_messages_before_it_the_model_and_the_focus() -> None:
    chat, _ = long_talk(4)
    ids = [turn.id for turn in chat.path()]
    keys = cache_keys(ids, "m")
    assert len(set(keys)) == 4 and cache_keys(ids[:2], "m") == keys[:2]
    assert cache_keys(ids[1:], "m")[-1] != keys[-1]
    assert not {*keys} & {*cache_keys(ids, "n"), *cache_keys(ids, "m", "ports")}


def test_twice_the_messages_are_twice_the_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = [0]

    def counting(value: Json) -> str:
        hashed[0] += len(canonical_json(value))
        return content_hash(value)

    monkeypatch.setattr(keys_of_caches, "content_hash", counting)
    ids = [turn.id for turn in long_talk(8)[0].path()]
    cache_keys(ids * 25, "m")
    once, hashed[0] = hashed[0], 0
    cache_keys(ids * 50, "m")
    assert 0 < hashed[0] <= 2 * once


def test_each_piece_is_kept_once_and_all_of_them_are_the_reading() -> None:
    chat, models = long_talk(8)
    turns = chat.path()
    said = [_line(number) for number in range(8)]
    assert read_by(chat, turns) == said
    asked = len(models.two.requests)
    assert asked > 2, "it was read in pieces"
    pieces = kept(chat, turns)
    assert len(pieces) == asked
    for line in said:
        assert sum(line in text for text in pieces.values()) == 1
    assert read_by(chat, turns) == said and len(models.two.requests) == asked
    assert read_by(chat, turns[:-1])[:2] == said[:2]


def test_what_was_read_before_a_failure_is_gone_on_from() -> None:
    chat, models = long_talk(6)
    turns = chat.path()
    models.two.enqueue(_claims_of(chat, turns[:2]))
    models.two.enqueue(Fail("overloaded"))
    with pytest.raises(ModelError):
        read_by(chat, turns)
    assert len(kept(chat, turns)) == 1
    assert read_by(chat, turns) == [_line(number) for number in range(6)]
    assert _line(0) not in str(models.two.requests[2].messages[0]["content"])


def test_a_piece_that_cannot_be_used_is_read_again_with_all_after_it() -> None:
    chat, models = long_talk(6)
    turns = chat.path()
    read_by(chat, turns)
    asked = len(models.two.requests)
    second = list(kept(chat, turns[:4]))
    chat._session.store.keep_derived(chat.id, dict.fromkeys(second[1:2], "9\n{}"))
    assert read_by(chat, turns) == [_line(number) for number in range(6)]
    assert len(models.two.requests) > asked
    assert _line(0) not in str(models.two.requests[asked].messages[0]["content"])


def _claims_of(chat: Conversation, turns: Sequence[Message]) -> str:
    rows = "".join(f'<m id="{turn.id[3:]}" role="{turn.role}">\n{turn.text}\n</m>' for turn in turns)
    return _claims(Request("scripted/two", ({"role": "user", "content": f"{rows}</transcript>"},)))
