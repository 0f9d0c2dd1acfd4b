"""What looks private is found with its places, and replaced everywhere in a copy; what is harmless is left alone."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.private_words import private_words
from forky_core.formats.exporting.redaction import findings, redacted, unread_files
from forky_core.formats.exporting.registry import EXPORTERS, exporter
from forky_core.formats.exporting.sharing import exported_part, hidden_content
from forky_core.formats.forky_file.writing import chat_of
from forky_core.model import seal
from forky_core.model.hashing import message_id
from forky_core.model.parts import Draft, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.builders import talk
from tests.formats.exporting.trees import chat_with
from tests.formats.forky_file.chats import with_everything

# Put together here, so that nobody's scanner takes this file for a leak.
OPENAI = "sk-" + "proj-aB3dE6gH9jK2mN5pQ8sT1vX4zA7cF0"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.value) for one in private_words(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (f"My key is {OPENAI}.", "key", OPENAI),
        (f"export GH={GITHUB}", "key", GITHUB),
        (f"aws {AWS},", "key", AWS),
        (f"Authorization: Bearer {JWT}", "key", JWT),
        ('{"api_key": "q8W2e5R7t9Y1u3I4"}', "key", "q8W2e5R7t9Y1u3I4"),
        ("postgres://ada:hunter22@db.example/x", "key", "hunter22"),
        ("write to ada.lovelace+x@mail.example.org!", "e-mail", "ada.lovelace+x@mail.example.org"),
        ("<ada@example.com>", "e-mail", "ada@example.com"),
        ("call +49 30 901820 today", "phone", "+49 30 901820"),
        ("call +1 (415) 555-0132.", "phone", "+1 (415) 555-0132"),
        ("call (415) 555-0132", "phone", "(415) 555-0132"),
        ("call 415-555-0132, please", "phone", "415-555-0132"),
        ("Tel. 030 90182045", "phone", "030 90182045"),
        ("020 7946 0958", "phone", "020 7946 0958"),
        ("01 23 45 67 89", "phone", "01 23 45 67 89"),
        ("oder 01.23.45.67.89", "phone", "01.23.45.67.89"),
        ("from abroad 0049 30 901820", "phone", "0049 30 901820"),
        ("01701234567 abends", "phone", "01701234567"),
        ("ring 07911123456", "phone", "07911123456"),
        ("my phone number is 612 345 678.", "phone", "612 345 678"),
        ("Tel: 5550132", "phone", "5550132"),
        ("call me at 98765 43210", "phone", "98765 43210"),
        ("WhatsApp: 91234567", "phone", "91234567"),
    ],
)
def test_what_is_private_is_found(text: str, kind: str, value: str) -> None:
    assert found(text) == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "version 1.67.0, 2.10.3.4 and v12.0.1-rc1",
        "on 2026-03-03 14:05, 03.04.2025, 03/04/2025 and 03-04-2025",
        "2025-01-02T03:04:05.678901Z",
        "b2:d6b0cd4e7a65ea90423c50fadb3f5704",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4",
        "0190f0c2-7c1a-7000-8000-000000000001",
        "at 192.168.10.254:8080 and 10.0.0.1",
        "1,204,551 rows, 3.14159265358979, 1e-7, 0.1234567890",
        "00 11 22 33 44 55 66 77 and 01 23 45 67 89 ab cd ef",
        "icon@2x.png and app@1.2.3, @decorator, user@localhost",
        "git@github.com:owner/repo.git",
        "sk-your-api-key-goes-here and token = get_access_token_from_env()",
        "x = 100 - 200 - 3000; y = [415, 555, 1032]",
        "ISBN 0306406152, order 4155550132, ticket 612 345 678, 1 000 000 000 rows",
        "the phone has 128 GB, 6.1 inches and 3 cameras; the mobile cost 1 200.50 in 2024-11-21",
        "cell 12 of row 4, call me 3 times, signal 15 SIGTERM, fax machines of 1990",
        "00:12:34.567 0012 0x7f00 00000000 007 1.02.03.04.05.06",
        "id 01712345678901, hash 0791112345678, 07:11:12",
        "ISBN 978-3-16-148410-0, 12345678901234567890",
        "range 0-1000000000 and lines 01-02",
        "secret: the code generator fails on enums",
        "https://example.org/a?page=020-7946-0958x",
        "password: at least 8-64 characters, sha256, /home/ada/x1 or hash1(value); パスワード：8文字以上",
        "if (at) this.goTo.com; look (at) example files; 100%25, C:\\_x, cookie: theme=dark; lang=en",
        "Привет, сосна 12345; 2026–2027, ½ cup; 50 4b 03 04 14 00 06 00 08 00 00 00 21 00 aa bb",
        "de12 3456 7890 abcd, be124f66-1234-5678-9abc-def012345678",
    ],
)
def test_what_is_harmless_is_not(text: str) -> None:
    assert found(text) == []


def test_a_value_has_one_placeholder_everywhere_in_every_format(forky: Workspace) -> None:
    chat = talk(
        forky.create("Mail of ada@example.com"),
        f"I am ada@example.com, key {OPENAI}.",
        "Noted, ada@example.com.",
    )
    talk(chat.fork("ask ada@example.com"), "And +49 30 901820?", "Yes.")
    chat.rules.set(system="Ada is ada@example.com")
    file = forky.attach(b"ada@example.com wrote this", name="ada@example.com.txt")
    chat.ask("Look", attachments=[file])
    whole = chat_of(forky.store, chat.id)
    seen = findings(whole)
    assert [(one.kind, one.placeholder) for one in seen] == [
        ("e-mail", "[e-mail 1]"),
        ("key", "[key 1]"),
        ("phone", "[phone 1]"),
    ]
    copy = redacted(whole, seen)
    for to in EXPORTERS:
        content = b"".join(to.write(copy))
        for secret in ("ada@example.com", OPENAI, "+49 30 901820"):
            assert secret.encode() not in content, to.name
    assert b"ada@example.com" not in b"".join(blob.content for blob in copy.blobs.values())
    assert set(copy.view.branches) == {"main", "ask [e-mail 1]"}
    assert copy.title == "Mail of [e-mail 1]"


@pytest.mark.parametrize(
    "said",
    [
        "forky-aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5hJ7kL9_",
        "ada\u200b@exam\u00adple.com",
        "4111 1111\n1111 1111",
        "DE89 3704 0044\n0532 0130 00",
        "YWRhQGV4YW1wbGUuY29tIGlzIG1pbmU=",
        "http://h:8501/s/aB3dE5gH7jK9mN1pQ3sT5v",
        # As a page, an address, JSON, a program and a dump write it.
        *(
            "ada&#64;example.com",
            "mailto:ada%40example.com",
            "a\\u0064a@example.com",
            "ada(at)example(dot)com",
        ),
        *(
            GITHUB.replace("_", "\\_"),
            GITHUB.replace("p", "р"),
            GITHUB.replace("1", "１"),
            GITHUB[:9] + "\0" + GITHUB[9:],
        ),
        *(
            "%67%68%70%5F" + GITHUB[4:],
            GITHUB[:9] + "\u0301" + GITHUB[9:],
            GITHUB[:9] + "\U000e0041" + GITHUB[9:],
        ),
        *(
            GITHUB[:9] + "\u2028" + GITHUB[9:],
            GITHUB.encode().hex(),
            GITHUB.encode().hex(" "),
            "0x" + GITHUB.encode().hex(),
        ),
        *("".join(f"\\x{sign:02x}" for sign in GITHUB.encode()), base64.b32encode(GITHUB.encode()).decode()),
        *(
            base64.b64encode(text).decode()
            for text in (GITHUB.encode("utf-16-le"), b"\xff\xfe " + GITHUB.encode())
        ),
        *(
            "4111\u00a01111\u00a01111\u00a01111",
            "4111.1111.1111.1111",
            "４１１１１１１１１１１１１１１１",
            "de89370400440532013000",
        ),
        *("+49\u00a030\u00a0901820", "＋49 30 901820", "415‑555‑0132", "+٩٦٦ ٥٠١٢٣٤٥٦٧", "手机 13812345678"),
        # Beside letters of a script that is written without spaces.
        *("联系我ada@example.com请", f"キーは{GITHUB}です", "ada@exämple.de"),
        # Passwords that a person chose, and keys beside other labels.
        *(
            "password: hunter2xy",
            '{\\"password\\": \\"hunter2xy\\"}',
            "Das Passwort lautet hunter2xy",
            "密码：hunter2xy。",
        ),
        *(
            "curl -u ada:hunter2xy https://x",
            "Cookie: session=aB3dE5gH7jK9mN1pQ3sT5v",
            "https://ada:he%2F%2Fo9@x.org",
        ),
        *("root:$6$aB3dE5gH$jK9mN1pQ3sT5vX7:19000", '{"auths":{"r":{"auth":"YWRhOmh1bnRlcjIyeHg="}}}'),
    ],
)
def test_what_is_disguised_is_replaced(forky: Workspace, said: str) -> None:
    chat = chat_of(forky.store, talk(forky.create("A secret"), f"It is {said} and no more.").id)
    seen = findings(chat)  # The title has spaces of another form.
    found = next(one for one in seen if one.places[0].where != "the title")
    text = next(iter(redacted(chat, [found]).messages.values())).text
    assert found.placeholder in text and found.value not in text, text
    assert not findings(redacted(chat, seen))


def test_only_what_is_ticked_is_replaced_and_numbers_stay() -> None:
    message = seal(Draft("user", (TextPart("a@example.com b@example.com +49 30 901820"),)), ())
    chat = chat_with((message,), message.id)
    seen = findings(chat)
    copy = redacted(chat, seen[1:2])
    assert [one.text for one in copy.messages.values()] == ["a@example.com [e-mail 2] +49 30 901820"]
    assert redacted(chat, ()) is chat


def test_tool_calls_results_and_thoughts_are_looked_into() -> None:
    ask = seal(Draft("user", (TextPart("Write to her"),)), ())
    call = seal(
        Draft(
            "assistant",
            (
                ReasoningPart("ada@example.com it is", provider_metadata='{"signature":"x"}'),
                ToolCallPart("mail", '{"password":"q8W2e5R7t9Y1u3I4","to":["ada@example.com"]}'),
            ),
        ),
        (ask.id,),
    )
    result = seal(Draft("tool", (ToolResultPart("mail", "sent to ada@example.com"),)), (call.id,))
    chat = chat_with((ask, call, result), result.id)
    copy = redacted(chat, findings(chat))
    stored = [part.stored() for message in copy.messages.values() for part in message.parts]
    assert "ada@" not in str(stored)
    assert stored[2]["arguments"] == {"password": "[key 1]", "to": ["[e-mail 1]"]}
    assert "provider_metadata" not in stored[1], "what was signed is another text now"


def test_the_copy_is_another_conversation_that_holds_together(forky: Workspace) -> None:
    chat = with_everything(forky)
    talk(chat, "I am ada@example.com")
    whole = chat_of(forky.store, chat.id)
    copy = redacted(whole, findings(whole))
    assert copy.id != chat.id
    assert copy.forked_from == {"id": chat.id, "name": chat.title}
    assert copy == redacted(whole, findings(whole)), "the same copy every time"
    for message in copy.messages.values():
        assert message.id == message_id(message.parents, message.role, message.parts, message.name)
        assert all(parent in copy.messages for parent in message.parents)
        for merge in message.merges:
            assert set(merge.messages) <= set(copy.messages)
    assert copy.operations == ()
    assert len(copy.messages) == len(chat.visible.messages)
    assert chat_of(forky.store, chat.id) == whole, "the conversation itself is as it was"
    assert exporter("forky").losses(copy) == ()


def test_files_that_cannot_be_looked_into_are_named(forky: Workspace) -> None:
    chat = with_everything(forky)
    assert unread_files(chat_of(forky.store, chat.id)) == ("cat.png",)


def test_a_place_says_where_it_stands() -> None:
    message = seal(Draft("user", (TextPart("Please\nwrite to ada@example.com soon"),)), ())
    (one,) = findings(chat_with((message,), message.id))
    (place,) = one.places
    assert (place.where, place.before, place.after) == ("message 1", "Please write to", "soon")


def test_a_secret_that_was_undone_put_aside_or_logged_is_found_where_it_would_leave(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "Hello", "Hi")
    chat.say("undone@example.com")
    chat.undo()
    chat.stashes.create(draft="stashed@example.com", note="noted@example.com")
    chat.rename("Mail of titled@example.com")
    chat.rename("Names")
    chat.fork("branched@example.com")
    chat.checkout("branched@example.com").branches.rename("plain")
    whole = chat_of(forky.store, chat.id)
    places = {one.value: one.places[0].where for one in findings(whole)}
    assert places["undone@example.com"] == "an undone message"
    assert places["stashed@example.com"] == "stash 1"
    assert places["noted@example.com"] == "stash 1"
    assert places["titled@example.com"].startswith("the log, operation ")
    assert places["branched@example.com"].startswith("the log, operation ")
    file = b"".join(exporter("forky").write(whole)).decode()
    assert set(places) <= {one.value for one in private_words(file)}
    bare = exported_part(whole, exporter("forky"), log=False)
    assert findings(bare) == ()
    for to in EXPORTERS:
        content = b"".join(to.write(exported_part(whole, to, log=False)))
        assert b"@example.com" not in content, to.name
    assert b"@example.com" not in b"".join(exporter("forky").write(redacted(whole, findings(whole))))


def test_source_fields_and_unknown_lines_are_looked_into() -> None:
    message = seal(Draft("user", (TextPart("Hello"),)), ())
    chat = replace(
        chat_with((message,), message.id),
        origins=({"message": message.id, "id": "1", "x": {"api_key": "q8W2e5R7t9Y1u3I4"}},),
        other_lines=('{"type":"mood","who":"ada@example.com"}',),
    )
    assert [one.value for one in findings(chat)] == ["q8W2e5R7t9Y1u3I4", "ada@example.com"]


def test_what_leaves_unseen_is_counted(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "Hello")
    chat.say("undone")
    chat.undo()
    chat.stashes.create(draft="later")
    whole = chat_of(forky.store, chat.id)
    many = len(whole.operations)
    assert hidden_content(whole) == f"1 undone message, 1 stash and the operation log ({many} operations)"
    assert hidden_content(exported_part(whole, exporter("forky"), log=False)) == ""
    assert exported_part(whole, exporter("forky"), log=True) is whole
