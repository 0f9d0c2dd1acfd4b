"""Writes a PDF of plain lines, as large as wanted (PDF 1.4, ISO 32000-1 §7.5): a test file needs no library."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_pdf(path: Path, pages: Iterable[Iterable[str]]) -> None:
    """One page for each list of lines; letters of Latin-1 only."""
    offsets: list[int] = []
    with path.open("wb") as out:

        def put(number: int, body: bytes) -> None:
            offsets.extend([0] * (number + 1 - len(offsets)))
            offsets[number] = out.tell()
            out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))

        out.write(b"%PDF-1.4\n")
        kids: list[int] = []
        for page in pages:
            said = " T* ".join(f"({_escaped(line)}) Tj" for line in page)
            stream = f"BT /F1 11 Tf 60 780 Td 14 TL {said} ET".encode("latin-1", "replace")
            content, leaf = 4 + 2 * len(kids), 5 + 2 * len(kids)
            put(content, b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
            put(
                leaf,
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
                b" /Resources << /Font << /F1 3 0 R >> >> >>" % content,
            )
            kids.append(leaf)
        put(1, b"<< /Type /Catalog /Pages 2 0 R >>")
        put(
            2,
            b"<< /Type /Pages /Count %d /Kids [%s] >>"
            % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids)),
        )
        put(3, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
        start = out.tell()
        out.write(b"xref\n0 %d\n0000000000 65535 f \n" % len(offsets))
        out.writelines(b"%010d 00000 n \n" % offset for offset in offsets[1:])
        out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets), start))


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
