"""What a sentence says, as far as code can tell: its words, its numbers with their units, and whether it denies, asks,
supposes or plans.

Nothing here understands a sentence. It finds what a summary must not change: a number, a unit, a “not”, an “if”, a
question mark. The word lists are English, German, French, Spanish and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from forky_core.fences import parts
from forky_core.merge.claims.cues import DENIES, DENIES_SOFTLY, FAILS, NEGATES, NEGATES_NOTHING
from forky_core.merge.models.numbers import Number, numbers
from forky_core.merge.note.passages import sentences as split_sentences
from forky_core.retrieval.words import terms

_CLAUSE_END = re.compile(
    r"(?:,(?!\d)|[;，；、：]|\s?:\s|\s[-–—]+\s|—|\(|\)|\s(?:and|but|while|whereas|because|although|so|und|aber|während|weil|et|"
    r"mais|tandis|y|pero|mientras)\s|而|但|因为|因為|所以)"
)
_SMALL_START = re.compile(
    r"(?:(?<=[a-zäöüß]{3}[.!?])|(?<=\d\d[.!?])|(?<=[a-zäöüéß] [?!]))(?<!etc\.)(?<!usw\.)(?<!bzw\.)(?<!vgl\.)(?<!max\.)(?<!min\.)\s+(?=[a-zäöü`])"
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.$")
_DATED = re.compile(
    r"(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert|Klasse|Stock)\b"
)
_LIST_SIGN = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:[-*+•]|\d{1,3}[.)]|#{1,6})?[ \t]+")
_CONDITION = re.compile(
    r"\b(?:if|unless|provided|assuming|suppos\w+|in\s+case|as\s+long\s+as|otherwise|only\s+(?:if|when|where|for)|whether|depend\w*|falls|wenn|sofern|angenommen|"
    r"solange|ob|à\s+condition|au\s+cas|en\s+caso|siempre\s+que|cuando)\b|(?:^|[,;¿(]\s*)[Ss]i\b|\bsi\s+(?:elles?|ils?|on|vous|tu|je|les?|la|l['’]|une?|ça|se|el|los|hay|no)\b|(?:^|[\s,;])s['’]ils?\b|如果|假如|要是|只要|除非|若是|是否",
    re.IGNORECASE,
)
_WEAK_CONDITION = re.compile(
    r"\b(?:if|wenn|si)\s+(?:you|i|we|du|sie|ich|wir|man|vous|je|on|tu|quieres|te)\s*(?:['’]?(?:re|m)\b|are|am|want|like|need|prefer|ask|will|magst|willst|wollen|"
    r"mögen|voulez|veux)[^,.;]*",
    re.IGNORECASE,
)
_NEXT_CONDITION = re.compile(r"[,;]\s*(?:and|und|et|y)\s+(?:if|wenn|falls|si)\b.*$", re.IGNORECASE)
"""A condition of a second statement, which does not restrict the first."""
_INTERROGATIVE = re.compile(
    r"\W*(?:(?:and|so|but|ok|okay|well|und|et|y|pero|aber)\W+)*(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|"
    r"should|shall|may|might|has|have|had|any|was|wer|wie|wo|wann|warum|welche\w*|ist|sind|hat|haben|kann|können|soll\w*|darf|dürfen|machst|que|quoi|qui|quand|"
    r"comment|pourquoi|est-ce|quel\w*|qué|quién|cuándo|cuánto\w*|cómo|dónde|por\s+qué|¿)(?!\w)",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"^\W*(?:for|to|on|in|at|with|um|bei|für|pour|avec|para|con)\b|\b(?:when|where|while|until|till|once|after|except|bis|sobald|während|jusqu['’]|quand|lorsqu\w*|hasta|mientras)\b|时|直到|之后",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:might|perhaps|maybe|possibl[ey]|probably|likely|presumably|hypothetical\w*|allegedly|supposedly|guess\w*|suspect\w*|seems?|appear\w*|unsure|"
    r"unclear|vielleicht|womöglich|eventuell|vermutlich|wahrscheinlich|könnte\w*|würde\w*|wäre\w*|peut-être|sans\s+doute|probablement|pourrai\w*|serai\w*|"
    r"aurai\w*|quizás?|tal\s+vez|probablemente|podría\w*|sería\w*|saldría\w*)\b|\b(?:could|may)\s+(?:well\s+|also\s+)?(?:be|have|help|cause|try|add|use|make|go|do|start|move|take|put|switch)\b|\bwe\s+could\b|也许|也許|可能|大概|或许|恐怕|かもしれ",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:would|should|propos\w*|suggest\w*|consider\w*|idea|option|think\w*|thought|believ\w*|hop\w*|expect\w*|estimat\w*|about|roughly|unverified|"
    r"unconfirmed|not\s+(?:sure|certain|verified|checked|tested)|assum\w*|plans?|planned|planning|geplant\w*|want\w*|wish\w*|ask\w*|question\w*|wonder\w*|open|discuss\w*|"
    r"recommend\w*|claim\w*|sa(?:id|ys?)|assert\w*|told|argu\w*|hypothes\w*|potential\w*|theor\w+|worr\w+|concern\w*|undecided|not\s+(?:yet\s+)?(?:been\s+)?(?:decided|settled|agreed|chosen|determined)|no\s+(?:decision|agreement)|"
    r"vorschl\w*|vorgeschlagen|soll\w*|meint\w*|glaubt?|fragt\w*|offen|ungeprüft|devrai\w*|propos\w*|selon|pense\w*|demand\w*|debería\w*|propon\w*|"
    r"según|piensa\w*|pregunt\w*)\b|建议|提议|应该|认为|据说|觉得|打算|计划|考虑",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won['’]t|going\s+to|gonna|tomorrow|shall|next\s+(?:week|month|year|monday|tuesday|wednesday|thursday|friday|step)|planned|plans?\s+to|"
    r"about\s+to|todo|to\s+do|morgen|wird|werden|werde|nächste\w*|demain|prochaine?|mañana|próxim\w+)\b|['’]ll\b|\b\w{3,}(?:rá|rán|remos)\b|\b\w{3,}(?:era|ira|ssera|dra|ront)\b(?<!caméra)(?<!opéra)|\bto\s+be\s+\w+(?:ed|en)\b|明天|下周|将|打算|计划",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:has|have|had)\s+(?:(?:now|already|been|since)\s+)*(?!to\b|a\b|the\b|an\b|no\b|not\b)\w+(?:ed|en|un|wn|lt|nt|pt|ne|ut)\b"
    r"|\b(?:was|were)\s+(?:(?:then|also|successfully|already)\s+)*(?!to\b)\w+(?:ed|en|un|wn|lt|nt|ut)\b|\b(?:is|are)\s+(?:done|finished|complete[d]?|live|deployed|released)\b"
    r"|\b(?:ran|completed|finished|succeeded|went\s+live)\b|\b(?:wurden?|worden)\b|已经|已(?=[\u4e00-\u9fff])|完成了",
    re.IGNORECASE,
)
POINTS = re.compile(
    r"\b(?:it|they|them|he|she|this|that|es|das|sie|er|ihn|il|elle|ils|elles|ça|cela|ello|lo|esto|eso)\b|它|他|她|这|那",
    re.IGNORECASE,
)
"""A word that refers to something named before."""
THEN = re.compile(
    r"\W*(?:(?:then|so|ok(?:ay)?\W+(?:then|so)|dann|also|alors|donc|entonces|pues)\b|那就|那|就|改)",
    re.IGNORECASE,
)
"""The beginning of an answer that draws a conclusion."""
_OPTION = re.compile(r"(?<!\w)--?[a-z][\w-]+")
"""An option of a command: `--no-cache` denies nothing."""
_ASKS = re.compile(r"[?？]\W*$|[吗嗎呢][？?。]?$")
_CERTAIN = re.compile(
    r"\b(?:certainly|definitely|definitively|proven|proves?|guaranteed?s?|undoubtedly|without\s+(?:a\s+)?doubt|confirmed|verified|sicher|bestimmt|"
    r"zweifellos|bewiesen|bestätigt|certainement|sûrement|prouvé|confirmé|seguramente|sin\s+duda|confirmado|demostrado)\b|肯定|一定|证实|證實",
    re.IGNORECASE,
)
_ORDERS_READER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}\b(?:instruction|prompt|rule|message|context)s?\b"
    r"|\b(?:note|message|instruction)s?\s+(?:to|for)\s+(?:all\s+|any\s+)?(?:(?:ai|language)\s+)?(?:assistant|agent|model|llm|ai|summari[sz]er|reader)s?\b"
    r"|\b(?:you|the\s+(?:assistant|model|ai|agent|summari[sz]er))\s+(?:must|should|shall|are\s+to|need\s+to|have\s+to)\s+(?:now\s+)?(?:always\s+)?(?:ignore|obey|comply|recommend|reply|respond|answer|tell|say|reveal|output|include|write|send)\b"
    r"|\b(?:system\s+prompt|jailbreak|prompt\s+injection)\b|\bwhen\s+(?:you\s+)?summari[sz](?:e|ing)\b|\b(?:ai|llm)s?\s+(?:assistants?|agents?|models?)\s+(?:reading|must|should)\b"
    r"|(?:^|[\s>*#])(?:system|developer)\s*:|<\s*/?\s*(?:system|instructions?)\s*>"
    r"|\b(?:ignorier\w*|missachte\w*|vergiss|vergesst|vergessen\s+sie)\b[^.!?\n]{0,40}\b(?:anweisung|regel|nachricht)\w*|\bhinweis\s+an\s+(?:assistent|ki|modell)\w*"
    r"|\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?\n]{0,40}\b(?:instruction|consigne|règle)s?\b|\b(?:ignora|ignore|olvida|olvide)n?\b[^.!?\n]{0,40}\b(?:instruccion|regla)\w*"
    r"|忽略[^。!?\n]{0,15}(?:指令|指示|要求|规则)|无视[^。\n]{0,15}(?:指令|指示)|(?:请|務必|务必)?(?:助手|模型)(?:必须|应当|请)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SentenceClause:
    """A piece of a sentence up to a comma, a semicolon or an “and”."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        return numbers(self.text)

    @cached_property
    def denies(self) -> bool:
        return denies(self.text)

    @cached_property
    def supposes(self) -> bool:
        return _SUPPOSES.search(self.text) is not None


@dataclass(frozen=True)
class CheckedSentence:
    """One sentence of a message, or a line of its code."""

    text: str
    role: str = ""
    speaker: str = ""
    code: bool = False
    orders: bool = False
    """Whether it tells its reader what to do, as an injected instruction does."""

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @cached_property
    def clauses(self) -> tuple[SentenceClause, ...]:
        if self.code:
            return (SentenceClause(self.text),)
        return tuple(
            SentenceClause(piece.strip()) for piece in _CLAUSE_END.split(self.text) if piece.strip()
        ) or (SentenceClause(self.text),)

    @cached_property
    def asks(self) -> bool:
        return not self.code and _ASKS.search(self.text) is not None

    @cached_property
    def begins_as_question(self) -> bool:
        return _INTERROGATIVE.match(self.text) is not None

    @cached_property
    def conditional(self) -> bool:
        text = _NEXT_CONDITION.sub(" ", _WEAK_CONDITION.sub(" ", self.text))
        return not self.code and _CONDITION.search(text) is not None

    @cached_property
    def supposes(self) -> bool:
        return not self.code and _SUPPOSES.search(self.text) is not None

    @cached_property
    def planned(self) -> bool:
        return not self.code and _FUTURE.search(self.text) is not None and _DONE.search(self.text) is None


def sentences_of(text: str, *, role: str = "", speaker: str = "") -> tuple[CheckedSentence, ...]:
    """Return the sentences of a message. A line of code counts as one, and so does a line of a tool's output."""
    found: list[CheckedSentence] = []
    ordered = 0
    for raw, part in parts(text.splitlines()):
        if part in {"opens", "closes"}:
            continue
        line = raw.strip()
        if not line:
            ordered = 0
            continue
        pieces = [line] if part == "code" else list(_split(_LIST_SIGN.sub("", f" {line}"))) or [line]
        for piece in pieces:
            if _ORDERS_READER.search(piece):
                ordered = 3
            found.append(CheckedSentence(piece, role, speaker, code=part == "code", orders=ordered > 0))
            ordered -= ordered > 0
    return tuple(found)


def _split(line: str) -> Iterator[str]:
    """Split a line into sentences, including those that begin in lower case, but not at “the 30. Mai”."""
    held = ""
    for sentence in split_sentences(line):
        if held and not (_ORDINAL.search(held) and _DATED.match(sentence)):
            yield from (piece for piece in _SMALL_START.split(held) if piece.strip())
            held = ""
        held = f"{held} {sentence}".strip()
    yield from (piece for piece in _SMALL_START.split(held) if piece.strip())


def denies(text: str) -> bool:
    """Whether a clause has a “not”, other than in idioms such as “not only” and “can't wait”."""
    return NEGATES.search(NEGATES_NOTHING.sub(" ", _OPTION.sub(" ", text))) is not None


def may_deny(text: str) -> bool:
    """Whether a text denies in any way: by a “not”, or by words such as “only”, “unlike”, “remains”, “failed”."""
    bare = _OPTION.sub(" ", text)
    return any(cue.search(bare) for cue in (NEGATES, DENIES, DENIES_SOFTLY))


def hedges(text: str) -> bool:
    """Whether a text leaves its statement open: supposed, conditional, proposed, planned, or somebody's opinion."""
    return leaves_open(text) or _FUTURE.search(text) is not None


def leaves_open(text: str) -> bool:
    """Whether a text says that something may not be so or may not happen; a plan alone does not."""
    return any(pattern.search(text) for pattern in (_SUPPOSES, _CONDITION, _HEDGES, _ASKS))


def conditional(text: str) -> bool:
    """Whether a line says when, where or until when something holds."""
    return _CONDITION.search(text) is not None or _LIMITS.search(text) is not None


def fails(text: str) -> bool:
    """Whether a text reports a failure or a refusal."""
    return FAILS.search(text) is not None


def says_done(text: str) -> bool:
    """Whether a text reports something as done, and nothing as planned."""
    return _DONE.search(text) is not None and _FUTURE.search(text) is None


def certain(text: str) -> Iterable[str]:
    """Return the words that claim certainty."""
    return _CERTAIN.findall(text)


def orders_reader(text: str) -> bool:
    """Whether a text tells its reader, a model, what to do."""
    return _ORDERS_READER.search(text) is not None
