from __future__ import annotations

import json
import re
import sys
from html import unescape
from types import ModuleType

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from forky_core.conversation.conversation import Conversation
from forky_core.gateway.access.person import PERSON
from forky_core.model import Message
from forky_core.people.members import Member
from forky_core.people.roles import Role
from pages.ui.chat import opening
from pages.ui.components.palette import DARK, LIGHT, Palette
from pages.ui.drafts import drafts
from pages.ui.keeping.component import owner
from pages.ui.streamlit_patches import first_paint
from pages.ui.streamlit_patches.first_paint import _DARK, _LIGHT, LEAVING_SCRIPT, ROOT, TITLE, frame
from pages.ui.streamlit_patches.icons import icon_style
from pages.ui.streamlit_patches.patch import streamlit_folder
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.patched import behind
from tests.pages.teams import TeamServer

THEIRS = (streamlit_folder() / "static" / "index.html").read_text("utf-8")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    async def page(_request: object) -> HTMLResponse:
        return HTMLResponse(THEIRS, headers={"etag": "theirs"})

    async def other(_request: object) -> HTMLResponse:
        return HTMLResponse("x" * len(THEIRS.encode()))

    async def streamed(_request: object) -> Response:
        return StreamingResponse(iter(["<p>", "later"]), media_type="text/html")

    monkeypatch.setattr(first_paint, "_PATIENCE", HANG)
    routes = [Route("/", page), Route("/library", page), Route("/other", other), Route("/streamed", streamed)]
    return TestClient(
        behind("first_paint", Starlette(routes=routes)),
        headers={"accept": "text/html,*/*", "accept-encoding": "identity"},
    )


def test_streamlits_page_is_as_this_patch_expects_it() -> None:
    assert THEIRS.count(ROOT) == THEIRS.count(TITLE) == 1


def test_the_page_has_a_frame_where_streamlit_draws(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An earlier test of this process may have opened a database.
    monkeypatch.setattr(opening, "at_hand", lambda: None)
    answer = client.get("/")
    assert f'<div id="root"></div>{icon_style()}{frame()}' in answer.text
    assert "<title>Forky</title>" in answer.text
    assert "Opening your conversations" in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers
    scripts = re.findall(r"<script.*?</script>", THEIRS, re.DOTALL)
    ours = LEAVING_SCRIPT.strip()
    assert sorted(re.findall(r"<script.*?</script>", answer.text, re.DOTALL)) == sorted([*scripts, ours])


def test_every_other_answer_passes_as_it_is(client: TestClient) -> None:
    assert client.get("/other").text == "x" * len(THEIRS.encode())
    assert client.get("/streamed").text == "<p>later"
    assert client.get("/nowhere").status_code == 404
    assert client.head("/").content == b""


def plain_end(message: Message) -> str:
    """What a message says behind its last piece of code."""
    return message.text.rpartition("`")[2].strip()


def test_the_frame_has_the_newest_messages_of_the_conversation_at_its_address(
    client: TestClient, chat: Conversation
) -> None:
    plain, of_branch = client.get("/").text, client.get(f"/?c={chat.id}&b=debug").text
    for page, path in ((plain, chat.path()), (of_branch, chat.checkout("debug").path())):
        assert plain_end(path[-1]) in page and page.count('<template shadowrootmode="closed">') == 2
        assert frame() not in page
    at = chat.path()[1]
    earlier = client.get(f"/?c={chat.id}&m={at.id.removeprefix('b2:')}").text
    assert plain_end(at) in earlier and plain_end(chat.path()[-1]) not in earlier
    assert client.get("/").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("address", ["/library", "/?c=nothing", "/?b=nothing"])
def test_where_there_is_no_such_conversation_the_frame_is_plain(
    client: TestClient, chat: Conversation, address: str
) -> None:
    assert frame() in client.get(address).text


def test_what_is_not_drawn_in_time_is_left_out(
    client: TestClient, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_paint, "_PATIENCE", 0.0)
    assert frame() in client.get("/").text


def test_a_fault_in_drawing_leaves_the_plain_frame(
    client: TestClient, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "cell_tree", lambda *_: 1 / 0)
    assert frame() in client.get("/").text


def test_a_request_that_comes_while_the_drawing_is_being_imported_gets_the_plain_frame(
    client: TestClient, chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, opening.__name__, ModuleType(opening.__name__))
    assert frame() in client.get("/").text


def test_what_a_message_says_is_text_and_what_only_streamlit_draws_is_shown_as_written(
    client: TestClient, chat: Conversation
) -> None:
    talk(chat, "<script>alert(1)</script></template>", "So <b>much</b>. " + "x" * 20_000)
    page = client.get("/").text
    assert "<script>alert" not in page and page.count("</template>") == 2
    assert '<pre class="as-written">So &lt;b&gt;much&lt;/b&gt;. xx' in page


def test_on_a_teams_server_everybody_gets_only_what_they_may_read(
    client: TestClient, server: TeamServer, ada: Member, ben: Member
) -> None:
    hers = talk(server.seen_by(ada).create("Hers"), "A secret?", "It stays one.")
    address = f"/?c={hers.id}"
    assert "It stays one." in client.get(address, headers={PERSON.decode(): ada.id}).text
    for others in ({PERSON.decode(): ben.id}, {PERSON.decode(): "nobody"}, {}):
        assert "It stays one." not in client.get(address, headers=others).text


def field_of(page: str) -> tuple[dict[str, object], str]:
    """Where the field of a page says that its question goes, and what is typed there already."""
    found = re.search(r'<textarea[^>]* data-goes="([^"]*)">\n(.*?)</textarea>', page, re.DOTALL)
    assert found is not None
    return json.loads(unescape(found[1])), unescape(found[2])


def test_the_field_of_the_frame_says_where_a_question_goes_and_has_the_draft_of_its_place(
    client: TestClient, chat: Conversation
) -> None:
    drafts().write(f"{chat.id}/main", "\n</textarea> half a thought")
    goes, text = field_of(client.get("/").text)
    at = chat.path()[1].id
    earlier, none = field_of(client.get(f"/?c={chat.id}&m={at.removeprefix('b2:')}").text)
    drafts().clear(f"{chat.id}/main")
    assert text == "\n</textarea> half a thought" and none == ""
    assert goes["place"] == f"{chat.id}/main" and goes["owner"] == owner("")
    assert goes["seen"] == chat.branch.head and goes["fork"] == "" and goes["own"] is False
    assert earlier["place"] == f"{chat.id}/{earlier['b']}/{at}" and earlier["fork"] == at


def test_on_a_teams_server_the_frame_has_a_field_for_whoever_may_write_and_names_them(
    client: TestClient, server: TeamServer, ada: Member, ben: Member
) -> None:
    hers = talk(server.seen_by(ada).create("Hers"), "A question?", "An answer.")
    address = f"/?c={hers.id}"
    for role, forks in ((Role.EDITOR, False), (Role.COMMENTER, True)):
        server.team.sharing.share(hers.id, ben.id, role, by=ada.id)
        goes, _ = field_of(client.get(address, headers={PERSON.decode(): ben.id}).text)
        assert goes["owner"] == owner(ben.id) and goes["own"] is forks
        assert goes["fork"] == (hers.branch.head if forks else "")
    server.team.sharing.share(hers.id, ben.id, Role.VIEWER, by=ada.id)
    page = client.get(address, headers={PERSON.decode(): ben.id}).text
    assert "An answer." in page and "<textarea" not in page


@pytest.mark.parametrize(("ours", "palette"), [(_LIGHT, LIGHT), (_DARK, DARK)])
def test_the_frame_has_forkys_colours(ours: dict[str, str], palette: Palette) -> None:
    theirs = {
        "back": palette.background,
        "text": palette.text,
        "quiet": palette.quiet,
        "line": palette.border,
        "bar": palette.surface,
        "accent": palette.accent,
    }
    assert ours == theirs


def test_no_part_of_the_frame_is_left_to_fill_in() -> None:
    assert not re.search(r"\{[a-z]+\}", frame())


def test_a_browser_elsewhere_gets_the_page_compressed(client: TestClient) -> None:
    plain, packed = client.get("/"), client.get("/", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip" and packed.text == plain.text
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
