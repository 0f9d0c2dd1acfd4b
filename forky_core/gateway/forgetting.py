"""Forgetting a person: their name, addresses, ways to sign in and everything that is theirs alone go; what they said
stays, by a random id that then names nobody.

Their conversations do not vanish with them: they are handed over to somebody, or belong to the owners of the workspace
from then on.
"""

from __future__ import annotations

from forky_core.conversation.workspace import Workspace
from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from forky_core.people.members import Member
from forky_core.people.team import Team


def forget_person(
    team: Team, member: Member, *, by: str, to: str = "", whole: Workspace | None = None
) -> int:
    """Delete a person's account and everything that is theirs alone; returns how many conversations were handed over.

    `to` is the id of the member who gets their conversations; "" leaves them to the owners. `by` is the id of whoever
    does it, "" for the operator. Without `whole`, the workspace with everything in it, their tokens stay listed, and
    open nothing, since a token of somebody who is no member is refused.

    Raises:
        InTheWay: they are the last owner.
        NotFound: `to` is no member.
        BadContent: `to` is the person who is forgotten.
    """
    if to == member.id:
        raise BadContent("Somebody who is forgotten cannot keep conversations.", "Name somebody else.")
    with team.database.writing():
        if to and not team.members.role_of(to):
            raise NotFound("That person is not a member.")
        handed = team.sharing.hand_all_over(member.id, to, by=by)
        team.members.forget(member.id, by=by)
    team.database.fold_in()
    if whole is not None:
        _revoke_tokens(Tokens(whole.store), member.id)
    return handed


def _revoke_tokens(tokens: Tokens, person: str) -> None:
    for token in tokens.all():
        if token.person == person and not token.revoked:
            try:
                tokens.revoke(token.id)
            except NothingToDo:
                continue
