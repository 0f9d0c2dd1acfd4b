"""DOCX by mammoth, which reads a paragraph's role (heading, list, table) rather than its formatting."""

from __future__ import annotations

import zipfile

from forky_core.documents.kinds import DocumentKind
from forky_core.documents.reading import sections_of_html
from forky_core.documents.source import DocumentSource
from forky_core.model.errors import BadContent
from forky_core.process.extras import needed_for

LARGEST_UNPACKED = 200_000_000
"""The most bytes of text inside; a small file that unpacks to more is a zip bomb."""


def docx_html(source: DocumentSource) -> str:
    """The document's text as HTML, without pictures.

    Raises:
        BadContent: it is damaged, or unpacks to too much.
    """
    # Importing it takes 50 ms, which every start of Forky would pay.
    with needed_for("Reading a DOCX file", "documents"):
        import mammoth  # noqa: PLC0415

    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist() if entry.filename.endswith(".xml"))
        if unpacked <= LARGEST_UNPACKED:
            with source.open() as stream:
                html: str = mammoth.convert_to_html(
                    stream, convert_image=mammoth.images.img_element(lambda _: {}), external_file_access=False
                ).value
                return html
    except MemoryError:
        raise
    except Exception as error:
        raise BadContent(
            f"“{source.name}” is damaged: it cannot be read as a DOCX file ({type(error).__name__}).",
            "Open it where it was written, and save it anew.",
        ) from error
    raise BadContent(
        f"“{source.name}” unpacks to {unpacked / 1e6:,.0f} MB of text; at most {LARGEST_UNPACKED // 1_000_000} MB fit.",
        "Split it, or add the part that matters.",
    )


def _recognises(source: DocumentSource, start: bytes) -> bool:
    if not start.startswith(b"PK\x03\x04"):
        return False
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


DOCX = DocumentKind(
    name="docx",
    label="DOCX",
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    recognises=_recognises,
    read=lambda source: sections_of_html(docx_html(source)),
)
