"""A workspace for a test that needs only one."""

from __future__ import annotations

import pytest

from forky_core.conversation.workspace import Workspace
from tests.builders import workspace


@pytest.fixture
def forky() -> Workspace:
    return workspace()[0]
