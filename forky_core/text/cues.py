"""Words that show what a sentence does, in closed lists: no list has words of any trade.

There are three sets. Words of grammar deny a sentence, or make it a supposition or a report of the past: by them the
rules for conflicts tell whether two sentences can contradict each other. The acts of a sentence move it up or down in
the ranking of a note. The marks of decisions, open points and corrections raise it where the offline models quote and
digest. Grammar is in English, German, French, Spanish and Chinese, the acts in Italian too. No sentence is told or left
out for a single act or mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType


def _alone(words: Iterable[str], unspaced: str = "") -> str:
    """Return a pattern of words and phrases that stand alone, a `_` being a space; `unspaced` are Chinese characters,
    which match anywhere.
    """
    phrases = "|".join(word.replace("_", r"\s+") for word in words)
    return rf"(?<![\w-])(?:{phrases})(?![\w-])" + (f"|{unspaced}" if unspaced else "")


def _grammar(*lists: str, unspaced: str) -> re.Pattern[str]:
    return re.compile(_alone(" ".join(lists).split(), unspaced), re.IGNORECASE)


NEGATION = _grammar(
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


PAST = _grammar(
    r"used_to formerly previously former (?:was|were|had)(?!_\w+ed\b|_set\b|_put\b|_chosen\b) until_last before_the back_then at_the_time outdated obsolete ended expired"
    r" ago until_(?:last|the)_\w+ old_(?:\w+_)?(?:handbook|manual|docs?|documentation|page|wiki|map|guide|version|flyer|notes?|readme) originally once",
    r"früher\w* damals ehemals vormals war waren galt hatte betrug kostete lag hieß veraltet\w* überholt\w* bis_letzte[sn]? ursprünglich alte[ns]?",
    r"était étaient autrefois auparavant ancienne?s? avait avant obsolètes? périmée?s? jadis",
    r"era eran antes antigu[oa]s? anterior(?:es)? había fue antaño obsolet[oa]s? anticuad[oa]s? llamó viej[oa]s?",
    unspaced="以前|之前|原来|曾经|过去|旧版|旧的|当时|去年|过时|作废",
)
"""Words about the past: a sentence with them need not hold now."""
SUPPOSED = _grammar(
    r"if unless suppose\w* imagine assuming would could might maybe perhaps probably hypothetical\w* in_that_case what_if"
    r" in_theory otherwise i['’]d you['’]d we['’]d should_it",
    r"wenn falls angenommen würde\w* wäre\w* könnte\w* hätte\w* vielleicht eventuell gegebenenfalls theoretisch sähe",
    r"s['’]il imaginons supposons serai[ts]? serait pourrai[ts]? pourrait aurai[ts]? aurait peut-être donnerait coûterait",
    r"supongamos imaginemos sería podría habría quizás? tal_vez costaría",
    unspaced=r"(?:^|[,;.:]\s)si(?!\s(?:peu|vite|tard|bien|poco|tarde))\b|如果|假如|要是|(?<![一二三四五六七八九十两\d])万一|也许|可能|假设|倘若|的话",
)
"""Words of suppositions."""
QUESTION = re.compile(r"[?？؟]\s*[\"”’»)*_]*\s*$")


def is_question(text: str) -> bool:
    """Whether a sentence ends in a question mark."""
    return QUESTION.search(text) is not None


_ACTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "decides": (
            (
                r"decid\w+ decision agreed? settled chosen chose choose go(?:ing)?_with let['’]s we['’]ll stick_with instead final(?:ly)? adopt\w* approved vote[ds]? motion consensus unanimous\w* conclusion postpone\w* dropped"
                r" entschieden beschlossen einigen geeinigt nehmen_wir wir_nehmen stattdessen bleibt_es dann_machen_wir so_machen_wir beschluss antrag dafür dagegen enthaltung\w* einstimmig angenommen einverstanden vertagt nehmen_wir_nicht"
                r" décid\w+ choisi\w* on_prend on_garde on_fait finalement adoptée? convenu votée? unanimité d['’]accord conclusion reportée?"
                r" decidi\w+ elegi\w+ quedamos nos_quedamos acordad\w+ mejor_que finalmente votad[oa] unanimidad de_acuerdo conclusión aprobad[oa] deciso scelto facciamo teniamo d['’]accordo approvato prenotato"
            ),
            "决定|定了|就用|采用|改用|改成|定为",
        ),
        "reports": (
            (
                r"fixed works? working pass(?:es|ed)? passing succe\w+ confirmed done finished complete[d]? committed pushed merged deployed created added"
                r" removed updated wrote written implemented resolved solved found turns_out turned_out cause[ds]? because root_cause result so_far now verified"
                r" behoben funktioniert läuft fertig erledigt bestätigt geschrieben eingebaut hinzugefügt entfernt gefunden liegt_an weil ursache ergebnis"
                r" corrigée? fonctionne marche terminée? fini confirmée? ajoutée? supprimée? trouvée? parce_que cause résultat"
                r" arreglad[oa] funciona terminad[oa] hech[oa] confirmad[oa] añadid[oa] eliminad[oa] encontrad[oa] porque causa resultado"
                r" risolto funziona fatto finito confermato aggiunto tolto trovato perché causa"
            ),
            "修复|解决|完成|成功|通过|确认|原因|结果|已",
        ),
        "fails": (
            (
                r"\w*errors? fail\w* \w*exception denied rejected refused broken breaks? crash\w* wrong missing not_found aborted reverted undone rolled_back"
                r" still_(?:not|fails?|broken|the_same) stuck timed_out regress\w*"
                r" fehler\w* scheitert\w* kaputt falsch abgelehnt fehlt erreur échou\w* échec refusée? cassée? manque"
                r" fallo fall[aó] errores roto rechazad[oa] falta errore fallit[oa] rotto manca"
            ),
            "失败|报错|错误|还是不行|不行|无法",
        ),
        "denies": (
            (
                r"not no never none nor neither cannot nothing nobody without \w+n['’]t only unless nicht nie niemals kein\w* weder niemand nichts ohne nur"
                r" ne pas jamais aucun\w* rien sans seulement nunca jamás ningun\w* ningún tampoco nada nadie sin solo non mai nessun\w* niente senza"
            ),
            "不|没|沒|未|别|無|无",
        ),
        "corrects": (
            (
                r"actually wait correction instead rather i_meant no_longer was_wrong my_mistake sorry not_quite changed? back_to anymore"
                r" doch eigentlich korrektur statt nicht_mehr moment geändert en_fait plutôt pardon ne_plus changé en_realidad corrección ya_no perdón mejor"
                r" anzi invece in_realtà non_più"
            ),
            "其实|不对|更正|而不是|改为",
        ),
        "warns": (
            (
                r"don['’]t do_not never must should avoid careful warning caution required make_sure important note_that always have_to has_to needs?_to"
                r" darf müssen muss vermeide\w* vorsicht achtung unbedingt immer il_faut évite[rz]? attention toujours doit doivent"
                r" hay_que evit[ae]r? cuidado siempre debe deben bisogna evita\w* attenzione sempre deve"
            ),
            "必须|不要|注意|禁止|务必",
        ),
        "promises": (
            (
                r"i['’]ll i_will we_will i['’]m_going_to we['’]re_going_to will shall going_to next plan(?:s|ned)? tomorrow todo by_(?:monday|tuesday|wednesday|thursday|friday)"
                r" ich_werde werden wird mache_ich mach_ich kümmere\w* übernehme bestell\w* morgen bis_(?:montag|dienstag|mittwoch|donnerstag|freitag) je_vais je_m['’]en_occupe nous_allons demain prochaine? voy_a vamos_a me_encargo lo_hago lo_miro mañana haré próxim[oa] farò faremo domani"
            ),
            "我会|将|明天|下一步",
        ),
        "wants": (
            (
                r"please can_you could_you would_you i_want i_need i['’]d_like we_need want need should prefer make_it let_me_know"
                r" bitte kannst_du können_sie ich_will ich_möchte ich_brauche soll sollte s['’]il_(?:te|vous)_plaît peux-tu pouvez-vous je_veux je_voudrais"
                r" por_favor puedes quiero necesito debería per_favore puoi voglio vorrei"
            ),
            "请|需要|想要|希望",
        ),
        "of us": (
            r"i we my our us i['’]\w+ we['’]\w+ ich wir mein\w* unser\w* je j['’]\w* nous mon ma mes notre on yo nosotr[oa]s mi nuestr[oa]s? io noi mio nostr[oa]",
            "我|我们",
        ),
        "of you": (
            r"you your yours you['’]\w+ du dein\w* ihr euer tu te ton ta tes vous votre vos tú te ti usted\w* ustedes vosotr[oa]s tuo voi",
            "你|您",
        ),
        "open": (
            (
                r"not_yet open unclear undecided pending waiting todo untested not_tested unverified unknown remaining remains left still"
                r" missing unless if maybe perhaps might could offen noch_nicht unklar ungetestet vielleicht falls pas_encore incertain peut-être reste à_voir"
                r" pendiente todavía quizás falta si_no ancora forse da_fare"
            ),
            "还没|尚未|待|可能|如果",
        ),
    }
)
"""What a sentence may do, with the words that show it: spaced ones, in which a `_` is a space, and Chinese ones."""
ACTS = tuple(_ACTS)
_SINGLE = re.compile(r"[\w'’-]+")
_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        word: frozenset(name for name in ACTS if word in _ACTS[name][0].split())
        for spaced, _ in _ACTS.values()
        for word in spaced.split()
        if _SINGLE.fullmatch(word) and "_" not in word
    }
)
"""For each single word the acts that it shows."""
_OTHERS = re.compile(
    "|".join(
        f"({_alone((word for word in spaced.split() if word not in _WORDS), unspaced)})"
        for spaced, unspaced in _ACTS.values()
    ),
    re.IGNORECASE,
)
"""The words of a list that are not looked up one by one, several together and with endings: one group for each act, in
the order of `ACTS`."""
TURNS_DOWN = re.compile(
    r"^\W*(?:no|nope|not|never|nein|nee|non|pas|nunca|actually|wait|wrong|still|that['’]?s\s+(?:not|wrong)|i\s+(?:did|meant)|stop|undo|revert)(?![\w-])|^\W*(?:不|没)",
    re.IGNORECASE,
)
"""The beginning of an answer that turns down, or corrects, what it answers."""


def acts_of(sentence: str) -> frozenset[str]:
    """Return what a sentence does, out of the names of `ACTS`."""
    found: set[str] = set()
    for word in set(_SINGLE.findall(sentence.casefold())):
        found |= _WORDS.get(word, frozenset())
    found.update(ACTS[other.lastindex - 1] for other in _OTHERS.finditer(sentence) if other.lastindex)
    return frozenset(found)


DECISION = re.compile(
    r"\b(?:decid\w*|decision|agreed?|we(?:'|’)?ll (?:use|go|take|call|keep|name|do|ship|stay)|we (?:chose|picked|settled|"
    r"will (?:use|go|call|keep|name))|let(?:'|’)?s (?:go with|use|call|keep|take|name|stick|do|pick|settle)|go(?:ing)? "
    r"with|settled? on|stick with|final (?:choice|answer|name)|chosen|i(?:'|’)?ll (?:take|go with|use|call|pick|name)|"
    r"i (?:choose|chose|pick|picked)|is called|will be called|it is then|sold\b|"
    r"entschieden|entscheid\w*|beschlossen|nehmen wir|wir nehmen|décid\w*|on prend|choisi\w*|decidi\w*|elegimos)\b"
    r"|决定|決定|就用|选择了|選擇了|定为|定為|にします|に決め|으로 하자|결정",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"\b(?:todo|to do|to-do|fixme|tbd|open question|still (?:need|have to|open|unclear|missing)|not (?:yet|sure)|unsure|"
    r"undecided|unclear|remains? (?:open|to be)|need(?:s)? to (?:decide|check|find out|test|verify)|later\b|next step|"
    r"pending|waiting for|don(?:'|’)?t know|offen\b|noch nicht|pas encore|todavía no|pendiente)\b|待定|未定|还没|還沒|まだ",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"^(?:no[,.! ]|actually|wait[,. ]|wrong|that(?:'|’)?s (?:not|wrong)|not quite|instead|correction|sorry)"
    r"|\b(?:i meant|rather than|should(?:n(?:'|’)t| not)|must not|never\b|does(?:n(?:'|’)t| not) work)\b",
    re.IGNORECASE,
)
_ASKS_FOR_DECISION = re.compile(
    r"\b(?:decid\w*|decisions?|agree\w*|settle\w*|chose|choose|chosen|pick(?:ed)?|conclu\w*|final)\b|决定|決定|결정",
    re.IGNORECASE,
)
_ASKS_FOR_OPEN = re.compile(
    r"\b(?:open|todos?|to do|to-do|left|remain\w*|pending|unclear|unresolved|next|missing)\b|待定|未定",
    re.IGNORECASE,
)


def asked_for(question: str) -> tuple[re.Pattern[str] | None, str]:
    """Return the cue of the kind of sentence that a question asks for (None for any), and the question without those
    words.
    """
    for asks, cue in ((_ASKS_FOR_DECISION, DECISION), (_ASKS_FOR_OPEN, OPEN)):
        if asks.search(question):
            return cue, asks.sub(" ", question)
    return None, question
