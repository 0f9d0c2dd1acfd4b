"""`/s/{secret}` on a real socket behind the gate: whoever has the address reads that page, signed in or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from forky_core.conversation.conversation import Conversation
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.headers import SecurityHeaders, content_security_policy
from forky_core.gateway.links import PREFIX, LinkAt
from forky_core.people.links import links as links_module
from forky_core.people.links.link import Link
from forky_core.people.links.links import Links
from tests.builders import talk
from tests.formats.reports.given import Given, given
from tests.formats.reports.links import link_to
from tests.gateway.served import listening
from tests.hangs import HANG


class Served:
    """A server with links."""

    def __init__(self, made: Given) -> None:
        self.made = made
        self.url = ""
        self.shared = True
        self.forkable = True
        self.app = Starlette(
            routes=[
                Route(
                    f"{PREFIX}/{{secret}}",
                    LinkAt(
                        lambda: Links(made.forky.store),
                        lambda _person: made.forky,
                        self.may_share,
                        may_fork=lambda _scope: self.forkable,
                    ),
                )
            ],
            middleware=[
                Middleware(
                    SecurityHeaders, policy=content_security_policy(), own_policy_below=(f"{PREFIX}/",)
                ),
                Middleware(Gate, sign_in=SignIn(Origins(), "always"), public_below=(PREFIX,)),
            ],
        )

    def may_share(self, _link: Link) -> bool:
        return self.shared

    def get(self, path: str, method: str = "GET") -> httpx.Response:
        return httpx.request(method, f"{self.url}{path}", timeout=HANG)

    def open(self, secret: str, method: str = "GET") -> httpx.Response:
        return self.get(f"{PREFIX}/{secret}", method)

    def chat(self, title: str = "Ducks") -> Conversation:
        return talk(self.made.forky.create(title), "A name?", "Gerald.")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    one = Served(given())
    with listening(one.app) as url:
        one.url = url
        yield one


def test_a_visitor_needs_no_session_and_the_page_has_an_origin_of_its_own(served: Served) -> None:
    new = link_to(served.made.forky, served.made.chat, "comparison", "main", "third")
    page = served.open(new.secret)
    assert page.status_code == 200 and "The port is 8080." in page.text and "<script" not in page.text
    policy = page.headers.get_list("content-security-policy")
    assert len(policy) == 1 and policy[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "sandbox allow-popups" in policy[0] and "unsafe" not in policy[0] and "script" not in policy[0]
    assert page.headers["referrer-policy"] == "no-referrer" and page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff" and "noindex" in page.headers["x-robots-tag"]


def test_a_replay_runs_its_own_script_alone(served: Served) -> None:
    page = served.open(link_to(served.made.forky, served.made.chat, "replay").secret)
    policy = page.headers["content-security-policy"]
    assert re.search(r"script-src 'sha256-[^' ]+';", policy) and "unsafe" not in policy
    assert "sandbox allow-scripts" in policy and "allow-same-origin" not in policy


@pytest.mark.parametrize("live", [False, True])
def test_a_part_of_a_conversation_is_drawn_and_offered_to_be_forked(served: Served, live: bool) -> None:
    chat = served.chat()
    new = link_to(served.made.forky, chat, live=live)
    page = served.open(new.secret)
    assert "Gerald." in page.text and f'href="../fork?link={new.secret}"' in page.text
    served.forkable = False
    assert "fork?link" not in served.open(new.secret).text
    served.forkable = True
    alone = link_to(served.made.forky, chat, "message", chat.path()[0].id)
    assert "fork?link" not in served.open(alone.secret).text


def test_a_live_page_is_drawn_once_for_each_state_of_the_conversation(served: Served) -> None:
    chat = served.chat()
    new = link_to(served.made.forky, chat, live=True)
    assert served.open(new.secret).text == served.open(new.secret).text
    chat.say("Geraldine.")
    assert "Geraldine." in served.open(new.secret).text


def test_only_a_page_that_was_sent_counts_as_opened(served: Served) -> None:
    chat = served.chat()
    new = link_to(served.made.forky, chat)
    for method in ("GET", "HEAD", "GET", "POST"):
        served.open(new.secret, method)
    assert served.open(new.secret, "HEAD").content == b""
    (link,) = Links(served.made.forky.store).all(chat.id)
    assert link.opened == 2


@pytest.mark.parametrize("live", [False, True])
def test_a_link_that_is_over_says_so_and_nothing_of_what_it_showed(
    served: Served, live: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = served.chat("Ducks of the court")
    links = Links(served.made.forky.store)
    revoked, expired = (link_to(served.made.forky, chat, live=live) for _ in range(2))
    links.revoke(revoked.link.id)
    answers = {"This link was revoked.": served.open(revoked.secret)}
    monkeypatch.setattr(links_module, "now", lambda: expired.link.until + 1)
    answers["This link has expired."] = served.open(expired.secret)
    monkeypatch.undo()
    trashed = link_to(served.made.forky, chat, live=live)
    chat.trash()
    answers["This link is closed at the moment."] = served.open(trashed.secret)
    for sentence, answer in answers.items():
        assert answer.status_code == 410 and sentence in answer.text
        assert "Ducks" not in answer.text and "Gerald" not in answer.text
        assert "unsafe" not in answer.headers["content-security-policy"]
    chat.take_back()
    assert served.open(trashed.secret).status_code == 200


def test_a_live_link_ends_with_what_it_shows_and_with_the_right_to_share_it(served: Served) -> None:
    chat = served.chat()
    new = link_to(served.made.forky, chat.fork("side"), live=True)
    served.shared = False
    answer = served.open(new.secret)
    assert answer.status_code == 410 and "Gerald" not in answer.text
    served.shared = True
    assert served.open(new.secret).status_code == 200
    chat.checkout("side").branches.delete()
    answer = served.open(new.secret)
    assert answer.status_code == 410 and "not there any more" in answer.text and "side" not in answer.text


def test_every_guess_gets_the_same_answer(served: Served) -> None:
    new = link_to(served.made.forky, served.made.chat)
    guesses = (
        "nobody",
        "%00",
        "a" * 3_000,
        "x" * 22,
        new.link.id,
        new.link.sha256,
        new.secret[:-1],
        new.secret + "a",
    )
    answers = [served.open(secret) for secret in guesses]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1 and "There is no such link" in answers[0].text
    assert len({str(sorted((k, v) for k, v in one.headers.items() if k != "date")) for one in answers}) == 1
    assert "sandbox" in answers[0].headers["content-security-policy"]


def test_nothing_can_be_posted_and_nothing_else_is_open(served: Served) -> None:
    assert served.get(f"{PREFIX}/anything", "POST").status_code == 405
    assert served.get("/sessions").status_code == 401
    assert served.get(f"{PREFIX}x/anything").status_code == 401


def test_the_link_of_an_audience_leads_to_the_presentation(served: Served) -> None:
    links = Links(served.made.forky.store)
    new = links.make_audience(served.made.chat.id, (), title="Ports", by="")
    answer = served.open(new.secret)
    assert (answer.status_code, answer.headers["location"]) == (303, f"../present/watch/{new.secret}")
    assert replace(new.link).opened == 0 and links.find(new.secret).opened == 0, (
        "it is counted where it is shown"
    )
