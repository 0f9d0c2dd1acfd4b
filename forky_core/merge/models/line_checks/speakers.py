"""Who said it: what a line says somebody said has to stand in a message of theirs."""

from __future__ import annotations

import re

from forky_core.merge.models.line_checks.evidence import Evidence, shared
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.transcript import speaker_of
from forky_core.retrieval.words import stem, terms

_SAYS = re.compile(
    r"\b(?P<who>(?:the\s+)?(?:user|person|human|assistant|model|ai)|[A-ZÄÖÜÉ][\w'’.-]*(?:\s+[A-ZÄÖÜÉ][\w'’.-]*)?)\s+(?:also\s+|then\s+|later\s+)?"
    r"(?:says?|said|states?|stated|reports?|reported|confirms?|confirmed|claims?|claimed|asserts?|asserted|tells?|told|believes?|thinks?|asks?|asked|suggest(?:s|ed)|propos(?:es|ed))\b"
)
_ROLES = {"person": "user", "human": "user", "model": "assistant", "ai": "assistant"}


def other_speaker(line: NoteLine, here: Evidence) -> str | None:
    """A statement that a line gives to one speaker and that another one made."""
    known = {speaker_of(message).casefold() for message in here.transcript.messages}
    for match in _SAYS.finditer(line.text):
        who = match["who"].casefold().removeprefix("the ").strip()
        who = _ROLES.get(who, who)
        named = {name for name in known if who == name or who in name.split()}
        if not named:
            continue
        rest = frozenset(terms(line.text[match.end() :])) - {stem(word) for word in here.transcript.speakers}
        theirs = [
            one
            for at in here.cited
            for one in here.transcript.sentences[at]
            if one.speaker.casefold() in named
        ]
        others = [one for one in here.sources if one.speaker.casefold() not in named]
        mine = shared(rest, frozenset(word for one in theirs for word in one.words))
        not_mine = shared(rest, frozenset(word for one in others for word in one.words))
        if rest and not mine and (not_mine or not theirs):
            return f"What it cites of {match['who']} does not say this."
    return None
