"""Words that mark what matters: a decision, an open point, a correction.

Cues only raise a sentence in a ranking; nothing is dropped for the lack of one. English first, with the commonest ones
of some other languages.
"""

from __future__ import annotations

import re

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
QUESTION = re.compile(r"[?？؟]\s*[\"”’»)*_]*\s*$")
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


def is_question(text: str) -> bool:
    """Whether a sentence ends in a question mark."""
    return QUESTION.search(text) is not None
