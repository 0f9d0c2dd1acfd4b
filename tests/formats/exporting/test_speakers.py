"""Who a message is by, as whoever reads along is told."""

from __future__ import annotations

import pytest

from forky_core.formats.exporting.writers.markdown import who
from forky_core.model import Message, MessageId
from forky_core.model.parts import TextPart


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("192.168.1.5:8000/qwen3", "qwen3"),
        ("192.168.1.5/qwen3", "qwen3"),
        ("models.office.example:443/team/llama", "team/llama"),
        ("localhost/llama", "llama"),
        ("[fd00::1]:8000/llama", "llama"),
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("gpt-4o", "gpt-4o"),
        ("127.0.0.1:8000/", "127.0.0.1:8000/"),
    ],
)
def test_a_speaker_is_named_without_the_address_of_a_server(model: str, shown: str) -> None:
    message = Message(MessageId("b2:1"), (), "assistant", (TextPart("Yes."),), name=model)
    assert who(message, ()) == shown
