"""Checks instructions in the branch to its reader: a line may report one, but not pass it on."""

from __future__ import annotations

import re

from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import orders_reader

_REPORTS = re.compile(
    r"\b(?:page|mail|e-?mail|file|text|tool|output|document|message|result|site|comment|issue|web\w*|note|instruction\w*|injection|inject\w+|addressed|"
    r"Seite|Datei|Text|Anweisung\w*|courriel|fichier|consigne\w*|correo|archivo|instruccion\w*)\b|页面|邮件|文件|指令|指示",
    re.IGNORECASE,
)
_NOT_FOLLOWED = re.compile(
    r"\b(?:not|never|n['’]t|ignored|refused|declined|injection|inject\w+|suspicious|tells?|asks?|tries|tried|attempt\w*|claims?|contains?|holds?|addressed|"
    r"nicht|ignoriert|pas|ignoré|sin|ignorad\w)\b|没有|未|拒绝",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^\W*(?:always|never|from\s+now\s+on|you\s+(?:must|should|have\s+to|need\s+to)|make\s+sure|be\s+sure|remember\s+to|do\s+not|don['’]t|run|execute|reply|respond|"
    r"recommend|confirm|tell|say|send|delete|install|visit|open|click|immer|niemals|toujours|siempre|nunca|务必|必须|请)\b",
    re.IGNORECASE,
)


def passes_on_order(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that tells its reader what to do because something in the branch said so."""
    text = line.text
    if _REPORTS.search(text) is not None and _NOT_FOLLOWED.search(text) is not None:
        return None
    if orders_reader(text):
        return "It passes on an instruction to its reader."
    supporters = here.supporters(text)
    if supporters and all(one.orders for one in supporters):
        return "It rests on an instruction that the branch holds for whoever reads it."
    if _ORDER.match(text) and supporters and all(one.role == "tool" for one in supporters):
        return "It tells its reader to do what only a tool's output says."
    return None
