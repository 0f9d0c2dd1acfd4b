"""Mutations: what storage, editors, other programs and people of ill will do to files. All by one random generator."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable

from forky_core.model.parts import Json
from tests.formats.seeds import Seed

ODD: tuple[Json, ...] = (
    *(None, True, -1, 0, 10**30, -(10**400), 1.5e308, 5e-324, "", "x", "\ud83d", "\ud83d key \udc00", "\x00"),
    *("2026-13-45T99:99:99Z", "9" * 400, "data:image/png;base64,@@@", [], {}, [None], [[[]]]),
    *({"": {"\udc00": None}}, {"type": "text"}, ["a", {"text": None}]),
)
DEEP, STEEP, REPLIES, HUGE, INFINITE = "@deep@", "@steep@", "@replies@", "@huge@", "@infinite@"
_RAW = {
    DEEP: "[" * 3_000 + "]" * 3_000,
    STEEP: "[" * 800 + "]" * 800,
    REPLIES: '{"text":"x","children":[{"replies":[' * 1_000 + "]}]}" * 1_000,
    HUGE: "9" * 6_000,
    INFINITE: "1e999",
}
"""What no encoder writes: put into the text in place of a mark."""

Place = tuple[Json, Json]
"""A container and a key or an index of it."""


def spoilt(seed: Seed, chance: random.Random) -> bytes:
    """The seed's file after one to four mutations."""
    if seed.kind in ("text", "bytes"):
        content = seed.content.encode() if isinstance(seed.content, str) else seed.content
        return _bytes(content, chance, chance.randint(1, 4))
    value = copy.deepcopy(seed.content)
    at_the_end = chance.random() < 0.25
    for _ in range(chance.randint(1, 4)):
        chance.choice(_CHANGES)(value, chance)
    rows = value if seed.kind == "lines" and isinstance(value, list) else [value]
    text = "\n".join(json.dumps(row, ensure_ascii=chance.random() < 0.5) for row in rows)
    for mark, raw in _RAW.items():
        text = text.replace(json.dumps(mark), raw)
    data = text.encode("utf-8", "surrogatepass")
    return _bytes(data, chance, 1) if at_the_end else data


def _places(value: Json) -> list[Place]:
    found: list[Place] = []
    open_ends = [value]
    while open_ends:
        holder = open_ends.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        for key in keys:
            found.append((holder, key))
            open_ends.append(holder[key])
    return found


def _some(
    value: Json, chance: random.Random, wanted: Callable[[Place], bool] = lambda _place: True
) -> Place | None:
    places = [place for place in _places(value) if wanted(place)]
    return chance.choice(places) if places else None


def _drop(value: Json, chance: random.Random) -> None:
    place = _some(value, chance)
    if place is not None:
        del place[0][place[1]]


def _swap_type(value: Json, chance: random.Random) -> None:
    place = _some(value, chance)
    if place is not None:
        place[0][place[1]] = copy.deepcopy(chance.choice((*ODD, *_RAW)))


def _wrap(value: Json, chance: random.Random) -> None:
    place = _some(value, chance)
    if place is not None:
        inner = place[0][place[1]]
        place[0][place[1]] = chance.choice(
            ([inner], {"text": inner}, {"content": [inner, inner]}, [inner] * 60)
        )


def _exchange(value: Json, chance: random.Random) -> None:
    """Two subtrees change places, or one stands at both: they must not hold each other."""
    one, other = _some(value, chance), _some(value, chance)
    if one is not None and other is not None:
        here, there = copy.deepcopy(one[0][one[1]]), copy.deepcopy(other[0][other[1]])
        other[0][other[1]] = here
        if chance.random() < 0.5 and one in _places(value):
            one[0][one[1]] = there


def _repeat(value: Json, chance: random.Random) -> None:
    place = _some(value, chance, lambda place: isinstance(place[0], list))
    if place is not None:
        place[0].extend(copy.deepcopy([place[0][place[1]]] * chance.choice((1, 2, 40))))


def _is_id(place: Place) -> bool:
    name = str(place[1]).lower()
    return isinstance(place[0][place[1]], str | None) and (
        "id" in name or "parent" in name or name == "current"
    )


def _tangle(value: Json, chance: random.Random) -> None:
    """Ids that occur twice, parents that are children of their children, or missing."""
    places = [place for place in _places(value) if _is_id(place)]
    ids = [holder[key] for holder, key in places if holder[key]] or ["x"]
    for holder, key in chance.sample(places, min(len(places), chance.randint(1, 4))):
        holder[key] = chance.choice((*ids, "nowhere", None, ""))


_CHANGES = (_drop, _swap_type, _swap_type, _wrap, _exchange, _repeat, _tangle, _tangle)


def _bytes(data: bytes, chance: random.Random, times: int) -> bytes:
    spoiling = bytearray(data)
    for _ in range(times):
        if not spoiling:
            break
        at = chance.randrange(len(spoiling))
        match chance.randrange(5):
            case 0:
                spoiling[at] ^= 1 << chance.randrange(8)
            case 1:
                del spoiling[at:]
            case 2:
                del spoiling[at : at + chance.randint(1, 40)]
            case 3:
                spoiling[at:at] = chance.randbytes(chance.randint(1, 12))
            case _:
                spoiling[at:at] = spoiling[at : at + 200]
    return bytes(spoiling)
