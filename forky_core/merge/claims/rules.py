"""Finds claims by rules: what a sentence says plainly of a key, so that branches can be compared.

A rule matches a plain form ("the port is 8080", "use DuckDB for storage", `TIMEOUT=30`). It understands nothing: it
misses irony and quotations of somebody else, and a key is only as good as the words of the sentence. So a claim is
never told as such: it is only set against another one. The forms are English.

Every claim is a piece of its sentence, cut at words, so that its quotation is exact by construction. Its type, found by
a cue in the sentence ("we decided", "must not", "no, …"), is a part of its id, by which stored merges name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from forky_core.fences import parts
from forky_core.merge.claims.claim_set import LONGEST_QUOTE, Claim, ClaimType, Polarity, folded
from forky_core.merge.claims.cues import NOW, PAST, scopes
from forky_core.merge.claims.quantities import quantities
from forky_core.model import Message, Role
from forky_core.model.parts import MergePart, TextPart
from forky_core.retrieval.cues import CORRECTION, DECISION, OPEN, is_question

_READ = 60_000
"""The most characters of a message that are read."""
_LONGEST = 600
"""The most characters of a sentence that are read."""
_SENTENCE = re.compile(r"\S.*?(?:[.!?…](?=[\"')\]”»*_]*(?:\s|$))[\"')\]”»*_]*|[。！？｡]|$)")
_BULLET = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+")
_WORD = re.compile(r"\S+")

_CONSTRAINT = re.compile(
    r"\b(?:must(?:\s+not|n['’]t)?|never|may\s+not|is\s+(?:not\s+)?(?:required|allowed)|at\s+most|at\s+least|no\s+more\s+than|"
    r"only\s+ever|mandatory|forbidden)\b|必须|必須|不得",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:i|we)(?:['’]d)?\s+(?:really\s+)?(?:prefer|rather|like\s+\w+ing|favou?r)\b|\bpreferably\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:tried|attempted)\b.*\b(?:fail\w*|did\s*n['’]?t|no\s+luck|without\s+success|broke)|\b(?:did\s*n['’]t|does\s*n['’]t|"
    r"did\s+not|does\s+not)\s+(?:work|help)\b|\bno\s+effect\b|\bwas\s+a\s+dead\s+end\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"\b(?:turns?\s+out|turned\s+out|(?:now\s+)?works\s+(?:now|again)|now\s+works|passes|all\s+green|the\s+(?:root\s+)?cause\s+"
    r"(?:is|was)|the\s+reason\s+(?:is|was)|because|measured|takes\s+\d|fixed\s+(?:it|by|with)|confirmed)\b"
    r"|\b[A-Z]\w*(?:Error|Exception)\b",
)
_TODO = re.compile(
    r"\b(?:todo|to-do|fixme|next\s+step|still\s+(?:need|have)\s+to|remains?\s+to\s+be)\b", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|never|no\s+longer|cannot|without|neither|nor|nicht|kein\w*|jamais|ne\b.*\bpas|nunca)\b|n['’]t\b|不|没|沒|未",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"^\W*(?:if|when|unless|suppose|imagine|assuming|for\s+example|e\.g)\b|\b(?:would|could|might)\s+be\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?P<lead>(?:with|without|during|under)\s[^,.;:]{2,60}?),?\s(?=(?:the|our|its)\s)"
    r"|\b(?P<trail>(?:if|when|whenever|unless|while|as\s+long\s+as)\s[^,.;:]{2,80})",
    re.IGNORECASE,
)
"""The condition under which a sentence holds: what holds under one says nothing about another."""

_VALUE = (
    r"(?:`[^`\n]{1,60}`|[“\"][^”\"\n]{1,60}[”\"]|[$€£]?\d[\d.,:/_-]*(?:\s?(?:%|[kMG]i?B|[smh]|ms|px|seconds?|minutes?|hours?|days?|"
    r"tokens?|bytes?|USD|EUR))?(?!\w)|(?:https?://|/)[\w./:-]+\w|\w+[_.]\w[\w.]*\w|[A-Z]\w+(?:\s[A-Z]\w+)*)"
)
_SUBJECT = r"(?:[A-Za-z][\w-]*\s+){0,3}[A-Za-z][\w-]*"
_NOT = r"(?:\s+(?P<no>not|n['’]t|no\s+longer))?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        (
            rf"\b(?:(?P<of>[\w-]+)\s+)?[Pp]ort(?:\s+number)?\s*(?:is|=|:|to|was)?{_NOT}\s*(?:now\s+)?`?(?P<value>\d{{2,5}})\b"
            rf"(?:\s+for\s+(?:the\s+|our\s+|its\s+)?(?P<for>[A-Za-z][\w-]*))?"
        ),
        rf"\b[Tt]he\s+name\s+of\s+(?P<name>{_SUBJECT})\s+(?:is|will\s+be|shall\s+be|becomes){_NOT}\s+(?:now\s+)?(?P<value>{_VALUE})",
        (
            rf"\b(?:[Tt]he|[Oo]ur|[Ii]ts?)\s+(?P<key>{_SUBJECT})\s+(?:is|are|will\s+be|should\s+be|shall\s+be|must\s+be|stays|becomes)"
            rf"{_NOT}\s+(?:now\s+|set\s+to\s+|at\s+)?(?P<value>{_VALUE})"
        ),
        (
            rf"\b(?:[Ss]et|[Cc]hange|[Rr]aise|[Ll]ower|[Bb]ump)\s+(?:the\s+|our\s+)?`?(?P<key>[A-Za-z][\w.-]*(?:\s[\w-]+){{0,2}}?)`?\s+to\s+"
            rf"(?P<value>{_VALUE})"
        ),
        (
            rf"\b(?:[Ww]e(?:['’]ll|\s+will)?|[Ll]et['’]?s|[Ii]['’]ll|[Pp]lease)\s+(?:now\s+)?(?:use|go\s+with|take|choose|keep){_NOT}\s+"
            rf"(?P<value>{_VALUE}|[a-z][\w.-]+)\s+(?:for|as)\s+(?:the\s+|our\s+|its\s+)?(?P<key>{_SUBJECT})"
        ),
        (
            rf"\b(?:decided\s+on|settled\s+on|chose|agreed\s+on|[Uu]se)\s+(?P<value>{_VALUE})\s+(?:for|as)\s+(?:the\s+|our\s+|its\s+)?"
            rf"(?P<key>{_SUBJECT})"
        ),
        rf"\b(?:[Cc]all|[Nn]ame)\s+(?:the\s+)?(?P<name>(?!it\b|this\b|that\b){_SUBJECT})\s+(?P<value>[`“\"][^`”\"\n]{{1,60}}[`”\"]|[A-Z]\w+)",
        rf"\b[Tt]he\s+(?P<name>{_SUBJECT})\s+(?:is|will\s+be|shall\s+be)\s+(?:called|named)\s+(?P<value>{_VALUE}|\w+)",
        r"(?<![\w.])(?P<key>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s?[=:]\s?(?P<value>[^\s,;`]+)",
    )
)
_HINTS = ("ort", "name", "", "to", "", "", "", "ed", "_")
"""For each form, a text that is in every sentence of it: most sentences lack it and are skipped quickly."""
_GOES_ON = re.compile(r"\s*(?:,|,?\s(?:and|or)\b)\s*(?:(?:and|or)\s+)?[`\"A-Z0-9]")
_LEADING = re.compile(r"^(?:(?:the|a|an|our|its|new|current|default|this|that|now)\s+)+", re.IGNORECASE)
_TRAILING = re.compile(
    r"\s+(?:now|then|too|again|here|there|instead|because|and|but|so|since|which|that|when|if|in|on|at|to|with|by|from)\b.*$",
    re.IGNORECASE,
)
_NO_QUALIFIER = frozenset(
    [
        "",
        *[
            "the",
            "a",
            "an",
            "on",
            "at",
            "to",
            "of",
            "in",
            "is",
            "use",
            "uses",
            "using",
            "used",
            "via",
            "same",
            "this",
            "that",
            "port",
            "default",
            "local",
            "its",
            "our",
            "and",
            "or",
            "for",
            "listen",
            "listens",
            "tcp",
            "udp",
            "free",
            "open",
            "only",
            "new",
            "old",
            "with",
            "not",
            "be",
            "by",
            "from",
            "as",
            "server's",
        ],
    ]
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A plain statement found in a sentence."""

    key: str
    value: str
    polarity: Polarity
    start: int
    end: int


@lru_cache(maxsize=32_768)
def claims_of(message: Message) -> tuple[Claim, ...]:
    """Return the claims that the rules find in one message, in order.

    Messages never change, so the result is cached.
    """
    if message.hidden or message.role not in ("user", "assistant"):
        return ()
    texts = [
        part.text[:_READ]
        for part in message.parts
        if isinstance(part, TextPart) or (isinstance(part, MergePart) and part.kind.reading == "answer")
    ]
    found = (
        replace(claim, cites=(message.id,))
        for text in texts
        for sentence in _sentences(text)
        for claim in _found_in(sentence, message.role)
    )
    return tuple(dict.fromkeys(found))


def _sentences(text: str) -> Iterator[str]:
    """Yield exact pieces of the text: sentences of its prose, and lines of its code with assignments."""
    for raw, part in parts(text.splitlines()):
        if part in {"opens", "closes"}:
            continue
        line = _BULLET.sub("", raw).strip()
        if part == "code":
            if _FORMS[-1].search(line[:_LONGEST]):
                yield line[:_LONGEST]
            continue
        for match in _SENTENCE.finditer(line):
            sentence = match.group().strip()
            if len(sentence) > 3:
                yield sentence[:_LONGEST]


@lru_cache(maxsize=8_192)
def _found_in(sentence: str, role: Role) -> tuple[Claim, ...]:
    """Return the claims of a sentence. Cached, since logs and answers repeat many sentences."""
    return tuple(_claims(sentence, role))


def _claims(sentence: str, role: Role) -> Iterator[Claim]:
    if is_question(sentence) or _HYPOTHETICAL.search(sentence):
        return
    forms = list(_forms(sentence))
    if not forms or (PAST.search(sentence) and not NOW.search(sentence)):
        return
    kind = _kind(sentence, role)
    for form in forms:
        text, quote = _window(sentence, form.start, form.end)
        if not _cut_off(sentence, quote):
            yield Claim(kind, text, (), form.key, form.value, form.polarity, quote=quote)


def _cut_off(sentence: str, quote: str) -> bool:
    """Whether a piece of a long sentence leaves out the words that deny it."""
    return _NEGATION.search(quote) is None and _NEGATION.search(sentence) is not None


def _kind(sentence: str, role: Role) -> ClaimType:
    """Return the type of a sentence by its cue, the most specific one first."""
    cues: tuple[tuple[ClaimType, re.Pattern[str]], ...] = (
        ("failed_attempt", _FAILED),
        ("constraint", _CONSTRAINT),
        ("correction", CORRECTION),
        ("decision", DECISION),
        ("fact", _TODO),
        ("fact", OPEN),
        ("preference", _PREFERENCE),
        ("result", _RESULT),
    )
    # A model that says "no" or "actually" does not correct anybody.
    found = (kind for kind, cue in cues if cue.search(sentence) and (kind != "correction" or role == "user"))
    return next(found, "fact")


def _forms(sentence: str) -> Iterator[_Form]:
    taken: list[tuple[int, int]] = []
    condition = _CONDITION.search(sentence)
    begins = condition.end() if condition is not None and condition["lead"] else 0
    where = sorted(scopes(sentence) - {"production"})[:1]
    where += [folded(condition.group()).rstrip(",")] if condition is not None else []
    for number, (form, hint) in enumerate(zip(_FORMS, _HINTS, strict=True)):
        for match in form.finditer(sentence, begins) if hint in sentence else ():
            start, end = match.span()
            key = _key(number, match.groupdict())
            if _GOES_ON.match(sentence, end):
                continue  # The first item of a list.
            if not key or any(start < b and a < end for a, b in taken):
                continue
            taken.append((start, end))
            groups = match.groupdict()
            value, end = _with_unit(sentence, *match.span("value"), end)
            negated = bool(groups.get("no")) or bool(_NEGATION.search(sentence[begins:start][-24:]))
            yield _Form(
                f"{key} ({', '.join(where)})" if where else key,
                value,
                "negated" if negated else "affirmed",
                start,
                end,
            )


def _with_unit(sentence: str, start: int, end: int, stop: int) -> tuple[str, int]:
    """Return a value with the unit after it, and where the statement then ends."""
    if sentence[start : start + 1].isdigit():
        for one in quantities(sentence):
            if one.start == start and one.end > end:
                return sentence[start : one.end], max(stop, one.end)
    return sentence[start:end].strip('`“”" .,;:'), stop


def _key(form: int, groups: dict[str, str | None]) -> str:
    """Normalise the subject, so that two sentences about it agree; "" if it is none."""
    if form == 0:
        named = ((groups.get(name) or "").casefold() for name in ("for", "of"))
        of = next((word for word in named if word not in _NO_QUALIFIER and not word.isdigit()), "")
        return f"{of} port" if of else "port"
    name = groups.get("name")
    subject = folded(_TRAILING.sub("", _LEADING.sub("", name or groups.get("key") or "")))
    if not subject or subject in {
        "it",
        "this",
        "that",
        "they",
        "answer",
        "problem",
        "question",
        "reason",
        "cause",
        "first",
    }:
        return ""
    if name:
        return f"name of {subject}"
    return subject.removesuffix(" name").join(("name of ", "")) if subject.endswith(" name") else subject


def _window(sentence: str, start: int, end: int) -> tuple[str, str]:
    """Return (text, quote): the sentence, or for a long one the words around the match."""
    words = [match.span() for match in _WORD.finditer(sentence)]
    if len(words) <= LONGEST_QUOTE:
        return sentence, sentence
    first = next((n for n, (_, stop) in enumerate(words) if stop > start), 0)
    last = next((n for n, (_, stop) in enumerate(words) if stop >= end), len(words) - 1)
    spare = max(0, LONGEST_QUOTE - (last - first + 1))
    first = max(0, min(first - spare // 2, len(words) - LONGEST_QUOTE))
    stop = min(len(words), first + LONGEST_QUOTE)
    quote = sentence[words[first][0] : words[stop - 1][1]]
    text = ("… " if first else "") + quote + (" …" if stop < len(words) else "")
    return text, quote
