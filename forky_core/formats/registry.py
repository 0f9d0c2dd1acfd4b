"""Which formats there are, in the order they are asked in: the first that fits reads the document.

The order is that of what could be mistaken for what: a narrow sign comes before a wide one.
"""

from __future__ import annotations

from forky_core.formats.contract import Importer, Sample
from forky_core.formats.importers.chatgpt import ChatGPT

IMPORTERS: tuple[Importer, ...] = (ChatGPT(),)


def importer_for(sample: Sample) -> Importer | None:
    """The importer that reads this; None where the format is not known."""
    return next((importer for importer in IMPORTERS if importer.fits(sample)), None)
