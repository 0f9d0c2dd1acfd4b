"""All that is somebody's, as one zip: for the person themselves, or for the operator who is asked for it.

The archive is made while it is read, one piece at a time, so that it is never in memory as a whole. It holds what the
person may see and nothing of others: of conversations that are not theirs only what they said there themselves. No
password, key, token or hash of one is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from forky_core.conversation.people.authors import Authors
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import file_name
from forky_core.formats.forky_file.writing import chat_of
from forky_core.gateway.tokens import Tokens
from forky_core.model import ConversationId, Message, Operation
from forky_core.model.errors import ForkyError, NotFound
from forky_core.model.parts import Json
from forky_core.people.audit_report import as_json
from forky_core.people.members import Member
from forky_core.people.team import Team
from forky_core.people.views import member_view
from forky_core.process.private_files import new_file

_SECRET = re.compile(r"secret|digest|sealed|sha256|password|hash", re.IGNORECASE)
"""Names of columns whose values open something."""
_ELSEWHERE = frozenset({"people", "identities", "sessions", "members", "audit", "shares", "given_files"})
"""Tables of which the archive has files of its own."""
_PIECE = 64 * 1024


class _Pieces:
    """The end of a zip that is being written, from which what was written is taken."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, content: bytes) -> int:
        self._held += content
        return len(content)

    def flush(self) -> None:
        """Nothing is held back."""

    def taken(self, least: int = 0) -> bytes:
        if len(self._held) <= least:
            return b""
        content = bytes(self._held)
        self._held.clear()
        return content


def person_archive(whole: Workspace, team: Team, member: Member, *, by: str) -> Iterator[bytes]:
    """The zip of all that is a person's, piece by piece. That it was exported becomes an entry of the audit log.

    `whole` is the workspace with everything in it; `by` is the id of whoever asks, "" for the operator.
    """
    team.audit.note("person exported", by, member=member.id)
    end = _Pieces()
    with ZipFile(cast("IO[bytes]", end), "w", ZIP_DEFLATED) as archive:
        for name, pieces in _files(whole, team, member):
            # An entry cannot be taken back: what could not be read says so, and the rest comes all the same.
            info = ZipInfo(name, _now())
            info.compress_type = ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as entry:
                try:
                    for piece in pieces:
                        entry.write(piece)
                        if content := end.taken(_PIECE):
                            yield content
                except ForkyError as error:
                    entry.write(f"\nThe rest could not be read: {error}\n".encode())
            if content := end.taken():
                yield content
    yield end.taken()


def save_person(whole: Workspace, team: Team, member: Member, to: Path, *, by: str = "") -> int:
    """Write the zip to a new file that only the user who runs this can read; returns its size in bytes.

    Raises:
        NotFound: its folder does not exist, or a file of the name does already.
    """
    try:
        descriptor = new_file(to)
    except OSError as error:
        raise NotFound(
            f"{to} cannot be written: {error.strerror}.", "Choose a new file in an existing folder."
        ) from error
    size = 0
    with open(descriptor, "wb") as out:  # noqa: PTH123 - it is a descriptor
        for piece in person_archive(whole, team, member, by=by):
            size += out.write(piece)
    return size


def _files(whole: Workspace, team: Team, member: Member) -> Iterator[tuple[str, Iterable[bytes]]]:
    view = member_view(whole, team, member.id)
    owned = [
        id for id, shared in team.sharing.of_all().items() if shared.owner == member.id and _exists(whole, id)
    ]
    others = sorted(id for id in view.store.access.visible if id not in owned and _exists(whole, id))  # type: ignore[attr-defined]
    yield "README.txt", [_readme(member, len(owned), len(others)).encode()]
    yield "profile.json", _json(_profile(team, member))
    yield "browsers.json", _json(_sessions(team, member))
    yield "roles.json", _json(_roles(team, member))
    yield "tokens.json", _json(_tokens(whole, member))
    yield (
        "audit.jsonl",
        (_line(as_json(entry, team.members.name_of)) for entry in team.audit.about_person(member.id)),
    )
    yield "spending.jsonl", map(_line, _spending(whole, (*owned, *others), member.id))
    yield "said-elsewhere.jsonl", map(_line, _said(view, others, member.id))
    yield "kept-about-you.json", _json(_rows(team, member.id))
    forky_file = exporter("forky")
    for id in owned:
        title = whole.store.view(id).title
        yield (
            f"conversations/{id[:8]}-{id[-4:]}-{file_name(title, forky_file)}",
            forky_file.write(chat_of(whole.store, id)),
        )


def _profile(team: Team, member: Member) -> Json:
    identities = team.members.identities(member.id)
    return {
        "id": member.id,
        "handle": member.handle,
        "name": member.name,
        "email": member.email,
        "role": member.role.word,
        "member_since": _when(member.since),
        "ways_to_sign_in": [{"issuer": one.issuer, "subject": one.subject} for one in identities],
    }


def _sessions(team: Team, member: Member) -> Json:
    return [
        {
            "browser": one.device,
            "signed_in": _when(one.created),
            "last_used": _when(one.seen),
            "expires": _when(one.expires),
        }
        for one in team.sessions.of(member.id)
    ]


def _roles(team: Team, member: Member) -> Json:
    return {
        "in_the_workspace": member.role.word,
        "in_conversations": {id: role.word for id, role in sorted(team.sharing.roles_in(member.id).items())},
    }


def _tokens(whole: Workspace, member: Member) -> Json:
    return [
        {
            "name": token.name,
            "ending": token.ending,
            "models": list(token.models),
            "dollars_a_day": token.daily,
            "dollars_in_all": token.dollars_in_all,
            "answers_a_day": token.answers,
            "answers_in_all": token.answers_in_all,
            "made": _when(token.created),
            "revoked": _when(token.revoked),
        }
        for token in Tokens(whole.store).all()
        if token.person == member.id
    ]


def _spending(whole: Workspace, conversations: Sequence[ConversationId], person: str) -> Iterator[Json]:
    """The model calls that answered what the person said."""
    for id in conversations:
        authors = _authors(whole, id)
        for call in whole.store.generations(id):
            if call.parent is not None and authors.of(call.parent) == person:
                yield {
                    "conversation": id,
                    "branch": call.branch,
                    "at": _when(call.started),
                    "model": call.model,
                    "prompt_tokens": call.usage.prompt_tokens,
                    "completion_tokens": call.usage.completion_tokens,
                    "dollars": call.usage.cost,
                }


def _said(view: Workspace, conversations: Sequence[ConversationId], person: str) -> Iterator[Json]:
    """What the person said in conversations of others that they see: messages, votes, requests and comments."""
    for id in conversations:
        authors, now = _authors(view, id), view.store.view(id)
        for message in view.store.messages(id).values():
            if authors.of(message.id) == person:
                yield {"conversation": id, "title": now.title, **_message(message)}
        for key, value in now.entries.items():
            if key.startswith("polls/") and key.endswith(f"/votes/{person}"):
                yield {"conversation": id, "title": now.title, "vote": value}
            elif key.startswith("requests/") and isinstance(value, Mapping):
                if value.get("by") == person:
                    yield {"conversation": id, "title": now.title, "request": value}
                for comment in value.get("comments", ()):
                    if comment.get("by") == person:
                        yield {"conversation": id, "title": now.title, "comment": comment}
        for operation in view.store.operations(id):
            if operation.actor == person:
                yield {"conversation": id, "title": now.title, "did": _operation(operation)}


def _message(message: Message) -> Mapping[str, Json]:
    return {
        "message": message.id,
        "at": _when(message.created),
        "text": message.text,
        "parts": [part.stored() for part in message.parts],
    }


def _operation(operation: Operation) -> Json:
    return {
        "number": operation.number,
        "at": _when(operation.at),
        "what": operation.verb,
        "summary": operation.summary,
    }


def _rows(team: Team, person: str) -> Json:
    """What the other tables about people say of this one, by the table."""
    found: dict[str, Json] = {}
    for table, columns in team.database.columns().items():
        shown = [column for column in columns if not _SECRET.search(column)]
        if table in _ELSEWHERE or "person" not in columns:
            continue
        named = ", ".join(f'"{column}"' for column in shown)
        rows = team.database.rows(f'SELECT {named} FROM "{table}" WHERE person = ?', person)  # noqa: S608 - names of our tables
        if rows:
            found[table] = [
                {key: value for key, value in dict(row).items() if not isinstance(value, bytes)}
                for row in rows
            ]
    return found


def _authors(forky: Workspace, id: ConversationId) -> Authors:
    authors = Authors()
    authors.add(forky.store.operations(id))
    return authors


def _exists(whole: Workspace, id: ConversationId) -> bool:
    try:
        whole.store.view(id)
    except NotFound:
        return False
    return True


def _json(value: Json) -> Iterator[bytes]:
    yield json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _when(microseconds: int) -> str | None:
    if not microseconds:
        return None
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="seconds")


def _now() -> tuple[int, int, int, int, int, int]:
    moment = datetime.now(UTC)
    return moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second


def _readme(member: Member, owned: int, others: int) -> str:
    return f"""Everything of {member.name} ({member.handle})

This archive was made by Forky. It holds what Forky keeps of you and what you have said:

profile.json            your name, handle, address, role, and how you sign in
browsers.json           the browsers in which you are signed in
roles.json              your role in the workspace and in each conversation that you see
tokens.json             the tokens of programs that you have made, without the tokens themselves
audit.jsonl             the entries of the audit log that are of you or about you, one a line
spending.jsonl          the model calls that answered you, with tokens and price where it is known, one a line
said-elsewhere.jsonl    what you said in the {others} conversations of others that you see: messages, votes, requests for
                        merges and comments, and what you changed there, one a line
kept-about-you.json     what else is stored with your name beside it, such as drafts, notices and limits
conversations/          the {owned} conversations that belong to you, each as a Forky file with its attachments, which
                        any Forky imports with all its branches and its history

Times are in UTC. Passwords and keys are in no file of it. What others said in their conversations is theirs, and is not
in it either. What you said in conversations that you do not see any more is not in it; an owner of the workspace can help.
"""
