"""Files that somebody gives are counted, and refused above what they may give in a day or have kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from forky_core.model.errors import NotFound
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.spending.refusals import SpendingRefused
from tests.team.people import DAY, Office, office


@pytest.fixture
def here() -> Iterator[Office]:
    with office() as opened:
        opened.join("Ada", Role.OWNER)
        yield opened


@pytest.fixture
def bob(here: Office) -> Member:
    return here.join("Bob")


def limit(here: Office, name: str, value: int) -> None:
    here.team.spending.limits.set(EVERYBODY, name, value, by="")  # type: ignore[arg-type]


def test_files_of_a_day_are_limited_and_the_same_one_counts_once(here: Office, bob: Member) -> None:
    limit(here, "uploads_a_day", 2)
    forky = here.seen_by(bob)
    for content in (b"one", b"one", b"two", b"one"):
        forky.attach(content, name="a.txt")
    with pytest.raises(SpendingRefused, match="You may give 2 files a day") as refused:
        forky.attach(b"three", name="c.txt")
    assert refused.value.retry_after
    here.clock.at += DAY
    assert forky.attach(b"three", name="c.txt").name == "c.txt"


def test_bytes_that_are_kept_are_limited_and_freed_when_a_file_goes(here: Office, bob: Member) -> None:
    limit(here, "stored_bytes", 10)
    forky = here.seen_by(bob)
    first = forky.attach(b"12345678", name="a.txt")
    with pytest.raises(SpendingRefused, match="may have 10 bytes in all; those that are kept have 8 bytes"):
        forky.attach(b"123", name="b.txt")
    with pytest.raises(NotFound):
        here.whole.store.blob("0" * 64)
    forky.store.drop_blobs([first.sha256])
    assert forky.attach(b"123", name="b.txt").name == "b.txt"


def test_a_refused_file_is_not_stored_and_opens_nothing(here: Office, bob: Member) -> None:
    limit(here, "stored_bytes", 1)
    forky = here.seen_by(bob)
    with pytest.raises(SpendingRefused):
        forky.attach(b"too large", name="a.txt")
    assert here.team.spending.uploads.stored(bob.id) == 0
    with pytest.raises(NotFound):
        forky.store.blob(hashlib.sha256(b"too large").hexdigest())


def test_documents_count_like_attachments(here: Office, bob: Member) -> None:
    limit(here, "uploads_a_day", 1)
    chat = here.seen_by(bob).create("Boats")
    chat.documents.append("Boats float.", name="boats.txt")
    with pytest.raises(SpendingRefused):
        chat.documents.append("Stones sink.", name="stones.txt")
    assert here.team.spending.uploads.stored(bob.id) == len("Boats float.")


def test_others_are_not_limited_by_what_one_gives(here: Office, bob: Member) -> None:
    limit(here, "uploads_a_day", 1)
    here.seen_by(bob).attach(b"one", name="a.txt")
    here.seen_by(here.join("Eve")).attach(b"one", name="a.txt")
