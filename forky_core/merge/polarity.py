"""Which names of a message may be told without their sentence: those that a sentence states.

A list of names says nothing about them, so a reader takes each for something that was used. A name out of a sentence
that denies or forbids it, doubts it, supposes it or asks about it would be told as its opposite. Whether a sentence
does any of that is judged by words such as “not”, “avoid”, “instead of”, “would” in some languages, and for the
sentence as a whole: “use A, not B” states neither. So a name may be left out that was stated; none is listed that was
denied.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.note.passages import atoms, is_named, sentences
from forky_core.model import Message
from forky_core.parts import MergePart, TextPart, ToolCallPart, ToolResultPart
from forky_core.retrieval.cues import is_question

Stance = Literal["stated", "denied", "open"]
"""What a sentence does with the names in it; `open`: it supposes, doubts or asks."""

_DENIES = (
    # English
    r"not(?!\s+(?:only|limited|just)\b)|no|never|none|nor|neither|cannot|nothing|without|hardly|barely|\w+n['’]t|(?:do|does|did|is|are|wo|ca|should|would)nt"
    r"|avoid\w*|forbid\w*|forbidden|prohibit\w*|disallow\w*|bann?(?:ed|s)?|refus\w+|reject\w*|discard\w*|abandon\w*|ruled?\s+out"
    r"|instead\s+of|rather\s+than|in\s+place\s+of|as\s+opposed\s+to|unlike|except|any\s?more|used\s+to|formerly|previously"
    r"|deprecated|obsolete|outdated|broken|breaks|wrong\w*|incorrect\w*|buggy|invalid|unsupported|unsafe|dangerous|harmful"
    r"|mistake\w*|myth|untrue|useless|superseded|replac(?:e|ed|es|ing)|remov(?:e|ed|es|ing)|drop(?:s|ped)?|undo|undone"
    r"|revert\w*|disabl\w+|(?:turn|switch)(?:ed)?\s+off|get\s+rid\s+of|(?:leave|left)\s+(?:\S+\s+)?out|stop(?:ped)?\s+\w+ing|eats"
    r"|fail(?:s|ed)?\s+(?:to|with|because)|beware"
    # German
    r"|nicht|nie|niemals|kein\w*|ohne|statt|stattdessen|anstatt|anstelle|weder|vermeid\w*|verbot\w*|verbiet\w*|unterlass\w*"
    r"|falsch\w*|kaputt\w*|defekt\w*|veraltet\w*|überholt\w*|weglassen|wegzulassen|entfern\w*|verworfen|abgelehnt|abgeschafft"
    r"|rückgängig|zurückgenommen|früher"
    # French, Spanish, Italian, Portuguese
    r"|ne|pas|jamais|aucun\w*|sans|ni|évit\w*|interdi\w*|au\s+lieu|plutôt\s+que|à\s+la\s+place|faux|fausse|erroné\w*|cassée?s?"
    r"|obsolètes?|dépréciée?s?|proscri\w*|supprim\w*|retir\w*|abandonn\w*"
    r"|nunca|jamás|sin|ningun\w*|tampoco|evit\w*|prohib\w*|en\s+lugar|en\s+vez|incorrect\w*|rot[oa]s?|obsolet\w*|descart\w*"
    r"|elimin\w*|non|senza|invece|não|sem|em\s+vez"
)
_OPEN = (
    r"maybe|perhaps|possibly|probably|might|could|would|suppose\w*|imagine|assuming|hypothetical\w*|in\s+theory|allegedly"
    r"|supposedly|doubt\w*|unsure|uncertain|unclear|unlikely|suspect\w*|whether|what\s+about|how\s+about"
    r"|vielleicht|womöglich|eventuell|könnte\w*|würde\w*|wäre\w*|hätte\w*|falls|angenommen|unsicher|fraglich|bezweif\w*|ob"
    r"|peut-être|pourrai\w*|serai[ts]\w*|douteu\w*|doute\w*|quizás?|tal\s+vez|podría\w*|sería\w*|dud\w*|forse|talvez"
)
_UNSPACED_DENIES = (
    "不|没|沒|未|别|別|勿|禁|避免|而非|代替|取代|弃用|棄用|废弃|廢棄|过时|過時|错|錯|坏|壞|失败|失敗|移除|删除|刪除|无|無"
    "|ない|ません|避け|代わりに|廃止|非推奨|間違|않|안 |못|없|아니|대신|금지|피하|말고|마세요|폐기"
)
_UNSPACED_OPEN = "也许|也許|可能|如果|假如|要是|吗|嗎|怀疑|懷疑|是否|かもしれ|もし|ですか|만약|아마"
_DENIAL = re.compile(
    rf"(?<![\w-])(?:{_DENIES})(?![\w-])|(?<!\w)n['’](?=[aeiouyhéèê])|{_UNSPACED_DENIES}|~~[^~\n]+~~|[❌🚫✗✘⛔≠]|!=",
    re.IGNORECASE,
)
_SUPPOSITION = re.compile(
    rf"(?<![\w-])(?:{_OPEN})(?![\w-])|{_UNSPACED_OPEN}|^\W*(?:if|unless|in\s+case|wenn|si)\b",
    re.IGNORECASE,
)
_CODE_DENIAL = re.compile(
    r"\b(?:do\s+not|don['’]t|never|must\s+not|deprecated|avoid|instead\s+of|no\s+longer|nicht|jamais|nunca)\b|不要|勿",
    re.IGNORECASE,
)
"""In code, “not” and “no” are part of the language: only what a comment would say."""
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|</?\w{1,8}>")
_MARKED = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:(?P<item>[-*+•|]|\d{1,3}[.)])|(?P<heading>\#{1,6}))(?=[ \t|])[ \t]*"
)
_FENCE = re.compile(r"^[ \t>]*(```|~~~)")
_POINTS_BACK = re.compile(
    r"\b(?:it|that|this|them|those|these|es|ihn|sie|das|dies\w*|le|la|les|lo|los|las|ça|cela|eso|esto)\b|它|这|這|那",
    re.IGNORECASE,
)


def stance(sentence: str) -> Stance:
    """What a sentence of prose does with the names in it."""
    # Names are taken out first: `--no-cache` denies nothing. Letters alone stay, however they are written: "NOT".
    names = [atom for atom in atoms(sentence) if is_named(atom) and not atom.isalpha()]
    bare = _EMPHASIS.sub("", sentence)
    for name in sorted(names, key=len, reverse=True):
        bare = bare.replace(name, "…")
    if _DENIAL.search(bare):
        return "denied"
    return "open" if is_question(sentence) or _SUPPOSITION.search(bare) else "stated"


def stated(messages: Sequence[Message], wanted: Collection[str]) -> dict[str, list[int]]:
    """Of the names `wanted`, those that may be told bare, with the numbers of the messages that state them.

    The last word counts: of a name that is denied and stated again later, the later messages; one that is denied last
    is not in the result, because what was stated before holds no more. A question takes nothing back.
    """
    found: dict[str, list[int]] = {}
    for turn, message in enumerate(messages):
        for mention in _mentions(message, wanted):
            for name in atoms(mention.text) if mention.stance != "open" else ():
                if name not in wanted:
                    continue
                if mention.stance == "denied":
                    found.pop(name, None)
                elif turn not in (turns := found.setdefault(name, [])):
                    turns.append(turn)
    return {name: turns for name, turns in found.items() if name in wanted}


def states(text: str, name: str) -> bool:
    """Whether a name may be told bare of what one message says."""
    last: Stance = "open"
    for mention in _of_text(text, (name,)):
        if mention.stance != "open" and name in atoms(mention.text):
            last = mention.stance
    return last == "stated"


def with_its_denial(span: str, text: str) -> str:
    """A quotation out of `text` or, where every sentence that holds it denies it, the first of them whole.

    "" where that sentence stands on more than one line and cannot be quoted.
    """
    holding = _of_text(text, (span,))
    if not holding or any(mention.stance == "stated" for mention in holding) or stance(span) != "stated":
        return span
    whole = holding[0].text
    return whole if whole in text else ""


@dataclass(slots=True)
class _Mention:
    """A sentence, or a line of code."""

    text: str
    stance: Stance


def _mentions(message: Message, wanted: Collection[str]) -> Iterator[_Mention]:
    """Of the parts of a message in which any of the names stands at all."""
    for part in message.parts:
        if isinstance(part, TextPart | MergePart):
            if here := [name for name in wanted if name in part.text]:
                yield from _of_text(part.text, here)
        elif isinstance(part, ToolCallPart):
            yield _Mention(f"{part.name} {part.arguments}", "stated")
        elif isinstance(part, ToolResultPart) and any(name in part.output for name in wanted):
            yield _Mention(part.output, "stated")


def _of_text(text: str, about: Collection[str]) -> list[_Mention]:
    """The sentences of a text in which any of these stands, in order, with what they do with their names.

    A line that ends in a colon speaks for the list or the code below it, and “leave it out” for the sentence before.
    """
    found: list[_Mention] = []
    above: Stance = "stated"
    for paragraph, marked, code in _paragraphs(text):
        if code:
            if any(name in paragraph for name in about):
                denied = above != "stated" or _CODE_DENIAL.search(paragraph) is not None
                found.append(_Mention(paragraph, "denied" if denied else "stated"))
            continue
        before: _Mention | None = None
        for sentence in sentences(paragraph):
            told = any(name in sentence for name in about)
            if before is not None and not told and _points_back(sentence) and stance(sentence) == "denied":
                before.stance = "denied"
            before = _Mention(sentence, stance(sentence)) if told else None
            if before is not None:
                if marked and before.stance != "denied" and above != "stated":
                    before.stance = above
                found.append(before)
        if marked == "item":
            continue
        leads = marked == "heading" or paragraph.endswith((":", "："))
        above = stance(paragraph) if leads else "stated"
        if marked == "heading" and above == "open":
            above = "stated"
    return found


def _points_back(sentence: str) -> bool:
    """Whether a denial names nothing itself, so that it is about what was said before."""
    return not any(is_named(atom) for atom in atoms(sentence)) and _POINTS_BACK.search(sentence) is not None


def _paragraphs(text: str) -> Iterator[tuple[str, str, bool]]:
    """Lines that belong together, joined; whether a sign makes them an item or a heading; whether they are code."""
    lines: list[str] = []
    marked, fenced = "", False
    for raw in text.splitlines():
        fence = _FENCE.match(raw) is not None
        sign = None if fenced else _MARKED.match(raw)
        if lines and (fence or fenced or sign or not raw.strip()):
            yield " ".join(lines), marked, False
            lines, marked = [], ""
        if fence:
            fenced = not fenced
        elif fenced:
            yield raw.strip(), "", True
        elif raw.strip():
            if sign:
                marked = "heading" if sign["heading"] else "item"
            lines.append(raw[sign.end() if sign else 0 :].strip())
    if lines:
        yield " ".join(lines), marked, False
