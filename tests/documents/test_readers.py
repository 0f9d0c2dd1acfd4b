"""A document is read in a process of its own, within limits; a hostile one costs that process and a sentence."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from typing import NamedTuple

import psutil
import pytest

from forky_core.documents import reader_process
from forky_core.documents.adding import add_all
from forky_core.documents.extraction import extracted
from forky_core.documents.limits import Limits, limits_for
from forky_core.documents.readers import SMALL, Readers
from forky_core.documents.registry import kind_of
from forky_core.documents.shelf import DocumentShelf, WorkspacePlace
from forky_core.documents.source import DocumentSource, source_of_bytes, source_of_file
from forky_core.model.errors import BadContent
from forky_core.store.memory.store import MemoryStore
from tests.documents import bombs
from tests.documents.files import docx, pdf
from tests.hangs import HANG, eventually

ROOT = Path(__file__).parents[2]
TABLE = b"part;price\n" + b"pump;12,50\n" * 100
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def readers() -> Iterator[Readers]:
    made = Readers(most=2)
    yield made
    made.close()


def limited(**limits: float) -> Callable[[int], Limits]:
    return lambda size: replace(limits_for(size), **limits)  # type: ignore[arg-type]


def why_not(readers: Readers, name: str, content: bytes) -> str:
    """The sentence with which a document is refused."""
    with pytest.raises(BadContent) as refused:
        list(readers.read(source_of_bytes(name, content)))
    return str(refused.value)


def texts(readers: Readers, source: DocumentSource) -> list[str]:
    return [one.chunk.text for one in readers.read(source)]


def gone(process: int) -> bool:
    """Whether a process ends; it waits for that."""
    try:
        psutil.Process(process).wait(HANG)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


class Reading:
    """A document that is read in a thread, until it is stopped or ends."""

    def __init__(self, readers: Readers, name: str, content: bytes) -> None:
        self.stop = Event()
        self.why = ""
        self._source = source_of_bytes(name, content)
        self._readers = readers
        before = set(readers.processes)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        eventually(lambda: set(readers.processes) - before or not self._thread.is_alive())
        self.process = next(iter(set(readers.processes) - before))

    @property
    def busy(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> str:
        self._thread.join(HANG)
        assert not self._thread.is_alive()
        return self.why

    def _read(self) -> None:
        try:
            list(self._readers.read(self._source, self.stop))
        except BadContent as error:
            self.why = str(error)


@pytest.fixture(scope="module")
def exploding() -> bytes:
    made = bombs.docx_that_explodes()
    assert len(made) < 120_000
    return made


# What is read


def ordinary(folder: Path) -> list[DocumentSource]:
    return [
        source_of_bytes("manual.pdf", pdf(folder, "The pump needs oil.", "Every\nspring.")),
        source_of_bytes("care.docx", docx(("Heading1", "Care"), ("Normal", "Oil the “pump”."))),
        source_of_bytes("boats.html", "<h1>Boats</h1><p>Größe 漢字 &#xD83D; \N{SAILBOAT}".encode()),
        source_of_bytes("prices.csv", TABLE),
        source_of_bytes("long.txt", ("A sentence. " * 40 + "\n\n").encode() * 200),
        source_of_bytes("größe.txt", "Die Größe des Schlauchs. ".encode("cp1252") * 20),
        source_of_bytes("boats.py", b"def sail():\n    pass\n" * 5_000),
    ]


def test_another_process_finds_what_this_one_would(readers: Readers, tmp_path: Path) -> None:
    for source in ordinary(tmp_path):
        kind = kind_of(source)
        found = list(readers.read(source))
        assert [(one.kind, one.chunk, one.done) for one in found] == [
            (kind.name, chunk, done) for chunk, done in extracted(source, kind)
        ]
        assert found and readers.processes


def test_a_file_is_read_where_it_lies_whatever_its_name(readers: Readers, tmp_path: Path) -> None:
    names = ["prices.csv", "prix “d’été”.csv", *(["a\udcff.csv"] if sys.platform == "linux" else [])]
    for name in names:
        path = tmp_path / name
        path.write_bytes(TABLE)
        assert texts(readers, source_of_file(path)) == texts(readers, source_of_bytes("a.csv", TABLE))


def test_a_file_that_goes_meanwhile_is_said_to_be_gone(readers: Readers, tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(TABLE * 100)
    source = source_of_file(path)
    path.unlink()
    with pytest.raises(BadContent, match=r"“prices.csv” cannot be read: No such file or directory\."):
        list(readers.read(source))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.docx", b"PK\x03\x04 nothing"),
        ("broken.pdf", b"%PDF-1.4 nothing at all"),
        ("blob.bin", b"abc\0\1\2" * 20_000),
        ("odd.txt", bytes(range(128, 256)) * 500),
        ("a.csv", b'a,b\n"' + b"x" * 200_000),
        ("a.csv", b'"' + b"x" * 200_000),
        ("huge.html", b"<p>" + b"x" * 30_000_001),
    ],
)
def test_a_damaged_file_is_refused_in_its_reader_s_words(readers: Readers, name: str, content: bytes) -> None:
    source = source_of_bytes(name, content)
    with pytest.raises(BadContent) as refused:
        list(extracted(source, kind_of(source)))
    assert why_not(readers, name, content) == str(refused.value)
    assert len(readers.processes) == 1, "a refusal is no reason to start another process"


def test_what_no_reader_foresaw_is_a_sentence_and_stops_none_of_the_others(
    readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = """
import forky_core.documents.reader_main as main
known = main.kind_of
def kind_of(source):
    assert source.name != "odd.html"
    return known(source)
main.kind_of = kind_of
main.main()
"""
    program = reader_process.PROGRAM.partition("from forky_core")[0]
    monkeypatch.setattr(reader_process, "PROGRAM", program + failing)
    added = add_all(
        MemoryStore().documents,
        [source_of_bytes("odd.html", b"<p>odd"), source_of_bytes("prices.csv", TABLE)],
        shelf="workspace",
        at=lambda: 0,
        readers=readers,
    )
    assert [one.name for one in added.documents] == ["prices.csv"]
    assert [one.why for one in added.refused] == [
        (
            "“odd.html” cannot be read: its content confused the reader (AssertionError). The file may be damaged. "
            "Save it anew in another program, or as plain text, and add that."
        )
    ]


# What is given up


@pytest.mark.parametrize(
    ("name", "content", "limits", "why"),
    [
        ("a.docx", bombs.docx_that_explodes, {"memory": 150_000_000}, "takes more than 150 MB of memory"),
        ("a.docx", bombs.docx_that_explodes, {"cpu_seconds": 2}, "took more than 2 seconds of the processor"),
        ("a.docx", bombs.docx_of_nested_elements, {}, "damaged.*RecursionError"),
        ("a.docx", bombs.docx_of_entities, {}, "damaged.*ExpatError"),
        ("a.docx", partial(bombs.zip_of_members, 500_000), {"memory": 150_000_000}, "150 MB of memory"),
        ("a.pdf", partial(bombs.pdf_of_pages, 90_000), {"cpu_seconds": 2}, "took more than 2 seconds"),
        ("a.pdf", partial(bombs.pdf_of_pages, 5_000), {"chunks": 100}, "makes more than 100 passages"),
        ("a.pdf", partial(bombs.pdf_of_pages, 100_001), {}, "more than pypdf reads"),
        ("a.pdf", partial(bombs.pdf_that_unpacks, 100), {}, "more than pypdf reads"),
        ("a.csv", lambda: b"h" * 90_000 + b"\n" + b"a\n" * 2_000, {}, "more than 12 million characters"),
        ("a.md", lambda: b"# a\nb\n" * 50_000, {}, "makes more than 20,000 passages"),
        ("a.docx", bombs.docx_that_explodes, {"waiting_seconds": 1}, "took more than 1 seconds"),
    ],
)
def test_a_bomb_ends_in_a_sentence_that_names_the_limit(
    name: str, content: Callable[[], bytes], limits: dict[str, float], why: str
) -> None:
    readers = Readers(limits=limited(**limits))
    try:
        with pytest.raises(BadContent, match=f"“{name}”.*{why}"):
            list(readers.read(source_of_bytes(name, content())))
    finally:
        readers.close()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"," * 1_000_000),
        ("a.csv", b'"a,' * 30_000),
        ("a.html", b"<div>" * 200_000 + b"deep"),
        ("a.html", b"<a " * 100_000),
        ("a.html", b"<!-- a " * 60_000 + b">"),
        ("a.html", b"<![<" * 100_000),
        ("a.txt", b"x" * 2_000_000),
        ("a.md", b"```\n" + b"word " * 200_000),
    ],
)
def test_what_only_looks_like_a_bomb_is_read(readers: Readers, name: str, content: bytes) -> None:
    assert texts(readers, source_of_bytes(name, content))


@pytest.mark.parametrize(
    ("limits", "why"),
    [({"memory": 150_000_000}, "150 MB of memory"), ({"cpu_seconds": 2}, "2 seconds of the processor")],
)
def test_the_limits_hold_where_the_system_cannot_limit_a_process(
    exploding: bytes, limits: dict[str, float], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlimited = "import forky_core.documents.reader_main as main; main._limit = lambda *_: None; main.main()"
    program = reader_process.PROGRAM.partition("from forky_core")[0]
    monkeypatch.setattr(reader_process, "PROGRAM", program + unlimited)
    readers = Readers(limits=limited(**limits))
    try:
        assert why in why_not(readers, "a.docx", exploding)
    finally:
        readers.close()


@on_linux
def test_the_system_holds_the_limits_where_the_reader_cannot_look(readers: Readers) -> None:
    source = source_of_bytes("prices.csv", TABLE)
    texts(readers, source)
    reader = psutil.Process(readers.processes[0])
    limits = limits_for(source.size)
    assert limits.cpu_seconds < reader.rlimit(psutil.RLIMIT_CPU)[0] < 2 * limits.cpu_seconds
    assert limits.memory < reader.rlimit(psutil.RLIMIT_AS)[0] < 2 * limits.memory
    assert reader.rlimit(psutil.RLIMIT_CORE)[0] == 0


class Cost(NamedTuple):
    """What it cost to read a document, in seconds of the processor and bytes of memory."""

    why: str
    spent: float
    grown: int
    others: int
    """The most memory that the reader had; the rest is of the program."""


def cost_of(content: bytes) -> Cost:
    """Read a DOCX file for at most 4 seconds of the processor. It needs a process with no other threads."""
    before = Readers()
    list(before.read(source_of_bytes("a.docx", docx(("Normal", "What is imported once.")))))
    before.close()
    readers = Readers(limits=limited(cpu_seconds=4, memory=3_000_000_000))
    own = psutil.Process()
    cpu_before, memory_before = time.process_time() - time.thread_time(), own.memory_info().rss
    reading = Reading(readers, "a.docx", content)
    others, grown = 0, 0
    while reading.busy:
        grown = max(grown, own.memory_info().rss - memory_before)
        try:
            others = max(others, psutil.Process(reading.process).memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.1)
    # Without this thread, which asks again and again.
    spent = time.process_time() - time.thread_time() - cpu_before
    why = reading.end()
    readers.close()
    return Cost(why, spent, grown, others)


def test_a_bomb_moves_neither_the_programs_memory_nor_its_processor_time(exploding: bytes) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        cost = pool.submit(cost_of, exploding).result(HANG)
    assert "4 seconds of the processor" in cost.why
    assert cost.spent < 4 / 4 and cost.grown < cost.others / 4, cost


def test_while_a_bomb_is_read_other_calls_go_through(readers: Readers, exploding: bytes) -> None:
    keeper = MemoryStore().documents
    shelf = DocumentShelf(keeper, WorkspacePlace(keeper), readers=readers)
    reading = Reading(readers, "a.docx", exploding)
    assert [one.name for one in shelf.add_sources([source_of_bytes("prices.csv", TABLE)]).documents]
    shelf.append("A sloop has one mast.")
    assert shelf.retrieve("Which boat has one mast?")[0].chunk.text == "A sloop has one mast."
    assert reading.busy and reading.process in readers.processes
    reading.stop.set()
    assert reading.end() == ""


def test_what_is_stopped_leaves_no_process(readers: Readers, exploding: bytes) -> None:
    reading = Reading(readers, "a.docx", exploding)
    reading.stop.set()
    assert reading.end() == "" and gone(reading.process) and readers.processes == ()


def test_what_is_stopped_while_it_waits_for_a_reader_is_never_read(exploding: bytes) -> None:
    readers = Readers(most=1)
    first = Reading(readers, "a.docx", exploding)
    stop = Event()
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(lambda: list(readers.read(source_of_bytes("a.csv", TABLE), stop)))
        stop.set()
        assert second.result(HANG) == []
    assert readers.processes == (first.process,)
    first.stop.set()
    first.end()
    readers.close()


def test_who_stops_looking_at_the_chunks_leaves_no_process(readers: Readers) -> None:
    chunks = readers.read(source_of_bytes("a.txt", TABLE * 1_000))
    next(chunks)
    (process,) = readers.processes
    chunks.close()
    assert gone(process) and readers.processes == ()


# Crashes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
@pytest.mark.parametrize(
    ("number", "why"),
    [
        (signal.SIGSEGV, "its reader crashed (signal 11)"),
        (signal.SIGXCPU, "took more than 62 seconds of the processor"),
        (signal.SIGKILL, "the system ended its reader, as it does where memory runs out"),
    ],
)
def test_a_reader_that_dies_is_a_sentence_and_the_next_document_is_read(
    readers: Readers, exploding: bytes, number: int, why: str
) -> None:
    reading = Reading(readers, "a.docx", exploding)
    os.kill(reading.process, number)
    assert why in reading.end()
    assert texts(readers, source_of_bytes("prices.csv", TABLE))


def test_a_reader_that_dies_while_it_waits_is_replaced(readers: Readers) -> None:
    source = source_of_bytes("prices.csv", TABLE)
    before = texts(readers, source)
    (process,) = readers.processes
    psutil.Process(process).kill()
    assert gone(process)
    assert texts(readers, source) == before and readers.processes != (process,)


def test_where_no_process_can_be_started_a_sentence_says_so(
    readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(ROOT / "no such python"))
    assert why_not(readers, "prices.csv", TABLE) == (
        "“prices.csv” cannot be read now: no process could be started for it (No such file or directory). "
        "Try again when the machine has less to do."
    )


# Processes


def test_one_process_reads_several_documents_but_none_after_a_bomb(exploding: bytes) -> None:
    readers = Readers(limits=lambda size: replace(limits_for(size), memory=150_000_000))
    source = source_of_bytes("prices.csv", TABLE)
    texts(readers, source)
    (first,) = readers.processes
    texts(readers, source)
    assert set(readers.processes) == {first}
    assert "150 MB of memory" in why_not(readers, "a.docx", exploding)
    assert gone(first) and not readers.processes
    assert texts(readers, source)
    readers.close()


def test_a_process_that_grew_large_reads_nothing_more(readers: Readers) -> None:
    large = source_of_bytes("a.html", b"<p>" + b"word. " * 2_000_000)
    assert texts(readers, large) and readers.processes == ()


def test_a_process_without_a_document_ends() -> None:
    readers = Readers(kept_seconds=0.1)
    texts(readers, source_of_bytes("prices.csv", TABLE))
    eventually(lambda: readers.processes == ())
    texts(readers, source_of_bytes("prices.csv", TABLE))
    eventually(lambda: readers.processes == ())
    readers.close()


def test_no_more_processes_than_allowed_read_at_a_time(readers: Readers) -> None:
    most = 0
    over = Event()

    def look() -> None:
        nonlocal most
        while not over.wait(0.001):
            most = max(most, len(readers.processes))

    looking = threading.Thread(target=look)
    looking.start()
    sources = [source_of_bytes("prices.csv", TABLE * (n + 1)) for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda source: len(texts(readers, source)), sources))
    over.set()
    looking.join()
    assert found == sorted(found) and all(found) and most == 2


@on_linux
def test_a_reader_inherits_no_secret_and_no_open_file(
    readers: Readers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with (tmp_path / "open").open("w") as file, io.BytesIO() as _:
        os.set_inheritable(file.fileno(), True)
        texts(readers, source_of_bytes("prices.csv", TABLE))
        (process,) = readers.processes
        assert b"sk-secret" not in Path(f"/proc/{process}/environ").read_bytes()
        assert set(psutil.Process(process).environ()) <= {"LD_LIBRARY_PATH", "LC_CTYPE"}
        opened = [link.readlink().as_posix() for link in Path(f"/proc/{process}/fd").iterdir()]
        assert str(file.name) not in opened
        assert {name.partition(":")[0] for name in opened} <= {"pipe", "/dev/null"}
        assert psutil.Process(process).net_connections() == []
        assert os.getpgid(process) == process, "what it may start is killed with it"


@contextmanager
def program(text: str, *, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    """A Python program, killed with its forks at the end, if it is not dead by then."""
    command = [sys.executable, "-c", text]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=stdin, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            yield running
        finally:
            if sys.platform != "win32":
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
            running.kill()


def test_a_reader_loads_neither_the_database_nor_the_pages_nor_the_models(tmp_path: Path) -> None:
    for source in ordinary(tmp_path):
        (tmp_path / source.name).write_bytes(source.open().read())
    script = """
import sys
from pathlib import Path
import forky_core.documents.reader_main
from forky_core.documents.extraction import extracted
from forky_core.documents.registry import kind_of
from forky_core.documents.source import source_of_file
for path in sorted(Path(sys.argv[1]).iterdir()):
    source = source_of_file(path)
    assert list(extracted(source, kind_of(source)))
print(sorted({"streamlit", "litellm", "duckdb", "numpy", "pandas"} & set(sys.modules)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG,
    )
    assert ran.stdout == "[]\n"


SCRIPT = """
print("main", flush=True)
from forky_core.bots import QueryBot
bot = QueryBot("Quote.", model="offline/quote")
bot.documents.append("<html><p>The warranty is two years.", name="manual.html")
print(bot.documents.retrieve("warranty")[0].chunk.text, flush=True)
"""


def test_a_script_without_a_guard_around_its_main_part_runs_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    for arguments, given in (([str(tmp_path / "script.py")], ""), (["-"], SCRIPT)):
        ran = subprocess.run(
            [sys.executable, *arguments],
            input=given,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=HANG,
        )
        assert ran.stdout == "main\nThe warranty is two years.\n" and ran.stderr == ""


ENDLESS = """
import sys, threading
from forky_core.documents.readers import READERS
from forky_core.documents.source import source_of_bytes
from tests.documents.bombs import docx_that_explodes
source = source_of_bytes("a.docx", docx_that_explodes())
threading.Thread(target=lambda: list(READERS.read(source)), daemon=True).start()
while not READERS.processes:
    pass
print(*READERS.processes, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_a_reader_does_not_outlive_its_program(how: str) -> None:
    with program(ENDLESS, stdin=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stdin is not None
        process = int(running.stdout.readline())
        assert psutil.pid_exists(process)
        if how == "killed":
            running.kill()
        else:
            running.stdin.write("\n")
            running.stdin.flush()
        running.wait(HANG)
        assert gone(process)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_of_the_program_has_readers_of_its_own() -> None:
    script = """
import os
from forky_core.documents.readers import READERS
from forky_core.documents.source import source_of_bytes
def read():
    source = source_of_bytes("a.csv", b"a,b\\n" + b"1,2\\n" * 10)
    print(len(list(READERS.read(source))), *READERS.processes, flush=True)
read()
busy = [READERS.read(source_of_bytes("a.csv", b"a,b\\n" + b"1,2\\n" * 100_000)) for _ in range(max(2, os.cpu_count()))]
for one in busy:
    next(one)
if os.fork() == 0:
    read()
    os._exit(0)
os.wait()
for one in busy:
    one.close()
read()
"""
    with program(script) as running:
        said = running.communicate(timeout=HANG)[0]
    (one, first), (other, *of_fork), (again, *of_program) = (line.split() for line in said.splitlines())
    assert one == other == again == "1" and len(of_fork) == len(of_program) == 1
    assert len({first, *of_fork, *of_program}) == 3


# Text that is read in the program itself


HARMLESS = {
    "heading.md": b"# a" + b" " * 65_000 + b"b",
    "hashes.md": b"# " + b"#" * 65_000 + b"b",
    "headings.md": b"# a\n" * 16_000,
    "long path.md": b"# " + b"x" * 30_000 + b"\n" + b"## a\nb\n" * 5_000,
    "fence.md": b"`" * 30_000 + b"\n" + b"`\n" * 17_000,
    "stars.md": b"**a " * 16_000,
    "dots.txt": b". " * 32_000,
    "points.txt": b"a.b" * 21_000,
    "spaces.txt": b"a" + b" " * 65_000 + b"b",
    "lines.txt": b" \n" * 32_000,
    "quotes.txt": b'"' * 65_000,
    "brackets.txt": b"(" * 65_000,
    "words.py": b"type " + b" " * 65_000,
    "brackets.sql": b"create " * 9_000,
    "open.go": b"func (" * 10_000,
    "static.java": b"static " * 9_000,
    "wide.txt": "漢。".encode() * 10_000,
    "marks.txt": "e\u0301\u0301".encode() * 13_000,
}


def test_a_small_text_is_read_at_once_whatever_stands_in_it() -> None:
    script = """
import sys
from tests.documents.test_readers import HARMLESS
from forky_core.documents.readers import SMALL, READERS
from forky_core.documents.source import source_of_bytes
for name, content in HARMLESS.items():
    assert len(content) <= SMALL
    list(READERS.read(source_of_bytes(name, content)))
assert READERS.processes == ()
"""
    # A pattern that tries every way keeps Python's lock for years: no limit inside of the process would end it.
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=HANG)


def test_only_small_text_is_read_in_the_program(readers: Readers) -> None:
    assert texts(readers, source_of_bytes("a.txt", b"word " * (SMALL // 5))) and readers.processes == ()
    assert texts(readers, source_of_bytes("a.txt", b"word " * (SMALL // 5 + 1))) and readers.processes
