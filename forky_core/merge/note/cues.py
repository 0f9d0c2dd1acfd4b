"""Words that show what a sentence does: it decides, reports, fails, denies, corrects, warns, promises or wants.

They only move a sentence up or down in a ranking; nothing is told or left out for a single one of them. The languages
are English, German, French, Spanish, Italian and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from forky_core.documents.retrieval.cues import is_question

_LISTS: Mapping[str, tuple[str, str]] = MappingProxyType(
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
CUES = tuple(_LISTS)
_PLAIN = re.compile(r"[\w'’-]+")
_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        word: frozenset(name for name in CUES if word in _LISTS[name][0].split())
        for spaced, _ in _LISTS.values()
        for word in spaced.split()
        if _PLAIN.fullmatch(word) and "_" not in word
    }
)
"""For each single word the cues that it shows."""


def _others(spaced: str, unspaced: str) -> str:
    """Return a pattern of the words of a list that are not looked up one by one: several together, and with endings."""
    phrases = (word.replace("_", r"\s+") for word in spaced.split() if word not in _WORDS)
    return rf"(?<![\w-])(?:{'|'.join(phrases)})(?![\w-])|{unspaced}"


_OTHERS = re.compile("|".join(f"({_others(*_LISTS[name])})" for name in CUES), re.IGNORECASE)
"""One group for each cue, in the order of `CUES`."""
NO = re.compile(
    r"^\W*(?:no|nope|not|never|nein|nee|non|pas|nunca|actually|wait|wrong|still|that['’]?s\s+(?:not|wrong)|i\s+(?:did|meant)|stop|undo|revert)(?![\w-])|^\W*(?:不|没)",
    re.IGNORECASE,
)
"""The beginning of an answer that turns down, or corrects, what it answers."""


def cues(sentence: str) -> frozenset[str]:
    """Return what a sentence does, out of the names of `CUES` and "asks"."""
    found: set[str] = set()
    for word in set(_PLAIN.findall(sentence.casefold())):
        found |= _WORDS.get(word, frozenset())
    found.update(CUES[other.lastindex - 1] for other in _OTHERS.finditer(sentence) if other.lastindex)
    return frozenset(found | {"asks"} if is_question(sentence) else found)
