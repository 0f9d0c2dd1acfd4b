"""What a page says of itself, so that the frame can list it without running it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The head of a page. A file of pages/ has it as `PAGE = Page(…)`, with constants only, since it is not run."""

    title: str
    """In the navigation."""
    icon: str
    """A name of Material Symbols: "merge"."""
    order: int = 1000
    """Where the navigation lists it: pages with lower numbers come first, those of one number by the names of
    their files. The first of ours is the front page."""
    section: str = ""
    """The menu of the navigation that lists it, such as "You"; "": the bar itself."""
    shown: bool = True
    """Whether the navigation lists it. If not, another page and the palette lead there."""
    found: bool = True
    """Whether the palette finds it. A page that only a link can lead to is not found."""
    about_conversation: bool = True
    """Whether it shows the conversation that its address names. The addresses of other pages, such as the Library's,
    name none."""
    of_team: bool = False
    """Whether only the server of a team has it."""
    url: str = ""
    """Its address below the app's; "": the name of its file without the ending. The front page has none."""
    script: Path | None = None
    """Its file, a Streamlit script. A file of pages/ does not say it."""

    @property
    def name(self) -> str:
        return self.url or (self.script.stem if self.script is not None else "")
