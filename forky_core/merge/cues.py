"""Closed lists of words in five languages: what denies, supposes, or tells of the past.

They are words of grammar in English, German, French, Spanish and Chinese, none of any trade.
"""

from __future__ import annotations

import re


def _words(*lists: str) -> str:
    return "|".join(word.replace("_", r"\s+") for words in lists for word in words.split())


def _cues(*lists: str, unspaced: str = "") -> re.Pattern[str]:
    """Match words that stand alone; `unspaced` are Chinese characters, which match anywhere."""
    tail = f"|{unspaced}" if unspaced else ""
    return re.compile(rf"(?<![\w-])(?:{_words(*lists)})(?![\w-]){tail}", re.IGNORECASE)


NEGATION = _cues(
    r"not(?!\s+only) no never none nor neither cannot nothing nobody \w+n['’]t dont doesnt isnt no_longer decided_against voted_against",
    r"nicht nie niemals kein\w* weder niemand nichts",
    r"ne pas jamais aucun\w* ni plus_de plus_besoin rien personne(?=\s+ne)",
    r"no nunca jamás ningun\w* ningún tampoco nada nadie",
    unspaced="不|没|沒|未|别|別|勿|禁|无需|無|无|(?<!\\w)n['’](?=[aeiouyhéèê])",
)
"""Words that deny a sentence."""
_TWICE = re.compile(
    r"(?:(?<!\w)ne\s|(?<!\w)n['’])(?=.{1,50}?(?<!\w)(?:pas|jamais|aucun\w*|rien|ni)(?!\w))|"
    r"(?<!\w)no\s(?=(?:\w+\s){1,4}?(?:nunca|jamás|ningun\w*|ningún|tampoco|nada|nadie)(?!\w))",
    re.IGNORECASE,
)
"""The first of two words that deny together: ne … pas, no … nada."""


def denials(text: str) -> int:
    """Count the negations in a text."""
    return len(NEGATION.findall(text)) - len(_TWICE.findall(text))


PAST = _cues(
    r"used_to formerly previously former (?:was|were|had)(?!_\w+ed\b|_set\b|_put\b|_chosen\b) until_last before_the back_then at_the_time outdated obsolete ended expired"
    r" ago until_(?:last|the)_\w+ old_(?:\w+_)?(?:handbook|manual|docs?|documentation|page|wiki|map|guide|version|flyer|notes?|readme) originally once",
    r"früher\w* damals ehemals vormals war waren galt hatte betrug kostete lag hieß veraltet\w* überholt\w* bis_letzte[sn]? ursprünglich alte[ns]?",
    r"était étaient autrefois auparavant ancienne?s? avait avant obsolètes? périmée?s? jadis",
    r"era eran antes antigu[oa]s? anterior(?:es)? había fue antaño obsolet[oa]s? anticuad[oa]s? llamó viej[oa]s?",
    unspaced="以前|之前|原来|曾经|过去|旧版|旧的|当时|去年|过时|作废",
)
"""Words about the past: a sentence with them need not hold now."""
SUPPOSED = _cues(
    r"if unless suppose\w* imagine assuming would could might maybe perhaps probably hypothetical\w* in_that_case what_if"
    r" in_theory otherwise i['’]d you['’]d we['’]d should_it",
    r"wenn falls angenommen würde\w* wäre\w* könnte\w* hätte\w* vielleicht eventuell gegebenenfalls theoretisch sähe",
    r"s['’]il imaginons supposons serai[ts]? serait pourrai[ts]? pourrait aurai[ts]? aurait peut-être donnerait coûterait",
    r"supongamos imaginemos sería podría habría quizás? tal_vez costaría",
    unspaced=r"(?:^|[,;.:]\s)si(?!\s(?:peu|vite|tard|bien|poco|tarde))\b|如果|假如|要是|(?<![一二三四五六七八九十两\d])万一|也许|可能|假设|倘若|的话",
)
"""Words of suppositions."""
