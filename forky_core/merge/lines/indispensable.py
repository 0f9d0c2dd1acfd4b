"""Which lines a reader cannot do without, whatever else they weigh: decisions, corrections by the person, errors."""

from __future__ import annotations

import re

from forky_core.merge.lines.units import Unit

_CORRECTION = re.compile(
    r"""^(?:\W*)(?:no\b|nope|not\s|wrong|actually|instead|rather|don['’]?t|do\s+not|stop\b|never|please\s+don|
        that['’]?s\s+(?:not|wrong)|i\s+(?:meant|said|asked)|sorry|wait|but\s|undo|revert|nein|falsch|stattdessen|non\b|
        pas\s|plutôt|en\s+realidad)|\b(?:should\s+(?:not|be)|must(?:\s+not|n['’]t)?|instead\s+of|isn['’]t\s+right|
        doesn['’]t\s+work|still\s+(?:fails|broken|not))\b|不对|不是|不要|错了|应该|違う|ではなく|아니""",
    re.VERBOSE | re.IGNORECASE,
)
_DECISION = re.compile(
    r"""^\W*(?:decisions?|decided|conclusion|settled|agreed|resolved|in\s+short|entscheidung|beschlossen|fazit|décision|
        conclusion|decisión|decidido)\b|\b(?:we(?:['’]ve|\s+have)?\s+(?:decided|agreed|settled)|let['’]?s\s+(?:use|go\s+with)|
        we(?:['’]ll|\s+will)\s+(?:use|go\s+with|keep)|the\s+decision\s+is)\b|决定|決定|结论|結論|결정""",
    re.VERBOSE | re.IGNORECASE,
)
_ERROR = re.compile(
    r"""\b(?:[A-Z]\w*(?:Error|Exception|Warning)\b|error\s*[:\[]|fatal:|panic:|failed\s*:|FAILED\b|E\d{3,}\b|exit\s+code\s+[1-9]
        |segmentation\s+fault|undefined\s+reference)""",
    re.VERBOSE,
)


def indispensable(unit: Unit) -> str:
    """The section such a line belongs to; "" for any other line."""
    if unit.role != "tool" and unit.shape == "prose" and _DECISION.search(unit.text):
        return "Decided"
    if unit.role == "user" and unit.shape == "prose" and _CORRECTION.search(unit.text):
        return "Asked"
    if unit.shape != "code" and len(unit.text) < 300 and _ERROR.search(unit.text):
        return "Errors"
    return ""
