"""What code alone can tell of a sentence that a model wrote: a number, a name, a piece of code or a quotation that was
said nowhere, and an order to the reader.

Whether a sentence is true, a second model judges (verifier.py).
A number or a name that stands anywhere in the branch, or in what its reader knows, passes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forky_core.merge.written.material import NoteMaterial, plain
from forky_core.model import MessageId
from forky_core.text.sentences import language_of
from forky_core.text.values import amounts, digits_apart, numbers
from forky_core.text.words import word_set

_NUMBER = re.compile(r"(?<![\w#])\d+(?:[.,:'’/\-]\d+)*")
_COUNTED = 3
"""Up to here a number may be the writer's own count: “2 of the runs failed”."""
_SPELLED = 12
"""Up to here a number in words may be the writer's own count."""
_MEASURES = frozenset(
    {"time", "money", "bytes", "mass", "length", "percent", "temperature", "volume", "speed"}
)
"""Dimensions in which a number without its unit says nothing."""
_CODE = re.compile(r"```[^\n]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_PIECE = re.compile(r"[^\s=(),;:\"'<>{}\[\]|]+")
_TOKEN = re.compile(r"(?<![\w`])[~./@]?\w[\w./@:#~+-]*\w", re.ASCII)
_IDENTIFIER = re.compile(
    r"\w*_\w+|[a-z]+[A-Z][a-z]\w*|(?:[A-Z][a-z]+){2,}\w*|(?:~?/|\./)?[\w.-]+/[\w./-]*[./_\d][\w./-]*|/[\w./-]+|[\w-]+\.[a-z]{1,4}\w?|(?=\w*\d)(?=\w*[a-z])[a-z0-9]{6,}"
)
"""A name in code, a path, a file, a hash."""
_ABBREVIATION = re.compile(r"(?:[a-zA-Z]\.)+[a-zA-Z]")
_CAPITAL = re.compile(r"(?<![\w.`/-])[A-ZÄÖÜÉÈÀÁÍÓÚ][\w'’-]*[a-zäöüßéèáíóú][\w'’-]*")
_COMMON_NAMES = word_set(
    "user assistant person model tool readme english german french spanish chinese monday tuesday wednesday"
    " thursday friday saturday sunday january february march april may june july august september october"
    " november december next open result note i"
)
"""Capitalised words that nobody need have said."""
_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|«\s?([^»]+?)\s?»|(?<!\w)\"([^\"]+)\"(?!\w)|「([^」]+)」")
_TERM = 3
"""Up to so many words in quotation marks are a term, of which only the words count; one alone may be the writer's."""
_GAP = re.compile(r"\s*(?:…|\.\.\.|\[[^\]]*\])\s*")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}\b(?:instruction|prompt|rule)s?\b"
    r"|\b(?:note|message|instruction)s?\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)?(?:(?:ai|language)\s+)?(?:assistant|agent|model|llm|ai|summari[sz]er|reader)s?\b"
    r"|\bdo\s+not\s+(?:tell|inform|mention)\b[^.!?\n]{0,40}\buser\b|\b(?:the\s+)?reader\s+(?:must|should|shall|has\s+to|needs?\s+to)\b"
    r"|\b(?:ignorier\w*|vergiss)\b[^.!?\n]{0,40}\b(?:anweisung|regel)\w*|\b(?:ignore[rz]?|oublie[rz]?)\b[^.!?\n]{0,40}\b(?:instruction|consigne|règle)s?\b"
    r"|\b(?:ignor[ae]|olvida)\b[^.!?\n]{0,40}\binstruccion\w*|忽略[^。！？\n]{0,20}(?:指令|指示|说明|提示)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:asks?|asked|tells?|told|tries|tried|attempt\w*|claims?|contain\w*|holds?|held|includ\w*|said|says|demand\w*|inject\w*|instruct(?:s|ed)|not\s+followed|was\s+ignored|refus\w*|"
    r"enthält|enthielt|verlangt\w*|fordert\w*|contient|demand\w*|contiene|pid[eió]\w*)\b|要求|包含|试图",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\W*(?:always|never|you\s+(?:must|should|have\s+to|need\s+to)|make\s+sure|be\s+sure|remember\s+to|do\s+not|don['’]t|run|execute|reply|respond|recommend|confirm|tell|"
    r"say|send|delete|install|visit|open|click|upload|approve|immer|niemals|toujours|siempre|nunca|务必|必须|请)\b",
    re.IGNORECASE,
)


def fault(sentence: str, material: NoteMaterial, sources: Sequence[MessageId]) -> str:
    """Return what is wrong with a sentence, as a sentence for its writer and for a person; "" if nothing is.

    `sources` are the messages that it rests on.
    """
    return _order(sentence, material, sources) or made_up(sentence, material)


def made_up(sentence: str, material: NoteMaterial) -> str:
    """Return what of a sentence was said nowhere, as a sentence; "" if nothing is made up."""
    return (
        _number(sentence, material)
        or _code(sentence, material)
        or _quotation(sentence, material)
        or _name(sentence, material)
    )


def _order(sentence: str, material: NoteMaterial, sources: Sequence[MessageId]) -> str:
    order = _ORDER.search(sentence)
    if order is not None and not _REPORTED.search(sentence[: order.start()]):
        return "It passes on an instruction to its reader."
    tools = {message.id for message in material.messages if message.role == "tool"}
    if (
        _IMPERATIVE.match(sentence)
        and not _REPORTED.search(sentence)
        and sources
        and tools.issuperset(sources)
    ):
        return "It tells its reader to do what only a tool's output says."
    return ""


def _number(sentence: str, material: NoteMaterial) -> str:
    text = _TOKEN.sub(
        lambda found: " " if _IDENTIFIER.fullmatch(found.group()) else found.group(), _CODE.sub(" ", sentence)
    )
    values = amounts(text)
    said = [one for one in values if any(map(one.same, material.amounts))]
    for match in _NUMBER.finditer(text):
        if any(one.start <= match.start() < one.end for one in said):
            continue
        whole = re.sub(r"\D", "", match.group())
        pieces = digits_apart(match.group())
        if pieces == [whole] and int(whole[:9]) <= _COUNTED:
            continue
        if whole.lstrip("0") not in material.digits and not material.digits.issuperset(pieces):
            return f"The number {match.group()} was said nowhere."
    for number in numbers(text):
        if number.shape == "word" and number.value > _SPELLED and f"{number.value:g}" not in material.digits:
            shown = text[number.start : number.end]
            if " " not in shown:
                return f"The number “{shown}” was said nowhere."
    for one in values:
        if one.dimension in _MEASURES and one.number > _COUNTED:
            measured = [other for other in material.amounts if other.dimension in _MEASURES]
            if any(other.number == one.number for other in measured) and not any(map(one.same, measured)):
                return f"“{text[one.start : one.end]}” has another unit where it was said."
    return ""


def _code(sentence: str, material: NoteMaterial) -> str:
    shown = [block or span for block, span in _CODE.findall(sentence)]
    shown += [
        piece
        for token in _TOKEN.findall(_CODE.sub(" ", sentence))
        for piece in (token.split("/") if "." not in token and token[0] not in "/~" else [token])
        if _IDENTIFIER.fullmatch(piece) and not _ABBREVIATION.fullmatch(piece)
    ]
    for code in shown:
        if plain(code) in material.plain:
            continue
        pieces = (one for one in _PIECE.findall(plain(code)) if any(map(str.isalnum, one)))
        strange = next((one for one in pieces if one not in material.plain), None)
        if strange is not None:
            return f"“{strange.strip('.')[:80]}” stands nowhere in the branch."
    return ""


def _quotation(sentence: str, material: NoteMaterial) -> str:
    for groups in _QUOTED.findall(_CODE.sub(" ", sentence)):
        quote = plain(next(filter(None, groups))).strip(" .,;:!?…")
        words = re.findall(r"[^\W_]{3,}", quote)
        if len(quote.split()) <= _TERM:
            if len(words) > 1 and not all(map(material.has_word, words)):
                return f"“{quote[:80]}” was said nowhere."
        elif any(piece.strip(" .,;:!?") not in material.plain for piece in _GAP.split(quote)):
            return f"“{quote[:80]}” was not said in these words."
    return ""


def _name(sentence: str, material: NoteMaterial) -> str:
    text = _CODE.sub(" ", sentence)
    if "de" in (language_of(text), language_of(material.plain)):
        return ""  # Every noun has a capital.
    for match in _CAPITAL.finditer(text):
        before = text[: match.start()].rstrip(" “\"'(*«\n")
        pieces = re.split(r"[-'’]", match.group())
        if not re.search(r"\w", before) or before[-1] in ".:;!?。：；—–|":
            continue
        if any(
            len(piece) > 3 and piece.casefold() not in _COMMON_NAMES and not material.has_word(piece)
            for piece in pieces
        ):
            return f"Nobody named “{match.group()}”."
    return ""
