"""Talk between people with questions that were asked of it: LoCoMo's conversations and QMSum's meetings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bench.mergebench.case import Case, Role, Split, Turn, content
from bench.mergebench.sources import folder
from forky_core.text.words import terms

_EVIDENCE = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A case with one thing that was asked of it."""

    case: Case
    words: frozenset[str]
    """Stems of the gold answer's content words that stand where its evidence is, so that they could be kept."""


def kept(question: Question, payload: frozenset[str]) -> float:
    """The share of the answer's words that a payload, as stems, holds."""
    return len(question.words & payload) / len(question.words)


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def locomo(split: Split) -> list[Question]:
    """Questions whose evidence lies in one session of a conversation; () where the file is absent.

    Conversations at even places are the development half, the others the test half. The session is the side; nothing
    was said before it. Questions that have no answer (category 5) are left out.
    """
    file = folder("locomo") / "data" / "locomo10.json"
    if not file.is_file():
        return []
    every: Sequence[Mapping[str, Any]] = json.loads(file.read_text("utf-8"))
    chosen = every[1::2] if split == "test" else every[::2]
    return [question for talk in chosen for question in _asked_of_sessions(talk, split)]


def _asked_of_sessions(talk: Mapping[str, Any], split: Split) -> Iterator[Question]:
    said = talk["conversation"]
    cases: dict[str, Case] = {}
    for asked in talk["qa"]:
        sessions = {number for number, _ in _EVIDENCE.findall(" ".join(asked["evidence"]))}
        if len(sessions) != 1 or "answer" not in asked or asked["category"] == 5:
            continue
        number = sessions.pop()
        if number not in cases and (turns := said.get(f"session_{number}")):
            side = _as_turns(turns, "text", said["speaker_a"])
            source = talk["sample_id"]
            cases[number] = Case(f"locomo-{source}-{number}", source, "en", split, (), side)
        if number in cases:
            case = cases[number]
            if words := stems(str(asked["answer"])) & stems(content(case.side)):
                yield Question(case, words)


def qmsum(split: Split, *, quick: bool = False) -> list[Question]:
    """The specific queries of QMSum's meetings; () where the files are absent.

    Training and validation are the development half, `quick` takes validation alone; test is the test half, which is
    fetched only where somebody asks for it. The meeting is the side.
    """
    parts = ("test",) if split == "test" else ("val",) if quick else ("train", "val")
    files = [
        file for part in parts for file in sorted((folder("qmsum") / "data" / "ALL" / part).glob("*.json"))
    ]
    return [question for file in files for question in _asked_of_meeting(file, split)]


def meeting(file: Path) -> Mapping[str, Any]:
    """A meeting as its file has it."""
    found: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def _asked_of_meeting(file: Path, split: Split) -> Iterator[Question]:
    read = meeting(file)
    side = meeting_turns(read["meeting_transcripts"])
    case = Case(f"qmsum-{file.stem}", file.stem, "en", split, (), side)
    for asked in read["specific_query_list"]:
        span = [
            turn.text
            for start, end in asked["relevant_text_span"]
            for turn in side[int(start) : int(end) + 1]
        ]
        if words := stems(asked["answer"]) & stems("\n".join(span)):
            yield Question(case, words)


def meeting_turns(rows: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """The turns of a meeting: whoever speaks first is the person, all others answer."""
    return _as_turns(rows, "content", rows[0]["speaker"] if rows else "")


def _as_turns(rows: Iterable[Mapping[str, Any]], key: str, person: str) -> tuple[Turn, ...]:
    found = []
    for row in rows:
        role: Role = "user" if row["speaker"] == person else "assistant"
        found.append(Turn(role, row[key], row["speaker"]))
    return tuple(found)
