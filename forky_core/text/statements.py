"""Reads what a text states: the words of each statement in their order, its value, and whether it is denied.

Only whole statements of prose count: no code, question, supposition, plan, or report of the past.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from forky_core.text.cues import NEGATION, PAST, SUPPOSED, denials, is_question
from forky_core.text.sentences import units
from forky_core.text.values import Amount, amounts
from forky_core.text.words import stem, word_set

LONGEST = 14
"""The most words of a statement that is compared: in longer ones other things differ that rules don't see."""
_KEY_WORDS = 4
_TOKEN = re.compile(r"[\u3400-\u9fff]+|[^\W_]+(?:[._-][^\W_]+)*")
_NOT = re.compile(r"\b(\w+?)(?:n['’]t|(?<=n)['’]t)\b", re.IGNORECASE)
_WHOLE = MappingProxyType({"ca": "can", "wo": "will", "sha": "shall"})
_FILLERS = word_set(
    """
    the a an now then still simply exactly currently is are be stays stay remains remain do does did so ok yes use keep
    der die das den dem ein eine einen ist sind jetzt nun bleibt also ja
    le la les l un une des d de est sont reste maintenant
    el los las una es son está queda ahora
    """
)
"""Words without which a statement says the same."""
_HAN_FILLERS = re.compile("[是了的]|现在|仍然|还")
_UNSETTLED = re.compile(
    r"\b(?:let\s+me|i['’]ll|i\s+will|we\s+will\s+try|going\s+to|plan\w*|try\w*|may|should|want|think|guess|about|around|roughly|approximately|nearly|almost|"
    r"some|other|another|each|example|e\.g|today|yesterday|tomorrow|so\s+far|just|"
    r"soll\w*|etwa|ungefähr|rund|vielleicht|anderer?n?|jede\w*|zum\s+beispiel|z\.\s?B|heute|gestern|morgen|bisher|"
    r"environ|peut-être|presque|autre|chaque|par\s+exemple|aujourd['’]hui|hier|demain|"
    r"unos|unas|aproximadamente|casi|quizá|otr[oa]s?|cada|por\s+ejemplo|hoy|ayer|mañana)\b|大约|左右|例如|比如|今天|昨天|明天|建议|计划|另",
    re.IGNORECASE,
)
"""Words that make of a statement a plan, an estimate, an example, or one of several things or times."""
_OPPOSITES = {
    word: sides.split("/")[0].split()[0]
    for sides in (
        "on/off",
        "enabled activated/disabled deactivated",
        "allowed permitted/forbidden prohibited disallowed",
        "required mandatory/optional",
        "encrypted/unencrypted",
        "automatic/manual",
        "public/private",
        "aktiviert eingeschaltet/deaktiviert ausgeschaltet",
        "erlaubt/verboten",
        "activé activée/désactivé désactivée",
        "autorisé permis/interdit",
        "obligatoire/facultatif",
        "activado activada/desactivado desactivada",
        "permitido/prohibido",
        "obligatorio/opcional",
    )
    for word in sides.split("/")[1].split()
}
"""Words that deny another one."""
_PRONOUNS = word_set(
    "it this that these those he she they i you we c ça cela il elle ils elles es das dies er sie ich wir esto eso 这 那 它 他 她"
)
"""Words that don't say by themselves what a statement is about."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_CLAUSES = re.compile(r"(?<=[,;:])\s+|[，；：]|\s[–—-]\s")
_CODE = re.compile(r"[;{}]\s*$|[{}<>|=\\]|\w\(|->|::|^\s*[$>#@/]|^\s*[\w.-]+\s*:\s*\S+$|--\w|^\W*`[^`]*`\W*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence or a clause says, so that it can be compared with another."""

    frame: tuple[str, ...]
    """Its words in order, without fillers, its value and what denies it."""
    amount: Amount | None
    denied: bool
    whole: str
    """The sentence that it is, or that it is a clause of."""
    key: str
    """Its first words."""

    @property
    def stance(self) -> str:
        value = f"{self.amount.value:g} {self.amount.dimension}" if self.amount is not None else ""
        return f"{'not ' if self.denied else ''}{value or 'so'}"

    def differs(self, other: Statement) -> bool:
        if self.amount is not None and other.amount is not None:
            same = self.amount.same(other.amount)
            if self.denied != other.denied:
                return same
            return not same and not self.denied and self.amount.dimension == other.amount.dimension
        return self.denied != other.denied


@lru_cache(maxsize=16_384)
def statements(text: str) -> tuple[Statement, ...]:
    """Return the plain statements of a text; cached, because messages never change and are compared often."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[Statement]:
    for unit in units(text):
        whole = " ".join(unit.text.split())
        if unit.kind not in ("sentence", "item") or is_question(whole) or _CODE.search(whole):
            continue
        if (
            SUPPOSED.search(whole)
            or PAST.search(whole)
            or _UNSETTLED.search(_without_rate(whole))
            or len(amounts(whole)) > 1
        ):
            continue
        for clause in dict.fromkeys((whole, *_CLAUSES.split(whole))):
            if (said := _statement(clause, whole)) is not None:
                yield said


def _statement(text: str, whole: str) -> Statement | None:
    """Return a sentence or a clause as a statement; None if it has too few words, too many, or several numbers."""
    found = amounts(text)
    amount = found[0] if found else None
    start, end = (amount.start, amount.end) if amount is not None else (0, 0)
    bare = f"{text[:start]} {_without_rate(text)[end:]}"
    if amount is not None and amount.every:
        rate = f"{amount.dimension} a second"
        amount = replace(amount, value=amount.value / amount.every, dimension=rate)
    if re.search(r"\d", bare):
        return None
    frame, opposite = _frame(bare)
    words = [word for word in _TOKEN.findall(bare) if word.casefold() not in _FILLERS]
    said = [word for word in frame if word not in _PRONOUNS]
    size = sum(len(word) // 2 if _HAN.match(word) else 1 for word in said)
    if size < (1 if amount is not None and text.endswith((".", "。")) else 2) or len(words) > LONGEST:
        return None
    key = " ".join([word for word in words if not NEGATION.fullmatch(word)][:_KEY_WORDS])
    denied = (denials(bare) + opposite) % 2 == 1
    return Statement(frame, amount, denied, whole, key)


def _without_rate(text: str) -> str:
    """Return a text without the “a minute” of its first number, which is part of the value."""
    start, end = next((one.rate for one in amounts(text)), (0, 0))
    return text[:start] + text[end:]


def _frame(text: str) -> tuple[tuple[str, ...], int]:
    """Return the words of a statement as they are compared, and how many of them deny another word."""
    plain = _NOT.sub(lambda found: f"{_WHOLE.get(found[1].lower(), found[1])} not", text)
    plain = NEGATION.sub(lambda found: "" if _HAN.match(found.group()) else " ", plain)
    found = [word.casefold() for word in _TOKEN.findall(_HAN_FILLERS.sub("", plain))]
    words = [_OPPOSITES.get(word, word) for word in found]
    opposite = sum(one != other for one, other in zip(found, words, strict=True))
    return tuple(stem(word) for word in words if word not in _FILLERS), opposite
