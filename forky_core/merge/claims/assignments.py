"""Assignments in code, configuration and tool output: `key = value`, `key: value`, with normalised values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from forky_core.merge.claims.quantities import quantities

_LONGEST = 20_000
"""The most characters of a line that are read."""
_PAIR = re.compile(
    r"""(?:^|(?<=[\s,;{(`]))["']?(?P<key>[A-Za-z_][\w.-]{1,60})["']?\s{0,3}(?::=|==?|:(?!:|//))\s{0,3}"""
    r"""(?P<value>"[^"\n]{0,120}"|'[^'\n]{0,120}'|\[[^\]\n]{0,160}\]|[^\s,;`{}()\[\]]{1,120})"""
)
_SAID = re.compile(
    r"""(?:`(?P<quoted>[A-Za-z_][\w.-]{1,60})`|(?<![\w`])(?P<bare>[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]\w*_\w+|[A-Z]{4,}))"""
    r"""\s(?:(?:is|was|stays|now|to|at|set|ist|auf|steht|est|à|es|está|en|a|a\s+true)\s){1,3}`?(?P<value>["']?[\w.-]{1,60})|"""
    r"""`(?P<han>[A-Za-z_][\w.-]{1,60})`\s?(?:现在)?(?:是|为|设为|改成|改为)\s?`?(?P<then>[\w.-]{1,40})"""
)
_COLOUR = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])$", re.IGNORECASE)
_WORDS = {
    **dict.fromkeys(("true", "yes", "on", "enabled", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "disabled", "0"), "false"),
}
_NULL = frozenset(("null", "none", "undefined", "nil"))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A key with its value, and their place in the text."""

    key: str
    """The last piece of the key, normalised: `maxUsers` and `max_users` are equal."""
    value: str
    """The normalised value."""
    start: int
    end: int


def normal(value: str) -> str:
    """Normalise a value, so that two spellings of it are equal."""
    bare = value.strip().strip("\"'`").rstrip(".,;").strip()
    low = bare.casefold()
    if low in _WORDS:
        return _WORDS[low]
    if low in _NULL:
        return "null"
    if short := _COLOUR.match(low):
        return "#" + "".join(sign * 2 for sign in short.groups())
    if bare.startswith("["):
        inner = (normal(one) for one in bare.strip("[]").split(",") if one.strip())
        return "[" + ",".join(sorted(inner)) + "]"
    found = quantities(bare)
    if len(found) == 1 and found[0].start == 0 and found[0].end == len(bare):
        return f"{found[0].dimension}:{found[0].value}"
    return low


def key_of(name: str) -> str:
    """Return the last piece of a dotted name, without punctuation and in lower case."""
    return re.sub(r"[\W_]", "", name.rsplit(".", maxsplit=1)[-1]).casefold()


@lru_cache(maxsize=8_192)
def assignments(text: str) -> tuple[Assignment, ...]:
    """Return the assignments in a line of code or configuration, from left to right."""
    found: list[Assignment] = []
    for match in _PAIR.finditer(text[:_LONGEST]):
        key, value = key_of(match["key"]), match["value"]
        rest = text[match.end() : match.end() + 3].lstrip()
        if rest[:1] in ("(", ".", "+", "*", "/", "-", "%") or (value[-1] in "+*/" and len(value) > 1):
            continue  # An expression, whose value is not told.
        if len(key) > 1 and not value.startswith(("=", "//", ">", "<")) and key not in ("http", "https"):
            found.append(Assignment(key, normal(value), match.start("key"), match.end()))
    for match in _SAID.finditer(text[:_LONGEST]):
        key = key_of(match["quoted"] or match["bare"] or match["han"])
        value = normal(match["value"] or match["then"])
        if value in ("true", "false", "null") or any(map(str.isdigit, value)):
            found.append(Assignment(key, value, match.start(), match.end()))
    return tuple(found)
