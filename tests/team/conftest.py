from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.team.people import Office, office


@pytest.fixture
def here() -> Iterator[Office]:
    with office() as opened:
        yield opened
