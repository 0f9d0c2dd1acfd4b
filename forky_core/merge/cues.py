"""Closed lists of words in five languages: what denies, forbids, supposes, or tells of the past.

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


NO = re.compile(
    r"^\W*(?:no|nope|not\s+(?:at\s+all|any\s?more|yet)|never|nein|ne|nee|leider\s+n\w+|non|pas\s+(?:du\s+tout|encore)|"
    r"no,)(?![\w-])|^\W*(?:不|没有|没|不是|不用|不能|不行)",
    re.IGNORECASE,
)
"""An answer that begins with a no."""
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
_NO_ORDER = (
    r"(?!\s+(?:worry|mind|forget|hesitate|panic|know|think|believe|see|have|need|care|like|want|remember|recall|get\s+me|"
    r"be\s+(?:afraid|surprised|shy|sorry)|again|heard|seen|been|was|were|had|has|is|are|did|\w+(?<!e)ed)\b)"
)
"""What a “do not” or a “never” at the beginning of a clause is no advice with: “Don't know”, “Never heard of it”."""
_FORBIDS_FIRST = (
    # English
    rf"(?:do\s+not|do\*\*\s+not|don['’]?t|never){_NO_ORDER}|avoid\s+\w|beware\b|(?:under\s+no\s+circumstances|make\s+sure\s+not\s+to|be\s+careful\s+not\s+to)\b"
    # German: “Verwenden Sie … nicht”, “Nimm … nicht”, “Nicht …”, “Niemals …”
    r"|(?:[^\W\d_]+en\s+sie|nimm|nutze?|benutze?|verwende|mach|setze?|stelle?|gib|lass|leg|lösche?|schreib|schalte?|dreh|zieh|öffne|kauf|geh|trink|iss)\s[^.!?;:]{0,60}?\b(?:nicht|nie|niemals|kein\w*)\b"
    r"|(?:nicht|niemals|auf\s+keinen\s+fall|keinesfalls|vermeide\w*)\s+(?!mehr\b|nur\b|schlimm|schlecht)\w"
    # French: only an order or an infinitive begins with “ne”.
    r"|(?:surtout\W+)?(?:ne\s+|n['’])[^.!?;:]{1,60}?\s(?:pas|jamais|rien|aucune?)\b|évite[zr]?\b"
    # Spanish: the subjunctive of an order
    r"|(?:no|nunca)\s+(?!(?:es|eres|estas|has|vas|ves|tienes|puedes|debes|sabes|quieres|crees|necesitas|entiendes|pareces|vienes|haces|dices|antes|menos|pues|todas|muchas|pocas|otras)\b)"
    r"(?:(?:lo|la|los|las|le|les|te|se|me)\s+[^\W\d_]+(?:es|as)|[^\W\d_]+(?:es|as)(?=[^.!?]*\s(?:el|la|los|las|una?|unos|unas|de|del|que|con|en|por|para|sin|más|y|al|tu|su)\b)"
    r"|uses(?!\s+of\b)|utilice|haga|ponga|abra|borre|toque|deje|ejecute|escriba|cambie|mezcle|olvide)\b|evit[ae]\s"
)
FORBIDS = re.compile(
    r"(?:^\W{0,12}(?:\d+[.)]\s*)?(?:\w+\s?:)?|[;–—(]|(?P<joined>,|\b(?:and|but|so|und|aber|et|mais|y|pero)\b))[\s*_]{0,6}(?:(?:and|but|so|then|please|just|also|bitte|und|aber|et|mais|y|pero|por\s+favor)\b,?\s+)*"
    rf"(?:{_FORBIDS_FIRST})"
    r"|\b(?:must(?:n['’]t|\s+not|\s+never)|should\s+never|you\s+should(?:n['’]t|\s+not)|(?:is|are)\s+(?:strictly\s+)?(?:forbidden|prohibited)|"
    r"(?:darf|dürfen|darfst)\s(?:[^\W\d_]+\s){0,4}?(?:nicht|nie|niemals|kein\w*)|(?:ist|sind)\s+verboten|il\s+ne\s+faut\s+(?:pas|jamais)|(?:vous\s+ne\s+devez|tu\s+ne\s+dois)\s+(?:pas|jamais)|"
    r"(?:est|sont)\s+interdite?s?|no\s+(?:hay\s+que|se\s+deben?|debes?|deben)|(?:está|están)\s+prohibid[oa]s?)\b"
    r"|(?:^|[，。；、：！,;]\s*)(?:请|千万)?(?:不要(?!紧|求)|别(?![的人处说])|勿|切勿|切忌|禁止|严禁)|(?:不得|不准|不许|切勿|请勿|严禁)",
    re.IGNORECASE,
)
"""A prohibition or a warning that is meant for whoever reads it. After `joined`, a clause may go on with the subject of
the one before."""
_HAS_SUBJECT = re.compile(
    r"^\W*(?:i|we|they|he|she|it|people|this|that|wir|ich|sie|er|je|nous|ils?|elles?|on)\b", re.IGNORECASE
)
_IN_QUOTES = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|(?<!\w)'[^'\n]+'(?!\w)|`[^`\n]*`"
)


def forbids(sentence: str) -> bool:
    """Whether a sentence tells its reader not to do something: no quotation, nothing of the past, no question."""
    said = _IN_QUOTES.sub("“…”", sentence)
    if said.rstrip().endswith(("?", "？")):
        return False
    return any(
        not PAST.search(said, 0, found.start()) and not (found["joined"] and _HAS_SUBJECT.match(said))
        for found in FORBIDS.finditer(said)
    )
