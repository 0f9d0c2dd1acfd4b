"""Makes the font of the icons that Forky's code and Streamlit's name: `make icons`, after either names a new one.

It needs fontTools and brotli, which nothing else does. Every word in the code that is the name of an icon counts as
one: a few too many cost less than one that is missing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fontTools import subset  # type: ignore[import-not-found, unused-ignore]
from fontTools.ttLib import TTFont  # type: ignore[import-not-found, unused-ignore]

CHECKOUT = Path(__file__).resolve().parent.parent
MADE = CHECKOUT / "pages" / "ui" / "streamlit_patches"
_LIGATURES = 4
_WORD = re.compile(r"""["'`>/:]([a-z0-9_]{2,})["'`<:]""")


def main(streamlit: Path) -> None:
    source = next((streamlit / "media").glob("MaterialSymbols-Rounded.*.woff2"))
    font = TTFont(source)
    glyphs = _names(font)
    scripts = [path.read_text("utf-8", "ignore") for path in sorted((streamlit / "js").glob("*.js"))]
    words = {word for text in scripts for word in re.findall(r":material/([a-z0-9_]+)", text)}
    for folder in ("pages", "forky_core"):
        for path in (CHECKOUT / folder).rglob("*"):
            if path.suffix in {".py", ".js", ".css", ".html"}:
                words.update(_WORD.findall(path.read_text("utf-8")))
    used = sorted(words & glyphs.keys())
    options = subset.Options(layout_features=["*"], layout_closure=False, hinting=False, glyph_names=False)
    smaller = subset.Subsetter(options)
    smaller.populate(glyphs=[glyphs[name] for name in used], unicodes=map(ord, set("".join(used))))
    smaller.subset(font)
    font.flavor = "woff2"
    font.save(MADE / "icons.woff2")
    (MADE / "icons.txt").write_text("\n".join((f"# of {source.name}", *used, "")), "utf-8")


def _names(font: TTFont) -> dict[str, str]:
    """The glyph of each icon by its name, which the font draws as a ligature of its letters."""
    letters: dict[str, str] = {}
    for code, glyph in font.getBestCmap().items():
        letters.setdefault(glyph, chr(code).lower())
    tables = (table for lookup in font["GSUB"].table.LookupList.Lookup for table in lookup.SubTable)
    found: dict[str, str] = {}
    for table in (getattr(one, "ExtSubTable", one) for one in tables):
        if table.LookupType == _LIGATURES:
            for first, ligatures in table.ligatures.items():
                for ligature in ligatures:
                    name = "".join(letters.get(glyph, "?") for glyph in (first, *ligature.Component))
                    found[name] = ligature.LigGlyph
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
