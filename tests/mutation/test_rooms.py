from __future__ import annotations

import pytest

from tests.mutation.rooms import ROOMS, Room
from tests.programs import CHECKOUT


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_what_a_room_names_is_there(room: Room) -> None:
    assert all([*CHECKOUT.glob(pattern)] for pattern in room.modules)
    assert [test for test in room.tests if not (CHECKOUT / test).exists()] == []


def test_no_module_is_in_two_rooms() -> None:
    files = [file for room in ROOMS for file in room.files(CHECKOUT)]
    assert len(files) == len(set(files))
