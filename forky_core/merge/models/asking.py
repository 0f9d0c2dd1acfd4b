"""One reading by a model: asked, checked, asked once more to mend what failed, and then believed or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from forky_core.errors import ForkyError, ModelError
from forky_core.llm.contract import ProviderMessage
from forky_core.merge.models.checks import Failed
from forky_core.merge.models.reading import Reading, mending_prompt, read, reading_prompt, sentences
from forky_core.merge.note.passages import atoms, is_name
from forky_core.merge.wording import spoken
from forky_core.model import Message

Ask = Callable[[tuple[ProviderMessage, ...]], str]
"""Sends messages to the chosen model and returns its whole answer; raises ModelError where there is none."""

MANY_MISSING = 4
"""Names said in several messages and in no claim: so many are worth a second call."""
_NAMED = 12
"""Most of them that are named to the model."""


class ReadingFailed(ForkyError):
    """A model's answer, and its mended one, failed a check; nothing of it was believed."""

    def __init__(self, failed: Sequence[Failed], answer: str) -> None:
        super().__init__("The model's summary cannot be used.", " ".join(sentences(failed)))
        self.failed = tuple(failed)
        """Of the first answer."""
        self.answer = answer


def read_with(
    ask: Ask, turns: Sequence[Message], *, focus: str = "", budget: int = 400, keys: Sequence[str] = ()
) -> Reading:
    """What a model reads in these messages.

    Raises:
        ReadingFailed: the answer failed a check, and so did the mended one.
        ModelError: from `ask`.
    """
    texts = {turn.id: spoken(turn) for turn in turns}
    prompt = reading_prompt(turns, focus=focus, budget=budget, keys=keys)
    answer = ask(prompt)
    reading, failed = read(answer, texts)
    missing = () if failed else unsaid(turns, reading)
    if not failed and len(missing) < MANY_MISSING:
        return reading
    try:
        mended, wrong = read(ask(mending_prompt(prompt, answer, failed, missing[:_NAMED])), texts)
    except ModelError as error:
        if error.failure.kind == "stopped":
            raise
        mended, wrong = Reading(), failed or (Failed("empty", "The model did not answer again."),)
    if not wrong and (failed or len(unsaid(turns, mended)) < len(missing)):
        return mended
    if failed:
        raise ReadingFailed(failed, answer)
    return reading


def unsaid(turns: Sequence[Message], reading: Reading) -> tuple[str, ...]:
    """Names that several of the messages say and no claim does, those said most often first."""
    said = Counter(atom for turn in turns for atom in atoms(spoken(turn)) if is_name(atom) and len(atom) > 2)
    told = {
        atom.casefold()
        for text in (*(c.text for c in reading.claims), *(one.span for one in reading.verbatim))
        for atom in atoms(text)
    }
    often = [(count, atom) for atom, count in said.items() if count > 1 and atom.casefold() not in told]
    return tuple(atom for _, atom in sorted(often, key=lambda one: (-one[0], one[1])))
