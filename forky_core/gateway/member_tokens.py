"""The tokens of a team's server as one member sees and changes them: their own, and of owners everybody's."""

from __future__ import annotations

from collections.abc import Iterable

from forky_core.conversation.allowance.account import Account, Allowance
from forky_core.gateway.tokens import NO_LIMIT, NewToken, Token, Tokens
from forky_core.model import ConversationId
from forky_core.model.errors import NotFound
from forky_core.people.access import Access
from forky_core.people.roles import Role
from forky_core.people.token_store import OWN_CALLS, WORKSPACE
from forky_core.store.deciding import no_conversation


class MemberTokens:
    """The tokens that a member may see. One that is somebody else's is not found, unless the member is an owner."""

    def __init__(self, tokens: Tokens, access: Access) -> None:
        """`tokens` are those of the whole workspace."""
        self._tokens = tokens
        self._access = access

    def all(self) -> tuple[Token, ...]:
        """The tokens that the member may see: valid ones first, each group in the order they were made."""
        return tuple(token for token in self._tokens.all() if self._may_see(token))

    def make(
        self,
        name: str,
        *,
        models: Iterable[str] = (),
        allowance: Allowance = NO_LIMIT,
        records: bool = True,
        metrics: bool = False,
        analysis: bool = False,
        scopes: Iterable[str] = (),
        reach: str = OWN_CALLS,
    ) -> NewToken:
        """Make a token of the member's own (`Tokens.make`).

        Raises:
            NotAllowed: the member is a viewer; or asks for one that reads /metrics, and is no owner.
            BadName, NameTaken: the name cannot be used.
            BadContent: a limit, a scope or the reach is invalid.
            NotFound: the member sees no conversation that it should reach.
        """
        if metrics:
            self._access.require(Role.OWNER, "make a token that reads /metrics")
        self._access.require(Role.COMMENTER, "make tokens")
        if reach not in {OWN_CALLS, WORKSPACE} and not self._access.role_in(ConversationId(reach)):
            raise no_conversation(ConversationId(reach))
        made = self._tokens.make(
            name,
            models=models,
            allowance=allowance,
            records=records,
            metrics=metrics,
            analysis=analysis,
            scopes=scopes,
            reach=reach,
            person=self._access.id,
        )
        self._access.team.audit.note("token made", self._access.id, token=made.token.id)
        return made

    def change(self, id: str, *, records: bool) -> Token:
        """Switch the recording of a token on or off. Raises NotFound for one that the member does not see."""
        return self._tokens.change(self._seen(id).id, records=records)

    def revoke(self, id: str) -> Token:
        """Revoke a token for good.

        Raises:
            NotFound: the member sees no token with this id.
            NothingToDo: it was revoked before.
        """
        revoked = self._tokens.revoke(self._seen(id).id)
        about = {"member": revoked.person} if revoked.person else {}
        self._access.team.audit.note("token revoked", self._access.id, token=revoked.id, **about)
        return revoked

    def account(self, token: Token) -> Account:
        """How much of its allowance a token has used."""
        return self._tokens.account(token)

    def _may_see(self, token: Token) -> bool:
        role = self._access.role
        return role is Role.OWNER or (bool(role) and token.person == self._access.id)

    def _seen(self, id: str) -> Token:
        found = next((token for token in self.all() if token.id == id), None)
        if found is None:
            raise NotFound("There is no such token of yours.")
        return found


TokenDesk = Tokens | MemberTokens
"""Where tokens are listed, made and revoked: everybody's, or on a team's server those that a member may see."""
