"""Blind reading by people: prints branches with what the methods made of them, and counts the verdicts.

Each branch is a Markdown file with its blocks under letters, shuffled anew for each branch. Which letter is which
method stands in a key beside the folder, which readers do not open. A reader fills in one form.csv; several readers
each fill in a copy.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal, cast, get_args

from bench.mergebench import ours, talk
from bench.mergebench.agent_logs import sessions
from bench.mergebench.case import Case, Split, Turn
from bench.mergebench.hindsight import coding_log
from bench.mergebench.methods import OURS
from bench.mergebench.run import Run
from bench.mergebench.sources import folder
from bench.mergebench.table import Cell, Table, Tally
from forky_core.llm.tokens import estimate_tokens

Kind = Literal["code", "agents", "talk", "meetings"]

LEAST, MOST = 900, 2_600
"""Tokens of a branch that is read."""
LEAST_TALK = 600
"""The same for talk: hardly a session of LoCoMo has more than 900."""
SHARE = 0.2
ROWS = (OURS, "rarity coverage", "last answer", "random lines")
TRUNK_END = 1_200
"""Characters of the trunk that stand above a branch."""
FORM = ("branch", "block", "score", "rank", "misinforms", "note")
_YES = frozenset({"yes", "y", "true", "1", "x"})
_NO = frozenset({"no", "n", "false", "0", ""})

INSTRUCTIONS = """\
# Reading

Each file shows a branch of a conversation and, below it, what several methods made of it in a fifth of its tokens. You
are about to go on with the conversation above the branch, and the block is all that you will have of the branch.

Read the branch first, then every block, and fill in form.csv, one row for each block:

- score: 0 to 10. Would you trust this block, and find in it what you need to go on?
- rank: 1 for the best block of the branch; equal blocks share a rank.
- misinforms: yes, where somebody who reads only the block would believe something false (a claim without the line that
  took it back, one person's words as another's, a plan as a fact); else no.
- note: a few words, at least where it misinforms.

Do not look into the key beside this folder before you are done.
"""


class BadForm(ValueError):
    """A form is not filled in, or does not fit its key."""


@dataclass(frozen=True, slots=True)
class Read:
    """One verdict: what one reader says of one block."""

    reader: str
    branch: str
    kind: Kind
    method: str
    score: float
    rank: float
    misinforms: bool
    note: str = ""


def branches(split: Split, count: int, seed: int = 1) -> list[tuple[Kind, Case]]:
    """So many branches, of each kind equally many where there are enough, each of another source as far as possible.

    The choice depends on the seed alone.
    """
    pools = [(kind, _spread(found, seed)) for kind, found in _every(split).items()]
    chosen: list[tuple[Kind, Case]] = []
    at = 0
    while len(chosen) < count and any(at < len(pool) for _, pool in pools):
        chosen += [(kind, pool[at]) for kind, pool in pools if at < len(pool)]
        at += 1
    return chosen[:count]


def _every(split: Split) -> dict[Kind, list[Case]]:
    return {
        "code": [one.case for one in coding_log(split) if LEAST <= one.case.tokens <= MOST],
        "agents": list(_of_agents(split)),
        "talk": [case for case in _cases(talk.locomo(split)) if LEAST_TALK <= case.tokens <= MOST],
        "meetings": list(_of_meetings(split)),
    }


def _cases(questions: Iterable[talk.Question]) -> list[Case]:
    return list({question.case.id: question.case for question in questions}.values())


def _of_agents(split: Split) -> Iterator[Case]:
    """Sides of one to three user turns, not at the beginning of a session."""
    for name, turns in sessions(split):
        asked = [at for at, turn in enumerate(turns) if turn.role == "user"]
        for start in range(1, len(asked)):
            for length in (3, 2, 1):
                end = asked[start + length] if start + length < len(asked) else len(turns)
                side = turns[asked[start] : end]
                case = Case(f"agents-{name}-{start}-{length}", name, "en", split, turns[: asked[start]], side)
                if LEAST <= case.tokens <= MOST and any(turn.role == "assistant" for turn in side):
                    yield case
                    break


def _of_meetings(split: Split) -> Iterator[Case]:
    """What was said on one topic of a meeting."""
    parts = ("test",) if split == "test" else ("train", "val")
    for part in parts:
        for file in sorted((folder("qmsum") / "data" / "ALL" / part).glob("*.json")):
            read = talk.meeting(file)
            turns = talk.meeting_turns(read["meeting_transcripts"])
            for number, topic in enumerate(read["topic_list"]):
                start, end = map(int, topic["relevant_text_span"][0])
                name = f"qmsum-{file.stem}-{number}"
                case = Case(name, file.stem, "en", split, turns[:start], turns[start : end + 1])
                if LEAST <= case.tokens <= MOST:
                    yield case


def _spread(cases: Sequence[Case], seed: int) -> list[Case]:
    """The cases by a hash; the first of every source, then the second of every source, and so on."""
    places: dict[str, int] = {}
    rows: list[tuple[int, int, Case]] = []
    for case in sorted(cases, key=lambda case: _hash(seed, case.id)):
        places[case.source] = places.get(case.source, -1) + 1
        rows.append((places[case.source], len(rows), case))
    return [case for _, _, case in sorted(rows, key=lambda row: row[:2])]


def _hash(*parts: object) -> str:
    return sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


def write(
    run: Run,
    chosen: Sequence[tuple[Kind, Case]],
    rows: Sequence[str],
    into: Path,
    *,
    seed: int = 1,
    headings: bool,
) -> Path:
    """Write a file for each branch, instructions and an empty form into a folder; the path of the key beside it."""
    into.mkdir(parents=True, exist_ok=True)
    (into / "README.md").write_text(INSTRUCTIONS, "utf-8")
    key: dict[str, dict[str, object]] = {}
    with (into / "form.csv").open("w", encoding="utf-8", newline="") as form:
        writer = csv.writer(form)
        writer.writerow(FORM)
        for number, (kind, case) in enumerate(chosen, 1):
            name = f"{number:02}"
            order = sorted(rows, key=partial(_hash, seed, case.id))
            letters = {chr(ord("A") + at): row for at, row in enumerate(order)}
            blocks = {
                letter: ours.without_signs(run.write(row, case, case.budget(SHARE)), headings=headings)
                for letter, row in letters.items()
            }
            (into / f"{name}.md").write_text(_page(name, case, blocks), "utf-8")
            key[name] = {"case": case.id, "kind": kind, "blocks": letters}
            writer.writerows([name, letter, "", "", "", ""] for letter in letters)
    beside = into.with_name(f"{into.name}-key.json")
    beside.write_text(json.dumps(key, indent=1, ensure_ascii=False), "utf-8")
    return beside


def _page(name: str, case: Case, blocks: Mapping[str, str]) -> str:
    before = "\n\n".join(map(_shown, case.trunk))
    if len(before) > TRUNK_END:
        before = "… " + before[-TRUNK_END:]
    said = [f"# Branch {name}", f"{case.tokens} tokens."]
    if before:
        said += ["## Before the branch (known to the reader)", before]
    said += ["## The branch", *map(_shown, case.side)]
    for letter, text in blocks.items():
        said += [f"## Block {letter}", f"~~~~~~text\n{text}\n~~~~~~", f"({estimate_tokens(text)} tokens)"]
    return "\n\n".join(said) + "\n"


def _shown(turn: Turn) -> str:
    who = turn.name or {"user": "Person", "assistant": "Assistant", "tool": "Tool"}[turn.role]
    if turn.role == "tool":
        return f"**Tool {turn.name}** {turn.call}\n\n~~~~~~text\n{turn.text}\n~~~~~~"
    return f"**{who}:** {turn.text}"


def verdicts(forms: Sequence[Path], key: Path) -> list[Read]:
    """What readers filled in.

    Raises:
        BadForm: a row is not filled in, or names no block of the key.
    """
    known = json.loads(key.read_text("utf-8"))
    return [read for form in forms for read in _read(form, known)]


def _read(form: Path, known: Mapping[str, Mapping[str, object]]) -> Iterator[Read]:
    with form.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            where = f"{form.name}, line {number}"
            entry = known.get((row.get("branch") or "").strip().zfill(2))
            blocks = cast("Mapping[str, str]", entry["blocks"]) if entry else {}
            letter = (row.get("block") or "").strip().upper()
            if entry is None or letter not in blocks:
                raise BadForm(f"{where}: the key has no block {letter!r} of branch {row.get('branch')!r}.")
            wrong = (row.get("misinforms") or "").strip().casefold()
            try:
                score, rank = float(row["score"]), float(row["rank"])
            except (TypeError, ValueError, KeyError) as error:
                raise BadForm(f"{where}: the score or the rank is no number.") from error
            if not 0 <= score <= 10 or rank < 1 or wrong not in _YES | _NO:
                raise BadForm(
                    f"{where}: a score goes from 0 to 10, a rank begins at 1, misinforms is yes or no."
                )
            yield Read(
                str(form),
                str(entry["case"]),
                cast("Kind", entry["kind"]),
                blocks[letter],
                score,
                rank,
                wrong in _YES,
                (row.get("note") or "").strip(),
            )


def tables(read: Sequence[Read]) -> list[Table]:
    """Scores, best-or-tied and misinforming blocks by method and kind; and who is preferred to whom."""
    readers = len({one.reader for one in read})
    found = len({one.branch for one in read})
    count = (
        f"{len(read)} verdicts of {readers} readers on {found} branches; mean [95 % interval over branches]."
    )
    by_page: dict[tuple[str, str], list[Read]] = {}
    for one in read:
        by_page.setdefault((one.reader, one.branch), []).append(one)
    scores, best, wrong, preferred = Tally(), Tally(), Tally(), Tally()
    for page in by_page.values():
        highest = max(one.score for one in page)
        for one in page:
            for head in ("all", one.kind):
                scores.add(one.method, head, one.branch, one.score)
                best.add(one.method, head, one.branch, float(one.score == highest))
                wrong.add(one.method, head, one.branch, float(one.misinforms))
            for other in page:
                if other.method != one.method:
                    won = 0.5 if one.rank == other.rank else float(one.rank < other.rank)
                    preferred.add(one.method, f"over {other.method}", one.branch, won)
    kinds = [kind for kind in get_args(Kind) if any(one.kind == kind for one in read)]
    heads = ("all", *kinds)
    methods = list(dict.fromkeys(one.method for one in read))
    return [
        scores.table("Read: score, 0 to 10", count, heads),
        best.table("Read: share of the pages on which no block scored higher", count, heads),
        wrong.table("Read: share of the blocks that misinform", count, heads),
        preferred.table(
            "Read: share of the pages on which the row is preferred, by rank; equal ranks count half",
            count,
            [f"over {method}" for method in methods],
        ),
        _notes(read),
    ]


def _notes(read: Sequence[Read]) -> Table:
    """The worst blocks first, with what their readers noted."""
    worst = sorted((one for one in read if one.note), key=lambda one: (one.score, one.branch))
    rows: dict[str, Sequence[Cell]] = {
        f"{at}. {one.branch}, {one.method}": [f"{one.score:g}", "yes" if one.misinforms else "", one.note]
        for at, one in enumerate(islice(worst, 40), 1)
    }
    return Table("Read: notes, the worst first", ("score", "misinforms", "note"), rows)
