"""Prints an answer while it is written. Ctrl+C stops the model; the text so far is stored."""

from __future__ import annotations

from typing import TextIO

from forky_core.cli.plain import plain
from forky_core.conversation.conversation import Conversation


def stream(chat: Conversation, text: str, model: str | None, out: TextIO) -> None:
    """Ask, and print the answer as it arrives.

    Raises:
        ModelError: there is no complete answer; the text so far was printed and is stored.
        KeyboardInterrupt: after the model was stopped.
    """
    job = chat.send(text, model=model)
    try:
        for piece in job.follow():
            out.write(plain(piece))
            out.flush()
    except KeyboardInterrupt:
        job.stop()
        job.wait(5.0)
        raise
    finally:
        out.write("\n")
    job.result()
