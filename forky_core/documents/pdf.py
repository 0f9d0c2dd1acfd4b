"""PDF by pypdf, page by page. Files come from anywhere, so whatever pypdf raises is reported as the file's fault."""

from __future__ import annotations

from collections.abc import Iterator

from forky_core.documents.chunking import DocumentSection
from forky_core.documents.kinds import DocumentKind
from forky_core.documents.source import DocumentSource
from forky_core.model.errors import BadContent
from forky_core.process.extras import needed_for

_FRESH = 200
"""Pages after which the file is opened again, at least: pypdf caches every object it has read."""
_OPENINGS = 20
"""The most times that a file is opened: each time pypdf goes through the whole list of pages."""


def pdf_pages(source: DocumentSource) -> Iterator[tuple[DocumentSection, float]]:
    """Each page with text, and the share of the document that has been read.

    Raises:
        BadContent: it is protected or damaged, or its pages are pictures.
    """
    said = False
    number, pages = 0, 1
    while number < pages:
        for number, pages, text in _pages(source, number):  # noqa: B020 - the next part begins behind the last page
            if text.strip():
                said = True
                yield DocumentSection(f"page {number}", text), number / pages
    if not said:
        what = f"its {pages} pages are pictures" if pages > 1 else "its page is a picture"
        raise BadContent(
            f"“{source.name}” holds no text: {what}.",
            "Run a text recognition (OCR) over it, and add what comes out.",
        )


def _pages(source: DocumentSource, first: int) -> Iterator[tuple[int, int, str]]:
    """(number, total, text) of some pages after the first `first` ones."""
    # Importing it takes a quarter of a second, which every start of Forky would pay.
    with needed_for("Reading a PDF", "documents"):
        from pypdf import PdfReader  # noqa: PLC0415

    with source.open() as stream:
        try:
            reader = PdfReader(stream)
            locked = reader.is_encrypted and not reader.decrypt("")
            pages = 0 if locked else len(reader.pages)
        except MemoryError:
            raise
        except Exception as error:
            raise _unreadable(source, error) from error
        if locked:
            raise BadContent(
                f"“{source.name}” is protected by a password.", "Save a copy without one, and add that."
            )
        if not pages:
            raise BadContent(f"“{source.name}” is damaged: it has no pages.", "Get it anew, and add that.")
        for number in range(first, min(first + max(_FRESH, pages // _OPENINGS), pages)):
            try:
                text = reader.pages[number].extract_text() or ""
            except MemoryError:
                raise
            except Exception as error:
                raise _unreadable(source, error) from error
            yield number + 1, pages, text


def _unreadable(source: DocumentSource, error: Exception) -> BadContent:
    if type(error).__name__ == "DependencyError":
        return BadContent(
            f"“{source.name}” is encrypted in a way that Forky cannot open.",
            "Print it to a new PDF, and add that.",
        )
    if type(error).__name__ == "LimitReachedError":
        return BadContent(
            f"“{source.name}” was given up: it asks for more than pypdf reads of a PDF ({str(error).rstrip('.')}).",
            "Print the part that matters to a new PDF, and add that.",
        )
    return BadContent(
        f"“{source.name}” is damaged: it cannot be read as a PDF ({type(error).__name__}).",
        "Get it anew, or print it to a new PDF.",
    )


PDF = DocumentKind(
    name="pdf",
    label="PDF",
    media_type="application/pdf",
    recognises=lambda _source, start: b"%PDF-" in start[:1024],
    read=pdf_pages,
)
