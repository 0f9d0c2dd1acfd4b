"""What a written merge may cost is known before it is asked, each call by the price of the model that answers it."""

from __future__ import annotations

import pytest

from forky_core.llm.contract import ModelInfo, Request
from forky_core.llm.scripted import ScriptedModel
from forky_core.preferences import choose_verifier
from pages.ui.merge.asking_price import AskingPrice, Calls, count_notes
from tests.builders import talk, workspace

FIRST = "Marcus raised the limit of the uploads to 900. The rest of the branch stays as it was."
MENDED = "The uploads wait for the disk and for the queue. The rest of the branch stays as it was."


def info(name: str, window: int | None = None, price: tuple[float, float] | None = None) -> ModelInfo:
    sent, answered = price or (None, None)
    return ModelInfo(name, name, "Scripted", input_price=sent, output_price=answered, context_window=window)


@pytest.mark.parametrize("window", [None, 600])
def test_no_call_of_a_written_merge_is_left_out_of_its_price(window: int | None) -> None:
    """Each note is mended and read again; a small window has the writer read the branch in pieces."""
    forky, models = workspace()
    models.two = writer = ScriptedModel(
        "scripted/two",
        answer=lambda request: FIRST if len(request.messages) == 1 else MENDED,
        info=info("scripted/two", window),
    )
    models.one = reader = ScriptedModel("scripted/one", answer=lambda _: "1: supported")
    chat = talk(forky.create("Uploads"), "How do uploads go?", "Slowly.")
    said = [
        f"Step {at}: the upload waits for disk {at} and the queue behind it. {'It goes on. ' * 20}"
        for at in range(8)
    ]
    talk(chat.fork("side"), *said)
    talk(chat, "And downloads?", "Fast.")
    choose_verifier(chat._session.store, "scripted/one")
    plan = chat.plan_merge("side")
    asking = count_notes(plan, "", None, chat.message, writer)
    chat.plan_merge("side", model="scripted/two")

    def tokens(request: Request) -> int:
        return sum(plan.count_tokens(str(one["content"])) for one in request.messages)

    assert (len(writer.requests), len(reader.requests)) == (2 if window is None else 6, 2)
    sent = sum(map(tokens, writer.requests))
    # The notes of the pieces may be far longer than these.
    assert sent <= asking.writer.sent <= (1.3 if window is None else 3) * sent
    read = sum(map(tokens, reader.requests))
    assert read <= asking.verifier.sent <= 2.5 * read, (
        "a second reading is counted, which not every mend needs"
    )


def test_each_role_has_the_price_of_its_own_model() -> None:
    asking = AskingPrice(writer=Calls(1000, 100), verifier=Calls(2000, 50))
    dear, cheap = info("dear", price=(1e-3, 1e-2)), info("cheap", price=(1e-5, 0.0))
    assert asking.priced(dear, cheap) == "up to $2.02"
    assert asking.priced(cheap, dear) == "up to $2.51"
    assert asking.priced(dear, info("unknown")) == asking.priced(None, dear) == "price not known"
    free = info("free", price=(0.0, 0.0))
    assert asking.priced(free, free) == "free"
    assert AskingPrice(Calls(1, 0)).priced(cheap, None) == "< $0.0001", "a fusion has no verifier to pay"
