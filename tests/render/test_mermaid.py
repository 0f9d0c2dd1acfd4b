from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.render.live_prose import ProseWriter
from forky_core.render.mermaid import MOST_LINKS, Diagram, diagram
from forky_core.render.prose import prose
from forky_core.render.trees import Tree, text_of
from tests.hostile_texts import DIAGRAMS, ELSEWHERE, ENORMOUS


def fenced(source: str, language: str = "mermaid") -> str:
    return f"```{language}\n{source}\n```"


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        ("flowchart TD\n  A --> B", "flowchart TD\n  A --> B"),
        ('graph TD\n  A --> B\n  click A "https://a.example"', "graph TD\n  A --> B\n"),
        ("graph TD; A-->B; click A call x(); B-->C", "graph TD; A-->B;; B-->C"),
        ("%% note\ngraph TD\n%%{init: {}}%%\nA-->B", "graph TD\n\nA-->B"),
        (
            "---\ntitle: 'A plan'\nconfig:\n  look: handDrawn\n---\npie\n \"a\": 1",
            '---\ntitle: "A plan"\n---\npie\n "a": 1',
        ),
        ("graph TD\nA[<b>x</b><br/>y]", "graph TD\nA[x<br/>y]"),
        ('graph TD\nA@{ shape: cyl, label: "x" }', 'graph TD\nA@{ shape: cyl, label: "x" }'),
        ("graph TD\nA\nstyle A fill:#000", "graph TD\nA\nstyle A fill:#000,color:#ffffff"),
        ("graph TD\nA\nclassDef x fill:lightblue", "graph TD\nA\nclassDef x fill:lightblue,color:#1b1f21"),
        ("graph TD\nA\nstyle A fill:#000,color:#eee", "graph TD\nA\nstyle A fill:#000,color:#eee"),
        ("graph TD\nA\nstyle A fill:url(#x)", "graph TD\nA\n"),
        (
            "sequenceDiagram\nlink->>B: x\nrect rgb(1, 2, 3)\nend",
            "sequenceDiagram\nlink->>B: x\nrect rgba(1,2,3,0.15)\nend",
        ),
        (
            "sequenceDiagram\nbox Aqua Group\nend",
            "sequenceDiagram\nbox rgba(128,128,128,0.15) Aqua Group\nend",
        ),
        ("mindmap\n  click here\n  link it", "mindmap\n  click here\n  link it"),
    ],
)
def test_a_diagram_is_drawn_without_what_is_no_drawing(source: str, drawn: str) -> None:
    assert diagram(source).drawn == drawn
    assert diagram(source).source == source


@pytest.mark.parametrize("name", [name for name in DIAGRAMS if "shape" in name])
def test_a_diagram_that_asks_for_a_picture_is_shown_as_its_source(name: str) -> None:
    assert diagram(DIAGRAMS[name]) == Diagram(
        DIAGRAMS[name], "", "it asks for pictures, addresses or settings, which Forky does not load."
    )


@pytest.mark.parametrize("source", ENORMOUS.values(), ids=ENORMOUS)
def test_an_enormous_diagram_is_not_drawn_and_says_why(source: str) -> None:
    found = diagram(source)
    assert found.drawn == ""
    assert found.why.endswith(".")


def test_links_between_several_nodes_are_counted_each() -> None:
    side = " & ".join("abcdefghijkl")
    assert diagram(f"graph TD\n{side} --> x").weight == 2 + 12
    assert diagram(f"graph TD\n{side} --> {side}").weight == 2 + 144 <= MOST_LINKS
    assert diagram(f"graph TD\n{side} --> {side} --> x").drawn == ""


@given(
    st.sampled_from(sorted(DIAGRAMS)),
    st.text(alphabet="%{}-\n; init:@clckurl()\"'", max_size=12),
    st.integers(0, 200),
)
def test_no_setting_and_no_address_in_a_style_is_left(name: str, inserted: str, at: int) -> None:
    source = DIAGRAMS[name][:at] + inserted + DIAGRAMS[name][at:]
    drawn = diagram(source).drawn.replace(
        '%%{init: {"themeVariables": {"excludeBkgColor": "rgba(128,128,128,0.15)"}}}%%', ""
    )
    assert "%%{" not in drawn
    assert "url(" not in drawn
    assert not any(line.strip().startswith("config") for line in drawn.splitlines()[:3])


def diagrams(text: str) -> list[tuple[str, str]]:
    """What Mermaid is given and the words below it, of each diagram of a text."""
    found: list[tuple[str, str]] = []

    def look(trees: Iterable[Tree]) -> None:
        for tree in trees:
            if isinstance(tree, list):
                given = tree[1] or {}
                if given.get("class") == "fk-diagram":
                    found.append((given.get("data-diagram", ""), text_of(tree)))
                look(tree[2:])

    look(prose(text))
    return found


def test_a_diagram_stands_between_what_is_written_around_it() -> None:
    text = f"See [it][1].\n\n{fenced('pie')}\n\nAnd $5.\n\n[1]: https://a.example"
    assert diagrams(text) == [("pie", "Sourcepie")]
    assert [tree[0] for tree in prose(text)] == ["p", "div", "p"]


def test_a_list_goes_on_after_a_diagram_in_it() -> None:
    text = '1. One\n   ```mermaid\n   pie\n     "a" : 1\n   ```\n   still one\n2. Two'
    assert [drawn for drawn, _ in diagrams(text)] == ['pie\n  "a" : 1']
    assert len(prose(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "````markdown\n```mermaid\npie\n```\n````",
        "    ```mermaid\n    pie\n    ```",
        "```mermaid\n\n```",
        "`mermaid` is a language",
        "```mermaid-js\npie\n```",
    ],
)
def test_what_is_no_diagram_of_its_own_is_not_drawn(text: str) -> None:
    assert diagrams(text) == []


def test_a_diagram_that_is_still_written_is_code() -> None:
    writer = ProseWriter()
    writer.add("```mermaid\ngraph TD\nA --> B\n")
    assert "data-diagram" not in writer.draw().last
    writer.add("```\n\nSo")
    assert "data-diagram" in writer.draw().blocks[0]


def test_the_diagrams_of_one_text_are_limited_together() -> None:
    one = "graph TD\n" + "\n".join(f"a{at} --> b{at}" for at in range(90))
    found = diagrams("\n\n".join([fenced(one)] * 4))
    assert [bool(drawn) for drawn, _ in found] == [True, True, False, False]
    assert "the diagrams above it are as many as one message may have drawn." in found[-1][1]


def test_a_hostile_diagram_names_no_address_but_in_its_letters() -> None:
    for source in DIAGRAMS.values():
        for line in diagram(source).drawn.splitlines():
            assert ELSEWHERE not in line or not line.strip().startswith(
                ("style", "classDef", "linkStyle", "click", "link")
            )
