"""Closed lists of words that distinguish statements, in English, German, French, Spanish and Chinese.

They are words of grammar and of everyday contrast (not, must, off, until last year, in production), none of any trade.
"""

from __future__ import annotations

import re
from types import MappingProxyType


def _words(*lists: str) -> str:
    return "|".join(word.replace("_", r"\s+") for words in lists for word in words.split())


def _cues(*lists: str, unspaced: str = "") -> re.Pattern[str]:
    """Match words that stand alone; `unspaced` are Chinese characters, which match anywhere."""
    tail = f"|{unspaced}" if unspaced else ""
    return re.compile(rf"(?<![\w-])(?:{_words(*lists)})(?![\w-]){tail}", re.IGNORECASE)


def _first(*words: str) -> re.Pattern[str]:
    """Match words at the beginning of a clause."""
    return re.compile(
        rf"^\W*(?:(?:{'|'.join(words)})(?!\w)|(?:{'|'.join(word for word in words if word > '一')}))",
        re.IGNORECASE,
    )


NEGATION = _cues(
    r"not(?!\s+only) no never none nor neither cannot nothing nobody \w+n['’]t dont doesnt isnt no_longer decided_against voted_against",
    r"nicht nie niemals kein\w* weder niemand nichts",
    r"ne pas jamais aucun\w* ni plus_de plus_besoin rien personne(?=\s+ne)",
    r"no nunca jamás ningun\w* ningún tampoco nada nadie",
    unspaced="不|没|沒|未|别|別|勿|禁|无需|無|无|(?<!\\w)n['’](?=[aeiouyhéèê])",
)
"""Words that negate a sentence."""
_TWICE = re.compile(
    r"(?:(?<!\w)ne\s|(?<!\w)n['’])(?=.{1,50}?(?<!\w)(?:pas|jamais|aucun\w*|rien|ni)(?!\w))|"
    r"(?<!\w)no\s(?=(?:\w+\s){1,4}?(?:nunca|jamás|ningun\w*|ningún|tampoco|nada|nadie)(?!\w))",
    re.IGNORECASE,
)
"""The first of two words that deny together: ne … pas, no … nada."""


def denials(text: str) -> int:
    """Count the negations in a text."""
    return len(NEGATION.findall(text)) - len(_TWICE.findall(text))


UNMOVED = re.compile(
    r"(?:\b(?:not|never)|n['’]t)\s+(?:\w+\s+){0,2}?(?:changed?|moved?|switched|renamed|replaced|touched)\b|"
    r"\b(?:nicht|nie)\s+(?:\w+\s+){0,2}?(?:geändert|umgezogen|verschoben|verlegt|umgestellt|angefasst)\b|"
    r"\bn['’](?:a|ont|est|avons)\s+(?:pas|jamais)\s+(?:\w+\s+)?(?:bougé|changée?s?|modifiée?s?|déplacée?s?)\b|"
    r"\bno\s+(?:se\s+)?(?:ha|han|hemos)\s+(?:cambiado|movido|modificado)\b|[没沒](?:有)?(?:改|变|换|动)|[不未](?:变|改)",
    re.IGNORECASE,
)
"""A negated change: the value still holds, although the sentence has a negation."""
NOT_WORD = re.compile(
    r"(?<![\w-])(?:un(?=\w{4})|(?:non-?|in|im|ir|dis|des|dé|dés)(?=\w{5}))(?P<rest>[^\W\d_]+)(?![\w-])",
    re.IGNORECASE,
)
"""A word with a negating prefix: unencrypted, incompatible. Only the word without it shows whether it is one."""

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
                r"obligatoires? besoin doit doivent exigée?s? nécessaires? requise?s? requis faut imposée?s?",
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
        "goes on": (
            _cues(
                r"takes_place going_ahead goes_ahead continues? keep keeps keeping kept included? includes? contains?",
                r"statt enthält enthalten beibehalten behalten weitergeführt inbegriffen",
                r"lieu maintenue?s? conservée?s? gardée?s? compris incluse?s? inclus comprend",
                r"celebra celebran lugar mantiene mantienen continúa incluid[oa]s? incluye",
                unspaced="举行|照常|保留|继续|包括|包含",
            ),
            _cues(
                r"cancell?ed called_off dropp(?:ed|ing) drops? discontinu(?:ed|ing) abandoned scrapped excluded? excludes?",
                r"aus abgesagt entfällt gestrichen eingestellt abgeschafft ausgeschlossen",
                r"annulée?s? supprimée?s? abandonnée?s? exclue?s? exclus",
                r"cancelad[oa]s? suspendid[oa]s? eliminad[oa]s? excluid[oa]s? excluye",
                unspaced="取消|停办|废弃|放弃",
            ),
        ),
        "public": (
            _cues(r"public", r"öffentlich\w*", r"publics? publiques?", r"públic[oa]s?", unspaced="公开"),
            _cues(r"private", r"privat\w* vertraulich\w*", r"privée?s? confidentiel\w*", r"privad[oa]s?", unspaced="私有|保密"),
        ),
        "by itself": (
            _cues(r"automatic automatically automated", r"automatisch\w*", r"automatiques? automatiquement", r"automátic[oa]s? automáticamente", unspaced="自动"),
            _cues(r"manual manually by_hand", r"manuell\w* von_Hand händisch", r"manuelle?s? manuellement à_la_main", r"manual(?:es|mente)? a_mano", unspaced="手动|人工"),
        ),
        "free": (
            _cues(r"free_of_charge free(?=[.,;!]|$)", r"kostenlos\w* gratis kostenfrei", r"gratuite?s? gratuits", r"gratis gratuit[oa]s?", unspaced="免费"),
            _cues(r"paid chargeable", r"kostenpflichtig\w*", r"payante?s? payants", r"de_pago", unspaced="收费|付费"),
        ),
        "anybody": (
            _first("everyone", "everybody", "anyone", "anybody", r"all\s+\w+s", "alle", "jeder", r"tout\s+le\s+monde", r"tous\s+les", "todos", "todas", "cualquiera", "所有人", "任何人", "大家", "每个人"),
            _first("only", "nur", "seule?s?", "solo", "sólo", r"solamente", "只有", "仅"),
        ),
    }
)  # fmt: skip
"""Pairs of opposites as (affirmed, denied): on, allowed, required, kept, public, automatic, free, for anybody."""

PAST = _cues(
    r"used_to formerly previously former (?:was|were|had)(?!_\w+ed\b|_set\b|_put\b|_chosen\b) until_last before_the back_then at_the_time outdated obsolete ended expired"
    r" ago until_(?:last|the)_\w+ old_(?:\w+_)?(?:handbook|manual|docs?|documentation|page|wiki|map|guide|version|flyer|notes?|readme) originally once",
    r"früher\w* damals ehemals vormals war waren galt hatte betrug kostete lag hieß veraltet\w* überholt\w* bis_letzte[sn]? ursprünglich alte[ns]?",
    r"était étaient autrefois auparavant ancienne?s? avait avant obsolètes? périmée?s? jadis",
    r"era eran antes antigu[oa]s? anterior(?:es)? había fue antaño obsolet[oa]s? anticuad[oa]s? llamó viej[oa]s?",
    unspaced="以前|之前|原来|曾经|过去|旧版|旧的|当时|去年|过时|作废",
)
"""Words about the past: a sentence with them need not hold now."""
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
    unspaced=r"(?:^|[,;.:]\s)si(?!\s(?:peu|vite|tard|bien|poco|tarde))\b|如果|假如|要是|(?<![一二三四五六七八九十两\d])万一|也许|可能|假设|倘若|的话",
)
"""Words of suppositions."""
SUGGESTED = _cues(
    r"(?:not|n['’]t)_(?:know|found|find|sure) no_idea unknown unsure unclear i_think i_guess could_you shall_i should_we how_about what_about want_to might_want wants? asked_for proposes? proposed"
    r" suggests? suggested offers? usually typically",
    r"weiß_(?:ich_)?nicht keine_Ahnung unklar ich_glaube soll_ich sollen_wir wie_wär\w* schlägt vorgeschlagen normalerweise üblich\w*",
    r"sais_pas aucune_idée je_crois on_pourrait veux-tu propose d['’]habitude généralement",
    r"no_(?:lo_)?sé ni_idea creo_que podríamos propone quieres normalmente",
    unspaced="不知道|不清楚|不确定|没找到|建议|觉得|要不|一般",
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
"""Environments: what holds in one says nothing about another."""

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
"""What an amount applies to: each or all, before or after tax. Amounts with opposite measures do not contradict each
other."""
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
"""Words of change."""
KEEPS = _cues(
    r"stays? still remains? unchanged untouched same kept keeps? as_(?:before|planned|announced|agreed)",
    r"bleib\w* weiterhin unverändert wie_(?:gehabt|bisher|geplant) nichts",
    r"reste\w* toujours inchangée?s? comme_(?:avant|prévu)",
    r"sigue queda\w* igual sin_cambios como_(?:antes|siempre)",
    unspaced="还是|仍|不变|照旧|保持|一样",
)

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
"""Words of decisions: choosing one of many, or assigning something to somebody."""
OWNS = _cues(
    r"who whom whose responsible owns? owner belongs? reviews? reviewed approves? handles? leads? in_charge looks_after takes_care",
    r"wer wem wen zuständig verantwortlich kümmert übernimmt übernommen leitet",
    r"responsable s['’]occupe chargée? qui",
    r"encargad[oa] responsable quién quiénes encarga",
    unspaced="负责|谁|归",
)
"""Words of responsibility."""
WHICH = re.compile(
    r"^\W*(?:\w+[\s,]+){0,3}?(?:who|whom|whose|which|where|what)\b|\b(?:called|named)\b.*\?|"
    r"\b(?:wer|wem|wen|wessen|welche[rsnm]?|wo|wohin|womit|heißt)\b|\b(?:qui|quel(?:le)?s?|où|lequel|laquelle|lesquels|avec\s+quoi|"
    r"s['’]appelle|appelle)\b|(?:quién(?:es)?|cuál(?:es)?|dónde|adónde|qué|llama)\b|谁|哪|什么|几号|叫啥",
    re.IGNORECASE,
)
"""A question that asks which one of many."""


CLOSED = _cues(
    r"only exactly nothing_else no_others? full_stop everyone everything all in_all closed complete full_list that['’]s_it drop(?:ped)? removed"
    r" added extended consists?_of",
    r"besteht_aus nur genau sonst_n\w+ alle vollständig insgesamt gestrichen ergänzt abgeschlossen",
    r"se_compose_de seulement exactement en_tout uniquement donc rien_d['’]autre complète?",
    r"se_compone_de solo únicamente exactamente en_total nada_más complet[oa] todos",
    unspaced="只有|仅|全部|一共|就这些|共",
)
"""Words that mark a list as complete."""


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


def measures(text: str) -> frozenset[str]:
    """Return what an amount in this text applies to (`MEASURES`)."""
    return frozenset(name for name, cue in MEASURES.items() if cue.search(text))


def scopes(text: str) -> frozenset[str]:
    """Return the environments that a text names."""
    return frozenset(name for name, cue in SCOPES.items() if cue.search(text))
