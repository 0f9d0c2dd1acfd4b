"""Denials and opposites: a “not” of what is cited must not get lost, and none may be added."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forky_core.merge.headings import OPEN
from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import Clause, Sentence, denies, fails, hedges, may_deny

CONTRAST = re.compile(
    r"(?:,\s*|\b(?:and|und|et|y)\s+)(?:not|no|nicht|keine?[nmrs]?|pas|non|sin)\b|\b(?:instead\s+of|rather\s+than|statt|anstatt|au\s+lieu|en\s+(?:vez|lugar))\b",
    re.IGNORECASE,
)
"""What is named only to be set against something else."""
_NOT_YET = re.compile(
    r"\b(?:not\b.{0,40}\byet|noch\s+nicht|pas\s+encore|(?:todavía|aún)\s+no)\b|n['’]t\b.{0,30}\byet\b|还没|尚未",
    re.IGNORECASE,
)
_FEW = 12
"""Sentences of the cited messages up to which a denial may stand anywhere in them."""
_OPPOSITES: dict[str, frozenset[str]] = {}
for _pair in (
    "faster/slower,slow",
    "quicker/slower",
    "more/less,fewer",
    "higher/lower",
    "increased,increase,increases,rose,rises/decreased,decrease,decreases,fell,dropped,drops",
    "raised,raise/lowered,lower,cut",
    "better/worse",
    "before/after",
    "above/below",
    "enabled,enable,enables/disabled,disable,disables",
    "allowed,allow,allows,permitted/forbidden,forbid,forbids,prohibited,disallowed",
    "accepted,accepts,accept/rejected,rejects,reject,declined",
    "passed,passes,pass,succeeded,succeeds/failed,fails,fail",
    "cheaper/dearer,pricier",
    "safe/unsafe,dangerous",
    "possible/impossible",
    "valid/invalid",
    "present/absent,missing",
    "won/lost",
    "bigger,larger/smaller",
    "longer/shorter",
    "warmer/colder",
    "minimum/maximum",
    "on/off",
    "schneller/langsamer",
    "mehr/weniger",
    "höher/niedriger,tiefer",
    "besser/schlechter",
    "gültig/ungültig",
    "erlaubt/verboten",
    "aktiviert/deaktiviert",
    "plus/moins",
    "meilleur/pire",
    "autorisé/interdit",
    "activé/désactivé",
    "más/menos",
    "mejor/peor",
    "permitido/prohibido",
    "activado/desactivado",
):
    _left, _right = (frozenset(side.split(",")) for side in _pair.split("/"))
    for _word in _left:
        _OPPOSITES[_word] = _OPPOSITES.get(_word, frozenset()) | _right
    for _word in _right:
        _OPPOSITES[_word] = _OPPOSITES.get(_word, frozenset()) | _left
_WIDE_OPPOSITES = (
    ("更快", "更慢"),
    ("增加", "减少"),
    ("上升", "下降"),
    ("允许", "禁止"),
    ("有效", "无效"),
    ("开启", "关闭"),
    ("成功", "失败"),
)
_WORD = re.compile(r"[^\W\d_]+")


def turned_round(line: NoteLine, here: Evidence) -> str | None:
    """A line that affirms what is denied, denies what is affirmed, or says the opposite word."""
    for part in here.parts:
        supporters = here.supporters(part)
        if not supporters:
            continue
        best = here.best_clauses(part, supporters)
        if _loses_denial(part, best):
            return f"It turns round what is said: “{best[0].text[:120]}”."
        plain = CONTRAST.sub(" ", part)
        if _NOT_YET.search(plain) and any(one.planned for one in here.sources):
            continue
        near = here.sources if len(here.sources) <= _FEW else here.around(supporters)
        if denies(plain) and line.section != OPEN and not any(may_deny(one.text) for one in near):
            return f"It denies what is said: “{supporters[0].text[:120]}”."
        wrong = _opposite(part, supporters)
        if wrong and denies(part) == any(one.denies for one in best):
            return f"It turns round what is said: “{wrong[:120]}”."
    return None


def _loses_denial(part: str, best: Sequence[Clause]) -> bool:
    """Whether all clauses that say most of a part deny it or report a failure, and the part does not."""
    if not best or may_deny(part):
        return False
    if all(clause.denies for clause in best):
        return True
    return all(fails(clause.text) for clause in best) and not (fails(part) or hedges(part))


def _opposite(part: str, supporters: Sequence[Sentence]) -> str:
    """A sentence that says the opposite word of one in the line, where neither says the other's."""
    mine = {word.casefold() for word in _WORD.findall(part)}
    for one in supporters:
        said = {word.casefold() for word in _WORD.findall(one.text)}
        for word in mine - said:
            turned = _OPPOSITES.get(word, frozenset()) & said - mine
            prefixed = {
                f"{prefix}{word}" for prefix in ("un", "in", "im", "ir", "il", "dis", "non")
            } & said - mine
            stripped = {
                word.removeprefix(prefix)
                for prefix in ("un", "in", "im", "dis", "non")
                if word.startswith(prefix)
            } & said - mine
            if (
                len(word) > 4
                and (prefixed or {rest for rest in stripped if len(rest) > 4})
                and not denies(one.text)
            ):
                return one.text
            if turned:
                return one.text
        for left, right in _WIDE_OPPOSITES:
            if (left in part and right not in part and right in one.text and left not in one.text) or (
                right in part and left not in part and left in one.text and right not in one.text
            ):
                return one.text
    return ""
