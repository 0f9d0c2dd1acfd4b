"""An owner's guarded store keeps every law of a store; two of them differ on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from forky_core.model import Change, seal
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart, Draft
from forky_core.store.contract import Commit, Store
from forky_core.store.memory.store import MemoryStore
from forky_core.team.guarded_store import GuardedStore
from forky_core.team.roles import Role
from forky_core.team.team import Team
from tests.store.document_laws import DocumentLaws
from tests.store.laws import StoreLaws
from tests.store.talk import HERE, begin, now


@pytest.fixture
def store() -> Iterator[Store]:
    team = Team(None)
    owner = team.members.add("Ada", Role.OWNER)
    yield GuardedStore(MemoryStore(), team, owner.id)
    team.close()


class TestGuarded(StoreLaws):
    def test_verify_finds_attachments_without_bytes(self, store: Store) -> None:
        """A file that nobody gave cannot be named here, so that nothing is left to find."""
        with pytest.raises(NotFound):
            begin(store, seal(Draft("user", (AttachmentPart("a" * 64, "text/plain"),)), []))
        assert store.verify().clean and store.conversations() == ()

    def test_an_operation_comes_back_as_it_was_made(self, store: Store) -> None:
        """It carries the id of whoever made it, whatever name it came with."""
        begin(store)
        change = Change("rules/main", None, {"system": "Be brief. ✓", "parameters": {"temperature": 0.5}})
        wished = Commit(
            HERE, "undo", "Took back “x”\n", (change,), actor="ann", at=now(), group=1, reverts=(1,)
        )
        made = store.commit(wished)
        assert store.operations(HERE)[-1] == made
        assert (made.group, made.reverts) == (1, (1,))
        assert isinstance(store, GuardedStore) and made.actor == store.access.id
        assert replace(wished, actor=made.actor).changes == made.changes


class TestGuardedDocuments(DocumentLaws):
    pass
