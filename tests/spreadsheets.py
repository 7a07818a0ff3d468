"""Excel files for tests, written without a library."""

import zipfile
from xml.sax.saxutils import escape

OFFICE = "http://schemas.openxmlformats.org"
MAIN = f"{OFFICE}/spreadsheetml/2006/main"
RELATIONS = f"{OFFICE}/officeDocument/2006/relationships"
PACKAGE = f"{OFFICE}/package/2006"
TYPES = (
    f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'
)


def write_xlsx(path, sheets, extra=""):
    """Write sheets, by name: lists of rows of texts, numbers and None, and then extra rows."""
    names = [
        f'<sheet name="{escape(name)}" sheetId="{i}" r:id="s{i}"/>'
        for i, name in enumerate(sheets, 1)
    ]
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": _relations({"r": ("officeDocument", "xl/workbook.xml")}),
        "xl/_rels/workbook.xml.rels": _relations(
            {f"s{i + 1}": ("worksheet", f"worksheets/{i + 1}.xml") for i in range(len(sheets))}
        ),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">'
        f"<sheets>{''.join(names)}</sheets></workbook>",
    }
    for i, rows in enumerate(sheets.values(), 1):
        cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows) + extra
        parts[f"xl/worksheets/{i}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def _relations(targets):
    relations = "".join(
        f'<Relationship Id="{key}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>'


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c><v>{value}</v></c>"
