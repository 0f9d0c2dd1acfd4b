"""Files as people have them, made here: a DOCX by its own format, PDFs by bench/pdf_pages.py and pypdf."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from pypdf import PdfReader, PdfWriter

from bench.pdf_pages import write_pdf

_CONTENT_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
_RELATIONS = """<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
 Target="word/document.xml"/></Relationships>"""
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx(*paragraphs: tuple[str, str]) -> bytes:
    """(style, text) each; the style "Heading1" makes a heading."""
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    return docx_of(body)


def docx_of(body: str, compression: int = zipfile.ZIP_STORED, before: str = "") -> bytes:
    """`body`: the XML of its paragraphs. `before`: what stands before the document's element."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression, compresslevel=9) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr(
            "word/document.xml", f'{before}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
        )
    return out.getvalue()


def pdf(folder: Path, *pages: str, password: str = "") -> bytes:
    """A page for each text, a line of it for each line."""
    path = folder / "made.pdf"
    write_pdf(path, (page.splitlines() for page in pages))
    if not password:
        return path.read_bytes()
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
