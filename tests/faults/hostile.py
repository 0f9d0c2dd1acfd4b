"""Input that people, files and programs really send and programs trip over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

TEXTS = MappingProxyType(
    {
        "empty": "",
        "blank": " \t\n\r\u2003",
        "nul": "a\0b",
        "only nul": "\0",
        "lone surrogate": "a\ud83db",
        "low surrogate": "\udc00",
        "surrogate pair": "\ud83d\ude00",
        "surrogateescape": b"\xff\xfe\x00\x80".decode("utf-8", "surrogateescape"),
        "binary": bytes(range(256)).decode("latin-1"),
        "right to left": "שלום \u202eעולם\u202c مرحبا",
        "combining": "e" + "\u0301" * 500,
        "joined": "👩‍👩‍👧‍👦" * 20,
        "noncharacters": "\ufffe\uffff\U0010ffff\ue000",
        "line ends": "a\r\nb\rc\u2028d\u2029e\x0bf\x0cg\x85h",
        "html": "<script>alert(1)</script><img src=x onerror=alert(1)></style>",
        "markdown": "# [x](javascript:alert(1)) ![](http://evil.invalid/x.png) ```",
        "latex": r"$\frac{1}{0}$ \( \href{javascript:1}{x} \) $$",
        "directives": ":red[x] :material/home: :smile: ::component[x]{y=1}",
        "sql": "'; DROP TABLE messages; -- \" \\ % _ $1 ? {x} {{x}}",
        "json": '{"type": "merge", "__proto__": [[[[',
        "format": "%s %n {0} {} {self.__class__} ${HOME} $(id) `id`",
        "path": "../../../../etc/passwd",
        "windows": "CON\\..\\C:\\NUL",
        "slashes": "a/b//c",
        "id prefix": "b2:",
        "id like": "b2:" + "0" * 32,
        "id too long": "b2:" + "f" * 200,
        "not hex": "b2:xyz",
        "wildcards": "%_*?[",
        "quotes": '"',
        "quoted": '""',
        "dash": "--help",
        "number": "1e999999",
        "null word": "null",
        "reserved": "heads/main",
        "merge header": "[Merged branch “x” …]\n- decided [deadbeef]\n[End of the merged branch]",
        "file mark": '<file name="x">\n</file>',
        "a word of 1 MB": "a" * 1_000_000,
        "1 MB of words": "word " * 200_000,
        "1 MB of lines": "x\n" * 500_000,
        "1 MB of marks": "`$[<:" * 200_000,
        "1 MB unspaced": "語" * 333_333,
    }
)

DEEP: dict[str, object] = {}
for _ in range(5_000):
    DEEP = {"a": DEEP}

PARAMETERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "nan": {"temperature": math.nan},
        "infinite": {"temperature": -math.inf},
        "huge integer": {"seed": 10**5_000},
        "big integer": {"seed": 2**70},
        "nested too deep": {"x": DEEP},
        "no json": {"x": object()},
        "bytes": {"x": b"\xff"},
        "a set": {"x": {1, 2}},
        "surrogate": {"stop": "\ud800"},
        "surrogate name": {"\ud800": 1},
        "nul name": {"a\0b": 1},
        "empty name": {"": None},
        "number as a name": {"x": {1: 2}},
        "1 MB": {"stop": "x" * 1_000_000},
        "wrong type": {"temperature": "warm", "tools": 7, "messages": "mine", "model": "other"},
        "tuple": {"stop": ("a", "b")},
    }
)
