from __future__ import annotations

from collections.abc import Callable

import pytest

from forky_core.model.errors import BadContent, BadName, InTheWay, NameTaken, NotFound
from forky_core.people.members import Identity, fit_email, fit_handle
from forky_core.people.roles import ASSIGNABLE, Role, role_named
from tests.builders import talk
from tests.people.people import Office


def test_roles_are_ordered_and_named() -> None:
    assert list(ASSIGNABLE) == sorted(ASSIGNABLE) and Role.NONE not in ASSIGNABLE
    assert [role_named(f" {role.word.upper()} ") for role in ASSIGNABLE] == list(ASSIGNABLE)
    for word in ("", "none", "admin", "own er"):
        with pytest.raises(BadContent):
            role_named(word)


def test_the_last_owner_can_neither_leave_nor_step_down_nor_be_forgotten(here: Office) -> None:
    ada = here.join("Ada", Role.OWNER)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: here.team.members.remove(ada.id, by=ada.id),
        lambda: here.team.members.set_role(ada.id, Role.EDITOR, by=ada.id),
        lambda: here.team.members.forget(ada.id, by=ada.id),
    )
    for attempt in attempts:
        with pytest.raises(InTheWay):
            attempt()
    assert here.team.members.member(ada.id).role is Role.OWNER
    bob = here.join("Bob", Role.OWNER)
    here.team.members.remove(ada.id, by=ada.id)
    with pytest.raises(InTheWay):
        here.team.members.remove(bob.id, by=bob.id)


def test_somebody_who_is_renamed_keeps_id_and_handle_and_the_log_stays_whole(here: Office) -> None:
    ada = here.join("Ada", Role.OWNER)
    chat = talk(here.seen_by(ada).create("Boats"), "Which ones float?")
    here.team.members.rename(ada.id, "Ada King")
    renamed = here.team.members.member(ada.id)
    assert (renamed.id, renamed.handle, renamed.name) == (ada.id, ada.handle, "Ada King")
    assert here.team.members.name_of(chat.history.operations[0].actor) == "Ada King"
    assert chat.history.verify().clean and here.team.audit.first_broken() is None


def test_somebody_who_is_forgotten_leaves_an_id_that_names_nobody(here: Office) -> None:
    here.join("Ada", Role.OWNER)
    bob = here.join("Bob")
    here.team.members.keep_identity(bob.id, Identity("password", "bob", "hash"))
    token = here.team.sessions.open(bob.id)
    chat = talk(here.seen_by(bob).create("Boats"), "Which ones float?")
    id = chat.id
    here.team.members.forget(bob.id, by=bob.id)
    with pytest.raises(NotFound):
        here.team.members.member(bob.id)
    assert here.team.members.by_identity("password", "bob") is None
    assert here.team.sessions.find(token) is None
    operation = here.whole.store.operations(id)[0]
    assert operation.actor == bob.id and here.team.members.name_of(bob.id) == "Somebody who left"
    assert here.whole.store.verify(id).clean and here.team.audit.first_broken() is None
    assert "Bob" not in "".join(entry.about for entry in here.team.audit.entries())


def test_somebody_who_comes_back_has_what_was_theirs_and_not_what_was_shared_with_them(here: Office) -> None:
    ada, bob = here.join("Ada", Role.OWNER), here.join("Bob")
    theirs = here.seen_by(bob).create("Bob's")
    shared = here.seen_by(ada).create("Ada's")
    here.team.sharing.share(shared.id, bob.id, Role.EDITOR, by=ada.id)
    here.team.members.remove(bob.id, by=ada.id)
    assert here.team.sharing.roles_in(bob.id) == {}
    back = here.team.members.bring_back(bob.id, Role.VIEWER)
    assert back.role is Role.VIEWER
    assert here.team.sharing.roles_in(bob.id) == {theirs.id: Role.OWNER}


def test_handles_are_unique_whatever_the_name(here: Office) -> None:
    names = ["Ada", "ada", "ÁDA", "Аda", "…", "名前", "\u202eadA"[1:]]
    handles = [here.join(name).handle for name in names]
    assert len(set(handles)) == len(names)
    assert all(handle.isascii() and handle == fit_handle(handle) for handle in handles)
    with pytest.raises(NameTaken):
        here.team.members.add("Another", Role.VIEWER, handle="ADA")


@pytest.mark.parametrize(
    "handle", ["", "-", "a-", "-a", "a b", "аda", "a" * 31, "a/b", "a\n", "a\u202e", "a" * 10_000]
)
def test_a_handle_that_could_pass_for_another_is_refused(handle: str) -> None:
    if handle == "a\n":
        assert fit_handle(handle) == "a"
        return
    with pytest.raises(BadContent):
        fit_handle(handle)


@pytest.mark.parametrize("name", ["", " ", "\u202e", "\n", "x" * 10_000, "\x00", "<>"])
def test_a_name_that_cannot_be_shown_is_refused(here: Office, name: str) -> None:
    with pytest.raises(BadName):
        here.join(name)
    assert here.team.members.all() == []


def test_a_name_is_stored_without_what_would_reorder_or_break_a_line(here: Office) -> None:
    assert here.join("\u202eevil\u2066 one\nline: <b>").name == "evil one line b"
    assert here.join("مها").name == "مها"


@pytest.mark.parametrize("address", ["ada", "a@", "@b", "a b@c", "a@b@c", f"{'a' * 300}@b.c", '"a"@b'])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadContent):
        fit_email(address)


def test_an_identity_belongs_to_one_person_and_the_only_one_is_kept(here: Office) -> None:
    ada, bob = here.join("Ada"), here.join("Bob")
    here.team.members.keep_identity(ada.id, Identity("password", "ada", "one"))
    with pytest.raises(NameTaken):
        here.team.members.keep_identity(bob.id, Identity("password", "ada", "two"))
    here.team.members.keep_identity(ada.id, Identity("password", "ada", "three"))
    assert [one.secret for one in here.team.members.identities(ada.id)] == ["three"]
    with pytest.raises(InTheWay):
        here.team.members.drop_identity(ada.id, "password", "ada")
    with pytest.raises(NotFound):
        here.team.members.drop_identity(bob.id, "password", "ada")
