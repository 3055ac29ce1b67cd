"""A small PDF with a text layer, written by hand: one content stream per page."""

from collections.abc import Sequence


def small_pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF whose pages have these lines, in Helvetica with the Windows character set."""
    objects = [
        b"",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for lines in pages:
        stream = b"BT /F1 10 Tf 14 TL 50 750 Td\n"
        for line in lines:
            stream += b"(" + _escape(line) + b") Tj T*\n"
        stream += b"ET"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % content
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    file, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    references = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\n" % size
    return file + references + trailer + b"startxref\n%d\n%%%%EOF\n" % len(file)


def _escape(line: str) -> bytes:
    text = line.encode("cp1252")
    return text.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")
