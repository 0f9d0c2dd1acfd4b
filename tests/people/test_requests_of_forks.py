"""A fork that was made elsewhere is given back to a team's conversation, as each role may do it."""

from __future__ import annotations

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import adopt, fork_file
from forky_core.formats.forky_file.writing import chat_of
from forky_core.people.roles import Role
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, talk
from tests.people.people import office


@pytest.mark.parametrize("role", [Role.EDITOR, Role.COMMENTER, Role.VIEWER, Role.NONE])
def test_whoever_may_comment_proposes_a_fork_and_nobody_acts_in_anothers_name(role: Role) -> None:
    with office() as here:
        ada, ben = here.join("Ada"), here.join("Ben", Role.COMMENTER)
        hers, his = here.seen_by(ada), here.seen_by(ben)
        chat = talk(hers.create("Ports"), "Which port?", "Port 80.")
        if role:
            here.team.sharing.share(chat.id, ben.id, role, by=ada.id)
        chats = []
        for name in ("cleo", ada.id):
            away = Workspace(MemoryStore(), ScriptedModels(), actor=name)
            made = fork_file(away, chat_of(here.whole.store, chat.id)).conversation
            talk(away.conversation(made, "main"), f"Asked by {name}?", "Decision: port 443.")
            chats.append(chat_of(away.store, made))
        before = chat.view.branches["main"]
        done = [adopt(his, one) for one in chats]
        actors = {one.actor for one in here.whole.store.operations(chat.id)}
        if role >= Role.COMMENTER:
            assert [one.conversation for one in done] == [chat.id, chat.id]
            assert len(chat.requests.all) == 2 and {one.by for one in chat.requests.all} == {ben.id}
            assert (
                "cleo (elsewhere)" in actors and "cleo" not in actors and chat.view.branches["main"] == before
            )
            said = [one for one in here.whole.store.operations(chat.id) if "Asked by" in one.summary]
            assert said and ada.id not in {one.actor for one in said}
        else:
            assert not chat.requests.all and actors == {ada.id}
            assert all(one.conversation != chat.id and "is not here" in one.remarks[-1] for one in done)
        assert here.whole.verify().clean
