"""What a model may write to make a reader's browser do something: links to follow and diagrams to draw.

Every text names `window.canary` or an address below `ELSEWHERE`; neither may ever be touched.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

ELSEWHERE: Final = "http://127.0.0.9:9"

_TARGETS = (
    "data:text/html,<script>window.canary=1</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "DaTa:text/html,x",
    "javascript:window.canary=1",
    "JAVASCRIPT:window.canary=1",
    "java&#10;script:window.canary=1",
    "java\\script:window.canary=1",
    "&#106;avascript:window.canary=1",
    "&#x64;ata:text/html,x",
    "data&colon;text/html,x",
    "data&#58;text/html,x",
    "dat%61:text/html,x",
    "%64ata%3Atext/html,x",
    "&Tab;data:text/html,x",
    "\x01data:text/html,x",
    "\u00a0data:text/html,x",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "blob:http://127.0.0.1/x",
    "filesystem:http://127.0.0.1/x",
    "ftp://127.0.0.1/x",
    "tel:+123",
    "intent://x#Intent;end",
    "view-source:http://127.0.0.1",
    "ms-settings:privacy",
    "//127.0.0.9/x",
    "/library?c=x",
    "./?c=x",
    "README.md",
    "?c=x",
    "",
)
_FORMS = (
    "[go]({})",
    "[go]( {} )",
    "[go](\n{})",
    "[go](<{}>)",
    '[go]({} "title")',
    "[go][ref]\n\n[ref]: {}",
    "[go][ref]\n\n[ref]: <{}>",
    "[go][ref]\n\n[ref]:\n  {}",
    "[ref]\n\n   [ref]:   {} 'title'",
    "[ref][]\n\n> [ref]: {}",
    "[ref]\n\n- [ref]: {}",
    "> [go](\n> {})",
    "<{}>",
    "![go]({})",
    "![]({})",
    "![go][ref]\n\n[ref]: {}",
    "[![go]({})]({})",
    "[**go** `code`]({})",
    "[a[b]c]({})",
    "# [go]({})",
    "| a | b |\n|---|---|\n| [go]({}) | x |",
    "| a | b |\n|---|---|\n| ` | [go]({}) ` |",
    "`[go]({})",
    "`` ` [go]({})",
    "\\`[go]({})`",
    "$$a\n\n[go]({})\n\nb$$",
    "\\([go]({})\\)5",
    "\\[ x [go]({}) \\]",
    "$$\\href{{{}}}{{go}}$$",
    "- ```\n[go]({})",
    "```\n```\n[go]({})",
    "- a\n\n  ~~~\n  x\n\n[go]({})",
    "[^1]\n\n[^1]: [go]({})",
    "[^1]\n\n[^1]: {}",
    ":red[[go]({})]",
    "::card[go]{{href={}}}",
)
REFUSED: Final = tuple(form.format(*(target,) * form.count("{}")) for form in _FORMS for target in _TARGETS)
"""Each would be a link, and to nowhere that a link may lead."""
ALLOWED: Final = {
    "[go](https://a.example/x?y=1#z)": "https://a.example/x?y=1#z",
    "[go](HTTP://a.example)": "HTTP://a.example",
    "[go](<https://a.example>)": "https://a.example",
    "[go](mailto:a@b.example)": "mailto:a@b.example",
    "<https://a.example/x>": "https://a.example/x",
    "https://a.example/y": "https://a.example/y",
    "[go][ref]\n\n[ref]: https://a.example/z 'title'": "https://a.example/z",
    "[go](#install)": "#install",
}


def mixed(number: int, seed: int) -> list[str]:
    """Texts of pieces put together at random, in which scanner and parser may disagree about what is code."""
    picked = random.Random(seed)
    pieces = (
        *(
            "[go](data:x)",
            "![p](data:x)",
            "[r]: data:x",
            "[r]",
            "<data:x>",
            "~~~",
            "```",
            "~~~mermaid",
            "```mermaid",
        ),
        *(
            "`",
            "``",
            "$$",
            "$",
            "\\(",
            "\\)",
            "\\[",
            "\\]",
            "\n",
            "\n",
            "\n\n",
            "    ",
            "  ",
            " ",
            "- ",
            "1. ",
            "> ",
            ">",
        ),
        *(
            "|",
            "\n|---|---|\n",
            "\\",
            "*",
            "_",
            "<b>",
            "<!--",
            "-->",
            "<pre>",
            "\n# ",
            "a",
            "graph TD\nA-->B\n",
            "[^1]: ",
        ),
        *(
            "\t",
            "\n    ",
            "\n  - ",
            "+ ",
            "\n===\n",
            "[",
            "](",
            "]:",
            "!",
            ":red[",
            ":::x\n",
            "\n***\n",
            "</pre>",
        ),
    )
    return ["".join(picked.choices(pieces, k=picked.randint(3, 18))) for _ in range(number)]


_L = ELSEWHERE
DIAGRAMS: Final[Mapping[str, str]] = {
    "click href": f'flowchart TD\n A-->B\n click A href "{_L}/1" "tip" _blank\n click B "javascript:window.canary=1"',
    "click behind a semicolon": f'flowchart TD\n A-->B; click A "{_L}/2"\n',
    "click call": 'flowchart TD\n A-->B\n click A call alert(1)\n click B callback "x"',
    "picture shape": f'flowchart TD\n A@{{ img: "{_L}/3.png", label: "x", h: 60, w: 60 }}\n A-->B',
    "picture shape, quoted": f'flowchart TD\n A@{{ "img": "{_L}/4.png" }}\n A-->B',
    "picture shape, lines": f'flowchart TD\n A@{{\n  shape: rect\n  "label": "}} x"\n  img: {_L}/5.png\n }}\n A-->B',
    "picture shape, no end": f"flowchart TD\n A@{{ img: {_L}/6.png",
    "icon shape": f'flowchart TD\n A@{{ icon: "{_L}:x", form: "square" }}\n A --> B["fa:fa-car x"]',
    "image label": f"flowchart TD\n A[\"<img src='{_L}/7.png' onerror='window.canary=1'>\"] --> B",
    "script label": 'flowchart TD\n A["<script>window.canary=1</script>"] --> B["<svg onload=window.canary=1>"]',
    "link label": f"flowchart TD\n A[\"<a href='{_L}/8'>x</a>\"] --> B[\"<iframe src='{_L}/9'></iframe>\"]",
    "Markdown label": f'flowchart TD\n A["`![x]({_L}/10.png) [a]({_L}/11)`"] --> B',
    "style with an address": f"flowchart TD\n A-->B\n style A fill:url({_L}/12.svg#a)\n style B mask:url({_L}/13.svg)",
    "class with an address": f'flowchart TD\n A-->B\n classDef x mask-image:url("{_L}/14.svg#x")\n class A x',
    "class in code numbers": f"flowchart TD\n A-->B\n classDef x background:u\\72l({_L}/15.png)\n class A x",
    "class with a brace": f"flowchart TD\n A-->B\n classDef x fill:red}}*{{background:url({_L}/16.png)\n class A x",
    "link style": f"flowchart TD\n A-->B\n linkStyle 0 stroke:url({_L}/17.svg#x)",
    "settings": '%%{init: {"themeCSS": "* { background: url('
    + _L
    + '/18.png) }", "securityLevel":"loose", "htmlLabels": true}}%%\nflowchart TD\n A["<img src=\''
    + _L
    + "/19.png'>\"] --> B",
    "settings, cut open": '%%%%{x}%%{init: {"securityLevel":"loose"}}%%\nflowchart TD\n A --> B',
    "settings without an end": 'flowchart TD\n A --> B\n%%{init: {"securityLevel":"loose"}',
    "settings of the font": '%%{init: {"fontFamily": "x;} body{background:url('
    + _L
    + '/20.png)} a{", "themeVariables": {"primaryColor": "red;} body{background:url('
    + _L
    + '/21.png)"}}}%%\nflowchart TD\n A --> B',
    "front matter": f"---\ntitle: Hi\nconfig:\n  securityLevel: loose\n  htmlLabels: true\n  themeCSS: "
    f'"*{{background:url({_L}/22.png)}}"\n---\nflowchart TD\n A["<img src={_L}/23.png>"] --> B',
    "title": f'---\ntitle: "x\\n---\\n<img src={_L}/24.png>"\n---\nflowchart TD\n A --> B',
    "formula": 'flowchart TD\n A["$$\\\\href{javascript:window.canary=1}{x}$$"] --> B',
    "formula in a sequence": f"sequenceDiagram\n A->>B: $$\\\\includegraphics{{{_L}/25.png}}$$",
    "sequence links": f"sequenceDiagram\n participant A\n participant B\n link A: x @ {_L}/26\n"
    ' links B: {"y": "javascript:window.canary=1"}\n A->>B: <img src=x onerror=window.canary=1>',
    "sequence rectangle": f"sequenceDiagram\n A->>B: x\n rect url({_L}/27.svg#x)\n B->>A: y\n end",
    "sequence box": f"sequenceDiagram\n box url({_L}/28.svg#x) t\n participant A\n end\n A->>A: x",
    "class diagram": f'classDiagram\n class A\n link A "{_L}/29" "tip"\n click A href "javascript:window.canary=1"\n'
    f' class B["<img src={_L}/30.png>"]\n A <|-- B\n style A fill:url({_L}/31.svg#x)',
    "gantt": f'gantt\n dateFormat YYYY-MM-DD\n section S\n T <img src={_L}/32.png> :t1, 2024-01-01, 3d\n click t1 href "{_L}/33"',
    "state diagram": f'stateDiagram-v2\n S1 --> S2 : x\n click S1 "{_L}/34" "tip"\n classDef x background:url({_L}/35.png)\n'
    " class S1 x",
    "entities": f'erDiagram\n A ||--o{{ B : "<img src={_L}/36.png>"\n style A fill:url({_L}/37.svg#x)',
    "mind map": f'mindmap\n  root((<img src={_L}/38.png>))\n    a\n    ::icon(fa fa-book"><img src={_L}/39.png>)\n'
    f'    b["`<img src={_L}/40.png>`"]\n    :::x" onload="window.canary=1',
    "architecture": "architecture-beta\n service b(logos:aws)[B]",
    "C4": f'C4Context\n Person(a, "A", "<img src={_L}/41.png>", $sprite="{_L}/42.png", $link="{_L}/43")',
    "timeline": f"timeline\n title <img src={_L}/44.png>\n 2001 : <img src={_L}/45.png>",
    "pie": f'pie title <img src={_L}/46.png>\n "<img src={_L}/47.png>" : 3\n "b" : 2',
    "journey": f"journey\n title <img src={_L}/48.png>\n section s\n  a: 3: me",
    "git": f'gitGraph\n commit id: "<img src={_L}/49.png>" tag: "<img src={_L}/50.png>"\n commit',
    "quadrants": f'quadrantChart\n x-axis "<img src={_L}/51.png>" --> b\n A: [0.1, 0.2] color: url({_L}/52.svg)',
    "chart": f'xychart-beta\n title "<img src={_L}/53.png>"\n x-axis ["<img src={_L}/54.png>", b]\n bar [1, 2]',
    "requirements": f'requirementDiagram\n requirement r {{\n id: 1\n text: "<img src={_L}/55.png>"\n }}\n'
    f" style r fill:url({_L}/56.svg#x)",
    "flow of goods": f'sankey-beta\n\n"<img src={_L}/57.png>",b,3',
    "kanban": f'kanban\n  a\n    t[<img src={_L}/58.png>]@{{ ticketBaseUrl: "{_L}/59" }}',
    "description": f"flowchart TD\n accTitle: <img src={_L}/60.png>\n accDescr {{ <script>window.canary=1</script> }}\n A-->B",
    "names of the language": "flowchart TD\n __proto__ --> constructor\n constructor --> prototype",
}
"""What asks Mermaid for a picture, a link, a script or a setting."""


def _nodes(number: int) -> str:
    return "\n".join(f"  N{at}[node {at}] --> N{at * 7 % number}" for at in range(number))


ENORMOUS: Final[Mapping[str, str]] = {
    "nodes": f"flowchart TD\n{_nodes(600)}",
    "links": "flowchart TD\n "
    + " & ".join(f"a{i}" for i in range(60))
    + " --> "
    + " & ".join(f"b{i}" for i in range(60)),
    "one line": "flowchart TD; " + ";".join(f"a{i}-->b{i}" for i in range(500)),
    "one label": f"flowchart TD\n A[{'w' * 9_000}]",
    "ideas": "mindmap\n  root\n" + "\n".join(f"    i{at}" for at in range(190)),
    "tasks": "gantt\n dateFormat YYYY-MM-DD\n section A\n"
    + "\n".join(f" t{i} :t{i}, 2024-01-01, 1d" for i in range(250)),
    "nested": "flowchart TD\n" + "subgraph s\n" * 150 + "a-->b\n" + "end\n" * 150,
    "bits": 'packet-beta\n0-9999999: "x"',
    "cells": "block-beta\n columns 100000\n a space:100000 b",
}
"""What a browser would lay out for a long time."""
UNREADABLE: Final = "flowchart TD\n  A --> ]] B (("
