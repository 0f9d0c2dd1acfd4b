"""Who asks at `/api/v1` and `/mcp`: the one place where a token becomes the caller of a verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forky_core.gateway.api.token_models import TokenModels
from forky_core.gateway.asgi import Scope, headers_of
from forky_core.gateway.tokens import Token, Tokens
from forky_core.gateway.v1.admission import authorised
from forky_core.model.errors import NotAllowed
from forky_core.people.token_store import token_view
from forky_core.verbs.verb import VerbCaller
from forky_core.wire.errors import ApiError

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace


class Callers:
    """Finds the caller of a request by its token; safe from any thread."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        seen_by: Callable[[str], Workspace] | None = None,
        address: Callable[[Scope], str] = lambda _scope: "",
    ) -> None:
        """`seen_by` returns the workspace as the owner of a token sees it, by their id; None on the server of one
        person. `address` returns the address of the app as whoever sends a request sees it. The first two may wait.
        """
        self._workspace = workspace
        self._seen_by = seen_by
        self._address = address

    def enter(self, scope: Scope) -> tuple[Token, Workspace]:
        """The token of a request, and the workspace as the token's owner sees it.

        Raises:
            ApiError: there is no valid token (401), or its owner has no place here any more (403).
        """
        forky = self._workspace()
        token = authorised(forky.store, headers_of(scope))
        if self._seen_by is not None:
            try:
                forky = self._seen_by(token.person)
            except NotAllowed as error:
                raise ApiError(403, str(error), "forbidden") from error
        return token, forky

    def of(self, scope: Scope) -> VerbCaller:
        """The caller of a request.

        Raises:
            ApiError: as in `enter`; or the token may do nothing here (403).
        """
        token, forky = self.enter(scope)
        tokens = Tokens(self._workspace().store)
        rights = tokens.rights(token)
        if rights is None:
            raise ApiError(
                403,
                f"The token “{token.name}” asks models at /v1 and does nothing else. Make one with scopes in Settings.",
                "forbidden",
            )
        view = token_view(forky, rights)
        view.models = TokenModels(forky.models, token, tokens)
        return VerbCaller(view, token.name, token.id, rights.scopes, self._address(scope))
