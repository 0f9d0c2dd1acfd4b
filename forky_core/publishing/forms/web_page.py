"""A report as one web page that is read from top to bottom, in any browser, without a script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forky_core.publishing.forms.form import PAGE, encoded
from forky_core.publishing.forms.html import PAGE_FOOT, block_html, page_head, style
from forky_core.publishing.report import Report
from forky_core.showing.escaping import safe

_FEWEST_FOR_CONTENTS = 4
_MOST_IN_CONTENTS = 200


class WebPage:
    name: ClassVar[str] = "html"
    label: ClassVar[str] = "Web page (HTML, for anybody)"
    suffix: ClassVar[str] = ".html"
    media_type: ClassVar[str] = PAGE

    def write(self, report: Report) -> Iterator[bytes]:
        yield encoded(page_head(report.title, style("page"), f"report {report.kind}"))
        about = "".join(f'<p dir="auto">{safe(line)}</p>' for line in report.about)
        yield encoded(f'<header><h1 dir="auto">{safe(report.title)}</h1>{about}</header>\n<main>\n')
        if len(report.sections) >= _FEWEST_FOR_CONTENTS:
            listed = "".join(
                f'<li><a href="#s{at}" dir="auto">{safe(section.title)}</a></li>'
                for at, section in enumerate(report.sections[:_MOST_IN_CONTENTS], 1)
            )
            yield encoded(f'<nav aria-label="Contents"><ol>{listed}</ol></nav>\n')
        for at, section in enumerate(report.sections, 1):
            yield encoded(f'<section id="s{at}"><h2 dir="auto">{safe(section.title)}</h2>\n')
            for block in section.blocks:
                for piece in block_html(block):
                    yield encoded(piece)
            yield b"</section>\n"
        yield encoded(
            f"</main>\n<footer>This page loads nothing and sends nothing. Written by Forky.</footer>\n{PAGE_FOOT}"
        )
