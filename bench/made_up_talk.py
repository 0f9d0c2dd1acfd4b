"""Small talk in English and Chinese, made up with a fixed seed: every third answer states who, when or how much."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.merge_cases import Role, chain
from forky_core.model import Message

DIALOGUES = 40
TURNS = 30

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
