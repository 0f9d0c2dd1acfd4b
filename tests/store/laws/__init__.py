"""The laws every store keeps. A test class inherits `StoreLaws` and gives a `store` fixture."""

from __future__ import annotations

from tests.store.laws.commits import CommitLaws
from tests.store.laws.erasing import ErasingLaws
from tests.store.laws.generations import GenerationLaws
from tests.store.laws.keeping import KeepingLaws
from tests.store.laws.messages import MessageLaws
from tests.store.laws.purging import PurgingLaws
from tests.store.laws.searching import SearchLaws
from tests.store.laws.sharing import SharingLaws


class StoreLaws(
    CommitLaws,
    MessageLaws,
    GenerationLaws,
    SearchLaws,
    KeepingLaws,
    PurgingLaws,
    ErasingLaws,
    SharingLaws,
):
    """All of them, by subject."""
