"""What a message only quotes is not told as its own words: ten small branches, as people and models write them."""

from __future__ import annotations

from typing import Any

import pytest

from forky_core.merge.note.compose import note
from forky_core.merge.squash import NOTHING_LEARNED
from tests.merge.conversations import Talk

OFFLINE = "**Offline model.** It quotes what is written and does not think."
NEAREST = f"{OFFLINE}\n\nNothing on this branch answers this as it is asked. The nearest that was said:"


HELLO = "I run a small web shop."
CLOUD = "Is cloud storage good enough for backups of product images, or do I also need an offline disk?"
OFTEN = "How often should I back up the database and the product images?"
WEEKLY = "A weekly backup of the database is enough for a small shop."
FIRE = "My shop has a database and product photos. I keep them on a disk and in the cloud. Which is safer against a fire?"
CASES: dict[str, tuple[Any, ...]] = {
    "the offline model quotes the question before": (
        HELLO,
        f"user: {CLOUD}",
        f"assistant: {OFFLINE}\n\nIt found nothing that bears on this.",
        "user: How much does cloud storage cost per month for 50 GB of images?",
        f"assistant: {NEAREST}\n\n> {CLOUD}\n>\n> — *your message 2*",
        [f"user: {CLOUD}", "user: How much does cloud storage cost per month for 50 GB of images?"],
    ),
    "a question of before the branch is quoted": (
        OFTEN,
        "user: Where should I store the backups of a small web shop?",
        f"assistant: {NEAREST}\n\n> {OFTEN}\n>\n> — *your message 1*",
        ["user: Where should I store the backups of a small web shop?"],
    ),
    "a question is quoted above its answer": (
        HELLO,
        f"user: {OFTEN}",
        f"assistant: > {OFTEN}\n\nBack up the database every night and the images once a week.",
        [f"user: {OFTEN}", "assistant: Back up the database every night and the images once a week."],
    ),
    "an earlier answer is quoted and corrected": (
        HELLO,
        "user: How often should the database be backed up?",
        f"assistant: {WEEKLY}",
        "user: We lose about 40 orders a day. Is that still right?",
        f"assistant: > {WEEKLY}\n\nThat was wrong for 40 orders a day: back it up every hour.",
        [
            "user: How often should the database be backed up?",
            f"assistant: {WEEKLY}",
            "user: We lose about 40 orders a day. Is that still right?",
            "assistant: That was wrong for 40 orders a day: back it up every hour.",
        ],
    ),
    "a question is repeated in quotation marks": (
        HELLO,
        f"user: {CLOUD}",
        f"assistant: You asked: “{CLOUD}”\n\nYes, cloud storage is good enough when versioning is switched on.",
        [f"user: {CLOUD}", "assistant: Yes, cloud storage is good enough when versioning is switched on."],
    ),
    "a law is quoted that nobody here has said": (
        HELLO,
        "user: How long must we keep our invoices?",
        "assistant: The tax code says:\n\n> Invoices have to be kept for eight years.\n\nSo delete those of 2017.",
        [
            "user: How long must we keep our invoices?",
            "assistant: The tax code says:",
            "assistant: > Invoices have to be kept for eight years.",
            "assistant: So delete those of 2017.",
        ],
    ),
    "a person quotes the answer and objects": (
        HELLO,
        "user: How long should old backups be kept?",
        "assistant: Keep the backups for 30 days and delete older ones.",
        "user: > Keep the backups for 30 days and delete older ones.\n\nOur contract with the bank says 90 days.",
        "assistant: Then keep the backups for 90 days, as the contract requires.",
        [
            "user: How long should old backups be kept?",
            "assistant: Keep the backups for 30 days and delete older ones.",
            "user: Our contract with the bank says 90 days.",
            "assistant: Then keep the backups for 90 days, as the contract requires.",
        ],
    ),
    "a part of a question is quoted with dots": (
        HELLO,
        f"user: {FIRE}",
        "assistant: > … Which is safer against a fire?\n\nThe cloud is safer, because the disk burns with the office.",
        [f"user: {FIRE}", "assistant: The cloud is safer, because the disk burns with the office."],
    ),
    "a fact is quoted and used": (
        HELLO,
        "user: Our budget for backups is 20 euros a month. What do you recommend?",
        "assistant: > Our budget for backups is 20 euros a month.\n\nFor that, choose cold storage in Frankfurt.",
        [
            "user: Our budget for backups is 20 euros a month. What do you recommend?",
            "assistant: For that, choose cold storage in Frankfurt.",
        ],
    ),
    "an answer says in its own voice what was asked": (
        HELLO,
        "user: Should we encrypt the backups with age?",
        "assistant: Encrypt the backups with age.\n\nStore the key in the safe of the office.",
        [
            "user: Should we encrypt the backups with age?",
            "assistant: Encrypt the backups with age.",
            "assistant: Store the key in the safe of the office.",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_words_belong_to_who_said_them_first(name: str) -> None:
    trunk, *branch, lines = CASES[name]
    talk = Talk()
    shared = talk.say("main", f"user: {trunk}")
    talk.say("debug", *branch, at=shared.id)
    told = note(talk.path("debug")[1:], [trunk], 400)
    assert [f"{line.speaker}: {line.text}" for line in told] == lines


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            f"{OFFLINE}\n\nIt found nothing that bears on this.",
            "Nothing was learned on this branch but one question.",
        ),
        ("Yes, with versioning switched on.", ""),
    ],
)
def test_a_note_of_questions_alone_says_so(answer: str, said: str) -> None:
    talk = Talk()
    shared = talk.say("main", f"user: {HELLO}", "assistant: Good.")
    talk.say("debug", f"user: {CLOUD}", f"assistant: {answer}", at=shared.id)
    warnings = talk.plan("squash").warnings
    assert [one for one in warnings if NOTHING_LEARNED in one] == ([said] if said else [])
