"""What a squash keeps of dialogues without code: names, dates, numbers and quoted phrases, beside as many random lines.

Four sets. *English* and *Chinese* are made up here, with a fixed seed: small talk of one to four sentences a turn, in
which every third answer states something (who, when, how much, in which words). *Real* are the conversations of the
sample files of other people's programs, each from its root to each end, fenced code taken out. *Log* is what people and
models of the real log say to each other once fenced code and the tool's lines are taken out; people paste the output of
programs into it, so that every other line states something: it is told for comparison, with what the best choice of
lines would keep, and has no goal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.measure import Line
from bench.merge_cases import LOG, Role, chain, said, sessions
from bench.merge_peers import fill
from forky_core.dag import first_parent_path
from forky_core.errors import ForkyError
from forky_core.forky import Forky
from forky_core.formats.arriving.landing import import_file
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.lines.choosing import extract
from forky_core.merge.lines.units import units
from forky_core.model import Message

SHARE = 0.2
DIALOGUES = 40
TURNS = 30
LEAST_TOKENS = 800
LEAST_REAL_TOKENS = 150
SAMPLES = LOG.parents[1] / "samples"
DRAWS = 10
LEAST_FACTS = 5
TIMES_RANDOM = 2.0

_QUOTED = re.compile(r"[“\"`「]([^”\"`」\n]{3,60})[”\"`」]")
_DATE = r"\d{4}-\d\d-\d\d|\d{1,2} (?:January|March|May|June|October)|\d{1,2}月\d{1,2}日"
_NUMBER = re.compile(rf"{_DATE}|\d+(?:[.,:]\d+)*%?")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*")
_CHINESE_NAME = re.compile("王建国|李小红|陈思远|赵雅文|孙立平")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

_OPENINGS = (
    "I think", "It seems to me that", "As far as I can tell,", "My sister says", "Honestly,", "For what it is worth,",
    "Most people would say that", "I was told that", "We could imagine that", "It may well be that", "Perhaps",
)  # fmt: skip
_MIDDLES = (
    "the whole journey", "a quieter place", "an evening by the water", "the way we planned it", "some time to rest",
    "what the others suggested", "a simple meal together", "the long way around", "going there by train",
    "a garden behind the house", "less luggage than before",
)  # fmt: skip
_ENDINGS = (
    "would be nice for everyone.", "sounds better than last year.", "might take longer than expected.",
    "is worth another thought.", "could be just right.", "has its own charm.", "would make the days easier.",
    "is not everybody's idea of fun.", "feels like a good start.", "can still be changed later.",
)  # fmt: skip
_PEOPLE = (
    "Marta Kowalska",
    "Jonas Lind",
    "Priya Nair",
    "Tom Okafor",
    "Elena Rossi",
    "Wei Zhang",
    "Aisha Bello",
)
_PLACES = ("Lisbon", "Tampere", "Nairobi", "Kraków", "Oslo", "Valencia", "Ghent")
_MONTHS = ("January", "March", "May", "June", "October")
_PHRASES = (
    "quiet hours",
    "the blue folder",
    "one room each",
    "no deposit needed",
    "late arrival",
    "shared kitchen",
)
_CHINESE_OPENINGS = ("我觉得", "其实", "听别人说", "一般来说", "说实话", "可能", "大家都认为", "老实讲")
_CHINESE_MIDDLES = (
    "坐火车去",
    "住在湖边",
    "早一点出发",
    "带少一些行李",
    "一起吃顿饭",
    "走远一点的路",
    "多休息几天",
)
_CHINESE_ENDINGS = (
    "会比较舒服。",
    "比去年好得多。",
    "也许需要更长时间。",
    "值得再想一想。",
    "挺有意思的。",
    "以后还可以改。",
)
_CHINESE_PEOPLE = ("王建国", "李小红", "陈思远", "赵雅文", "孙立平")


def _fact(draw: random.Random) -> str:
    day, amount = draw.randint(1, 28), draw.randint(11, 989)
    return draw.choice((
        f"The booking is with {draw.choice(_PEOPLE)} for {day} {draw.choice(_MONTHS)}.",
        f"It will cost {amount} euros, which {draw.choice(_PEOPLE)} has agreed to.",
        f"The contract calls it “{draw.choice(_PHRASES)}” and it starts on 2027-0{draw.randint(1, 9)}-{day:02}.",
        f"We meet in {draw.choice(_PLACES)} at {draw.randint(8, 20)}:{draw.randint(10, 59)}, room {amount}.",
    ))  # fmt: skip


def small_talk(draw: random.Random) -> str:
    """A sentence that states nothing."""
    return " ".join(map(draw.choice, (_OPENINGS, _MIDDLES, _ENDINGS)))


def _chinese_fact(draw: random.Random) -> str:
    day, amount = draw.randint(1, 28), draw.randint(11, 989)
    return draw.choice((
        f"预订人是{draw.choice(_CHINESE_PEOPLE)},时间是{draw.randint(1, 12)}月{day}日。",
        f"费用一共{amount}元,{draw.choice(_CHINESE_PEOPLE)}已经同意了。",
        f"合同里写的是「{draw.choice(('安静时间', '蓝色文件夹', '每人一间', '不需要押金'))}」,编号{amount}。",
    ))  # fmt: skip


def made_up(chinese: bool) -> Iterator[tuple[Message, ...]]:  # noqa: FBT001 (one of two languages)
    english, chinese_pools = (
        (_OPENINGS, _MIDDLES, _ENDINGS),
        (_CHINESE_OPENINGS, _CHINESE_MIDDLES, _CHINESE_ENDINGS),
    )
    pools, glue, fact = (chinese_pools, "", _chinese_fact) if chinese else (english, " ", _fact)
    for number in range(DIALOGUES):
        draw = random.Random(number)
        turns: list[tuple[Role, str]] = []
        for turn in range(TURNS):
            sentences = [glue.join(map(draw.choice, pools)) for _ in range(draw.randint(1, 4))]
            if turn % 6 == 5:
                sentences.insert(draw.randint(0, len(sentences)), fact(draw))
            turns.append(("assistant" if turn % 2 else "user", glue.join(sentences)))
        yield chain(turns)


def from_the_log() -> Iterator[tuple[Message, ...]]:
    for turns in sessions(LOG.read_text("utf-8")) if LOG.exists() else ():
        whole: list[tuple[Role, str]] = []
        for role, text in turns:
            if role != "tool":
                same = whole and whole[-1][0] == role
                whole[-1:] = [(role, f"{whole[-1][1]}\n{text}")] if same else [*whole[-1:], (role, text)]
        path = chain([(role, _FENCED.sub("", text)) for role, text in whole])
        if sum(estimate_tokens(message.text) for message in path) >= LEAST_TOKENS:
            yield path


def facts(text: str) -> frozenset[str]:
    """Names, dates, numbers and quoted phrases."""
    found = {match.strip() for pattern in (_QUOTED, _NAME, _CHINESE_NAME) for match in pattern.findall(text)}
    return frozenset(found | {match for match in _NUMBER.findall(text) if len(match) > 1})


def real() -> Iterator[tuple[Message, ...]]:
    """Every path of the sample files that talks for a while."""
    for file in sorted(SAMPLES.glob("*/*")) if SAMPLES.exists() else ():
        with Forky.open(":memory:") as forky:
            try:
                arrived = import_file(forky, file)
            except ForkyError:
                continue  # A schema beside the samples is no conversation.
            for id in arrived.conversations:
                known = forky.conversation(id).visible.messages
                inner = {parent for message in known.values() for parent in message.parents[:1]}
                for tip in sorted(set(known) - inner):
                    path = [known[one] for one in first_parent_path(tip, lambda id: known[id].parents)]  # noqa: B023
                    talk = [
                        (m.role, _FENCED.sub("", m.text)) for m in path if m.text.strip() and not m.hidden
                    ]
                    said_by: list[tuple[Role, str]] = [
                        (role, text) for role, text in talk if role in ("user", "assistant")
                    ]
                    if sum(estimate_tokens(text) for _, text in said_by) >= LEAST_REAL_TOKENS:
                        yield chain(said_by)


@dataclass(frozen=True, slots=True)
class Kept:
    """Shares of the facts of one dialogue."""

    ours: float
    random: float
    """The mean of DRAWS draws."""
    best: float
    """A greedy choice that knows the facts."""


def kept(dialogue: Sequence[Message]) -> Kept | None:
    """None where there are hardly any facts."""
    whole = facts(said(dialogue))
    if len(whole) < LEAST_FACTS:
        return None
    budget = int(sum(estimate_tokens(message.text) for message in dialogue) * SHARE)
    pieces = list(dict.fromkeys(unit.text for unit in units(dialogue)))
    mine = [line.text for line in extract(dialogue, (), budget)]
    draws = [fill(random.Random(seed).sample(pieces, len(pieces)), budget) for seed in range(DRAWS)]
    return Kept(
        _share(whole, mine),
        fmean(_share(whole, draw) for draw in draws),
        _share(whole, _best(pieces, whole, budget)),
    )


def _best(pieces: Sequence[str], whole: frozenset[str], budget: int) -> list[str]:
    """The piece with the most new facts for its length first."""
    holds = {piece: {fact for fact in whole if _says(piece, fact)} for piece in pieces}
    left, have, chosen = set(pieces), set[str](), list[str]()
    while left:
        piece = max(left, key=lambda one: (len(holds[one] - have) / (len(one.encode()) + 1), one))
        left.discard(piece)
        if holds[piece] - have and len(fill([*chosen, piece], budget)) > len(chosen):
            chosen.append(piece)
            have |= holds[piece]
        left = {one for one in left if holds[one] - have}
    return chosen


def _share(wanted: frozenset[str], lines: Sequence[str]) -> float:
    text = "\n".join(lines)
    return sum(_says(text, fact) for fact in wanted) / len(wanted)


def _says(text: str, fact: str) -> bool:
    """Whole: “10” is not said by “2010”."""
    return fact in text and (
        not fact.isascii() or re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text) is not None
    )


def prose_lines() -> list[Line]:
    sets = {
        "English": made_up(chinese=False),
        "Chinese": made_up(chinese=True),
        "real": real(),
        "log, prose only": from_the_log(),
    }
    lines: list[Line] = []
    for name, dialogues in sets.items():
        found = [shares for dialogue in dialogues if (shares := kept(dialogue)) is not None]
        if found:
            ours, other, best = (
                fmean(getattr(one, column) for one in found) for column in ("ours", "random", "best")
            )
            goal = None if name.startswith("log") else TIMES_RANDOM
            title = f"facts kept of {len(found)} dialogues: {name} | random"
            lines.append(Line(title, ours, other, goal, "", at_least=True))
            lines.append(Line("– the best choice | random", best, other, None, ""))
    return lines
