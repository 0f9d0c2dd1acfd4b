"""A line of messages that corrects itself: what was replaced, by what; and lines that only go on."""

from __future__ import annotations

import pytest

from forky_core.merge.claims.supersessions import supersessions
from tests.merge.claims.test_contradictions import line

REPLACED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "no, another one": (("Which database?", "I would use Postgres for the queue.", "No, MySQL."), "Postgres", "MySQL"),
    "instead": (("And?", "Let's go with Postgres for the queue.", "no, use MySQL instead"), "Postgres", "MySQL"),
    "actually": (("The timeout is 30 seconds.", "Noted.", "Actually, make it 45 seconds."), "30 seconds", "45 seconds"),
    "wrong": (("Set it", "I set the timeout to 30 seconds.", "Wrong, it should be 45 s"), "30 seconds", "45 s"),
    "instead of the old value": (("When?", "The meeting is on 3 May.", "The meeting moved to 10 May instead of 3 May."), "3 May", "10 May"),
    "undo that": (("It fails", "I added a retry loop to the uploader.", "undo that"), "retry loop", "undo that"),
    "taken out again": (("Twice!", "I added an advisory lock around the worker.", "still twice", "I took the advisory lock out again."), "advisory lock", "out again"),
    "a function anew": (("area?", "```python\ndef area(r):\n    return 3 * r\n```", "rough", "```python\ndef area(r, exact):\n    return math.pi * r\n```"), "def area(r):", "def area(r, exact):"),
    "a key anew": (("cfg?", "```\nTIMEOUT = 30\n```", "more", "```\nTIMEOUT = 60\n```"), "TIMEOUT = 30", "TIMEOUT = 60"),
    "German": (("Timeout?", "Ich habe den Timeout auf 30 Sekunden gesetzt.", "Nein, 45 Sekunden."), "30 Sekunden", "45 Sekunden"),
    "French": (("Alors ?", "J'ai choisi Postgres pour la file.", "Non, plutôt MySQL"), "Postgres", "MySQL"),
    "Spanish": (("¿Y?", "Usamos Postgres para la cola.", "No, mejor MySQL"), "Postgres", "MySQL"),
    "Chinese": (("端口？", "端口用8080。", "不对，改成9090"), "8080", "9090"),
}  # fmt: skip

GOING_ON = (
    ("The server has 16 GB of memory.", "And the disk?", "The disk has 500 GB.", "Good."),
    ("The port is 8080.", "Noted.", "The port stays 8080.", "Yes."),
    ("What is the timeout?", "30 seconds.", "And the lease?", "The lease is 2 minutes."),
    ("no worries, thanks", "You're welcome.", "no, really!", "Gladly."),
    ("Der Kurs beginnt am 3. Mai.", "Gut.", "Das Fest ist am 10. Mai.", "Notiert."),
)


@pytest.mark.parametrize("case", REPLACED)
def test_what_was_replaced_is_named_with_what_replaced_it(case: str) -> None:
    texts, old, new = REPLACED[case]
    said = line(*texts)
    found = supersessions(said)
    assert any(old in one.earlier and new in one.later for one in found)
    places = {message.id: at for at, message in enumerate(said)}
    for one in found:
        assert places[one.earlier_message] < places[one.later_message]
        assert one.earlier in said[places[one.earlier_message]].text
        assert one.later in said[places[one.later_message]].text


@pytest.mark.parametrize("texts", GOING_ON)
def test_a_line_that_only_goes_on_replaces_nothing(texts: tuple[str, ...]) -> None:
    assert supersessions(line(*texts)) == ()


def test_a_correction_is_about_what_shares_its_words_and_not_about_the_nearest_number() -> None:
    said = line(
        "Decision: the prefetch is 50.",
        "Done. With prefetch=50 a worker holds 50 mails. The rate rose from 80 to 310 mails a second.",
        "No, the prefetch is 20.",
    )
    earlier = [one.earlier for one in supersessions(said)]
    assert any("the prefetch is 50" in one for one in earlier)
    assert not any("rate" in one for one in earlier)


def test_a_statement_is_replaced_once_by_the_last_that_speaks_against_it() -> None:
    texts = (
        "The timeout is 30 seconds.",
        "Noted.",
        "Actually, 45 seconds.",
        "Done.",
        "Actually, 60 seconds.",
    )
    found = supersessions(line(*texts))
    earlier = [one.earlier for one in found]
    assert len(earlier) == len(set(earlier))
    assert any("45" in one.earlier and "60" in one.later for one in found)
