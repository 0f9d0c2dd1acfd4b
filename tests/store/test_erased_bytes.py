"""After an erasure no file of the database's folder holds the text any more, not even in unused blocks."""

from __future__ import annotations

import json
import tempfile
import threading
from pathlib import Path

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forky_core.model import Change, Message, seal
from forky_core.model.parts import Draft, MergePart, TextPart
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.duckdb.write.writer import ERASED_BYTES
from tests.examples import examples
from tests.hangs import HANG
from tests.store.talk import HERE, begin, change, said, thread

_WORDS = st.text("abcdefghijklmnopqrstuvwxyz äöü-", min_size=1, max_size=9)
SECRETS = st.lists(_WORDS, min_size=8, max_size=60).map(" ".join).filter(lambda text: len(text.strip()) >= 40)


def holders(folder: Path, text: str) -> list[str]:
    """The files below a folder that hold a text: in their bytes, or in a row of a database, which compresses."""
    found = [
        str(path)
        for path in folder.rglob("*")
        if path.is_file()
        for content in (path.read_bytes(),)
        if any(form in content for form in (text.encode(), json.dumps(text)[1:-1].encode()))
    ]
    for path in folder.glob("*.duckdb"):
        with duckdb.connect(str(path), read_only=True) as database:
            for (table,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                rows = repr(database.table(table).fetchall())
                if text in rows or json.dumps(text)[1:-1] in rows:
                    found.append(f"{path}: {table}")
    return found


def _told(store: DuckDBStore, secret: str) -> Message:
    """A conversation that has the secret wherever Forky puts what somebody said."""
    question = said(secret)
    answer = seal(Draft("assistant", (TextPart(f"You said: {secret}"),)), [question.id])
    payload = MergePart("squash", "main", (question.id,), f"- {secret}")
    merge = seal(Draft("user", (payload,)), [answer.id])
    rest = thread(40, merge)
    begin(store, question, answer, merge, *rest, title=secret[:60])
    change(store, Change("notes/x", None, f"say {secret}"), summary=f"Noted: {secret}")
    store.keep_derived(HERE, {"digest": json.dumps([secret])})
    store.set_setting("last", secret)
    return question


@given(secret=SECRETS)
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_text_is_in_no_file_of_the_folder(secret: str) -> None:
    secret = secret.strip()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with DuckDBStore.open(folder / "forky.duckdb") as store:
            question = _told(store, secret)
            store.rest()  # Some of it is packed by now, and in the file itself.
            store.erase(HERE, question.id, by="you", at=1)
            assert holders_of_open(folder, secret) == []
            assert store.verify().clean
        assert holders(folder, secret) == []


def holders_of_open(folder: Path, text: str) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_the_test_would_notice(tmp_path: Path) -> None:
    secret = "a text that nobody erases, and that is long enough"
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        _told(store, secret)
        store.rest()
    assert holders(tmp_path, secret)


def test_a_deleted_row_leaves_its_bytes_in_the_file_until_it_is_written_anew(tmp_path: Path) -> None:
    """Why `write_anew` is there."""
    secret = "".join(chr(97 + (at * at + at // 3) % 26) for at in range(400))
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        blob = store.put_blob(secret.encode(), "text/plain")
        store.rest()
        assert holders_of_open(tmp_path, secret)
        store.drop_blobs([blob])
        store.rest()
        left = holders_of_open(tmp_path, secret)
        store._file.write_anew()
        assert left and holders_of_open(tmp_path, secret) == []
        assert store.verify().clean


def test_a_file_that_was_not_written_anew_in_time_is_when_it_is_opened_next(tmp_path: Path) -> None:
    secret = "".join(chr(97 + (at * at + at // 3) % 26) for at in range(400))
    place = tmp_path / "forky.duckdb"
    with DuckDBStore.open(place) as store:
        question = said(secret)
        begin(store, question)
        store.rest()
        store._file.write_anew = lambda **_: False  # type: ignore[method-assign]
        store.erase(HERE, question.id, by="you", at=1)
        assert store.setting(ERASED_BYTES) == "1"
    with DuckDBStore.open(place) as store:
        assert store.rest()
        assert store.setting(ERASED_BYTES) is None
        assert holders_of_open(tmp_path, secret) == [] and store.verify().clean


def test_idle_work_lets_a_long_copy_finish(tmp_path: Path) -> None:
    """Found with a database of 1 GB, whose copy takes longer than the writer waits before it does its idle work."""
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        begin(store, said("hello"))
        with store._file.detached():
            assert not store._file.reattach(patience=0.0) and not store._file.write_anew(patience=0.0)
            reader = threading.Thread(target=lambda: store._file.rows(sql.CONVERSATIONS))
            reader.start()
            reader.join(0.2)
            assert reader.is_alive(), "nobody reads while the file is detached"
        reader.join(HANG)
        assert not reader.is_alive() and store.verify().clean
