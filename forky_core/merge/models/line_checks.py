"""What code can check of a line of a note: each against the messages it cites, and each by itself.

A line that fails is dropped with a sentence that says why; the others stand. A line that is believed can still be
wrong: code sees words, numbers, names, denials and order, and no meaning. What it cannot see, a second model may
(review.py), and the ids at the end of each line let a person look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from forky_core.merge.headings import ASKED, FACTS, OPEN, RESULT, TRIED
from forky_core.merge.models.checks import CheckName, Failed, invented
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import (
    Clause,
    Number,
    Sentence,
    certain,
    components,
    conditional,
    denies,
    fails,
    hedges,
    may_deny,
    numbers,
    orders_reader,
    says_done,
)
from forky_core.merge.models.transcript import Transcript, speaker_of
from forky_core.merge.note.passages import atoms, is_name
from forky_core.model import MessageId
from forky_core.retrieval.words import STOPWORDS, stem, terms

LONGEST_LINE = 90
"""Words above which a line is refused; one or two sentences are asked for, and models count loosely."""
LEAST_SHARED = 0.25
"""Of a line's words, the share that has to stand in what it cites."""
LEAST_LEANED = 0.4
"""Of the words of a line's part, the share in a sentence from which on the line has its “if” or its question mark."""
_STANDING = frozenset({ASKED, RESULT, FACTS})
_SMALL = frozenset({"0", "1", "2", "3"})
_PART_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ“\"'`(¿¡])|[;；。！？]\s*")
_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|«\s?([^»]+?)\s?»|(?<!\w)\"([^\"]+)\"(?!\w)|「([^」]+)」")
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"[\w./@:#-]*[\w]", re.ASCII)
_CAPITAL = re.compile(r"(?<![\w.`/-])[A-ZÄÖÜÉÈÀÁÍÓÚ][\w'’-]*[a-zäöüßéèáíóú][\w'’-]*")
_SPELLED_FORMS = (
    {"typescript", ".ts", ".tsx", "ts"},
    {"javascript", ".js", ".jsx", "js"},
    {"python", ".py", "py"},
    {"markdown", ".md"},
    {"yaml", ".yml", ".yaml"},
    {"kubernetes", "k8s"},
    {"postgresql", "postgres", "pg"},
    {"rust", ".rs", "cargo"},
    {"golang", ".go", "go"},
    {"shell", ".sh", "bash"},
    {"sqlite", ".db", "sqlite3"},
    {"csharp", ".cs", "c#"},
    {"dockerfile", "docker"},
    {"javadoc", ".java", "java"},
    {"github", "gh", "git"},
)
_GENERIC = frozenset(
    [
        "user",
        "assistant",
        "person",
        "model",
        "tool",
        "readme",
        "english",
        "german",
        "french",
        "spanish",
        "chinese",
        "christmas",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "ai",
    ]
)
_SMALL_TALK = frozenset(
    [
        "ok",
        "okay",
        "yes",
        "yeah",
        "yep",
        "no",
        "sure",
        "right",
        "fine",
        "good",
        "great",
        "nice",
        "perfect",
        "cool",
        "thanks",
        "thank",
        "you",
        "thx",
        "understood",
        "noted",
        "agreed",
        "done",
        "alright",
        "all",
        "got",
        "it",
        "will",
        "do",
        "of",
        "course",
        "sounds",
        "go",
        "on",
        "for",
        "ahead",
        "are",
        "welcome",
        "you're",
        "exactly",
        "absolutely",
        "very",
        "much",
        "so",
        "that's",
        "that",
        "is",
        "the",
        "a",
        "ja",
        "nein",
        "danke",
        "gut",
        "klar",
        "verstanden",
        "gern",
        "schön",
        "oui",
        "non",
        "merci",
        "d'accord",
        "bien",
        "compris",
        "sí",
        "gracias",
        "vale",
        "de",
        "acuerdo",
        "entendido",
        "perfecto",
    ]
)
_WIDE_SMALL_TALK = re.compile("[好的谢了明白收到可以行嗯吧啊,，。!！ ]+")
_TAKES_BACK = re.compile(
    r"\b(?:scrap|undo|undone|revert\w*|roll(?:ed)?\s+(?:it\s+|that\s+)?back|cancel\w*|(?<!n['’]t )forget\s+(?:that|it|about)\b(?!['’])|never\s*mind|drop\s+(?:that|it|the)|instead|"
    r"take\s+(?:that|it)\s+back|took\s+(?:that|it)\s+back|changed\s+(?:my|our)\s+mind|on\s+second\s+thoughts?|was\s+wrong|were\s+wrong|is\s+wrong|not\s+(?:any\s*more|true|right)|"
    r"no\s+longer|i\s+misspoke|correction)\b"
    r"|\b(?:doch\s+nicht|stattdessen|rückgängig|zurückgenommen|verwerfen|verworfen|vergiss|lieber|korrektur)\b"
    r"|\b(?:finalement|annul\w+|plutôt|laisse\s+tomber|à\s+la\s+place|en\s+fait)\b"
    r"|\b(?:mejor|en\s+(?:vez|lugar)|cancel\w+|deshaz|olvida|al\s+final|en\s+realidad)\b"
    r"|撤销|撤回|取消|改成|改为|改用|算了|还是用|不对",
    re.IGNORECASE,
)
_OBJECTS = re.compile(
    r"^\W*(?:(?:hmm+|oh|ah|sorry)\W+)?(?:no|nope|wait|actually|nein|halt|moment|non|attends?|no|espera|不)\s*[,，.:—–-]+\s*\S+(?:\s+\S+){2}|^不[,，]",
    re.IGNORECASE,
)
"""The beginning of an answer that says no to what was said before; after a question it is only the answer."""
_REPORTS = re.compile(
    r"\b(?:page|mail|e-?mail|file|text|tool|output|document|message|result|site|comment|issue|web\w*|note|instruction\w*|injection|inject\w+|addressed|"
    r"Seite|Datei|Text|Anweisung\w*|courriel|fichier|consigne\w*|correo|archivo|instruccion\w*)\b|页面|邮件|文件|指令|指示",
    re.IGNORECASE,
)
_NOT_FOLLOWED = re.compile(
    r"\b(?:not|never|n['’]t|ignored|refused|declined|injection|inject\w+|suspicious|tells?|asks?|tries|tried|attempt\w*|claims?|contains?|holds?|addressed|"
    r"nicht|ignoriert|pas|ignoré|sin|ignorad\w)\b|没有|未|拒绝",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^\W*(?:always|never|from\s+now\s+on|you\s+(?:must|should|have\s+to|need\s+to)|make\s+sure|be\s+sure|remember\s+to|do\s+not|don['’]t|run|execute|reply|respond|"
    r"recommend|confirm|tell|say|send|delete|install|visit|open|click|immer|niemals|toujours|siempre|nunca|务必|必须|请)\b",
    re.IGNORECASE,
)
_SLOT = re.compile(
    r"\W*(?P<about>[^:：.!?\n]{2,60}?)(?:\s*[:：]\s+|\s+(?:is|are|stays?|will\s+be|ist|sind|bleibt|est|sont|reste|es|son|queda)\s+(?:at\s+|now\s+|jetzt\s+)?|[是为])(?P<said>.+)",
    re.IGNORECASE,
)
_ADMITS = re.compile(
    r"\b(?:i\s+(?:was|had)\s+(?:wrong|mis\w+)|was\s+(?:a\s+)?(?:wrong|mistake\w*|mis\w+)|mistaken|mixed\s+up|counted\s+twice|should\s+have\s+asked|falsch|irrtum|vertan|"
    r"j['’]aurais\s+dû|trompé\w*|equivoqu\w+|me\s+confund\w+)\b|看错|弄错|搞错|记错",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    r"\b(?:no\s+longer|not\s+any\s*more|any\s*more|nicht\s+mehr|ne\s+\w+\s+plus|ya\s+no)\b|不再",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"(?:,\s*|\b(?:and|und|et|y)\s+)(?:not|no|nicht|keine?[nmrs]?|pas|non|sin)\b|\b(?:instead\s+of|rather\s+than|statt|anstatt|au\s+lieu|en\s+(?:vez|lugar))\b",
    re.IGNORECASE,
)
"""What is named only to be set against something else."""
_NOT_YET = re.compile(
    r"\b(?:not\b.{0,40}\byet|noch\s+nicht|pas\s+encore|(?:todavía|aún)\s+no)\b|n['’]t\b.{0,30}\byet\b|还没|尚未",
    re.IGNORECASE,
)
_FAILED_AGAIN = re.compile(
    r"\b(?:unable\s+to|cannot\s+\w+|still\s+(?:fail\w*|broken|the\s+same|not|no|crash\w*|dies|flicker\w*|there)|does\s*n['’]t\s+(?:work|help)|did\s*n['’]t\s+"
    r"(?:work|help)|no\s+luck|error|failed|fails|immer\s+noch|geht\s+nicht|hilft\s+nicht|toujours\s+pas|marche\s+pas|sigue\s+\w+|no\s+funciona)\b|还是|没用|失败|不行",
    re.IGNORECASE,
)
_SHORT = 8
"""Words of a sentence that hardly stands without the one before."""
_FEW = 12
"""Sentences of the cited messages up to which a denial may stand anywhere in them."""
_SAYS = re.compile(
    r"\b(?P<who>(?:the\s+)?(?:user|person|human|assistant|model|ai)|[A-ZÄÖÜÉ][\w'’.-]*(?:\s+[A-ZÄÖÜÉ][\w'’.-]*)?)\s+(?:also\s+|then\s+|later\s+)?"
    r"(?:says?|said|states?|stated|reports?|reported|confirms?|confirmed|claims?|claimed|asserts?|asserted|tells?|told|believes?|thinks?|asks?|asked|suggest(?:s|ed)|propos(?:es|ed))\b"
)
_OPPOSITES: dict[str, frozenset[str]] = {}
for _pair in (
    "faster/slower,slow",
    "quicker/slower",
    "more/less,fewer",
    "higher/lower",
    "increased,increase,increases,rose,rises/decreased,decrease,decreases,fell,dropped,drops",
    "raised,raise/lowered,lower,cut",
    "better/worse",
    "before/after",
    "above/below",
    "enabled,enable,enables/disabled,disable,disables",
    "allowed,allow,allows,permitted/forbidden,forbid,forbids,prohibited,disallowed",
    "accepted,accepts,accept/rejected,rejects,reject,declined",
    "passed,passes,pass,succeeded,succeeds/failed,fails,fail",
    "cheaper/dearer,pricier",
    "safe/unsafe,dangerous",
    "possible/impossible",
    "valid/invalid",
    "present/absent,missing",
    "won/lost",
    "bigger,larger/smaller",
    "longer/shorter",
    "warmer/colder",
    "minimum/maximum",
    "on/off",
    "schneller/langsamer",
    "mehr/weniger",
    "höher/niedriger,tiefer",
    "besser/schlechter",
    "gültig/ungültig",
    "erlaubt/verboten",
    "aktiviert/deaktiviert",
    "plus/moins",
    "meilleur/pire",
    "autorisé/interdit",
    "activé/désactivé",
    "más/menos",
    "mejor/peor",
    "permitido/prohibido",
    "activado/desactivado",
):
    _left, _right = (frozenset(side.split(",")) for side in _pair.split("/"))
    for _word in _left:
        _OPPOSITES[_word] = _OPPOSITES.get(_word, frozenset()) | _right
    for _word in _right:
        _OPPOSITES[_word] = _OPPOSITES.get(_word, frozenset()) | _left
_WIDE_OPPOSITES = (
    ("更快", "更慢"),
    ("增加", "减少"),
    ("上升", "下降"),
    ("允许", "禁止"),
    ("有效", "无效"),
    ("开启", "关闭"),
    ("成功", "失败"),
)
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_QUOTES = str.maketrans("’‘“”„«»\u00a0", '\'\'""""" ')


@dataclass(frozen=True, slots=True)
class Judgement:
    """What stands of a note, and what does not and why."""

    lines: tuple[NoteLine, ...]
    failed: tuple[Failed, ...]


def judge(lines: Sequence[NoteLine], transcript: Transcript) -> Judgement:
    """Each line against the messages it cites. What repeats another line joins it."""
    kept: list[NoteLine] = []
    failed: list[Failed] = []
    for line in lines:
        checked = _Line(line, transcript)
        wrong = checked.wrong()
        if wrong is not None:
            failed.append(wrong)
            continue
        sound = checked.line
        twin = next((at for at, other in enumerate(kept) if _same(sound, other)), None)
        if twin is None:
            kept.append(sound)
            continue
        order = {message.id: at for at, message in enumerate(transcript.messages)}
        cites = sorted({*kept[twin].cites, *sound.cites}, key=order.__getitem__)
        kept[twin] = replace(kept[twin], cites=tuple(cites))
        failed.append(_failed(sound, "repeat", f"It repeats “{kept[twin].text[:80]}”."))
    return Judgement(tuple(kept), tuple(failed))


def _is_small_talk(text: str) -> bool:
    """Whether a sentence is a courtesy or an assent, which says nothing by itself."""
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text.casefold().replace("’", "'"))
    if not re.search(r"\d", text) and (not words or (len(words) <= 8 and _SMALL_TALK.issuperset(words))):
        return True
    return _WIDE_SMALL_TALK.fullmatch(text) is not None


def _failed(line: NoteLine, check: CheckName, sentence: str) -> Failed:
    return Failed(check, sentence, line.number, line.text)


def _same(line: NoteLine, other: NoteLine) -> bool:
    if line.text.casefold().strip(".") == other.text.casefold().strip("."):
        return True
    mine, theirs = frozenset(terms(line.text)), frozenset(terms(other.text))
    if not mine or {n.forms for n in numbers(line.text)} != {n.forms for n in numbers(other.text)}:
        return False
    return len(mine & theirs) >= 0.9 * len(mine | theirs) and denies(line.text) == denies(other.text)


@dataclass
class _Line:
    """One line beside what it cites."""

    line: NoteLine
    transcript: Transcript
    order: dict[MessageId, int] = field(init=False)

    def __post_init__(self) -> None:
        self.order = {message.id: at for at, message in enumerate(self.transcript.messages)}

    @cached_property
    def cited(self) -> tuple[int, ...]:
        return tuple(self.order[id] for id in self.line.cites)

    @cached_property
    def sources(self) -> tuple[Sentence, ...]:
        """The sentences of the cited messages, courtesies apart."""
        said = (one for at in self.cited for one in self.transcript.sentences[at])
        return tuple(one for one in said if not _is_small_talk(one.text))

    @cached_property
    def text(self) -> str:
        """All that the cited messages say."""
        return "\n".join(self.transcript.texts[id] for id in self.line.cites)

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Who says what is cited, in small letters."""
        return frozenset(speaker_of(self.transcript.messages[at]).casefold() for at in self.cited)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The sentences of the line."""
        return tuple(part for part in _PART_END.split(self.line.text) if part and part.strip())

    def wrong(self) -> Failed | None:
        """The first check that the line fails."""
        for check, sentence in self._checks():
            return _failed(self.line, check, sentence)
        return None

    def _checks(self) -> Iterator[tuple[CheckName, str]]:
        if self.line.unknown:
            yield "citation", f"It cites {', '.join(self.line.unknown)}, which is no message of the branch."
        if not self.line.cites:
            yield "citation", "It cites no message."
            return
        if len(self.line.text.split()) > LONGEST_LINE:
            yield "length", f"It is longer than {LONGEST_LINE} words."
        if not self.sources:
            yield "unsupported", "What it cites is a courtesy, which says nothing."
            return
        yield from self._quotations()
        yield from self._names()
        yield from self._words()
        yield from self._numbers()
        yield from self._instructions()
        yield from self._speakers()
        yield from self._denials()
        yield from self._modality()
        yield from self._pairs()
        yield from self._latest()

    # What stands word for word

    def _quotations(self) -> Iterator[tuple[CheckName, str]]:
        cited = _plain(self.text)
        for groups in _QUOTED.findall(self.line.text):
            quote = next(filter(None, groups)).strip()
            if _plain(quote) not in cited and _plain(quote.rstrip(".,!?…")) not in cited:
                pieces = [piece for piece in re.split(r"\s*(?:…|\.\.\.|\[…\])\s*", quote) if piece]
                if len(pieces) < 2 or any(_plain(piece) not in cited for piece in pieces):
                    yield "quote", f"“{quote[:80]}” does not stand in what it cites."

    # Names

    def _names(self) -> Iterator[tuple[CheckName, str]]:
        missing = [name for name in self._named() if not self._spelled(name, self.text.casefold())]
        for name in missing:
            found = next((at for at in self._nearest() if self._spelled(name, self._said(at))), None)
            if found is not None:
                self._cite(found)
            elif not any(self._spelled(name, text.casefold()) for text in self.transcript.known):
                yield "invented", f"“{name}” stands nowhere in what it cites."

    def _named(self) -> tuple[str, ...]:
        """The names that a line may only tell if a message spells them."""
        text = self.line.text
        found = [span for span in _CODE_SPAN.findall(text) if is_name(span) or " " not in span]
        tokens = (token.strip("/.:-()") for token in _TOKEN.findall(text))
        found += [token for token in tokens if token and not token[0].isdigit() and invented(token, "")]
        if not self.transcript.capital_nouns:
            for match in _CAPITAL.finditer(text):
                before = text[: match.start()].rstrip(" “\"'(*`«")
                if before and before[-1] not in ".:;!?。：；—–" and match.group().casefold() not in _GENERIC:
                    found.append(match.group())
        return tuple(dict.fromkeys(found))

    def _spelled(self, name: str, said: str) -> bool:
        """Whether a text, in small letters, holds a name: also its stem, its possessive, its extension, its pieces."""
        bare = re.sub(r"['’]s?$", "", name.casefold()).strip("/.:-()`")
        if not bare or bare in self.transcript.speakers or _holds(said, bare) or stem(bare) in _GENERIC:
            return True
        if any(
            _holds(said, form)
            for form in (bare.removesuffix("s"), f"{bare}s", bare.removesuffix("es"))
            if len(form) > 2
        ):
            return True
        for group in _SPELLED_FORMS:
            if bare in group and any(_holds_form(said, form) for form in group):
                return True
        if is_name(name) and not re.fullmatch(r"[A-Z][a-z]+(?:-[A-Za-z]+)*", name):
            spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
            if re.fullmatch(r"[\w-]+(?:-[\w]+)+", bare):  # A compound: each piece stands.
                return all(_holds_stem(said, piece) for piece in bare.split("-") if len(piece) > 1)
            return spaced != bare and _holds(said, spaced)
        pieces = [piece for piece in re.split(r"[-'’]", bare) if len(piece) > 1]
        return bool(pieces) and all(_holds_stem(said, piece) for piece in pieces)

    def _nearest(self) -> list[int]:
        """The messages that are not cited, nearest to those that are."""
        rest = [at for at in range(len(self.transcript.messages)) if at not in self.cited]
        return sorted(rest, key=lambda at: (min(abs(at - one) for one in self.cited), at))

    def _said(self, at: int) -> str:
        return self.transcript.texts[self.transcript.messages[at].id].casefold()

    def _cite(self, at: int) -> None:
        """Let the line cite one more message, which spells a name that the line tells."""
        numbers_of = sorted({*self.cited, at})
        self.line = replace(self.line, cites=tuple(self.transcript.messages[one].id for one in numbers_of))
        for name in ("cited", "sources", "text", "speakers"):
            self.__dict__.pop(name, None)

    # Words

    def _words(self) -> Iterator[tuple[CheckName, str]]:
        mine = _weighed(self.line.text) - {stem(word) for word in self.transcript.speakers}
        sources = [*self.sources]
        if all(len(one.text.split()) <= _SHORT and len(one.text) <= 8 * _SHORT for one in sources):
            sources += self._before()
        said = frozenset(word for one in sources for word in _weighed(one.text))
        shared = _shared(mine, said)
        least = 1 if len(mine) <= 3 or self.transcript.unspaced else 2
        share = LEAST_SHARED / 2 if self.transcript.unspaced else LEAST_SHARED
        if mine and (len(shared) < least or len(shared) < share * len(mine)):
            yield "unsupported", "What it cites does not say this."

    def _before(self) -> list[Sentence]:
        """What was said just before the first cited message: an “it” in that is about this."""
        first = min(self.cited)
        return [*self.transcript.sentences[first - 1]] if first else []

    # Numbers

    def _numbers(self) -> Iterator[tuple[CheckName, str]]:
        said = [number for one in self.sources for number in numbers(one.text)]
        said += [number for at in self.cited for number in numbers(speaker_of(self.transcript.messages[at]))]
        pieces = frozenset(piece for number in said for piece in components(number))
        about = re.search(
            r"\b(?:about|around|roughly|approximately|nearly|almost|over|under|some|ca\.?|etwa|rund|fast|environ|presque|unos|casi)\b|~|≈|约|近|大约",
            self.line.text,
            re.IGNORECASE,
        )
        for number in numbers(self.line.text):
            if number.spelled and number.forms <= _SMALL and not number.unit:
                continue
            alike = [other for other in said if number.same_value(other)]
            measured = [other for other in alike if other.unit] if number.unit else []
            if any(number.same_measure(other) for other in measured) or (alike and not measured):
                continue
            if any(number.unit and other.unit and number.same_measure(other) for other in said):
                continue
            if alike:
                other = alike[0]
                yield (
                    "number",
                    f"“{number.shown} {number.unit}” is {other.shown} {other.unit} in what it cites.",
                )
            elif not (components(number) <= pieces) and not (
                about and any(number.near(other) for other in said)
            ):
                yield "number", f"The number {number.shown} is not in what it cites."

    def _answered(self, number: Number) -> bool:
        """Whether the message that a cited one answers has the number; then the line cites that one, too."""
        for at in self.cited:
            if at and any(
                number.same_measure(other) for other in numbers(self.transcript.texts[self._id(at - 1)])
            ):
                self._cite(at - 1)
                return True
        return False

    def _id(self, at: int) -> MessageId:
        return self.transcript.messages[at].id

    # Instructions to whoever reads it

    def _instructions(self) -> Iterator[tuple[CheckName, str]]:
        text = self.line.text
        reports = _REPORTS.search(text) is not None and _NOT_FOLLOWED.search(text) is not None
        if reports:
            return
        if orders_reader(text):
            yield "instruction", "It passes on an instruction to its reader."
            return
        supporters = self._supporters(text)
        if supporters and all(one.orders for one in supporters):
            yield "instruction", "It rests on an instruction that the branch holds for whoever reads it."
        elif _ORDER.match(text) and supporters and all(one.role == "tool" for one in supporters):
            yield "instruction", "It tells its reader to do what only a tool's output says."

    # Who said it

    def _speakers(self) -> Iterator[tuple[CheckName, str]]:
        for match in _SAYS.finditer(self.line.text):
            who = match["who"].casefold().removeprefix("the ").strip()
            who = {"person": "user", "human": "user", "model": "assistant", "ai": "assistant"}.get(who, who)
            known = {speaker_of(message).casefold() for message in self.transcript.messages}
            named = {name for name in known if who == name or who in name.split()}
            if not named:
                continue
            rest = frozenset(terms(self.line.text[match.end() :])) - {
                stem(word) for word in self.transcript.speakers
            }
            theirs = [
                one
                for at in self.cited
                for one in self.transcript.sentences[at]
                if one.speaker.casefold() in named
            ]
            others = [one for one in self.sources if one.speaker.casefold() not in named]
            mine = _shared(rest, frozenset(word for one in theirs for word in one.words))
            not_mine = _shared(rest, frozenset(word for one in others for word in one.words))
            if rest and not mine and (not_mine or not theirs):
                yield "speaker", f"What it cites of {match['who']} does not say this."

    # Denials and opposites

    def _denials(self) -> Iterator[tuple[CheckName, str]]:
        for part in self.parts:
            supporters = self._supporters(part)
            if not supporters:
                continue
            best = self._best_clauses(part, supporters)
            if best and all(clause.denies for clause in best) and not may_deny(part):
                yield "negation", f"It turns round what is said: “{best[0].text[:120]}”."
                return
            if (
                best
                and all(fails(clause.text) for clause in best)
                and not (may_deny(part) or fails(part) or hedges(part))
            ):
                yield "negation", f"It turns round what is said: “{best[0].text[:120]}”."
                return
            near = self.sources if len(self.sources) <= _FEW else self._around(supporters)
            plain = _CONTRAST.sub(" ", part)
            if _NOT_YET.search(plain) and any(one.planned for one in self.sources):
                continue
            if denies(plain) and self.line.section != OPEN and not any(may_deny(one.text) for one in near):
                yield "negation", f"It denies what is said: “{supporters[0].text[:120]}”."
                return
            wrong = _opposite(part, supporters)
            if wrong and denies(part) == any(one.denies for one in best):
                yield "negation", f"It turns round what is said: “{wrong[:120]}”."
                return

    # What is supposed, asked, planned

    def _modality(self) -> Iterator[tuple[CheckName, str]]:
        for word in () if denies(self.line.text) else certain(self.line.text):
            if stem(word.casefold()) not in {
                stem(one) for one in _WORD.findall(self.text.casefold())
            } and not any(certain(one.text) for one in self.sources):
                yield "certain", f"Nothing that it cites is said to be “{word}”."
        if self.line.section in (OPEN, TRIED):
            return
        for part in self.parts:
            supporters = self._supporters(part, least=LEAST_LEANED)
            if not supporters:
                continue
            if (
                all(self._asked(part, one) for one in supporters)
                and self.line.section != ASKED
                and not hedges(part)
            ):
                yield "modality", f"It tells a question as an answer: “{supporters[0].text[:120]}”."
            elif all(one.conditional for one in supporters) and not (
                hedges(part) or conditional(part) or denies(part)
            ):
                yield "modality", f"It leaves out a condition: “{supporters[0].text[:120]}”."
            elif (
                (best := self._best_clauses(part, supporters))
                and all(clause.supposes for clause in best)
                and not hedges(part)
            ):
                yield "modality", f"It tells a supposition as a fact: “{supporters[0].text[:120]}”."
            elif (
                says_done(part)
                and all(one.planned for one in supporters)
                and not self._carried_out(supporters)
            ):
                yield "modality", f"It tells a plan as done: “{supporters[0].text[:120]}”."

    def _asked(self, part: str, one: Sentence) -> bool:
        """Whether what the line tells stands in a question, and not before one in the same sentence."""
        if not one.asks:
            return False
        best = self._best_clauses(part, [one])
        return one.begins_as_question or not best or any(clause is one.clauses[-1] for clause in best)

    def _carried_out(self, supporters: Sequence[Sentence]) -> bool:
        """Whether the line cites something later that reports a plan as done, such as a tool's result."""
        first = min(
            at for at in self.cited if any(one in supporters for one in self.transcript.sentences[at])
        )
        later = [at for at in self.cited if at > first]
        return any(
            self.transcript.messages[at].role == "tool"
            or any(not one.planned for one in self.transcript.sentences[at])
            for at in later
        )

    # What belongs to what

    def _pairs(self) -> Iterator[tuple[CheckName, str]]:
        """A value stands with what it is said of: in one clause, or where no other value of its kind stands."""
        if self.line.section == TRIED:
            return
        values = self._values_of_branch
        source = [(clause, values(clause.text), one) for one in self.sources for clause in one.clauses]
        for part in self.parts:
            clauses = Sentence(part).clauses
            mine = [(clause, values(clause.text)) for clause in clauses]
            whole = frozenset(value for _, held in mine for value in held)
            for clause, held in mine:
                words = _bare(clause, held)
                if _CONTRAST.search(clause.text) or clause.denies:
                    continue
                mixed = _mixed(held, whole, source)
                if mixed:
                    yield "subject", f"It joins what is said of different things: “{mixed[:120]}”."
                    return
                if not words:
                    continue
                for value in held:
                    rival = _rival(value, words, held, whole, source, self._speaker_words)
                    if rival:
                        yield "subject", f"“{value.shown}” is said of something else: “{rival[:120]}”."
                        return
            crossed = _crossed(mine, source)
            if crossed:
                yield "subject", f"It swaps what is said of one and of another: “{crossed[:120]}”."
                return

    @cached_property
    def _speaker_words(self) -> frozenset[str]:
        return frozenset(word for name in self.speakers for word in re.split(r"[\s_-]+", name))

    def _values_of_branch(self, text: str) -> frozenset[_Value]:
        found = {
            _Value("number", min(n.forms), n.shown)
            for n in numbers(text)
            if not (n.spelled and n.forms <= _SMALL)
        }
        for name in atoms(text):
            if name[0].isdigit() or name.casefold() in STOPWORDS:
                continue
            if is_name(name) and not re.fullmatch(r"[\w]+(?:-[\w]+)+", name):
                kind = "capitals" if name.isupper() else "name"
                found.add(_Value(kind, name.casefold(), name))
            elif not self.transcript.capital_nouns and self._proper(name):
                found.add(_Value("name", re.sub(r"['’]s$", "", name.casefold()), name))
        return frozenset(found)

    def _proper(self, word: str) -> bool:
        """Whether a word is a name: the branch writes it with a capital, and never without."""
        bare = re.sub(r"['’]s$", "", word)
        if not bare[:1].isupper() or len(bare) < 3 or bare.casefold() in self.transcript.speakers:
            return bare.casefold() in self.transcript.speakers and bare[:1].isupper()
        return bare in self._capitals and bare.casefold() not in self._smalls

    @cached_property
    def _capitals(self) -> frozenset[str]:
        return frozenset(re.findall(r"\b[A-ZÄÖÜÉ][\w'’-]*[a-z]\b", "\n".join(self.transcript.texts.values())))

    @cached_property
    def _smalls(self) -> frozenset[str]:
        return frozenset(re.findall(r"\b[a-zäöüé][\w'’-]+\b", "\n".join(self.transcript.texts.values())))

    # What was said last

    def _latest(self) -> Iterator[tuple[CheckName, str]]:
        if self.line.section not in _STANDING or self.line.section == ASKED:
            return
        last = max(self.cited)
        for one in self.transcript.superseded:
            earlier, later = self.order.get(one.earlier_message), self.order.get(one.later_message)
            if earlier is None or later is None or earlier not in self.cited or later in self.cited:
                continue
            mine, old = frozenset(terms(self.line.text)), frozenset(terms(one.earlier))
            if last < later and old and len(_shared(old, mine)) >= 0.5 * min(len(old), len(mine)):
                yield "superseded", f"It was taken back later (m{later + 1}): “{one.later[:120]}”."
                return
        taken = self._taken_back(last) or self._corrected(last) or self._relabelled(last)
        if taken is not None:
            at, sentence = taken
            yield (
                "superseded",
                (
                    f"Somebody takes that back in m{at + 1}: “{sentence.text[:120]}”. Say what holds now, or put it under “{TRIED}”."
                ),
            )

    def _taken_back(self, last: int) -> tuple[int, Sentence] | None:
        """What the next message of another speaker takes back, where the line cites nothing from there on."""
        messages = self.transcript.messages
        speaker = speaker_of(messages[last])
        mine = self.transcript.sentences[last]
        if any(_TAKES_BACK.search(one.text) for one in mine):
            return None
        asked = bool(mine) and mine[-1].asks
        if messages[last].role == "user" and not messages[last].name:
            return None
        for at in range(last + 1, min(last + 3, len(messages))):
            if messages[at].role == "tool" or speaker_of(messages[at]) == speaker:
                continue
            for one in self.transcript.sentences[at][:3]:
                objects = _TAKES_BACK.search(one.text) or (not asked and _OBJECTS.search(one.text))
                if objects and not one.asks and self._meant(at, last):
                    return at, one
                if (
                    messages[at].role == "user"
                    and not messages[at].name
                    and _FAILED_AGAIN.search(one.text)
                    and not one.asks
                ):
                    return at, one
            return None
        return None

    def _names_it(self, one: Sentence) -> bool:
        return not one.asks and bool(_shared(frozenset(terms(self.line.text)), one.words))

    def _corrected(self, last: int) -> tuple[int, Sentence] | None:
        """What a later sentence says of the line's own value in taking it back."""
        values = {
            one
            for one in self._values_of_branch(self.line.text)
            if one.kind.startswith("number") or len(one.key) > 3
        }
        for at in range(last + 1, len(self.transcript.messages)):
            for one in self.transcript.sentences[at]:
                if (
                    one.asks
                    or one.role == "tool"
                    or one.code
                    or not (_ADMITS.search(one.text) or _NO_MORE.search(one.text))
                ):
                    continue
                telling = [c.text for c in one.clauses if _ADMITS.search(c.text) or _NO_MORE.search(c.text)]
                held = self._values_of_branch("; ".join(telling)) & values
                if held and len(_shared(frozenset(terms(self.line.text)), one.words)) + len(held) > 1:
                    return at, one
        return None

    def _relabelled(self, last: int) -> tuple[int, Sentence] | None:
        """A later sentence that says something else of the very same thing: “Second half: carols”."""
        mine = _slot(self.line.text)
        if mine is None:
            return None
        said = _weighed(self.line.text)
        for at in range(last + 1, len(self.transcript.messages)):
            for one in self.transcript.sentences[at]:
                other = None if one.asks or one.code or one.role == "tool" else _slot(one.text)
                if (
                    other is not None
                    and other[0] == mine[0]
                    and not _shared(mine[1], other[1])
                    and not other[1] <= said
                ):
                    return at, one
        return None

    def _meant(self, at: int, last: int) -> bool:
        """Whether what is taken back is what the line tells: the cited message has little else, or shares its words."""
        mine = frozenset(terms(self.line.text))
        words = frozenset(word for one in self.transcript.sentences[at] for word in one.words)
        said = self.transcript.sentences[last]
        return len(said) <= 3 or bool(_shared(mine, words))

    # Which sentences a line rests on

    def _supporters(self, part: str, least: float = 0.2) -> list[Sentence]:
        """The sentences of the cited messages that share most with a part of the line, and at least so much of it."""
        mine = frozenset(terms(part)) | frozenset(form for n in numbers(part) for form in n.forms)
        scored = [
            (
                len(
                    _shared(mine, one.words | frozenset(form for n in numbers(one.text) for form in n.forms))
                ),
                one,
            )
            for one in self.sources
        ]
        best = max((score for score, _ in scored), default=0)
        if not best or best < least * len(mine):
            return []
        return [one for score, one in scored if score >= max(1, 0.8 * best)]

    def _best_clauses(self, part: str, supporters: Sequence[Sentence]) -> list[Clause]:
        mine = frozenset(terms(part))
        scored = [
            (len(_shared(mine, clause.words)) + _named_in(_names_in(part), clause.text), clause)
            for one in supporters
            if not one.code
            for clause in one.clauses
        ]
        best = max((score for score, _ in scored), default=0)
        return [clause for score, clause in scored if score >= max(1, 0.7 * best)]

    def _around(self, supporters: Sequence[Sentence]) -> list[Sentence]:
        """These sentences with those before and after each."""
        found: list[Sentence] = []
        for at in self.cited:
            said = self.transcript.sentences[at]
            for place, one in enumerate(said):
                if any(one is other for other in supporters):
                    found += said[max(0, place - 1) : place + 2]
            if at + 1 < len(self.transcript.messages) and at + 1 in self.cited:
                found += self.transcript.sentences[at + 1][:1]
        return found or list(supporters)


@dataclass(frozen=True)
class _Value:
    """A number or a name that something is said of."""

    kind: str
    key: str
    shown: str = field(compare=False)


def _names_in(text: str) -> frozenset[str]:
    """The identifiers of a text, in small letters."""
    tokens = (token.strip("/.:()").casefold() for token in re.findall(r"[\w./@:#-]*\w", text))
    return frozenset(
        token
        for token in tokens
        if len(token) > 2 and not token[0].isdigit() and (token.startswith("-") or invented(token, ""))
    )


def _named_in(names: frozenset[str], text: str) -> int:
    """How much more a sentence weighs that holds some of these names."""
    said = text.casefold()
    return 2 * sum(name in said for name in names)


def _slot(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """What a sentence is about, and what it says of it: “The port is 8080”, “Second half: carols”."""
    match = _SLOT.match(text)
    if match is None:
        return None
    about, said = frozenset(terms(match["about"])), _weighed(match["said"])
    return (about, said) if 0 < len(about) <= 4 and said else None


def _weighed(text: str) -> frozenset[str]:
    """The words and numbers of a text."""
    return frozenset(terms(text)) | frozenset(form for number in numbers(text) for form in number.forms)


def _short_year(number: Number, pieces: frozenset[str]) -> bool:
    """Whether a year stands there by its last two digits."""
    return any(
        len(form) == 4 and form[:2] in ("19", "20") and str(int(form[2:])) in pieces
        for form in number.forms
        if form.isdecimal()
    )


def _bare(clause: Clause, held: frozenset[_Value]) -> frozenset[str]:
    names = {stem(value.key) for value in held} | {value.key for value in held}
    return frozenset(word for word in clause.words if word not in names and not word.isdigit())


def _rival(
    value: _Value,
    words: frozenset[str],
    held: frozenset[_Value],
    whole: frozenset[_Value],
    source: Sequence[tuple[Clause, frozenset[_Value], Sentence]],
    speakers: frozenset[str],
) -> str:
    """A clause that says these words of another value of the same kind, while none that holds `value` says any."""
    if value.key in speakers:
        return ""
    here = [(clause, values, one) for clause, values, one in source if value in values]
    if not here:
        return ""
    if any(
        not (bare := _bare(clause, values)) or _shared(words, bare) or len(held & values) > 1
        for clause, values, _ in here
    ):
        return ""
    if any(one.speaker.casefold() in {other.key for other in held} for _, _, one in here):
        return ""
    least = max(1, round(0.4 * len(words)))
    for clause, values, one in source:
        if one.code:
            continue
        other = [each for each in values if each.kind == value.kind and each not in whole]
        if other and value not in values and len(_shared(words, _bare(clause, values))) >= least:
            return clause.text
    return ""


def _mixed(
    held: frozenset[_Value],
    whole: frozenset[_Value],
    source: Sequence[tuple[Clause, frozenset[_Value], Sentence]],
) -> str:
    """A clause that pairs one of two values with another than the line does, and so of the second."""
    for one in held:
        for two in held:
            if one.kind >= two.kind or any(one in values and two in values for _, values, _ in source):
                continue
            first = _paired(one, two, whole, source)
            if first and _paired(two, one, whole, source):
                return first
    return ""


def _paired(
    value: _Value,
    other: _Value,
    whole: frozenset[_Value],
    source: Sequence[tuple[Clause, frozenset[_Value], Sentence]],
) -> str:
    """A clause of this value with one like the other, where all that hold the value have such a one."""
    holding = [(clause, values) for clause, values, _ in source if value in values]
    if holding and all(
        any(each.kind == other.kind and each not in whole for each in values) for _, values in holding
    ):
        return holding[0][0].text
    return ""


def _crossed(
    mine: Sequence[tuple[Clause, frozenset[_Value]]],
    source: Sequence[tuple[Clause, frozenset[_Value], Sentence]],
) -> str:
    """A clause whose number the line says of another, which in turn has the number of this one."""

    def pairs(clauses: Sequence[tuple[str, frozenset[_Value]]]) -> dict[str, set[_Value]]:
        found: dict[str, set[_Value]] = {}
        for text, values in clauses:
            for word in {word.casefold() for word in _WORD.findall(text)}:
                found.setdefault(word, set()).update(one for one in values if one.kind.startswith("number"))
        return found

    numbered = [
        (clause.text, values)
        for clause, values in mine
        if any(one.kind.startswith("number") for one in values)
    ]
    if len(numbered) < 2:
        return ""
    told, said = pairs(numbered), pairs([(clause.text, values) for clause, values, _ in source])
    words = [word for word in told if word in said and said[word] and told[word].isdisjoint(said[word])]
    for word in words:
        for other in words:
            if (
                word != other
                and told[word] <= said[other]
                and told[other] <= said[word]
                and told[word] != told[other]
            ):
                return next(clause.text for clause, _, _ in source if word in clause.text.casefold())
    return ""


def _opposite(part: str, supporters: Sequence[Sentence]) -> str:
    """A sentence that says the opposite word of one in the line, where neither says the other's."""
    mine = {word.casefold() for word in _WORD.findall(part)}
    for one in supporters:
        said = {word.casefold() for word in _WORD.findall(one.text)}
        for word in mine - said:
            turned = _OPPOSITES.get(word, frozenset()) & said - mine
            prefixed = {
                f"{prefix}{word}" for prefix in ("un", "in", "im", "ir", "il", "dis", "non")
            } & said - mine
            stripped = {
                word.removeprefix(prefix)
                for prefix in ("un", "in", "im", "dis", "non")
                if word.startswith(prefix)
            } & said - mine
            if (
                len(word) > 4
                and (prefixed or {rest for rest in stripped if len(rest) > 4})
                and not denies(one.text)
            ):
                return one.text
            if turned:
                return one.text
        for left, right in _WIDE_OPPOSITES:
            if (left in part and right not in part and right in one.text and left not in one.text) or (
                right in part and left not in part and left in one.text and right not in one.text
            ):
                return one.text
    return ""


def _shared(mine: frozenset[str], said: frozenset[str]) -> frozenset[str]:
    """Words of a line that stand in a source, in any form: “scraping”, “scrapes”."""
    found = mine & said
    rest = [word for word in mine - found if len(word) > 4 and word.isalpha()]
    if not rest:
        return found
    heads = {other[:5] for other in said if len(other) > 4}
    return found | {word for word in rest if word[:5] in heads}


def _plain(text: str) -> str:
    """A text as quotations are compared: without emphasis, with plain quotation marks, white space folded."""
    plain = re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", text.translate(_PLAIN_QUOTES))
    return re.sub(r" (?=[.,;:!?')\"])|(?<=[(\"]) ", "", " ".join(plain.split()).casefold())


def _holds(said: str, name: str) -> bool:
    """Whether a name stands in a text, and not as the beginning of a longer one."""
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w]|[.-]\w)", said) is not None or (
        re.search(rf"(?<![\w]){re.escape(name)}(?!\w)", said) is not None and not re.search(r"[.\-_/]", name)
    )


def _holds_form(said: str, form: str) -> bool:
    return form in said if form.startswith(".") else _holds(said, form)


def _holds_stem(said: str, word: str) -> bool:
    root = stem(word)
    return root in said if len(root) > 3 else _holds(said, word)
