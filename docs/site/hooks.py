"""What the site is made of beside docs/: the guide that the app and the offline model know, too, and its navigation."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

CHECKOUT = Path(__file__).resolve().parents[2]
GUIDE = CHECKOUT / "forky_core" / "guide"
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_LEAVES_DOCS = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)(?:#[^)]*)?\)")


def on_config(config: Any) -> Any:
    """Fill the two sections whose pages are listed nowhere: a new page of the guide, or a note, is found by itself."""
    guide = [{_title(page): f"guide/{page.name}"} for page in sorted(GUIDE.glob("*.md"), key=_title)]
    notes = sorted(
        Path(config.docs_dir, "design").glob("*.md"),
        key=lambda page: (page.name != "README.md", _title(page)),
    )
    design = [{_title(page): f"design/{page.name}"} for page in notes]
    config.nav = [_filled(entry, {"guide": guide, "design": design}) for entry in config.nav]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the guide, and leave the folder of this file out."""
    for page in sorted(GUIDE.glob("*.md")):
        files.append(File.generated(config, f"guide/{page.name}", content=page.read_text("utf-8")))
    for file in [one for one in files if one.src_uri.startswith("site/")]:
        files.remove(file)
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001
    """A link to a file of the checkout that is no page of the site becomes that file's name."""
    here = PurePosixPath(page.file.src_uri).parent

    def told(found: re.Match[str]) -> str:
        words, up, target = found.groups()
        depth = len(here.parts) if str(here) != "." else 0
        if up.count("../") <= depth:
            return found[0]
        return f"{words} (`{target}`)" if f"`{target}`" != words else words

    return _LEAVES_DOCS.sub(told, markdown)


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text("utf-8"))
    return found[1] if found else page.stem


def _filled(entry: Any, sections: dict[str, list[Any]]) -> Any:
    return {
        name: sections.get(value, value) if isinstance(value, str) else value for name, value in entry.items()
    }
