from __future__ import annotations

import pytest

from forky_core.conversation.workspace import Workspace
from tests.builders import workspace


@pytest.fixture
def forky() -> Workspace:
    """In memory, with scripted models."""
    return workspace()[0]
