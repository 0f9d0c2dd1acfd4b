"""The self-contained page: nothing of a message is markup, nothing runs, and the file comes back out."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.exporting.sharing import save_as
from forky_core.formats.forky_file.files import load
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.importing.landing import import_file, preview
from forky_core.model.errors import BadContent
from tests.builders import debugged, talk, workspace
from tests.formats.forky_file.chats import with_everything
from tests.hostile_texts import DIAGRAMS, REFUSED

HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(1)</script>",
    "</pre></article><style>*{display:none}</style>",
    "```\n</pre><script>alert(1)</script>\n```",
    "`<b onclick=alert(1)>`",
    '"><svg onload=alert(1)>',
    "<!-- --!><base href=//evil.example>",
    '<script id="forky-chat" type="text/plain">AAAA</script>',
]
ALLOWED = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "p",
        "main",
        "div",
        "input",
        "select",
        "option",
        "button",
        "span",
        "details",
        "summary",
        "svg",
        "path",
        "a",
        "circle",
        "text",
        "tspan",
        "section",
        "h2",
        "small",
        "article",
        "h3",
        "pre",
        "code",
        "img",
        "footer",
        "script",
    ]
)


class Read(HTMLParser):
    """What a browser would make of it: elements and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data


def page(forky: Workspace, chat_id: object) -> str:
    whole = chat_of(forky.store, chat_id)  # type: ignore[arg-type]
    return b"".join(exporter("html").write(whole)).decode()


def test_nothing_of_a_message_is_markup(forky: Workspace) -> None:
    chat = talk(forky.create(HOSTILE[1]), *HOSTILE)
    talk(chat.fork('<b>"bold"', at=chat.path()[1].id), *HOSTILE)
    read = Read()
    read.feed(page(forky, chat.id))
    assert {tag for tag, _ in read.elements} <= ALLOWED
    assert [name for _, attributes in read.elements for name in attributes if name.startswith("on")] == []
    assert sum(tag == "script" for tag, _ in read.elements) == 2, "the file and our own script"
    assert [a["href"] for t, a in read.elements if t == "a" and not (a["href"] or "").startswith("#m-")] == []


def test_a_link_of_a_message_is_text_and_a_diagram_is_its_source(forky: Workspace) -> None:
    diagrams = [f"```mermaid\n{source}\n```" for source in DIAGRAMS.values()]
    chat = talk(forky.create("Links"), "\n\n".join(REFUSED), "\n\n".join(diagrams))
    read = Read()
    read.feed(text := page(forky, chat.id))
    own = re.compile(r"#[mp]-")
    assert [a["href"] for t, a in read.elements if t == "a" and not own.match(a["href"] or "")] == []
    assert [tag for tag, _ in read.elements if tag in ("img", "iframe", "script")] == ["script", "script"]
    assert "[go](data:text/html,&lt;script&gt;window.canary=1&lt;/script&gt;)" in text
    assert text.count("<pre>flowchart TD\n") >= 20


def test_the_policy_allows_our_script_and_style_and_nothing_else(forky: Workspace) -> None:
    read = Read()
    text = page(forky, debugged(forky).id)
    read.feed(text)
    policy = next(a["content"] for t, a in read.elements if a.get("http-equiv") == "Content-Security-Policy")
    hash = base64.b64encode(hashlib.sha256(read.scripts[-1].encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{hash}'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert re.findall(r'(?:src|href)="(?!#|data:image/)', text) == []
    assert [a for _, a in read.elements if "style" in a] == []


def test_the_file_comes_back_out_and_lands_like_any_other(forky: Workspace, tmp_path: Path) -> None:
    chat = with_everything(forky)
    whole = chat_of(forky.store, chat.id)
    path = tmp_path / "page.html"
    save_as(whole, exporter("html"), path)
    back = load(path)
    assert back.messages == visible(whole).messages
    assert back.view.branches == whole.view.branches
    assert set(back.blobs) == set(whole.blobs)
    elsewhere, _ = workspace()
    (line,) = preview(elsewhere, path)
    assert (line.label, line.problem) == ("Forky chat file", "")
    done = import_file(elsewhere, path)
    assert done.conversations == (chat.id,)
    assert elsewhere.conversation(chat.id).branches.keys() == chat.branches.keys()


def test_what_was_undone_or_put_aside_is_not_in_the_page(forky: Workspace) -> None:
    chat = talk(forky.create("Open"), "Said.", "Heard.")
    chat.stashes.create(draft="a secret draft")
    talk(chat, "a secret that was undone")
    chat.undo()
    path_text = page(forky, chat.id)
    assert "secret" not in path_text
    assert "stash" in " ".join(exporter("html").losses(chat_of(forky.store, chat.id)))


def test_a_damaged_page_is_refused_in_a_sentence(forky: Workspace, tmp_path: Path) -> None:
    text = page(forky, debugged(forky).id)
    start = text.rindex('type="text/plain">') + 30
    path = tmp_path / "page.html"
    for damaged in (
        text[:start] + "AAAA" + text[start + 4 :],
        text[:start],
        text.replace('forky-chat"', 'x"'),
    ):
        path.write_text(damaged)
        with pytest.raises(BadContent, match="page"):
            load(path)


def test_every_message_can_be_read_without_scripts(forky: Workspace) -> None:
    chat = debugged(forky)
    text = page(forky, chat.id)
    assert text.count("<article ") == len(chat.visible.messages)
    assert text.count("<circle ") == len(chat.visible.messages)
    assert "hidden" not in re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


def test_a_number_in_an_answer_leads_to_its_passage_and_to_a_message_of_another_branch() -> None:
    forky, models = workspace()
    forky.documents.append(
        f"# Pump\n\n## Oil\n\nOil the bearing every spring. {HOSTILE[0]}", name="manual.md"
    )
    chat = forky.create("Pumps")
    chat.documents.use()
    debug = talk(chat.fork("debug"), "It rattles.", "The impeller rattles as its circlip was never fitted.")
    models.one.enqueue("Every spring [1]. Not so in `winter [1]`.")
    chat.ask("How often is the bearing oiled?")
    models.one.enqueue("The circlip [1].")
    chat.ask("Why does the impeller rattle?")
    chat.merge(chat.plan_merge(debug, strategy="squash"))
    text = page(forky, chat.id)
    read = Read()
    read.feed(text)
    places = {attributes.get("id") for _, attributes in read.elements}
    assert {a["href"] for t, a in read.elements if t == "a"} <= {f"#{place}" for place in places}
    (passage,) = re.findall(
        r'Every spring \[<a href="#(p-[^"]+)">1</a>\]. Not so in <code>winter \[1\]</code>', text
    )
    assert f'<div class="passage" id="{passage}"><h3>manual.md' in text
    debugged = debug.path()[-1].id.removeprefix("b2:")
    assert f'The circlip [<a href="#m-{debugged}">1</a>].' in text
    assert {tag for tag, _ in read.elements} <= ALLOWED
