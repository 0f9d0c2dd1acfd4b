"""What holds for every thing in every form, with ordinary, hostile, huge and empty contents."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import nbformat
import pytest
from markdown_it import MarkdownIt

from forky_core.publishing.forms.form import PAGE, PublicationForm, pieces, report_file_name
from forky_core.publishing.private_texts import private_values, without_private
from forky_core.publishing.registry import FORMS, publication_forms
from forky_core.publishing.registry import THINGS as OFFERED
from forky_core.publishing.report import Report
from forky_core.showing.assets import script
from tests.publishing.given import THINGS, given

HOSTILE = (
    "</script><script>alert(1)</script> <img src=x onerror=alert(1)> [go](javascript:alert(1)) "
    "![p](https://evil.example/p.png) ![q][r] </style><style>*{color:red}</style> --><!-- ]]> =1+1 \u202e\x00 "
    "'''\"\"\" \\N{BEL} $\\text{<b>}$ <svg/onload=alert(1)> <a href='data:text/html,x'>d</a>\n\n"
    "[r]: https://evil.example/q.png\n[j]: javascript:alert(1)\n\n[j] and \\`<img src=y>` and `` ` <img src=z> ` ``\n\n"
    '```mermaid\nclick A href "javascript:alert(1)"\n```\n\n- a\n  ```\n<iframe src=https://evil.example></iframe>'
)
TEXTS = {
    "plain": "The port is 8080.",
    "hostile": HOSTILE,
    "huge": "A word, and `code`.\n" * 10_000,
    "empty": " ",
}
LOADS = frozenset(("src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "style"))


@pytest.fixture(scope="module", params=list(TEXTS))
def reports(request: pytest.FixtureRequest) -> dict[tuple[str, tuple[str, ...]], Report]:
    text = TEXTS[request.param]
    made = given(text if text.strip() else "?", title=text[:100])
    return {(thing, which): made.report(thing, which) for thing, which in THINGS}


CASES = [
    pytest.param((thing, which), form, id=f"{thing}{'-all' if which else ''}-{form.name}")
    for thing, which in THINGS
    for form in FORMS
]


def written(report: Report, form: PublicationForm) -> str:
    return b"".join(pieces(report, form)).decode("utf-8")


class Elements(HTMLParser):
    """Everything of a page that could load or run something."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.faults: list[str] = []
        self.tags: set[str] = set()
        self._in = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = {name: value or "" for name, value in attrs}
        self._in = tag if tag == "script" and given.get("type") != "application/json" else ""
        for name, value in given.items():
            if name.startswith("on") or (name in LOADS and not value.startswith("data:image/")):
                self.faults.append(f"{tag} {name}={value}")
            if name in ("href", "xlink:href") and not re.match(r"https?://|#|mailto:", value):
                self.faults.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            self.scripts.append(data)
            self._in = ""


FOREIGN = {"iframe", "object", "embed", "link", "base", "form", "frame", "audio", "video"}


@pytest.mark.parametrize(("thing", "form"), CASES)
def test_nothing_that_somebody_wrote_loads_or_runs(
    reports: dict[tuple[str, tuple[str, ...]], Report],
    thing: tuple[str, tuple[str, ...]],
    form: PublicationForm,
) -> None:
    report = reports[thing]
    text = written(report, form)
    assert text.strip()
    match form.name:
        case "html" | "slides":
            page = Elements(text)
            assert page.faults == [] and not page.tags & FOREIGN
            policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
            assert policy is not None and policy[1].startswith("default-src 'none'")
            assert "unsafe" not in policy[1] and "http" not in policy[1]
            ours = {"replay": 1, "experiment": 1}.get(report.kind, 0) if form.name == "html" else 0
            assert len(page.scripts) == ours
            if report.kind == "replay" and ours:
                assert page.scripts == [script("replay")]
        case "markdown":
            assert rendered_faults(text) == []
        case "notebook":
            book = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
            nbformat.validate(book)
            for cell in book.cells:
                assert cell.cell_type == "code" or rendered_faults(cell.source) == []
        case "csv":
            longest = csv.field_size_limit(10_000_000)
            try:
                rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
            finally:
                csv.field_size_limit(longest)
            assert {len(row) for row in rows} == {len(report.table.head)}
            assert len(rows) == 1 + len(report.table.rows)
            assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "\t", "\r"))]


def rendered_faults(markdown: str) -> list[str]:
    """What a renderer that lets HTML through makes of it, as far as it could load or run something."""
    page = Elements(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    pictures = [one for one in page.faults if "attachment:" not in one]
    return pictures + sorted(page.tags & (FOREIGN | {"script", "style", "svg"}))


@pytest.mark.parametrize(("thing", "form"), CASES)
def test_the_same_report_gives_the_same_bytes(
    thing: tuple[str, tuple[str, ...]], form: PublicationForm
) -> None:
    report = given().report(*thing)
    assert written(report, form) == written(report, form)
    assert report_file_name(report.title, report.kind, form).endswith(form.suffix)


@pytest.mark.parametrize(("thing", "form"), CASES)
def test_placeholders_replace_what_looks_private_in_every_form(
    thing: tuple[str, tuple[str, ...]], form: PublicationForm
) -> None:
    report = given("Write to jane.doe@example.com or call +49 170 1234567. Port 8080.").report(*thing)
    seen = private_values(report)
    assert {one.value for one in seen} == {"jane.doe@example.com", "+49 170 1234567"}
    assert "jane.doe@example.com" in written(report, form).replace("\\", "")
    text = written(without_private(report, seen), form)
    assert "jane" not in text and "1234567" not in text
    assert "e-mail 1" in text.replace("\\", "")
    some = written(without_private(report, seen[1:]), form).replace("\\", "")
    assert "jane.doe@example.com" in some and "1234567" not in some


def test_every_form_is_offered_once_and_pages_can_stand_at_an_address() -> None:
    names = [form.name for form in publication_forms()]
    assert names == list(dict.fromkeys(names))
    assert {form.name for form in FORMS if form.media_type == PAGE} == {"html", "slides"}
    assert {thing for thing, _ in THINGS} == {one.name for one in OFFERED}


def test_the_data_of_a_notebook_is_the_table_and_its_code_runs() -> None:
    report = given(HOSTILE).report("comparison", ("main", "third"))
    text = written(report, next(one for one in FORMS if one.name == "notebook"))
    book = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    (code,) = [cell for cell in book.cells if cell.cell_type == "code"]
    space: dict[str, object] = {"print": lambda *_: None}
    exec(code.source, space)  # noqa: S102 - a person who opens the notebook does this
    rows = space["rows"]
    assert isinstance(rows, list) and len(rows) == len(report.table.rows)
    assert [tuple(row.values()) for row in rows] == list(report.table.rows)
