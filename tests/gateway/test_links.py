"""`/s/{secret}` on a real socket behind the gate: whoever has the address reads that page, signed in or not."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from forky_core.gateway.published import PREFIX, PublishedAt
from forky_core.publishing.published_pages import PublishedPages
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.headers import SecurityHeaders, content_security_policy
from forky_core.publishing.forms.web_page import WebPage
from tests.gateway.served import listening
from tests.hangs import HANG
from tests.publishing.given import Given, given


@pytest.fixture(scope="module")
def shown() -> Iterator[tuple[str, Given]]:
    made = given()
    app = Starlette(
        routes=[Route(f"{PREFIX}/{{secret}}", PublishedAt(lambda: made.forky))],
        middleware=[
            Middleware(SecurityHeaders, policy=content_security_policy(), own_policy_below=(f"{PREFIX}/",)),
            Middleware(Gate, sign_in=SignIn(Origins(), "always"), public_below=(PREFIX,)),
        ],
    )
    with listening(app) as url:
        yield url, made


def get(url: str, path: str, method: str = "GET") -> httpx.Response:
    return httpx.request(method, f"{url}{path}", timeout=HANG)


def test_a_visitor_needs_no_session_and_the_page_has_an_origin_of_its_own(shown: tuple[str, Given]) -> None:
    url, made = shown
    new = PublishedPages(made.forky.store).publish(
        made.report("comparison", ("main", "third")), WebPage(), made.chat.id
    )
    page = get(url, f"{PREFIX}/{new.secret}")
    assert page.status_code == 200 and "The port is 8080." in page.text
    policy = page.headers.get_list("content-security-policy")
    assert len(policy) == 1 and policy[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "sandbox allow-scripts" in policy[0] and "allow-same-origin" not in policy[0]
    assert page.headers["referrer-policy"] == "no-referrer" and page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff" and "noindex" in page.headers["x-robots-tag"]
    assert get(url, f"{PREFIX}/{new.secret}", "HEAD").content == b""
    PublishedPages(made.forky.store).revoke(new.page.id)
    assert get(url, f"{PREFIX}/{new.secret}").status_code == 404


def test_every_address_that_leads_nowhere_gets_the_same_answer(shown: tuple[str, Given]) -> None:
    url, made = shown
    pages = PublishedPages(made.forky.store)
    new = pages.publish(made.report("replay"), WebPage(), made.chat.id)
    pages.revoke(new.page.id)
    answers = [get(url, f"{PREFIX}/{secret}") for secret in (new.secret, "nobody", "%00", "a" * 3_000)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1 and "There is no such page" in answers[0].text
    assert "sandbox" in answers[0].headers["content-security-policy"]


def test_nothing_can_be_posted_and_nothing_else_is_open(shown: tuple[str, Given]) -> None:
    url, _ = shown
    assert get(url, f"{PREFIX}/anything", "POST").status_code == 405
    assert get(url, "/sessions").status_code == 401
    assert get(url, f"{PREFIX}x/anything").status_code == 401
