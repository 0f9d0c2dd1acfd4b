"""What holds for every thing in every form, with ordinary, hostile, huge and empty contents."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from forky_core.formats.reports.form import PublicationForm, pieces, report_file_name
from forky_core.formats.reports.private_texts import private_values, without_private
from forky_core.formats.reports.publishing import write_report
from forky_core.formats.reports.registry import FORMS, forms_of
from forky_core.formats.reports.registry import THINGS as OFFERED
from forky_core.formats.reports.report import Report
from forky_core.model.errors import BadContent, NotFound
from forky_core.render.policy import script
from tests.formats.reports.given import THINGS, given

HOSTILE = (
    "</script><script>alert(1)</script> <img src=x onerror=alert(1)> [go](javascript:alert(1)) "
    "![p](https://evil.example/p.png) ![q][r] </style><style>*{color:red}</style> --><!-- ]]> =1+1 \u202e\x00 "
    "'''\"\"\" \\N{BEL} $\\text{<b>}$ <svg/onload=alert(1)> <a href='data:text/html,x'>d</a>\n\n"
    "[r]: https://evil.example/q.png\n[j]: javascript:alert(1)\n\n[j] and \\`<img src=y>` and `` ` <img src=z> ` ``\n\n"
    '```mermaid\nclick A href "javascript:alert(1)"\n```\n\n- a\n  ```\n<iframe src=https://evil.example></iframe>'
)
Thing = tuple[str, tuple[str, ...]]
TEXTS = {
    "plain": "The port is 8080.",
    "hostile": HOSTILE,
    "huge": "A word, and `code`.\n" * 2_500,
    "empty": " ",
}
LOADS = frozenset(("src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "style"))


@pytest.fixture(scope="module", params=list(TEXTS))
def reports(request: pytest.FixtureRequest) -> dict[Thing, Report]:
    text = TEXTS[request.param]
    made = given(text if text.strip() else "?", title=text[:100])
    return {(thing, which): made.report(thing, which) for thing, which in THINGS}


CASES = [
    pytest.param((thing, which), form, id=f"{thing}{'-all' if which else ''}-{form.name}")
    for thing, which in THINGS
    for form in FORMS
    if form.name != "csv" or thing == "experiment"
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
    reports: dict[Thing, Report], thing: Thing, form: PublicationForm
) -> None:
    report = reports[thing]
    text = written(report, form)
    assert text.strip()
    match form.name:
        case "html":
            page = Elements(text)
            assert page.faults == [] and not page.tags & FOREIGN
            policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
            assert policy is not None and policy[1].startswith("default-src 'none'")
            assert "unsafe" not in policy[1] and "http" not in policy[1]
            assert page.scripts == ([script("replay")] if report.kind == "replay" else [])
        case "markdown":
            assert rendered_faults(text) == []
        case "csv":
            assert report.table is not None
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
    return page.faults + sorted(page.tags & (FOREIGN | {"script", "style", "svg"}))


@pytest.mark.parametrize(("thing", "form"), CASES)
def test_the_same_report_gives_the_same_bytes(thing: Thing, form: PublicationForm) -> None:
    report = given().report(*thing)
    assert written(report, form) == written(report, form)
    assert report_file_name(report.title, report.kind, form).endswith(form.suffix)


@pytest.mark.parametrize(("thing", "form"), CASES)
def test_placeholders_replace_what_looks_private_in_every_form(thing: Thing, form: PublicationForm) -> None:
    report = given("Write to jane.doe@example.com or call +49 170 1234567. Port 8080.").report(*thing)
    seen = private_values(report)
    assert {one.value for one in seen} == {"jane.doe@example.com", "+49 170 1234567"}
    assert "jane.doe@example.com" in written(report, form).replace("\\", "")
    text = written(without_private(report, seen), form)
    assert "jane" not in text and "1234567" not in text
    assert "e-mail 1" in text.replace("\\", "")
    some = written(without_private(report, seen[1:]), form).replace("\\", "")
    assert "jane.doe@example.com" in some and "1234567" not in some


def test_every_thing_is_a_page_and_markdown_and_an_experiment_is_a_table_too() -> None:
    made = given()
    for thing, which in THINGS:
        report = made.report(thing, which)
        offered = [form.name for form in forms_of(report)]
        assert offered == ["html", "markdown", *(["csv"] if thing == "experiment" else [])]
        if thing != "experiment":
            with pytest.raises(BadContent, match="Only an experiment is written as a table"):
                write_report(report, "csv")
    assert {thing for thing, _ in THINGS} == {one.name for one in OFFERED}


@pytest.mark.parametrize(("name", "instead"), [("slides", "Write “html”"), ("notebook", "Write “markdown”")])
def test_a_form_that_is_gone_says_what_to_write_instead(name: str, instead: str) -> None:
    with pytest.raises(NotFound, match=instead):
        write_report(given().report("merge"), name)
