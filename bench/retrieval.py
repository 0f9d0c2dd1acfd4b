"""Finding passages: how good on Cranfield beside bm25s and SQLite's FTS5, how quick, and how much it takes to read in.

Cranfield (1,400 abstracts, 225 questions) is read from ../shared/retrieval; where that is absent its lines are left
out. All three rank the same text. bm25s runs as its documentation shows it (English stop words), and once more with
the stemmer it can be given, where that is installed; FTS5 with its plain and with its Porter tokenizer.
"""

from __future__ import annotations

import json
import math
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

import bm25s
import psutil

from bench.measure import Line, elapsed, report
from bench.pdf_pages import write_pdf
from forky_core.documents.shelf import DocumentShelf, WorkspacePlace
from forky_core.documents.source import source_of_bytes
from forky_core.store.duckdb.store import DuckDBStore

COLLECTION = Path(__file__).resolve().parent.parent.parent / "shared" / "retrieval"
Search = Callable[[str], list[int]]
_TOP = 10


def lines(*, quick: bool) -> list[Line]:
    found: list[Line] = []
    with tempfile.TemporaryDirectory() as folder:
        if COLLECTION.exists():
            found += _quality(Path(folder))
        else:
            print("no Cranfield collection beside the checkout: quality is not measured")
        found += _adding(Path(folder), 5_000 if quick else 100_000)
        found += _pages(Path(folder), 400 if quick else 10_000)
    return found


# Quality


def _quality(folder: Path) -> list[Line]:
    texts = {int(one["id"]): one["body"] for one in _read("cran_docs.json") if one["body"].strip()}
    questions = [one["query"] for one in _read("cran_queries.json")]
    gains: dict[int, dict[int, int]] = defaultdict(dict)
    for one in _read("cran_qrels.json"):
        gains[int(one["query_num"])][int(one["id"])] = 5 - int(one["position"])
    with DuckDBStore.open(folder / "cranfield.duckdb") as store:
        peers: dict[str, Search] = {"ours": _ours(store, texts), **_peers(texts)}
        scores = {name: _ndcg(search, questions, gains) for name, search in peers.items()}
        times = _times(peers, questions[:60])
    found = [
        Line(f"nDCG@10 on Cranfield, beside {name}", scores["ours"], score, 1.0, "", at_least=True)
        for name, score in scores.items()
        if name != "ours"
    ]
    return found + [
        Line(f"one question over 1,400 abstracts, beside {name}", times["ours"], spent, None)
        for name, spent in times.items()
        if name != "ours"
    ]


def _read(name: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((COLLECTION / name).read_text("utf-8"))
    return found


def _ndcg(search: Search, questions: Sequence[str], gains: Mapping[int, Mapping[int, int]]) -> float:
    """The mean over all questions; the ideal is the ten best judged documents."""
    scores = []
    for number, question in enumerate(questions, 1):
        judged = gains[number]
        got = sum(judged.get(id, 0) / math.log2(rank + 2) for rank, id in enumerate(search(question)[:_TOP]))
        best = sorted(judged.values(), reverse=True)[:_TOP]
        scores.append(got / sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best)))
    return sum(scores) / len(scores)


def _times(peers: Mapping[str, Search], questions: Sequence[str]) -> dict[str, float]:
    """Median milliseconds of a question, the peers taking turns."""
    times: dict[str, list[float]] = {name: [] for name in peers}
    for question in questions:
        for name, search in peers.items():
            times[name].append(elapsed(lambda search=search, question=question: search(question)))  # type: ignore[misc]
    return {name: median(kept) for name, kept in times.items()}


def _ours(store: DuckDBStore, texts: Mapping[int, str]) -> Search:
    shelf = DocumentShelf(store.documents, WorkspacePlace(store.documents))
    # A name is what tells two abstracts with the same words apart.
    shelf.add_sources([source_of_bytes(f"{id}.txt", text.encode()) for id, text in texts.items()])
    store.rest()

    def search(question: str) -> list[int]:
        found = shelf.retrieve(question, 3 * _TOP)
        return list(dict.fromkeys(int(one.document.name.removesuffix(".txt")) for one in found))

    return search


def _peers(texts: Mapping[int, str]) -> dict[str, Search]:
    found = {
        "bm25s": _bm25s(texts, None),
        "FTS5": _fts5(texts, "unicode61"),
        "FTS5, porter": _fts5(texts, "porter unicode61"),
    }
    try:
        from Stemmer import Stemmer  # noqa: PLC0415 - only where somebody has it
    except ImportError:
        return found
    return found | {"bm25s, PyStemmer": _bm25s(texts, Stemmer("english"))}


def _bm25s(texts: Mapping[int, str], stemmer: object) -> Search:
    ids = list(texts)
    given = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(texts.values()), **given), show_progress=False)

    def search(question: str) -> list[int]:
        words = bm25s.tokenize([question], return_ids=False, **given)
        found, _ = index.retrieve(words, k=_TOP, show_progress=False)
        return [ids[int(at)] for at in found[0]]

    return search


def _fts5(texts: Mapping[int, str], tokenizer: str) -> Search:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = '{tokenizer}')")
    database.executemany("INSERT INTO texts (rowid, body) VALUES (?, ?)", texts.items())

    def search(question: str) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        query = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in database.execute(query, (words, _TOP))]

    return search


# Adding one document to many


def _adding(folder: Path, chunks: int) -> list[Line]:
    words = _vocabulary()
    with DuckDBStore.open(folder / "many.duckdb") as store:
        shelf = DocumentShelf(store.documents, WorkspacePlace(store.documents))
        per = 1_000
        for first in range(0, chunks, per):
            shelf.extend(_text(words, first + at) for at in range(per))
        store.rest()
        spent = [_processor(lambda at=at: shelf.append(_text(words, chunks + at))) for at in range(25)]  # type: ignore[misc]
        asked = [
            _processor(lambda at=at: shelf.retrieve(_text(words, -at)[:60], 5))  # type: ignore[misc]
            for at in range(1, 26)
        ]
        count = store.documents.within(WorkspacePlace(store.documents).reach())[1]
    return [
        Line(f"add one document to {chunks:,} chunks (of {count:,})", median(spent), 50.0, 1.0),
        Line(f"one question over {chunks:,} chunks; theirs is a goal of ours", median(asked), 250.0, 1.0),
    ]


def _processor(call: Callable[[], object]) -> float:
    """Milliseconds of the processor, which other programs on its cores do not change."""
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1000


def _vocabulary() -> list[str]:
    dice = random.Random(6)
    return [
        "".join(dice.choice("abcdefghijklmnoprstuvw") for _ in range(dice.randint(3, 9)))
        for _ in range(60_000)
    ]


def _text(words: Sequence[str], number: int) -> str:
    """Some 120 words, spread as in a language: few of them very often."""
    dice = random.Random(number)
    return " ".join(words[min(int(dice.paretovariate(0.6)) - 1, len(words) - 1)] for _ in range(120))


# A large set of PDFs


def _pages(folder: Path, pages: int) -> list[Line]:
    per = min(pages, 1_000)
    words = _vocabulary()
    files = [folder / f"volume {number}.pdf" for number in range(pages // per)]
    for number, file in enumerate(files):
        write_pdf(file, (_lines(_text(words, number * per + page)) for page in range(per)))
    process = psutil.Process()
    with DuckDBStore.open(folder / "pages.duckdb") as store:
        shelf = DocumentShelf(store.documents, WorkspacePlace(store.documents))
        shelf.append("A first text, so that everything is loaded.")
        before = peak = process.memory_info().rss
        tenth = 0
        told = 0

        def tell(_: object) -> None:
            nonlocal peak, told, tenth
            told += 1
            peak = max(peak, process.memory_info().rss)
            if told == pages // 10:
                tenth = peak

        start = time.perf_counter()
        added = shelf.add_documents(files, tell=tell)
        spent = time.perf_counter() - start
        assert len(added.documents) == len(files), added.refused
    grown, grown_tenth = (peak - before) / 1e6, (tenth - before) / 1e6
    return [
        Line(f"read in {pages:,} pages of PDF", spent, spent, None, "s"),
        Line(f"memory for {pages:,} pages, beside a tenth of them", grown, grown_tenth, 3.0, "MB"),
    ]


def _lines(text: str) -> Iterable[str]:
    words = text.split()
    return [" ".join(words[at : at + 10]) for at in range(0, len(words), 10)]


if __name__ == "__main__":
    sys.exit(0 if report(list(lines(quick="--quick" in sys.argv))) else 1)
