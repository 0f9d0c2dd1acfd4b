"""Checks that limited statements stay limited: no “only in May” gets lost, no “always” is added."""

from __future__ import annotations

import re

from forky_core.merge.headings import OPEN, TRIED
from forky_core.merge.models.line_checks.evidence import Evidence, weighed, words_in_both
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import may_deny

_ONLY = re.compile(
    r"\b(?:only|solely|exclusively|nur|ausschließlich|seulement|uniquement|solo|sólo|solamente|únicamente)\s+"
    r"(?P<limit>(?:in|on|at|for|from|until|till|during|after|before|to|when|if|im|am|an|bei|für|von|bis|ab|zum|zur|während|wenn|en|au|aux|à|pour|du|jusqu|pendant|si|para|hasta|desde|durante|por|a|con|los|las)\b[^,.;:!?]{2,60})"
    r"|(?:只有|只在|仅在|仅限|只限)(?P<wide>[^,，.。;；]{2,20})",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-ZÄÖÜÉ]\w+")
"""A word with a capital, such as “May”, which is not treated as a stop word."""
_EVERY = re.compile(
    r"\b(?:always|everywhere|forever|permanently|all\s+(?:year|day|the\s+time)|every\s+time|immer|überall|jederzeit|ganzjährig|das\s+ganze\s+Jahr|"
    r"partout|toute\s+l['’]année|en\s+permanence|siempre|todo\s+el\s+(?:año|día|tiempo)|en\s+todas\s+partes)\b|总是|永远|全年|随时|到处",
    re.IGNORECASE,
)


def limit_dropped(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line without the limit under which its statement holds."""
    if line.section in (OPEN, TRIED):
        return None
    for part in here.parts:
        mine = weighed(part)
        for one in here.supporters(part, least=0.4):
            match = None if one.code or one.asks else _ONLY.search(one.text)
            if match is None:
                continue
            limit = match["limit"] or match["wide"]
            told = words_in_both(weighed(limit), mine) or any(word in part for word in _NAME.findall(limit))
            if not told and not may_deny(part):
                return f"It leaves out a limit: “{one.text[:120]}”."
    return None


def made_general(line: NoteLine, here: Evidence) -> str | None:
    """Reject a word such as “always” or “everywhere” that the cited messages do not have."""
    match = _EVERY.search(line.text)
    if match is None or _EVERY.search(here.text) is not None:
        return None
    return f"Nothing that it cites is said to be so “{match.group()}”."
