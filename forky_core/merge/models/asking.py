"""Asks a model for the claims of a branch, checks them one by one, and asks once more to repair what failed."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.merge.models.checks import FailedCheck, sentences
from forky_core.merge.models.claim_answer import read
from forky_core.merge.models.claim_request import mending_prompt, reading_prompt
from forky_core.merge.models.reading import ClaimReading
from forky_core.merge.models.written_note import Ask
from forky_core.merge.wording import message_as_text
from forky_core.model import Message
from forky_core.model.errors import ForkyError, ModelError


class ReadingFailed(ForkyError):
    """Neither a model's answer nor its repaired one has a claim that passes the checks."""

    def __init__(self, failed: Sequence[FailedCheck], answer: str) -> None:
        super().__init__("The model's claims cannot be used.", " ".join(sentences(failed)))
        self.failed = tuple(failed)
        """The failures of the first answer."""
        self.answer = answer


def read_with(
    ask: Ask, turns: Sequence[Message], *, focus: str = "", budget: int = 400, keys: Sequence[str] = ()
) -> ClaimReading:
    """Return the claims that a model finds in these messages and that pass the checks.

    Raises:
        ReadingFailed: nothing of the answer stands, nor of the mended one.
        ModelError: from `ask`.
    """
    texts = {turn.id: message_as_text(turn) for turn in turns}
    prompt = reading_prompt(turns, focus=focus, budget=budget, keys=keys)
    answer = ask(prompt)
    reading, failed = read(answer, texts)
    if not failed:
        return reading
    try:
        mended, _ = read(ask(mending_prompt(prompt, answer, failed)), texts)
    except ModelError as error:
        if error.failure.kind == "stopped" or not reading.says_something:
            raise
        return reading
    if mended.says_something and len(mended.claims) >= len(reading.claims):
        return mended
    if reading.says_something:
        return reading
    raise ReadingFailed(failed, answer)
