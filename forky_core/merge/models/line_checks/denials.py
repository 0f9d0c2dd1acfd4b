"""Checks denials and opposites: a “not” of the cited messages must not get lost, and none may be added."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forky_core.merge.claims.cues import FAILED_AGAIN, NOT_YET, SETS_AGAINST
from forky_core.merge.headings import OPEN
from forky_core.merge.models.line_checks.evidence import Evidence, words_in_both
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import (
    CheckedSentence,
    SentenceClause,
    denies,
    fails,
    hedges,
    may_deny,
)
from forky_core.retrieval.words import terms

_SHORT = 3
"""The most content words of a sentence that hardly names its subject."""
_FEW = 12
"""The most sentences of the cited messages in which a denial anywhere counts."""
_FILLING = "doch halt mal schon aber eben leider sadly unfortunately however finalement donc pues todavía"
_FILLERS = frozenset(terms(_FILLING))
"""Words without bearing on what a clause denies."""
_MOST = 0.75
"""The share of a denied clause's words from which on a line repeats that clause."""
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
    "closer,nearer/farther,further",
    "full/empty",
    "opened,open/closed",
    "inside/outside",
    "heavier/lighter",
    "stronger/weaker",
    "easier/harder",
    "wider/narrower",
    "older/newer,younger",
    "old/new",
    "alte,alten,alter,altes/neue,neuen,neuer,neues",
    "ancien,ancienne,vieux,vieille/nouveau,nouvelle",
    "viejo,vieja/nuevo,nueva",
    "includes,included,including/excludes,excluded,excluding",
    "approved,approves/rejected,rejects",
    "agreed,agrees/disagreed,disagrees,refused,refuses",
    "mandatory,required,compulsory/optional,voluntary",
    "public/private",
    "internal/external",
    "north/south",
    "east/west",
    "up/down",
    "näher/weiter",
    "billiger,günstiger/teurer",
    "größer/kleiner",
    "länger/kürzer",
    "wärmer/kälter",
    "offen,geöffnet/geschlossen,zu",
    "voll/leer",
    "pflicht,verpflichtend/freiwillig",
    "angenommen/abgelehnt",
    "zugesagt/abgesagt",
    "bestanden/durchgefallen",
    "gestiegen,steigt/gesunken,sinkt,gefallen",
    "ouvert,ouverte,ouverts,ouvertes/fermé,fermée,fermés,fermées",
    "accepté,acceptée,accepte/refusé,refusée,refuse",
    "obligatoire/facultatif,facultative",
    "augmenté,augmente,monté/baissé,baisse,diminué",
    "gagné/perdu",
    "chaud,chaude/froid,froide",
    "abierto,abierta,abiertos,abiertas/cerrado,cerrada,cerrados,cerradas",
    "aceptado,aceptada,aceptó/rechazado,rechazada,rechazó",
    "obligatorio,obligatoria/opcional,voluntario,voluntaria",
    "subió,subido/bajó,bajado",
    "cerca/lejos",
    "barato,barata/caro,cara",
    "ganó,ganado/perdió,perdido",
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
    ("提高", "降低"),
    ("提前", "推迟"),
    ("接受", "拒绝"),
    ("同意", "反对"),
    ("通过", "否决"),
    ("更高", "更低"),
    ("更大", "更小"),
    ("更多", "更少"),
    ("便宜", "贵"),
    ("旧", "新"),
)
_REMOVES = re.compile(
    r"\b(?:removed?|deleted?|dropped|taken\s+out|entfernt|ausgebaut|gelöscht|gestrichen|supprimée?s?|enlevée?s?|retirée?s?|eliminad[oa]s?|quitad[oa]s?|borrad[oa]s?)\b|删除|移除|去掉",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    r"\b(?:keep|keeps|kept|stays?|leave\s+(?:it|them|that|the)|lass\w*|bleib\w*|drin|laisse\w*|reste|restent|gardée?s?|garde|deja|déjal[oa]s?|conserva\w*|se\s+queda)\b|保留|留着",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")


def turned_round(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that affirms what all its supporting sentences deny, or that uses the opposite word."""
    for part in here.parts:
        supporters = here.supporters(part)
        if not supporters:
            continue
        best = here.best_clauses(part, supporters)
        if _loses_denial(part, best):
            return f"It turns round what is said: “{best[0].text[:120]}”."
        if _is_not_yet(part, here):
            continue
        wrong = _opposite(part, supporters, here)
        if wrong and denies(part) == any(one.denies for one in best):
            return f"It turns round what is said: “{wrong[:120]}”."
    return None


def denial_added(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line with a denial that the cited messages do not have."""
    if line.section == OPEN:
        return None
    for part in here.parts:
        supporters = here.supporters(part)
        plain = SETS_AGAINST.sub(" ", part)
        if not supporters or not denies(plain) or _is_not_yet(part, here):
            continue
        near = here.sources if len(here.sources) <= _FEW else here.around(supporters)
        if not any(may_deny(one.text) for one in near):
            return f"It denies what is said: “{supporters[0].text[:120]}”."
        affirmed = _affirmed(plain, near)
        if affirmed is not None:
            return f"It denies what is said: “{affirmed.text[:120]}”."
    return None


def _affirmed(part: str, near: Sequence[CheckedSentence]) -> CheckedSentence | None:
    """Return a sentence that affirms what a clause of the part denies, if no sentence about it denies anything."""
    for clause in CheckedSentence(part).clauses:
        about = (
            [one for one in near if not one.asks and words_in_both(clause.words, one.words)]
            if clause.denies
            else []
        )
        if (
            about
            and not any(may_deny(one.text) for one in about)
            and not any(_denies_shortly(one) for one in near)
        ):
            return about[0]
    return None


def _denies_shortly(one: CheckedSentence) -> bool:
    """Whether a sentence denies something without naming it: “No.”, “It does not.”"""
    return (denies(one.text) or fails(one.text) or FAILED_AGAIN.search(one.text) is not None) and (
        len(one.words) <= _SHORT or len(one.text.split()) <= 2 * _SHORT
    )


def denial_dropped(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that has the very words of a denied clause, without the denial."""
    affirmed = frozenset(
        word for one in here.sources for clause in one.clauses if not clause.denies for word in clause.words
    )
    for part in here.parts:
        if may_deny(part):
            continue
        mine = frozenset(terms(part))
        for one in here.sources:
            for clause in one.clauses if not (one.asks or one.code or one.conditional) else ():
                denied = clause.words - affirmed - _FILLERS if clause.denies else frozenset()
                if denied and len(words_in_both(denied, mine)) >= max(1.0, _MOST * len(denied)):
                    return f"It leaves out a denial: “{one.text[:120]}”."
    return None


def _is_not_yet(part: str, here: Evidence) -> bool:
    """Whether a part says that a plan has not been carried out yet."""
    return NOT_YET.search(SETS_AGAINST.sub(" ", part)) is not None and any(
        one.planned for one in here.sources
    )


def _loses_denial(part: str, best: Sequence[SentenceClause]) -> bool:
    """Whether all clauses most similar to a part deny it or report a failure, and the part does not."""
    if not best or may_deny(part):
        return False
    if all(clause.denies for clause in best):
        return True
    return all(fails(clause.text) for clause in best) and not (fails(part) or hedges(part))


def _opposite(part: str, supporters: Sequence[CheckedSentence], here: Evidence) -> str:
    """Return a sentence with the opposite of a word in the line that no cited message has; "" if there is none."""
    mine = {word.casefold() for word in _WORD.findall(part)}
    everything = {word.casefold() for word in _WORD.findall(here.text)}
    for one in supporters:
        if one.asks:
            continue
        said = {word.casefold() for word in _WORD.findall(one.text)} - mine
        for word in mine - everything:
            if _OPPOSITES.get(word, frozenset()) & said:
                return one.text
            if len(word) > _SHORT + 1 and not denies(one.text) and _prefixed(word) & said:
                return one.text
        for mine_too, against in ((_REMOVES, _KEEPS), (_KEEPS, _REMOVES)):
            if mine_too.search(part) and not mine_too.search(here.text) and against.search(one.text):
                return one.text
        for left, right in _WIDE_OPPOSITES:
            for told, other in ((left, right), (right, left)):
                if told in part and other not in part and other in one.text and told not in here.text:
                    return one.text
    return ""


def _prefixed(word: str) -> frozenset[str]:
    """Return a word with and without negating prefixes: “valid”, “invalid”."""
    added = {f"{prefix}{word}" for prefix in ("un", "in", "im", "ir", "il", "dis", "non")}
    bare = {
        word.removeprefix(prefix) for prefix in ("un", "in", "im", "dis", "non") if word.startswith(prefix)
    }
    return frozenset({*added, *(rest for rest in bare if len(rest) > _SHORT + 1)})
