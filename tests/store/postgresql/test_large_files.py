"""The contents of large files beside the database: in a folder, and in a server that speaks S3's protocol."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from forky_core.forky import Forky
from forky_core.model import Change
from forky_core.model.errors import NotFound, StoreDamaged, StoreError
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.moving.workspace import move_workspace
from forky_core.store.postgresql import large_files
from forky_core.store.postgresql.store import PostgresStore
from tests.hangs import HANG
from tests.store.talk import change

LARGE = bytes(range(256)) * 1500
SMALL = b"a small one"
NAME = hashlib.sha256(LARGE).hexdigest()


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server of S3's protocol, which the environment names."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "key",
            "AWS_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        httpx.put(f"http://{host}:{port}/forky", timeout=HANG).raise_for_status()
        large_files._store.cache_clear()
        yield f"http://{host}:{port}"
    large_files._store.cache_clear()
    server.stop()


@pytest.fixture(params=["a folder", "S3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "S3":
        request.getfixturevalue("s3")
        return "s3://forky/files"
    return f"file://{tmp_path}/files"


@pytest.fixture
def store(shared: str, workspace: str, place: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(shared, workspace=workspace, large_files_at=place) as opened:
        yield opened


def rows(url: str, workspace: str) -> dict[str, tuple[int, str | None]]:
    """How many bytes the database has of each file, and where the rest is."""
    with psycopg.connect(url, options=f"-c forky.workspace={workspace}") as connection:
        asked = "SELECT sha256, length(content), outside FROM forky.blobs WHERE workspace = %s"
        return {name: (size, outside) for name, size, outside in connection.execute(asked, [workspace])}


def is_there(address: str) -> bool:
    try:
        large_files.read(address, NAME)
    except StoreDamaged:
        return False
    return True


def test_a_large_file_is_elsewhere_and_a_small_one_in_the_database(
    store: PostgresStore, shared: str, workspace: str, place: str
) -> None:
    assert store.put_blob(LARGE, "image/png", "a picture") == NAME
    small = store.put_blob(SMALL, "text/plain")
    found = rows(shared, workspace)
    assert found[small] == (len(SMALL), None)
    size, address = found[NAME]
    assert size == 0 and address is not None and address.startswith(f"{place}/")
    blob = store.blob(NAME)
    assert (blob.content, blob.media_type, blob.name) == (LARGE, "image/png", "a picture")
    assert store.blob_names() == tuple(sorted((NAME, small))) and store.verify().clean


def test_whoever_names_no_place_reads_what_is_elsewhere(
    store: PostgresStore, shared: str, workspace: str
) -> None:
    store.put_blob(LARGE, "image/png")
    with PostgresStore.open(shared, workspace=workspace) as other:
        assert other.blob(NAME).content == LARGE
        other.put_blob(LARGE + b"!", "image/png")
    assert {outside is None for _, outside in rows(shared, workspace).values()} == {True, False}


def test_two_who_put_the_same_file_at_once_keep_one(
    store: PostgresStore, shared: str, workspace: str
) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: store.put_blob(LARGE, "image/png"), range(4))) == {NAME}
    assert list(rows(shared, workspace)) == [NAME] and store.blob(NAME).content == LARGE


def test_what_nobody_names_is_removed_there_too(store: PostgresStore, shared: str, workspace: str) -> None:
    store.put_blob(LARGE, "image/png")
    _, address = rows(shared, workspace)[NAME]
    assert address is not None and is_there(address)
    store.drop_blobs([NAME])
    assert not is_there(address)
    with pytest.raises(NotFound):
        store.blob(NAME)
    store.put_blob(LARGE, "image/png")
    assert store.blob(NAME).content == LARGE


def test_a_conversation_takes_its_files_along_when_it_is_purged_and_when_they_are_erased(
    shared: str, workspace: str, place: str
) -> None:
    store = PostgresStore.open(shared, workspace=workspace, large_files_at=place)
    with Forky.over(store) as forky:
        for end in ("erase", "purge"):
            chat = forky.create(f"To {end}")
            asked = chat.say(
                "Look", attachments=[forky.attach(LARGE, media_type="image/png", name="a picture")]
            )
            _, address = rows(shared, workspace)[NAME]
            assert address is not None and is_there(address)
            if end == "erase":
                store.erase(chat.id, asked.id, by="you", at=1)
            else:
                change(store, Change("trashed", None, True), here=chat.id)
                store.purge(chat.id)
            assert not is_there(address) and rows(shared, workspace) == {}


def test_what_is_lost_or_another_one_there_is_said(store: PostgresStore, shared: str, workspace: str) -> None:
    store.put_blob(LARGE, "image/png")
    _, address = rows(shared, workspace)[NAME]
    assert address is not None
    root, path = large_files._split(address)
    large_files._package().put(large_files._store(root), path, b"another one")
    with pytest.raises(StoreDamaged, match="is not the one that was stored"):
        store.blob(NAME)
    large_files.remove([address])
    with pytest.raises(StoreDamaged, match=r"is not at .* any more") as lost:
        store.blob(NAME)
    assert "backup" in lost.value.hint
    (finding,) = store.verify().findings
    assert "is not at" in finding.what


@pytest.mark.usefixtures("s3")
def test_a_place_that_cannot_be_used_is_said_and_nothing_is_half_there(shared: str, workspace: str) -> None:
    with PostgresStore.open(shared, workspace=workspace, large_files_at="s3://no-such-bucket/x") as store:
        with pytest.raises(
            StoreError, match="The place for large files, s3://no-such-bucket, cannot be used"
        ) as told:
            store.put_blob(LARGE, "image/png")
        assert len(str(told.value)) < 400 and "keys in the environment" in told.value.hint
        assert store.blob_names() == ()


def test_files_move_out_of_a_database_file_and_back(
    shared: str, workspace: str, place: str, tmp_path: Path
) -> None:
    with (
        DuckDBStore.open(tmp_path / "from.duckdb") as source,
        PostgresStore.open(shared, workspace=workspace, large_files_at=place) as server,
        DuckDBStore.open(tmp_path / "back.duckdb") as back,
    ):
        source.put_blob(LARGE, "image/png", "a picture")
        move_workspace(source, server, origin="a file")
        assert rows(shared, workspace)[NAME][1] is not None
        move_workspace(server, back, origin="a server")
        assert back.blob(NAME) == source.blob(NAME)
