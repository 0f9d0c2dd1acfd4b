"""Small files that cost whoever reads them a lot, each made the way its format allows."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from tests.documents.files import docx_of

PAGES = 90_000


def docx_that_explodes() -> bytes:
    """110 kB of DOCX: 38 MB of paragraphs, which take mammoth 2.7 GB and a minute or two."""
    return docx_of("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 1_110_000, zipfile.ZIP_DEFLATED)


def docx_of_nested_elements() -> bytes:
    return docx_of("<w:p>" * 100_000 + "</w:p>" * 100_000, zipfile.ZIP_DEFLATED)


def docx_of_entities() -> bytes:
    """A billion laughs: ten entities, each of which names the one before it ten times."""
    entities = '<!ENTITY e0 "ha">' + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return docx_of("<w:p><w:r><w:t>&e9;</w:t></w:r></w:p>", before=f"<!DOCTYPE d [{entities}]>")


def zip_of_members(count: int) -> bytes:
    """An archive whose directory names one member again and again."""
    name = b"a"
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0) + name
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, *[0] * 7, len(name), *[0] * 6) + name
    size = len(entry) * count
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, len(local))
    end += struct.pack("<4sLQL", b"PK\x06\x07", 0, len(local) + size, 1)
    end += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return local + entry * count + end


def pdf_of_pages(count: int) -> bytes:
    """One page, named `count` times in the list of pages: 6 bytes for each."""
    said = b"BT /F1 12 Tf 72 720 Td (Hello) Tj ET"
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (count, b"5 0 R " * count),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(said), said),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 3 0 R >> >> >>",
    )


def pdf_that_unpacks(megabytes: int) -> bytes:
    """A page whose content, packed to a thousandth, writes letters for so many megabytes."""
    packed = zlib.compress(b"BT /F1 12 Tf " + b"(aaaa) Tj " * (megabytes * 100_000) + b"ET", 9)
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [5 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 3 0 R >> >> >>",
    )


def _pdf(*objects: bytes) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()
