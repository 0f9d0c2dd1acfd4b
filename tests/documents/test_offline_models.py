from __future__ import annotations

from threading import Event

import pytest

from forky_core.documents.offline_models import DIGEST, QUOTE, OfflineModel, offline_models
from forky_core.documents.retrieval import digest, quote
from forky_core.llm.contract import Done, ModelEvent, ProviderMessage, Request, TextDelta
from forky_core.llm.tokens import estimate_tokens

TALK = (
    ("system", "Be brief."),
    ("user", "We need a name for our new command line tool. Suggest a name."),
    (
        "assistant",
        "Some ideas:\n\n1. **twig** – short.\n2. **bough** – rare, easy to type.\n\nDo you like short names?",
    ),
    ("user", "Is twig taken on PyPI?"),
    ("assistant", "Yes. `twig` is a template engine. `bough` seems free."),
    ("user", "OK, let's go with bough. TODO: register the domain."),
    ("assistant", "Good: the tool is called bough."),
    ("user", "Why does code generation fail on enums?"),
    (
        "assistant",
        "Because it treats members as strings. Fix:\n\n```python\nclass Color(IntEnum): ...\n```\n\nNothing else.",
    ),
    ("user", "Actually the deadline is Friday, not Monday."),
    ("assistant", "Understood: Friday it is."),
)


def messages(*more: tuple[str, str]) -> tuple[ProviderMessage, ...]:
    return tuple({"role": role, "content": text} for role, text in (*TALK, *more))


def quoted(question: str, *, alone: bool = False) -> str:
    asked: ProviderMessage = {"role": "user", "content": question}
    return "\n\n".join(quote.answer((asked,) if alone else (*messages(), asked)))


def digested(request: str = "Summarise the conversation so far.") -> str:
    return "\n\n".join(digest.answer(messages(("user", request))))


def one(name: str) -> OfflineModel:
    return next(model for model in offline_models() if model.info().name == name)


@pytest.mark.parametrize("name", [QUOTE, DIGEST])
def test_an_offline_answer_streams_word_by_word_and_costs_nothing(name: str) -> None:
    request = Request(name, messages(("user", "What did we decide about the name?")))
    events = list(one(name).stream(request, Event()))
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert isinstance(events[-1], Done)
    assert events[-1].usage.cost == 0.0
    assert events[-1].usage.completion_tokens == estimate_tokens(text)
    assert len(events) > 20


@pytest.mark.parametrize("name", [QUOTE, DIGEST])
def test_every_offline_answer_begins_by_saying_what_it_is(name: str) -> None:
    request = Request(name, messages(("user", "anything")))
    text = "".join(event.text for event in one(name).stream(request, Event()) if isinstance(event, TextDelta))
    assert text.startswith("**Offline model")
    assert "does not think" in text


def test_stopping_an_offline_answer_just_ends_it() -> None:
    stop = Event()
    events: list[ModelEvent] = []
    for event in one(QUOTE).stream(Request(QUOTE, messages(("user", "What about the name?"))), stop):
        events.append(event)
        stop.set()
    assert len(events) == 1
    assert isinstance(events[0], TextDelta)


def test_the_two_offline_models_answer_differently() -> None:
    assert quoted("What did we decide about the name?") != digested("What did we decide about the name?")


def test_a_decision_is_quoted_although_it_names_neither_the_question_nor_the_topic() -> None:
    answer = quoted("What did we decide about the name?")
    first, second = answer.index("let's go with bough"), answer.index("the tool is called bough")
    assert first < second
    assert "*your message 3*" in answer


def test_a_fact_is_quoted_with_who_said_it() -> None:
    assert "> Actually the deadline is Friday, not Monday.\n>\n> — *your message 5*" in quoted(
        "When is the deadline?"
    )


def test_a_reply_is_found_through_the_question_it_answers_and_brings_its_code() -> None:
    answer = quoted("Why do enums fail?")
    assert "> ```python\n> class Color(IntEnum): ...\n> ```" in answer


def test_an_unrelated_question_is_answered_with_nothing() -> None:
    for question in ("What is the capital of France?", "How do I bake bread?"):
        assert "found nothing" in quoted(question)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How do I fork?", "Start a branch (fork a conversation)"),
        ("How do I start a branch?", "Start a branch (fork a conversation)"),
        ("How do I bring a branch back?", "Bring a branch back (merge)"),
        ("How do I merge a branch?", "Bring a branch back (merge)"),
        ("How do I merge two branches?", "Bring a branch back (merge)"),
        ("How do I delete a branch?", "Switch, rename and delete branches"),
        ("How do I use gpt-4o?", "Use a key"),
        ("keyboard shortcuts", "Work with the keyboard"),
        ("how can I compare two branches", "Compare branches or answers"),
        ("How do I stash something for later?", "Put a line of thought aside"),
        (
            "how to undo a merge?",
            "Leave out from here on, take back or revert: a message, an answer or a merge",
        ),
        (
            "How do I undo a merge that landed?",
            "Leave out from here on, take back or revert: a message, an answer or a merge",
        ),
        (
            "How do I take back a merge?",
            "Leave out from here on, take back or revert: a message, an answer or a merge",
        ),
        (
            "Can I revert an answer?",
            "Leave out from here on, take back or revert: a message, an answer or a merge",
        ),
        ("How do I undo?", "Undo, redo and restore"),
        ("How do I stop an answer?", "Stop an answer, or go on with one"),
        ("The answer broke off, what now?", "Stop an answer, or go on with one"),
        ("How do I import a chat from ChatGPT?", "Import a conversation"),
        ("How do I use an OpenAI key?", "Use a key"),
        ("Where is my data?", "Where my data is kept, and how to back up"),
        ("Where are my conversations kept?", "Where my data is kept, and how to back up"),
        ("How do I back up my data?", "Where my data is kept, and how to back up"),
        (
            "I deleted a conversation, how do I get it back?",
            "Delete a conversation, or get it out of the trash",
        ),
        ("What is sent to the model?", "What the model reads"),
        ("can I use ollama?", "Use a model on this machine"),
        ("What is Forky?", "What Forky is"),
        ("How do I propose a merge request?", "Ask others for a review (merge request)"),
        ("How do I bisect?", "Find the message after which answers went wrong"),
        ("How do I attach an image?", "Attach images and files"),
        (
            "How do I make one answer of several?",
            "Make one answer of several (fuse), and where they disagree",
        ),
        (
            "How do I leave a message out from here on?",
            "Leave out from here on, take back or revert: a message, an answer or a merge",
        ),
        ("How do I change the system prompt?", "System prompt and model of a branch"),
    ],
)
def test_the_guide_answers_what_a_newcomer_asks(question: str, title: str) -> None:
    assert f"From Forky's guide: **{title}**" in quoted(question, alone=True)


@pytest.mark.parametrize(
    "question",
    [
        "How do I test the restore?",
        "How do I delete a branch in git?",
        "How do I merge two PDF files?",
        "How do I back up photos?",
        "Can I stop the upload?",
    ],
)
def test_the_guide_is_silent_on_what_is_not_about_forky(question: str) -> None:
    assert "From Forky's guide" not in quoted(question, alone=True)


def test_what_was_said_comes_before_the_guide() -> None:
    said = ("user", "I merge a branch with the big green button.")
    talk = "\n\n".join(
        quote.answer(messages(said, ("assistant", "Fine."), ("user", "How do I merge a branch?")))
    )
    assert talk.index("big green button") < talk.index("From Forky's guide")


def test_an_earlier_offline_answer_is_not_quoted_as_if_someone_had_said_it() -> None:
    asked = ("user", "When is the deadline?")
    earlier = ("assistant", "\n\n".join(quote.answer(messages(asked))))
    again = "\n\n".join(quote.answer(messages(asked, earlier, ("user", "So when is the deadline?"))))
    assert again.count("**Offline model") == 1
    assert "your message 5" in again


def test_a_document_is_quoted_with_its_name() -> None:
    file = '<file name="lease.md">\nThe rent is 900 euros, due on the first.\n\nPets need consent.\n</file>'
    asked = ({"role": "user", "content": f"{file}\n\nWhen is the rent due?"},)
    answer = "\n\n".join(quote.answer(asked))
    assert "From the documents:" in answer
    assert "> The rent is 900 euros, due on the first.\n>\n> — *lease.md*" in answer


def test_chinese_is_found_by_bigrams() -> None:
    talk: tuple[ProviderMessage, ...] = (
        {"role": "user", "content": "那就用小枝吧，预算是五百欧元。"},
        {"role": "assistant", "content": "好的，名字决定为小枝。"},
    )
    budget = "\n\n".join(quote.answer((*talk, {"role": "user", "content": "预算是多少？"})))
    weather = "\n\n".join(quote.answer((*talk, {"role": "user", "content": "天气怎么样？"})))
    assert "预算是五百欧元" in budget
    assert "found nothing" in weather


def test_a_greeting_is_answered_with_what_can_be_asked() -> None:
    assert "- How do I merge a branch?" in quoted("Hello!", alone=True)


def test_a_digest_lists_what_was_asked_decided_corrected_and_left_open() -> None:
    answer = digested()
    sections = {block.split("\n")[0].strip("*"): at for at, block in enumerate(answer.split("\n\n"))}
    blocks = answer.split("\n\n")
    assert "Is twig taken on PyPI?" in blocks[sections["Asked"] + 1]
    assert "OK, let's go with bough. — *your message 3*" in blocks[sections["Decided"] + 1]
    assert "the deadline is Friday" in blocks[sections["Corrected"] + 1]
    assert "TODO: register the domain." in blocks[sections["Open"] + 1]


def test_a_digest_names_what_occurs_as_often_in_the_order_in_which_it_was_said() -> None:
    names = "`d_one`, `b_two`, `e_three`, `a_four`, `c_five`"
    answer = digest.answer(messages(("user", names), ("assistant", names), ("user", "Summarise it.")))
    assert list(answer)[-1].split(" · ")[-5:] == names.split(", ")


def test_a_digest_holds_only_sentences_that_were_said() -> None:
    said = " ".join(" ".join(text.split()) for _, text in TALK)
    lines = [line for line in digested().splitlines() if line.startswith("- ")]
    assert len(lines) > 5
    for line in lines:
        assert line.removeprefix("- ").rpartition(" — *")[0] in said


def test_a_digest_of_nothing_says_so() -> None:
    answer = "\n\n".join(digest.answer(({"role": "user", "content": "Summarise this"},)))
    assert "nothing to digest yet" in answer


@pytest.mark.parametrize(
    "request_", ["Can you summarise this?", "tl;dr", "Fasse das bitte zusammen", "Sum everything up, please"]
)
def test_the_quoting_model_digests_when_a_summary_is_asked_for(request_: str) -> None:
    text = quoted(request_)
    assert text.startswith("**Offline model.**")
    assert "**Decided**" in text
    assert "bough" in text


def test_a_summary_of_something_else_is_looked_for_and_not_made() -> None:
    assert "**Asked**" not in quoted(
        "What does the summary of the security report recommend about passwords?"
    )


def test_where_nothing_answers_the_nearest_is_quoted_and_said_to_be_no_answer() -> None:
    text = quoted("Would template engines from Debian be acceptable licences?")
    assert "Nothing on this branch answers this as it is asked." in text
    assert "> Yes. `twig` is a template engine." in text
    assert quote.ELSEWHERE in text
    assert "It found nothing" not in text


def test_a_question_that_shares_no_word_with_the_conversation_gets_no_quotation() -> None:
    text = quoted("What is the capital of France?")
    assert "It found nothing about this here." in text
    assert ">" not in text
