"""Checks attributions: what a line attributes to somebody must be theirs in the cited messages."""

from __future__ import annotations

import re

from forky_core.merge.models.line_checks.evidence import Evidence, words_in_both
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import CheckedSentence, hedges
from forky_core.merge.wording import speaker_of
from forky_core.retrieval.words import stem, terms

_NAME = r"[A-ZÄÖÜÉÀÂÊÎÔÛÇÁÍÓÚÑ][\w'’.-]*(?:\s+[A-ZÄÖÜÉ][\w'’.-]*)?"
_WHO = (
    r"(?P<who>(?:[Tt]he\s+)?(?:user|person|human|assistant|model|AI|ai)|(?:(?:[Dd]er|[Dd]ie|[Ll]e|[Ll]a|[Ee]l)\s+)?"
    rf"(?:Nutzer(?:in)?|Assistent(?:in)?|utilisat(?:eur|rice)|assistant|usuari[oa]|asistente)|L['’](?:utilisat(?:eur|rice)|assistant)|{_NAME})"
)
_SAYS = re.compile(
    rf"\b{_WHO}\s+(?:also\s+|then\s+|later\s+|auch\s+|aussi\s+|también\s+)?"
    r"(?:says?|said|states?|stated|reports?|reported|confirms?|confirmed|claims?|claimed|asserts?|asserted|tells?|told|believes?|thinks?|asks?|asked|suggest(?:s|ed)|"
    r"propos(?:es|ed)|finds|prefers?|preferred|wants?|wanted|recommend(?:s|ed)|warn(?:s|ed)|insist(?:s|ed)|argue[sd]?|point(?:s|ed)\s+out|not(?:es|ed)|explain(?:s|ed)|mention(?:s|ed)|repl(?:ies|ied)|"
    r"sagt\w*|meint\w*|findet|fand|glaubt\w*|berichtet\w*|bestätigt\w*|schlägt|schlug|empfiehlt|wollte|möchte|fragt\w*|"
    r"dit|pense|trouve|croit|préfère|propose|veut|confirme|recommande|affirme|demande|"
    r"dice|dijo|piensa|cree|prefiere|propone|quiere|confirma|recomienda|afirma|pregunta)(?![\w])"
)
_UNSPACED_SAYS = re.compile(
    "(?P<who>用户|助手|[\u4e00-\u9fff]{2,4}?)(?:还|也|后来)?(?:说|认为|觉得|建议|提议|表示|希望|要求|想)"
)
_ROLES = {
    **dict.fromkeys(
        (
            "person",
            "human",
            "nutzer",
            "nutzerin",
            "utilisateur",
            "utilisatrice",
            "usuario",
            "usuaria",
            "用户",
        ),
        "user",
    ),
    **dict.fromkeys(("model", "ai", "assistent", "assistentin", "asistente", "助手"), "assistant"),
}
_ARTICLE = re.compile(r"^(?:the|der|die|le|la|el)\s+|^l['’]", re.IGNORECASE)
_MYSELF = re.compile(
    r"\b(?:I|I['’](?:ve|ll|m|d)|my|ich|mein\w*|je|j['’]ai|j['’]|mon|ma|mes|yo|mi|me|mis)\b|我(?!们)",
    re.IGNORECASE,
)
_OTHER_NAME = re.compile(r"(?:^|\s)[A-ZÄÖÜÉ][a-zäöüéè]{2,}\s+[a-zäöüéè]+")
_SHORT_WORD = 3
_DOER = re.compile(rf"^\W*{_WHO}\s+(?P<verb>[^\W\d_]+)")


def other_speaker(line: NoteLine, here: Evidence) -> str | None:
    """Reject a statement that a line attributes to one person and that another one made."""
    found = [*_SAYS.finditer(line.text), *_UNSPACED_SAYS.finditer(line.text)]
    for match in found:
        theirs, others = _by_whom(match["who"], here)
        if not theirs and not others:
            continue
        names = {stem(word) for word in here.transcript.speakers} | set(terms(match["who"]))
        told = CheckedSentence(line.text[match.end() :].strip() or " ").clauses[0].text
        rest = frozenset(word for word in terms(told) if _tells(word)) - names
        mine = words_in_both(rest, frozenset(word for one in theirs for word in one.words))
        not_mine = words_in_both(rest, frozenset(word for one in others for word in one.words))
        if rest and ((not mine and (not_mine or not theirs)) or 2 * len(mine) < len(not_mine - mine)):
            return f"What it cites of {match['who']} does not say this."
    return None


def _tells(word: str) -> bool:
    """Whether a word is more than a grammatical word that is missing from the stop words."""
    return len(word) > _SHORT_WORD or not (word.isascii() and word.isalpha())


def other_doer(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a deed that a line attributes to one speaker and that another one reports of themselves: “I did”."""
    for part in here.parts:
        match = _DOER.match(part)
        named = _speakers(match["who"], here) if match is not None else frozenset()
        if match is None or not named or not named.isdisjoint(here.speakers):
            continue
        supporters = here.supporters(part, least=0.3)
        if supporters and all(_of_themselves(one, match["who"], named) for one in supporters):
            return f"{supporters[0].speaker} says that of themselves: “{supporters[0].text[:120]}”."
    return None


def _of_themselves(one: CheckedSentence, who: str, named: frozenset[str]) -> bool:
    """Whether a speaker other than `who` says a sentence about themselves, without naming `who` in it."""
    if one.speaker.casefold() in named or hedges(one.text) or not _MYSELF.search(one.text):
        return False
    return not any(word in one.text.casefold() for word in _ARTICLE.sub("", who).casefold().split())


def _by_whom(who: str, here: Evidence) -> tuple[list[CheckedSentence], list[CheckedSentence]]:
    """Split the cited sentences into those of somebody and the others; both are empty if the name is unknown.

    A speaker's sentences are what they say; for anybody else they are the sentences that name them.
    """
    named = _speakers(who, here)
    cited = [one for at in here.cited for one in here.transcript.sentences[at]]
    if named:
        theirs = [one for one in cited if one.speaker.casefold() in named]
    else:
        name = _ARTICLE.sub("", who).casefold()
        theirs = [one for one in cited if name in one.text.casefold()]
        if not theirs:
            return [], []
        clauses = [(clause, one) for one in theirs for clause in one.clauses]
        others = [
            CheckedSentence(clause.text, one.role, one.speaker)
            for clause, one in clauses
            if name not in clause.text.casefold() and _OTHER_NAME.search(clause.text)
        ]
        mine = [
            CheckedSentence(c.text, one.role, one.speaker) for c, one in clauses if name in c.text.casefold()
        ]
        if others and not here.transcript.capital_nouns:
            return mine, [*others, *(one for one in here.sources if one not in theirs)]
    return theirs, [one for one in here.sources if one not in theirs]


def _speakers(who: str, here: Evidence) -> frozenset[str]:
    """Return the speakers of the branch that a name or a role refers to."""
    name = _ARTICLE.sub("", who).casefold().strip()
    name = _ROLES.get(name, name)
    known = {speaker_of(message).casefold() for message in here.transcript.messages}
    return frozenset(one for one in known if name == one or name in one.split())
