"""The audit log as people read it: an entry as a sentence, and the whole log as a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from forky_core.people.audit import NOBODY, AuditEntry
from forky_core.people.members import ID_PREFIX
from forky_core.people.roles import Role
from forky_core.text.csv_lines import csv_line

_SENTENCES: Mapping[str, str] = {
    "signed in": "{who} signed in{way}",
    "signed out": "{who} signed {of} out in one browser",
    "signed out everywhere": "{who} signed {of} out everywhere{else_}",
    "proved again": "{who} proved once more who they are{way}",
    "sign-in refused": "A sign-in{of_member}{way} was refused",
    "requests refused": "{requests} refused: {reason}",
    "password reset offered": "{who} had a link to another password made for {of}",
    "password reset mailed": "A link to another password was asked for and sent to {whom}",
    "password reset": "{who} chose another password by a link",
    "webhook set": "{who} had notices sent to a webhook",
    "webhook removed": "{who} had no more notices sent to a webhook",
    "address confirmed": "{who} confirmed an address of e-mail",
    "member added": "{who} became {role}",
    "member renamed": "{who} changed {whose} name",
    "role changed": "{who} made {whom} {role}",
    "member removed": "{who} removed {whom}",
    "member left": "{who} left",
    "member forgotten": "{who} had {whom} forgotten",
    "way to sign in added": "{who} added a way to sign in{issuer}",
    "way to sign in changed": "{who} changed a way to sign in{issuer}",
    "way to sign in removed": "{who} removed a way to sign in{issuer}",
    "invitation made": "{who} made an invitation for {role}{uses}",
    "invitation accepted": "{who} accepted an invitation{of_whom}",
    "invitation taken back": "{who} took an invitation back",
    "shared with everybody": "{who} showed {conversation} to everybody",
    "no longer shared with everybody": "{who} showed {conversation} to everybody no longer",
    "shared": "{who} gave {whom} the role of {role} in {conversation}",
    "no longer shared": "{who} took {conversation} away from {whom}",
    "handed over": "{who} handed {conversation} over to {whom}",
    "branch protected": "{who} protected branches of {conversation}",
    "protection changed": "{who} changed what protects branches of {conversation}",
    "protection lifted": "{who} lifted a protection of branches of {conversation}",
    "protection bypassed": "{who} changed a protected branch of {conversation} without a request",
    "token made": "{who} made a token",
    "token revoked": "{who} revoked a token{of_whom}",
    "workspace made": "{who} made a workspace{named}",
    "workspace renamed": "{who} renamed a workspace{named}",
    "workspace archived": "{who} archived a workspace{named}",
    "workspace opened again": "{who} opened the archived workspace{named} again",
    "conversation moved away": "{who} moved {conversation} to another workspace",
    "conversation moved here": "{who} moved {conversation} here from another workspace",
    "link made": "{who} made a link to {conversation}{thing}",
    "link opened": "A link to {conversation}{thing} was opened{times}",
    "link revoked": "{who} revoked a link to {conversation}{thing}",
    "audit log exported": "{who} exported the audit log",
    "allowance set": "{who} set what {everybody} may have of models: {allowance}",
    "credit granted": "{who} granted {whom} {credit}",
    "credit taken back": "{who} took {credit} back from {whom}",
    "credit ended": "{who} let {whom} spend without credit",
    "limit set": "{who} set {limit} of {everybody} to {value}",
    "limit removed": "{who} removed {limit} of {everybody}",
    "models of a role set": "{who} set what {role} may ask to {models}",
    "key added": "{who} added a key for {provider}{own}",
    "key removed": "{who} removed a key for {provider}{own}",
    "keys encrypted anew": "{who} had {keys} stored keys encrypted anew",
    "spending exported": "{who} exported who spent what",
    "audit log cut": "{entries} old entries were removed, as the log keeps them only so long",
    "message erased": "{who} erased what a message of {conversation} said",
    "conversation deleted": "{who} deleted {conversation} for good",
    "conversation exported": "{who} exported {conversation}{form}",
    "tables exported": "{who} exported the tables for analysis{form}",
    "person exported": "{who} exported all that is {whoms}",
    "setting changed": "{who} changed the setting “{setting}”",
    "backed up": "{who} made a backup",
    "restored": "A backup was restored{of_day}",
}
"""What is said of each event. One that is not listed is said in its own words."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "Signing in": ("sign", "way to sign in"),
    "Refused": ("requests refused",),
    "Members and roles": ("member", "role", "invitation"),
    "Sharing": ("share", "no longer shared", "handed over", "link"),
    "Erased and deleted": ("message erased", "conversation deleted", "member forgotten"),
    "Exports and backups": (
        "conversation exported",
        "tables exported",
        "person exported",
        "audit log",
        "backed up",
        "restored",
    ),
    "Tokens": ("token",),
    "Settings": ("setting",),
}
"""The kinds of events, with how the names of their events begin. An event is of the first kind that fits best."""
OTHER = "Other"


def kind_of(event: str) -> str:
    """The kind of an event: the one with the longest prefix of the event's name."""
    fitting = [
        (len(begin), kind) for kind, begins in KINDS.items() for begin in begins if event.startswith(begin)
    ]
    return max(fitting)[1] if fitting else OTHER


def sentence(entry: AuditEntry, name_of: Callable[[str], str], title_of: Callable[[str], str]) -> str:
    """An entry as a sentence without its full stop.

    `name_of` is what a person is called by their id, best with the handle; `title_of` is how the reader may
    read of a conversation's id.
    """
    about = json.loads(entry.about)
    who = name_of(entry.person) if entry.person != NOBODY else "The operator"
    form = _SENTENCES.get(entry.event)
    if form is None:
        return f"{who}: {entry.event}"
    member = str(about.get("member", ""))
    itself = member in ("", entry.person)
    role = str(about.get("role", ""))
    uses = int(about.get("uses", 1))
    if entry.event == "member added" and not itself:
        form = "{who} made {whom} {role}"
    elif entry.event == "invitation accepted" and entry.person != NOBODY and not member:
        form = "{who} accepted an invitation of the operator"
    elif entry.event == "invitation accepted" and entry.person == NOBODY:  # Older entries do not say by whom.
        form = "An invitation was accepted"
    return form.format(
        who=who,
        whom=name_of(member) if member else "somebody",
        requests=_requests(int(about.get("number", 1)), "" if entry.person == NOBODY else who),
        reason=str(about.get("reason", "")),
        of=name_of(member) if not itself else "themselves",
        else_=" else" if itself else "",
        of_whom="" if itself else f" of {name_of(member)}",
        named=f" “{about['title']}”" if about.get("title") else "",
        whose="their own" if itself else f"{name_of(member)}’s",
        role=Role[role.upper()].phrase if role and entry.event != "shared" else role,
        way=f" by {about['way']}" if about.get("way") else "",
        issuer=f" ({about['issuer']})" if about.get("issuer") else "",
        of_member=f" as {name_of(member)}" if member else "",
        thing=f" ({about['thing']})" if about.get("thing") else "",
        times=f", {about['opened']} times so far" if int(about.get("opened", 0)) > 1 else "",
        uses=f", for {uses} people" if uses > 1 else "",
        credit=about.get("credit", ""),
        limit=str(about.get("limit", "")).replace("_", " "),
        value=about.get("value", ""),
        everybody=name_of(member) if member else "everybody",
        allowance=about.get("allowance", "") or "nothing of their own",
        models=about.get("models", ""),
        provider=about.get("provider", ""),
        own=" of the workspace" if about.get("of") == "workspace" else " of their own",
        keys=about.get("keys", ""),
        entries=f"{int(about.get('entries', 0)):,}",
        form=f" ({_form(about)})" if about.get("form") else "",
        whoms="theirs" if itself else f"{name_of(member)}’s",
        setting=str(about.get("setting", "")),
        of_day=f" that was made on {about['made']}" if about.get("made") else "",
        conversation=title_of(str(about["conversation"])) if "conversation" in about else "a conversation",
    )


def _requests(number: int, who: str) -> str:
    """How many requests, of whom if that is known, with the verb."""
    of = f" of {who}" if who else ""
    return f"1 request{of} was" if number == 1 else f"{number:,} requests{of} were"


def _form(about: Mapping[str, object]) -> str:
    """The format of a file that was exported, and what of the conversation was in it if that was not all."""
    return f"{about['thing']} as {about['form']}" if about.get("thing") else str(about["form"])


def as_csv(entries: Sequence[AuditEntry], name_of: Callable[[str], str]) -> Iterator[bytes]:
    """The entries as a table that spreadsheets open."""
    yield b"\xef\xbb\xbf" + csv_line(("number", "at", "person", "name", "event", "about", "id"))
    for entry in entries:
        row = (entry.number, _when(entry), entry.person, _name(entry, name_of), entry.event)
        yield csv_line((*row, entry.about, entry.id))


def as_json_lines(entries: Sequence[AuditEntry], name_of: Callable[[str], str]) -> Iterator[bytes]:
    """The entries as one JSON object a line, with the hashes that chain them."""
    for entry in entries:
        yield json.dumps(as_json(entry, name_of), ensure_ascii=False).encode() + b"\n"


def as_json(entry: AuditEntry, name_of: Callable[[str], str]) -> Mapping[str, object]:
    """An entry with all its fields, and the name that its person has now."""
    return {
        "number": entry.number,
        "at": _when(entry),
        "microseconds": entry.at,
        "person": entry.person,
        "name": _name(entry, name_of),
        "event": entry.event,
        "about": json.loads(entry.about),
        "id": entry.id,
        "previous": entry.previous,
    }


def _name(entry: AuditEntry, name_of: Callable[[str], str]) -> str:
    return name_of(entry.person) if entry.person.startswith(ID_PREFIX) else ""


def _when(entry: AuditEntry) -> str:
    return datetime.fromtimestamp(entry.at / 1e6, UTC).isoformat(timespec="milliseconds")
