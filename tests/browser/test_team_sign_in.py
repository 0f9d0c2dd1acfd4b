"""How the people of a team come in, in a real browser: by two real identity providers."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.gateway.access.ways.oidc import OidcWay
from forky_core.gateway.access.ways.oidc_providers import IdentityProvider
from tests.app_server import free_port
from tests.browser.conftest import CHECKOUT, Watched, expect, first_owners_address, served, settled
from tests.gateway.access.team_door import asked, mock_provider, team_door, to_provider
from tests.hangs import HANG
from tests.programs import oidc_provider

pytestmark = pytest.mark.browser

SECRET = "hush"
ADA = {"sub": "ada", "name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True}


def test_a_deep_link_leads_to_the_provider_and_comes_back_whole(tmp_path: Path, watch: Any) -> None:
    file = tmp_path / "providers.toml"
    with mock_provider(people=[ADA]) as issuer:
        # The provider is another site for the browser: the strict cookie is not sent along from there.
        file.write_text(
            f'[[provider]]\nname = "work"\nlabel = "Work"\nclient_id = "forky"\nclient_secret = "s"\n'
            f'issuer = "{issuer.replace("127.0.0.1", "localhost")}"\n'
        )
        with served(
            CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on", FORKY_SIGN_IN_PROVIDERS=str(file)
        ) as address:
            watched: Watched = watch()
            page = watched.page
            page.goto(f"{address}/sign-in/oidc/work/back?state=x&code=y")
            expect(page.get_by_role("alert")).to_contain_text("was not begun in this browser")
            page.goto(first_owners_address(address, tmp_path))
            page.get_by_role("link", name="Come in with Work").click()
            page.get_by_role("button", name="ada").click()
            page.wait_for_url(f"{address}/")
            settled(page)

            page.goto(f"{address}/sign-out")
            page.get_by_role("button", name="Sign out").click()
            page.goto(f"{address}/library?q=pelican")
            link = page.get_by_role("link", name="Sign in with Work")
            expect(link).to_be_visible()
            link.click()
            page.get_by_role("button", name="ada").click()
            page.wait_for_url("**/library?q=pelican*")
            settled(page)
            assert watched.problems == []


@contextlib.contextmanager
def certified_provider(port: int, redirect: str) -> Iterator[None]:
    """oidc-provider of npm, which passes the tests of the OpenID Foundation; it insists on PKCE."""
    command = oidc_provider()
    if command is None:
        pytest.skip("oidc-provider is not installed (python -m tests.programs).")
    process = subprocess.Popen(
        [*command, str(port), redirect], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout
    try:
        assert any("listening" in line for line in process.stdout)
        yield
    finally:
        process.terminate()
        process.wait(HANG)
        process.stdout.close()


@pytest.mark.long
def test_a_certified_provider_lets_people_in_and_no_code_twice(watch: Any) -> None:
    port = free_port()
    work = IdentityProvider("work", "Work", f"http://localhost:{port}", "forky", SECRET)
    with (
        team_door([OidcWay([work])]) as door,
        certified_provider(port, f"{door.address}/sign-in/oidc/work/back"),
    ):
        watched: Watched = watch()
        page = watched.page
        page.goto(f"{door.address}/join/{door.invitation(email='ada@example.org')}")
        page.get_by_role("link", name="Come in with Work").click()
        page.locator("input[name=login]").fill("ada")
        page.locator("input[name=password]").fill("any")
        page.get_by_role("button", name="Sign-in").click()
        with page.expect_request(lambda request: "/sign-in/oidc/work/back?" in request.url) as back:
            page.get_by_role("button", name="Continue").click()
        expect(page.locator("body")).to_have_text("ada-lovelace /?")
        (member,) = door.team.members.all()
        assert (member.name, member.email) == ("Ada Lovelace", "ada@example.org")

        code = asked(back.value.url)["code"]
        with door.browser() as browser:
            question = asked(to_provider(browser))
            params = {"code": code, "state": question["state"], "iss": work.issuer}
            refused = browser.get("/sign-in/oidc/work/back", params=params)
            assert refused.status_code == 403 and "did not accept" in refused.text
            unnamed = {"code": code, "state": asked(to_provider(browser))["state"]}
            assert "its issuer is not" in browser.get("/sign-in/oidc/work/back", params=unnamed).text
        assert [one["reason"] for one in door.refusals()] == ["code", "issuer"]
