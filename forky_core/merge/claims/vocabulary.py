"""Closed lists of words by which statements are told apart, in English, German, French, Spanish and Chinese.

They are words of grammar and of everyday contrast (not, must, off, until last year, in production), none of any trade.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from types import MappingProxyType

from forky_core.retrieval.words import STOPWORDS

_MORE_STOPWORDS = """
    ah aha alright anyway btw by done fine good great nice ok okay oh please right same second so sure then there thing
    things today two well yeah yep yes yet cool perfect also nope hmm agreed exactly here everyone everybody everything
    nobody none nothing really still already always never later soon new old first last next whatever whichever
    it'll they're they'll he's she's who'll i'd tell told write wrote look looks put puts take takes took let lets came
    come comes keep keeps kept stay stays say says leave left currently current finally enough lot bit day
    aber alle allem allen aller alles als also am an andere anderen auch bald bei beim bin bis bitte bleibt bleiben da dabei
    dafür dann daran darf das dass davon dazu dein deine deinen dem den denn der des dich die dir doch dort durch eben ein
    eine einem einen einer eines er erst es etwas euch euer fürs ganz gar gebe geht gerade gern gibt gilt gut habe haben
    hab habt hat hatte hier hin ich ihm ihn ihnen ihr ihre ihren ihrer im immer in ist ja je jede jeden jeder jedes jetzt
    kann kannst kein können könnte machen macht mal man mehr mein meine mich mir mit muss müssen nach nein ne nehme nimm
    nimmt noch nun nur nämlich ob oben oder ohne passt perfekt prima schon schreib sein seine seit selbst sich sie sind
    so soll sollen sollte sonst super um und uns unser unsere unter viel viele vom von vor wann war waren warum was weil
    welche welchem welchen welcher welches wenn wer werden wie wieder wir wird wo wurde während zeig zu zum zur zwar
    steht stehen neu neue neuen alte alten danke okay erledigt gemacht lassen lass sagt sagen heißt brauchen braucht
    alors après aussi autre autres avant avec aucun bien bon bonne car ce ceci cela celle celui ces cet cette chez ci
    comme comment d'accord dans de depuis des deux devrait dit doit donc du déjà elle elles en encore entre es est et eu
    eux faire fait faut font fois ici il ils j'ai je jusque la laquelle le lequel les leur leurs lui là ma maintenant mais
    me merci mes mettre moi moins mon même ne nos notre nous nouveau nouvelle on ont ou oui où par parce pas peu peut plus
    pour pourquoi quand que quel quelle quelles quels qui quoi reste rien sa sans se sera ses si sien son sont sous suis
    super sur ta te tes toi ton toujours tous tout toute toutes très tu un une va vers voilà vos votre vous vu ça étaient
    était être c'est n'est qu'il s'il l'an impeccable parfait finalement désormais combien oui non
    a ahora al algo allí ante antes apuntado aquí así aunque aún bien bueno cada casi como con cosa cual cuando cuánto
    cuántos cuánta cuántas cuál de debe decir del desde después dice donde dos día e el ella ellas ellos en entonces entre
    era eran eres es esa esas ese eso esos esta estaba estamos estar este esto estos está están fue fueron ha haber hace
    hacer han has hasta hay he hemos hoy iba ir la las le les listo lo los luego me mi mis misma mismo mucho muy más ni no
    nos nuestra nuestro nunca o os otra otro para pero perfecto poco pone ponemos poner por porque pues puede pueden que
    qué queda quedan quien quién se sea ser será si sido siempre sin sobre solo somos son su sus sí también tan te tenemos
    tener tiene tienen todavía todo todos tras tu tus un una uno unos va vale van ver ya yo él gracias nueva nuevo
"""
STOP = frozenset(STOPWORDS | frozenset(_MORE_STOPWORDS.split()))

_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_WIDE}]+|[^\W_{_WIDE}]+(?:['’][^\W_{_WIDE}]+)*")
_WIDE_RUN = re.compile(rf"[{_WIDE}]")
_PARTICLES = frozenset(
    "的了吗呢吧啊呀是在我你他她它们这那有和与就也都不没什么怎样多少哪谁为请把给被很会能要个说还再才只从到对以上下用改定好"
    "一二三四五六七八九十百千万两里去来按跟着过得地嗯哦啦嘛之其所将已可以"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ELIDED = re.compile(r"^(?:[ldjmntsc]|qu|jusqu|lorsqu|puisqu)['’]", re.IGNORECASE)
_LONGEST = 40


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """A form in which the inflections of a word mostly agree; "" for a word that says nothing.

    Without accents and endings, and long words by their first six letters: a rough stem for languages with suffixes.
    """
    low = word.casefold().replace("’", "'")
    if low in STOP or len(low) > _LONGEST:
        return ""
    low = _ELIDED.sub("", low)
    low = low.removesuffix("'s").removesuffix("s'")
    if low in STOP or len(low) < 2 or low.isdigit():
        return ""
    bare = "".join(sign for sign in unicodedata.normalize("NFD", low) if not unicodedata.combining(sign))
    for ending in ("ing", "ed", "es", "en", "er", "em", "s", "e", "n"):
        if len(bare) - len(ending) >= 4 and bare.endswith(ending):
            bare = bare[: -len(ending)]
            break
    return bare[:6]


@lru_cache(maxsize=16_384)
def word_keys(text: str) -> tuple[str, ...]:
    """The keys of the words of a text, in order; of Chinese its pairs of signs, without particles."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _WIDE_RUN.match(token):
            found += [
                token[at : at + 2]
                for at in range(min(len(token), 400) - 1)
                if token[at] not in _PARTICLES and token[at + 1] not in _PARTICLES
            ]
        else:
            pieces = _CAMEL.split(token) if not token.isupper() and len(token) <= _LONGEST else (token,)
            found += [key for piece in pieces if (key := word_key(piece))]
    return tuple(found)


def spelled(text: str) -> list[str]:
    """The words of a text as they are written."""
    return [match.group() for match in _TOKEN.finditer(text)]


def _words(*lists: str) -> str:
    return "|".join(word.replace("_", r"\s+") for words in lists for word in words.split())


def _cues(*lists: str, unspaced: str = "") -> re.Pattern[str]:
    """Words that stand alone; `unspaced`: signs of Chinese, which stand anywhere."""
    tail = f"|{unspaced}" if unspaced else ""
    return re.compile(rf"(?<![\w-])(?:{_words(*lists)})(?![\w-]){tail}", re.IGNORECASE)


NEGATION = _cues(
    r"not(?!\s+only) no never none nor neither cannot nothing nobody without \w+n['’]t dont doesnt isnt no_longer",
    r"nicht nie niemals kein\w* ohne weder niemand nichts",
    r"ne pas jamais aucun\w* sans ni plus_de plus_besoin rien personne(?=\s+ne)",
    r"no nunca jamás sin ningun\w* ningún tampoco nada nadie",
    unspaced="不|没|沒|未|别|別|勿|禁|无需|無|无|(?<!\\w)n['’](?=[aeiouyhéèê])",
)
"""Words that turn a sentence round."""

YES = re.compile(
    r"(?:^\W*|, )(?:yes|yeah|yep|sure|correct|indeed|of\s+course|certainly|ja|jawohl|genau|doch|klar|oui|si,|bien\s+sûr|sí|claro|"
    r"是的|对|對|可以|有|能|开着)(?![\w-])|^\W*(?:是|对|可以|能)(?=[，,。 ])",
    re.IGNORECASE,
)
NO = re.compile(
    r"^\W*(?:no|nope|not\s+(?:at\s+all|any\s?more|yet)|never|nein|ne|nee|leider\s+n\w+|non|pas\s+(?:du\s+tout|encore)|"
    r"no,)(?![\w-])|^\W*(?:不|没有|没|不是|不用|不能|不行)",
    re.IGNORECASE,
)

AXES = MappingProxyType(
    {
        "on": (
            _cues(
                r"on enforced enabled? activate\w* active running runs live turned_on switched_on opened open true",
                r"an eingeschaltet aktiv aktiviert läuft angeschaltet offen geöffnet",
                r"activée?s? allumée?s? ouverte?s? actifs? active marche",
                r"activad[oa]s? encendid[oa]s? abiert[oa]s? activ[oa]s? enciende funciona",
                unspaced="开启|开着|启用|打开|开通|运行|已开",
            ),
            _cues(
                r"off disabled? deactivated? inactive turned_off switched_off stopped closed shut pulled false",
                r"aus ausgeschaltet inaktiv deaktiviert abgeschaltet abgestellt geschlossen ausgestellt herausgenommen",
                r"désactivée?s? éteinte?s? coupée?s? fermée?s? inactifs? inactive arrêtée?s?",
                r"desactivad[oa]s? apagad[oa]s? cerrad[oa]s? inactiv[oa]s? apaga",
                unspaced="关闭|关掉|关着|停用|停掉|已关|停了",
            ),
        ),
        "may": (
            _cues(
                r"allowed permitted may can able accepts? welcome ok_to fine_to supports? supported possible reachable",
                r"erlaubt dürfen darf zulässig gestattet möglich kann können unterstützt",
                r"autorisée?s? permise? permis peut peuvent possible admise?s?",
                r"permitid[oa]s? puede pueden autorizad[oa]s? admiten? posible",
                unspaced="可以|允许|能(?!源|力)|支持|准许",
            ),
            _cues(
                r"forbidden prohibited banned must_not mustn['’]t may_not not_allowed disallowed cannot can['’]t",
                r"verboten untersagt unzulässig darf_nicht dürfen_nicht",
                r"interdite?s? défendu prohibée?s?",
                r"prohibid[oa]s? vedad[oa]s?",
                unspaced="禁止|不得|不准|不许|严禁|不能",
            ),
        ),
        "must": (
            _cues(
                r"must required requires? mandatory compulsory obligatory has_to have_to needs? needed necessary always",
                r"muss müssen pflicht\w* verpflichtend vorgeschrieben erforderlich nötig notwendig zwingend braucht verlangt",
                r"obligatoires? doit doivent exigée?s? nécessaires? requise?s? requis faut imposée?s?",
                r"obligatori[oa]s? debe deben exigid[oa]s? necesari[oa]s? requerid[oa]s? hace_falta hay_que exigen?",
                unspaced="必须|必須|需要|强制|得要|要求",
            ),
            _cues(
                r"optional voluntary unnecessary needn['’]t",
                r"freiwillig optional überflüssig unnötig entbehrlich",
                r"facultatifs? facultatives? optionnel\w* superflue?s? inutiles?",
                r"opcional(?:es)? voluntari[oa]s? innecesari[oa]s?",
                unspaced="自愿|可选|无需|不用|不必",
            ),
        ),
    }
)  # fmt: skip
"""Pairs of opposites: (affirmed, denied) of being on, being allowed, being required."""

PAST = _cues(
    r"used_to formerly previously former (?:was|were|had)(?!_\w+ed\b|_set\b|_put\b|_chosen\b) until_last before_the back_then at_the_time outdated obsolete"
    r" ago until_(?:last|the)_\w+ old_(?:\w+_)?(?:handbook|manual|docs?|documentation|page|wiki|map|guide|version|flyer|notes?|readme) originally once",
    r"früher\w* damals ehemals vormals war waren galt hatte betrug kostete lag hieß veraltet\w* überholt\w* bis_letzte[sn]? ursprünglich alte[ns]?",
    r"était étaient autrefois auparavant ancienne?s? avait avant obsolètes? périmée?s? jadis",
    r"era eran antes antigu[oa]s? anterior(?:es)? había fue antaño obsolet[oa]s? anticuad[oa]s? llamó viej[oa]s?",
    unspaced="以前|之前|原来|曾经|过去|旧版|旧的|当时|去年|过时|作废",
)
"""Words of a time that is over: what a sentence says with them need not hold now."""
NOW = _cues(
    r"now since from_now_on today currently any_?more no_longer still stays? remains? unchanged has_been have_been",
    r"jetzt nun ab_sofort heute seit inzwischen mittlerweile bleibt weiterhin",
    r"maintenant désormais aujourd['’]hui depuis reste toujours dorénavant",
    r"ahora hoy desde actualmente sigue ya queda todavía",
    unspaced="现在|目前|如今|从今|起|已经|还是|改为|改成",
)
LATER = _cues(
    r"(?<!until\s)next_(?:year|month|quarter|summer|spring|autumn|season)",
    r"nächste[ns]?_(?:Jahr|Monat|Quartal|Sommer|Saison) künftig kommende[ns]?",
    r"(?<!jusqu['’]à\s)l['’]an_prochain l['’]année_prochaine",
    r"próxim[oa] año_que_viene",
    unspaced="明年|下个月|下学期",
)
SUPPOSED = _cues(
    r"if unless suppose\w* imagine assuming would could might maybe perhaps probably hypothetical\w* in_that_case what_if"
    r" in_theory otherwise i['’]d you['’]d we['’]d should_it",
    r"wenn falls angenommen würde\w* wäre\w* könnte\w* hätte\w* vielleicht eventuell gegebenenfalls theoretisch sähe",
    r"s['’]il imaginons supposons serai[ts]? serait pourrai[ts]? pourrait aurai[ts]? aurait peut-être donnerait coûterait",
    r"supongamos imaginemos sería podría habría quizás? tal_vez costaría",
    unspaced=r"(?:^|[,;.:]\s)si(?!\s(?:peu|vite|tard|bien|poco|tarde))\b|如果|假如|要是|万一|也许|可能|假设|倘若|的话",
)
"""Words of what only might be."""
SUGGESTED = _cues(
    r"i_think i_guess could_you shall_i should_we how_about what_about want_to might_want wants? asked_for proposes? proposed"
    r" suggests? suggested offers? usually typically",
    r"ich_glaube soll_ich sollen_wir wie_wär\w* schlägt vorgeschlagen normalerweise üblich\w*",
    r"je_crois on_pourrait veux-tu propose d['’]habitude généralement",
    r"creo_que podríamos propone quieres normalmente",
    unspaced="建议|觉得|要不|一般",
)

SCOPES = MappingProxyType(
    {
        "production": _cues(
            r"production prod live_system", r"Echtsystem Produktivsystem produktiv\w* Livesystem Produktion",
            r"production prod", r"producción prod", unspaced="生产|线上|正式环境",
        ),
        "test": _cues(
            r"(?:for|in|during)_(?:the_)?tests? testing test_(?:run|suite|system|environment|server) unit_tests? rehearsals? practi[sc]ing"
            r" sandbox dry_run load_tests?",
            r"Testsystem Testlauf Proben Testumgebung (?:im|zum)_Test",
            r"tests? recette répétitions? essai", r"pruebas? ensayos?", unspaced="测试|试运行|彩排",
        ),
        "staging": _cues(
            r"staging stage preview pre-?production", r"Staging Vorschau", r"préproduction préprod", r"preproducción",
            unspaced="预发|预生产|灰度",
        ),
        "development": _cues(
            r"development dev local locally laptop localhost", r"Entwicklung Entwicklungssystem lokal\w*",
            r"développement local(?:ement)?", r"desarrollo local", unspaced="开发|本地",
        ),
        "example": _cues(
            r"example sample specimen manual_says placeholder", r"Beispiel\w* Muster\w*", r"exemples?", r"ejemplos?",
            unspaced="示例|例子|样例",
        ),
    }
)  # fmt: skip
"""Environments: what holds in one says nothing of another."""

MEASURES = MappingProxyType(
    {
        "each": _cues(
            r"each apiece per_person per_head a_head per_unit", r"pro_\w+ das_Stück je", r"par_\w+ chacun l['’]unité",
            r"por_persona cada_uno", unspaced="每人|每个|单价",
        ),
        "total": _cues(
            r"total altogether together in_all overall sum", r"insgesamt gesamt\w* zusammen Summe machen",
            r"total au_total en_tout ensemble", r"en_total total juntos suma", unspaced="总共|一共|总价|合计",
        ),
        "gross": _cues(r"incl(?:uding|\.)?_(?:VAT|tax\w*) gross", r"brutto inklusive inkl\.?", r"TTC brute?s?", r"brutos? con_IVA", unspaced=r"(?<!不)含税|含\d+%的税"),
        "net": _cues(r"excl(?:uding|\.)?_(?:VAT|tax\w*) net", r"netto zzgl\.?", r"HT nette?s?", r"netos? sin_IVA", unspaced="不含税|税前"),
    }
)  # fmt: skip
"""What an amount is of; one of each of all, one before and one with tax, do not contradict each other."""
OPPOSITE_MEASURES = (("each", "total"), ("gross", "net"))

CHANGE = _cues(
    r"changed? moved? switch(?:ed)? rais(?:e|ed) lower(?:ed)? replac(?:e|ed) renam(?:e|ed) drop(?:ped)? cut_to postponed"
    r" instead now no_longer from_now_on any_?more set_to bumped extended shortened increased reduced updated? new",
    r"geändert umgezogen umgestellt ersetzt verschoben verlegt erhöht gesenkt umbenannt stattdessen nun jetzt ab_sofort"
    r" nicht_mehr angehoben verlängert verkürzt neue[rsn]?",
    r"changée?s? modifiée?s? remplacée?s? reportée?s? déplacée?s? désormais maintenant finalement nouvelle nouveau passée?s?",
    r"cambi\w+ movid[oa]s? sustituid[oa]s? aplazad[oa]s? ahora finalmente nuev[oa]s? pas[aó] sub[ei]\w* ya_no",
    unspaced="改|换|调整|推迟|提前|升级|降|现在|新的|统一",
)
"""Words of something that became other than it was."""
KEEPS = _cues(
    r"stays? still remains? unchanged untouched same kept keeps? as_(?:before|planned|announced|agreed)",
    r"bleib\w* weiterhin unverändert wie_(?:gehabt|bisher|geplant) nichts",
    r"reste\w* toujours inchangée?s? comme_(?:avant|prévu)",
    r"sigue queda\w* igual sin_cambios como_(?:antes|siempre)",
    unspaced="还是|仍|不变|照旧|保持|一样",
)
ATTRIBUTES = frozenset(
    word_key(word)
    for word in [
        "port",
        "version",
        "price",
        "cost",
        "costs",
        "fee",
        "rate",
        "rent",
        "deadline",
        "date",
        "limit",
        "name",
        "number",
        "size",
        "length",
        "duration",
        "period",
        "time",
        "total",
        "count",
        "amount",
        "value",
        "budget",
        "salary",
        "capacity",
        "weight",
        "height",
        "owner",
        "Preis",
        "Kosten",
        "Gebühr",
        "Frist",
        "Termin",
        "Datum",
        "Grenze",
        "Name",
        "Nummer",
        "Größe",
        "Länge",
        "Dauer",
        "Zeit",
        "Anzahl",
        "Betrag",
        "Wert",
        "Miete",
        "prix",
        "coût",
        "tarif",
        "délai",
        "date",
        "limite",
        "nom",
        "numéro",
        "taille",
        "durée",
        "heure",
        "montant",
        "loyer",
        "precio",
        "coste",
        "tarifa",
        "plazo",
        "fecha",
        "límite",
        "nombre",
        "número",
        "tamaño",
        "duración",
        "hora",
        "importe",
        "alquiler",
        "puerto",
        "runs",
        "listens",
        "uses",
        "costs",
        "läuft",
        "kostet",
        "tourne",
        "coûte",
        "cuesta",
    ]
)
"""Words for what can be said of anything: two statements that share these alone may be about different things."""

DECIDES = _cues(
    r"decid\w+ settled? agreed? chosen? chose choose pick(?:ed)? go_with going_with take takes took use uses using adopt\w*"
    r" it_is called named rename[sd]? name booked ordered signed let['’]s we['’]ll then final switch(?:ed)? replac\w+ build"
    r" is_in belongs? responsible owns? owner reviews? reviewed approves? handles? leads? runs? in_charge looks_after",
    r"entschieden beschlossen nehmen nimm genommen gewählt wählen bestellt gebucht heißt benannt umbenannt geht_nach dann"
    r" verwenden benutzen nutzen setzen spielen findet zuständig verantwortlich kümmert macht übernimmt übernommen leitet",
    r"décidé choisi choisit prend prenons prendra va_avec adopté appelle appellera commandé réservé utilise utilisons"
    r" responsable s['’]occupe chargée? fait remplace on_fait on_joue vont",
    r"decidi\w+ elegi\w+ elegimos usamos usar usaremos llama llamará cogemos tomamos reservad[oa] encargad[oa] responsable"
    r" lleva hace encarga va_a se_queda vamos_con ahora_es",
    unspaced="决定|定了|就用|选|采用|改用|改成|换成|用|叫|负责|找|由|定为|归",
)
"""Words by which one of many is taken, or somebody given something to do."""
WHICH = re.compile(
    r"^\W*(?:\w+[\s,]+){0,3}?(?:who|whom|whose|which|where|what)\b|\b(?:called|named)\b.*\?|"
    r"\b(?:wer|wem|wen|wessen|welche[rsnm]?|wo|wohin|womit|heißt)\b|\b(?:qui|quel(?:le)?s?|où|lequel|laquelle|lesquels|avec\s+quoi|"
    r"s['’]appelle|appelle)\b|(?:quién(?:es)?|cuál(?:es)?|dónde|adónde|qué|llama)\b|谁|哪|什么|几号|叫啥",
    re.IGNORECASE,
)
"""A question for one of many."""


CLOSED = _cues(
    r"only exactly nothing_else no_others? full_stop everyone everything all in_all closed complete full_list that['’]s_it drop(?:ped)? removed"
    r" added extended",
    r"nur genau sonst_n\w+ alle vollständig insgesamt gestrichen ergänzt abgeschlossen",
    r"seulement exactement en_tout uniquement donc rien_d['’]autre complète?",
    r"solo únicamente exactamente en_total nada_más complet[oa] todos",
    unspaced="只有|仅|全部|一共|就这些|共",
)
"""Words that say that a list names all there is."""


CORRECTS = _cues(
    r"actually correction instead rather wrong mistaken i_meant i_misread i_mixed sorry not_\w+_but should_have apologies no_longer any_?more"
    r" changed_to turns_out in_fact recomputed corrected make_(?:it|that) after_all",
    r"eigentlich korrektur stattdessen falsch irrtum vertan verrechnet verwechselt gemeint entschuldigung doch korrigiert statt nicht_mehr tatsächlich",
    r"en_fait correction plutôt faux erreur trompée? pardon finalement corrigée?s? au_lieu en_réalité non",
    r"en_realidad corrección mejor equivocad[oa] equivoqué error perdón finalmente corregid[oa]s? en_vez en_lugar",
    unspaced="其实|更正|说错|搞错|算错|应该是|纠正|抱歉|改成|改为|换成|不是",
)
"""Words that put something right that was said before."""
DISPLACES = _cues(
    r"instead_of rather_than in_place_of no_longer replaces?",
    r"statt anstatt anstelle_von nicht_mehr ersetzt",
    r"au_lieu_d[eu'] plutôt_que à_la_place_de remplace",
    r"en_lugar_de en_vez_de ya_no sustituye_a",
    unspaced="而不是|不是|不再用|不再|代替|取代|不用",
)
"""Words before what no longer holds."""
REVERSES = _cues(
    r"undo undid undone revert(?:ed|s)? rolled_back roll_back took_\w+(?:_\w+)?_out taken_out removed_again out_again scrap(?:ped)? abandon(?:ed)?"
    r" dropped cancel(?:led|ed)? withdraw withdrawn withdrew took_back taken_back backed_out",
    r"rückgängig zurückgenommen zurückgesetzt zurückgerollt wieder_(?:entfernt|ausgebaut|raus|heraus\w*|gelöscht|entfernt) verworfen gestrichen abgesagt storniert",
    r"annulée?s? retirée?s? abandonnée?s? supprimée?s? enlevée?s? revenue?s?_en_arrière défait",
    r"deshecho revertid[oa]s? revertí retirad[oa]s? descartad[oa]s? anulad[oa]s? cancelad[oa]s? eliminad[oa]s? quitad[oa]s? quité",
    unspaced="撤销|撤回|回滚|还原|取消|作废|放弃|去掉|删掉|移除|撤掉|拿掉",
)
"""Words that take back what was done or planned."""
TAKES_BACK = re.compile(
    r"\b(?:undo|revert|scrap|forget|drop|cancel)\s+(?:it|that|this|the\s+last)\b|\b(?:take|put)\s+(?:it|that)\s+(?:back|out)\b|"
    r"\b(?:mach|nimm)\s+(?:das|es)\s+(?:\w+\s+)?(?:rückgängig|zurück|raus)\b|\bvergiss\s+(?:das|es)\b|\blass\s+das\b|"
    r"\b(?:annule|oublie|enlève|défais|laisse\s+tomber)\b|\b(?:deshaz|olvída|anula|quita|cancela)(?:lo|la|eso)?\b|"
    r"撤销吧|撤回吧|算了|当我没说|取消吧|改回去|还原吧|撤掉吧",
    re.IGNORECASE,
)
"""A short order that takes back what was done last."""


def measures(text: str) -> frozenset[str]:
    """What an amount in this text is of."""
    return frozenset(name for name, cue in MEASURES.items() if cue.search(text))


def scopes(text: str) -> frozenset[str]:
    """The environments that a text names."""
    return frozenset(name for name, cue in SCOPES.items() if cue.search(text))
