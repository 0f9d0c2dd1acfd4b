"""The Chat page draws what the verbs of merging leave behind, whatever made it."""

from __future__ import annotations

from forky_core.forky import Forky
from tests.builders import talk
from tests.pages.test_chat import opened, shown


def test_the_notebook_says_what_a_revert_an_octopus_a_rebase_and_a_graft_are(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which port?", "8080.")
    one, two = talk(chat.fork("one"), "TLS?", "8443."), talk(chat.fork("two"), "Proxy?", "443.")
    talk(chat, "Thanks.", "Welcome.")
    chat.merge(chat.plan_merge([one, two], strategy="full"))
    chat.merge(chat.merges.plan_graft(talk(forky.create("Flags"), "Flags?", "--fast.")))
    chat.revert(chat.plan_revert(chat.path()[2].id))
    late = talk(forky.conversation(chat.id, "two").fork("late"), "Late?", "Late.")
    late.merges.rebase(late.merges.plan_rebase("main"))
    text = shown(opened(late, b="late"))
    for words in (
        "Brought back from “one”: 2 messages<",
        "Brought back from “two”: 2 messages<",
        "Brought back from “main of Flags”: ",
        "1 message left out from here on",
        "“late” moved here: 2 messages",
    ):
        assert words in text
