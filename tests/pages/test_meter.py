from __future__ import annotations

import pytest

from pages.ui.chat.meter import account_of_files, measure
from tests.builders import talk, workspace


def test_the_meter_counts_anew_once_the_vocabulary_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    forky, models = workspace()
    chat = talk(forky.create("Counted"), "Suggest a name", "Forky")
    guessed = measure(chat, None, models.one.info(), exactly=False)
    monkeypatch.setattr(type(models.one), "count_tokens", lambda _self, text: len(text))
    assert measure(chat, None, models.one.info(), exactly=False) == guessed
    assert measure(chat, None, models.one.info(), exactly=True).tokens == len("Suggest a nameForky")


def test_what_is_attached_is_counted_before_it_is_sent() -> None:
    forky, models = workspace()
    chat, info = forky.create("Counted"), models.one.info()
    long = forky.attach(
        b"The machine has a part that wears. " * 1_000, media_type="text/plain", name="long.txt"
    )
    picture = forky.attach(b"\x89PNG", media_type="image/png", name="one.png")
    items = account_of_files(chat, (long, picture), info, exactly=False)
    counted = sum(item.tokens for item in items)
    assert counted == chat.calls.prepare("", attachments=(long, picture)).context.tokens > 8_000
    assert account_of_files(chat, (), info, exactly=False) == ()
