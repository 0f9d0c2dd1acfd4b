"""A report as slides: one file of HTML without a script, in which each slide fills the window and a printed page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forky_core.publishing.forms.fitting import slides_of
from forky_core.publishing.forms.form import PAGE, encoded
from forky_core.publishing.forms.html import PAGE_FOOT, block_html, page_head, style
from forky_core.publishing.report import Report
from forky_core.showing.escaping import safe

_MOST_SLIDES = 300


class Slides:
    name: ClassVar[str] = "slides"
    label: ClassVar[str] = "Slides (HTML, prints one on a page)"
    suffix: ClassVar[str] = ".slides.html"
    media_type: ClassVar[str] = PAGE

    def write(self, report: Report) -> Iterator[bytes]:
        yield encoded(page_head(report.title, style("slides"), f"slides {report.kind}"))
        about = "".join(f'<p dir="auto">{safe(line)}</p>' for line in report.about[:6])
        yield _slide("title", f'<h1 dir="auto">{safe(_brief(report.title))}</h1>{about}', 1)
        number = 1
        for section in report.sections:
            for part, blocks in enumerate(slides_of(section.blocks)):
                if not blocks and part:
                    continue
                number += 1
                if number > _MOST_SLIDES:
                    yield _slide("rest", _rest(report), number)
                    yield PAGE_FOOT.encode()
                    return
                more = ' <span class="on">goes on</span>' if part else ""
                body = "".join(piece for block in blocks for piece in block_html(block))
                heading = f'<h2 dir="auto">{safe(_brief(section.title))}{more}</h2>'
                yield _slide("", f'{heading}<div class="body">{body}</div>', number)
        yield PAGE_FOOT.encode()


def _brief(title: str) -> str:
    return title if len(title) <= 110 else f"{title[:109]}…"


def _rest(report: Report) -> str:
    return (
        f"<h2>There is more</h2><div class='body'><p>{len(report.sections):,} parts do not fit on "
        f"{_MOST_SLIDES} slides. The web page, the Markdown and the table have all of them.</p></div>"
    )


def _slide(kind: str, body: str, number: int) -> bytes:
    return encoded(
        f'<section class="slide {kind}" id="slide-{number}" tabindex="0" aria-label="Slide {number}"><div class="inner">{body}'
        f'<p class="page">{number}</p></div></section>\n'
    )
