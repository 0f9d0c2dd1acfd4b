from __future__ import annotations

import pytest

from pages.ui.chat.meter import measure
from tests.builders import talk, workspace


def test_the_meter_counts_anew_once_the_vocabulary_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    forky, models = workspace()
    chat = talk(forky.create("Counted"), "Suggest a name", "Forky")
    guessed = measure(chat, None, models.one.info(), exactly=False)
    monkeypatch.setattr(type(models.one), "count_tokens", lambda _self, text: len(text))
    assert measure(chat, None, models.one.info(), exactly=False) == guessed
    assert measure(chat, None, models.one.info(), exactly=True).tokens == len("Suggest a nameForky")
