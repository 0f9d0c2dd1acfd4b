"""Files that an earlier version put into an object store: named in a sentence, back once they are attached again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import psycopg
import pytest

from forky_core.forky import Forky
from forky_core.model.errors import StoreDamaged
from forky_core.model.parts import AttachmentPart
from forky_core.store.postgresql.store import PostgresStore

CONTENT = bytes(range(256)) * 1500
NAME = hashlib.sha256(CONTENT).hexdigest()
ADDRESS = f"s3://bucket/forky/0123/{NAME}-4567"


@pytest.fixture
def store(shared: str, workspace: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(shared, workspace=workspace) as opened:
        yield opened


def put_elsewhere(url: str, workspace: str) -> None:
    """The row that the earlier version wrote for the file."""
    with psycopg.connect(url, options=f"-c forky.workspace={workspace}") as connection:
        done = connection.execute(
            "UPDATE forky.blobs SET content = '', outside = %s WHERE workspace = %s", [ADDRESS, workspace]
        )
        assert done.rowcount == 1


def test_a_file_in_an_object_store_is_named_with_its_place_and_with_what_to_do(
    store: PostgresStore, shared: str, workspace: str
) -> None:
    store.put_blob(CONTENT, "image/png", "a picture")
    put_elsewhere(shared, workspace)
    with pytest.raises(StoreDamaged, match="“a picture” is not in the database") as told:
        store.blob(NAME)
    assert ADDRESS in str(told.value) and "forky move" in told.value.hint and store.blob_names() == (NAME,)
    (finding,) = store.verify().findings
    assert "“a picture” is not in the database" in finding.what and ADDRESS in finding.what


def test_its_conversation_reads_on(shared: str, workspace: str) -> None:
    with Forky.over(PostgresStore.open(shared, workspace=workspace)) as forky:
        chat = forky.create("A picture")
        chat.say("Look", attachments=[forky.attach(CONTENT, media_type="image/png", name="a picture")])
        put_elsewhere(shared, workspace)
        (asked,) = forky.conversation(chat.id).path()
        assert asked.text == "Look" and any(isinstance(part, AttachmentPart) for part in asked.parts)


def test_a_file_that_is_attached_again_is_there_again(
    store: PostgresStore, shared: str, workspace: str
) -> None:
    store.put_blob(CONTENT, "image/png", "a picture")
    put_elsewhere(shared, workspace)
    store.put_blob(CONTENT, "application/octet-stream", "another name")
    blob = store.blob(NAME)
    assert (blob.content, blob.media_type, blob.name) == (CONTENT, "image/png", "a picture")
    assert store.verify().clean
