"""Reduces words to keys in which their inflections mostly agree, and drops words without content.

It has no dictionary: the lists are words of grammar in English, German, French and Spanish; Chinese is read in pairs of
characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from forky_core.merge.claims.synonyms import GROUPS
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
STOP = (STOPWORDS | frozenset(_MORE_STOPWORDS.split())) - {"use", "used", "using"}

_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_WIDE}]+|[^\W_{_WIDE}]+(?:['’][^\W_{_WIDE}]+)*")
_WIDE_RUN = re.compile(rf"[{_WIDE}]")
_PARTICLES = frozenset(
    "的了吗呢吧啊呀是在我你他她它们这那有和与就也都不没什么怎样多少哪谁为请把给被很会能要个说还再才只从到对以上下用改定好"
    "一二三四五六七八九十百千万两里去来按跟着过得地嗯哦啦嘛之其所将已可以"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
_ELIDED = re.compile(r"^(?:[ldjmntsc]|qu|jusqu|lorsqu|puisqu)['’]", re.IGNORECASE)
_LONGEST = 40


@lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """Return a key in which the inflections and synonyms of a word mostly agree; "" for a word without content."""
    stem = _stem(word)
    return _SAME.get(stem, stem)


def _stem(word: str) -> str:
    """Return a word without accents and endings, and long words cut to six letters, as suits languages with
    suffixes.
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


def _same() -> dict[str, str]:
    """Map each stem, or pair of Chinese characters, to the key of its synonyms."""
    same: dict[str, str] = {}
    for group in GROUPS.strip().splitlines():
        words = group.split()
        for word in words:
            if stem := word if _WIDE_RUN.match(word) else _stem(word):
                same.setdefault(stem, _stem(words[0]))
    return same


_SAME = _same()


@lru_cache(maxsize=16_384)
def word_keys(text: str) -> tuple[str, ...]:
    """Return the keys of a text's words, in order; for Chinese, pairs of characters without particles."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _WIDE_RUN.match(token):
            found += [
                _SAME.get(token[at : at + 2], token[at : at + 2])
                for at in range(min(len(token), 400) - 1)
                if token[at] not in _PARTICLES and token[at + 1] not in _PARTICLES
            ]
        else:
            pieces = _CAMEL.split(token) if not token.isupper() and len(token) <= _LONGEST else (token,)
            found += [key for piece in pieces if (key := word_key(piece))]
    return tuple(found)


def spelled(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return [match.group() for match in _TOKEN.finditer(text)]


_ATTRIBUTE_WORDS = """
    port version price cost costs fee rate rent deadline date limit name number size length duration period
    time total count amount value budget salary capacity weight height owner Preis Kosten Gebühr Frist
    Termin Datum Grenze Name Nummer Größe Länge Dauer Zeit Anzahl Betrag Wert Miete prix coût tarif délai
    date limite nom numéro taille durée heure montant loyer precio coste tarifa plazo fecha límite nombre
    número tamaño duración hora importe alquiler puerto runs listens uses costs läuft kostet tourne coûte
    cuesta
"""
ATTRIBUTES = frozenset(map(word_key, _ATTRIBUTE_WORDS.split()))
"""Words for attributes that anything can have: two statements that share only these may be about different things."""

_SINGLE_WORDS = """
    default colour color status state mode type format language licence license theme style level strategy framework database
    engine provider host hoster region currency venue location place method encoding protocol policy branch platform
    supplier vendor title topic motto address domain timezone capital winner theme font brand model target priority
    Standard Farbe Status Zustand Modus Typ Format Sprache Lizenz Thema Stil Stufe Strategie Datenbank Anbieter Hoster Region
    Währung Ort Treffpunkt Methode Kodierung Protokoll Branch Zweig Plattform Lieferant Titel Motto Adresse Domain Zeitzone
    Schrift Marke Modell Ziel Priorität
    défaut couleur statut état mode type langue licence thème style niveau stratégie base fournisseur hébergeur région
    devise lieu méthode encodage protocole branche plateforme titre adresse domaine police marque modèle cible priorité
    defecto color estado modo tipo formato idioma lengua licencia tema estilo nivel estrategia base proveedor región
    moneda lugar sede método protocolo rama plataforma título dirección dominio fuente marca modelo destino prioridad
"""
_SINGLE_PAIRS = (
    "默认 颜色 状态 模式 类型 格式 语言 许可 主题 级别 策略 框架 引擎 供应 地点 方法 编码 协议 分支 平台 标题 地址 域名 时区 字体 品牌"
    " 型号 目标 优先"
)
SINGLE = ATTRIBUTES.union(filter(None, map(word_key, _SINGLE_WORDS.split())), _SINGLE_PAIRS.split())
"""Words for what has one value at a time: two different values of one subject cannot both hold."""
