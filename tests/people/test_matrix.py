"""Every entrance × every role × every way to stand to a conversation: allowed, not found, or refused.

What is expected comes from matrix/rules.py. A method, verb or route that has no row fails
`test_every_entrance_has_a_row`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_type_hints

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.namespaces.bisections import Bisections
from forky_core.conversation.namespaces.branch_documents import BranchDocuments
from forky_core.conversation.namespaces.branch_merges import BranchMerges
from forky_core.conversation.namespaces.branch_rules import BranchRules
from forky_core.conversation.namespaces.branches import Branches
from forky_core.conversation.namespaces.conversation_history import ConversationHistory
from forky_core.conversation.namespaces.merge_requests import MergeRequests
from forky_core.conversation.namespaces.model_calls import ModelCalls
from forky_core.conversation.namespaces.participants import Participants
from forky_core.conversation.namespaces.running_replies import RunningReplies
from forky_core.conversation.namespaces.stashes import Stashes
from forky_core.conversation.namespaces.tags import Tags
from forky_core.conversation.voting.polls import Polls
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import InTheWay, NotAllowed, NotFound
from forky_core.people.conversation_threads import ConversationThreads
from forky_core.people.token_store import READS, TokenStore
from forky_core.store.contract import Store
from forky_core.store.document_contract import DocumentKeeper
from tests.people.matrix.file_rows import FILES, KEEPER, OTHERS, desks
from tests.people.matrix.rules import ALLOWED, NOT_FOUND, REFUSED
from tests.people.matrix.store_rows import STORE, Row
from tests.people.matrix.thread_rows import THREADS
from tests.people.matrix.token_rows import PROPOSING
from tests.people.matrix.verb_rows import VERBS, WORKSPACE
from tests.people.matrix.world import NEVER_THERE, SITUATIONS, WORKSPACE_ROLES, Cell, World, role_in, world

IN_THE_WAY = "in the way"


@pytest.fixture(scope="module", params=WORKSPACE_ROLES, ids=lambda role: role.word)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(request.param, tmp_path_factory.mktemp("matrix")) as opened:
        yield opened


def observed(row: Row, cell: Cell) -> tuple[str, str]:
    """What comes of a row, and the words of the error, with the id as that of a conversation that was never there."""
    try:
        row.call(cell)
    except row.ends:
        return ALLOWED, ""
    except (NotFound, NotAllowed, InTheWay) as error:
        words = f"{type(error).__name__}: {error} {error.hint}".replace(cell.id, NEVER_THERE)
        kinds = {NotFound: NOT_FOUND, NotAllowed: REFUSED, InTheWay: IN_THE_WAY}
        return kinds[type(error)], words
    except Exception as error:  # noqa: BLE001 - a row that breaks is a difference like any other
        return f"{type(error).__name__}: {error}", ""
    return ALLOWED, ""


def differences(made: World, rows: tuple[Row, ...]) -> Iterator[str]:
    """The rows where something else comes out than the rules say."""
    for row in rows:
        _, never = observed(row, made.cell("never there"))
        for situation in SITUATIONS:
            role = role_in(situation, made.general)
            expected = row.rule.outcome(role, made.general)
            outcome, words = observed(row, made.cell(situation))
            fits = outcome == expected or (
                situation.endswith("in the trash") and role and outcome == IN_THE_WAY
            )
            if not fits:
                yield f"{row.name}: {situation}, {made.general.word} of the workspace: {outcome}, not {expected}. {words}"
            elif expected == NOT_FOUND and words != never:
                yield f"{row.name}: {situation}: “{words}” tells it from “{never}”"


def test_the_store(made: World) -> None:
    assert list(differences(made, STORE)) == []


def test_the_verbs_of_a_conversation(made: World) -> None:
    assert list(differences(made, VERBS)) == []


def test_the_verbs_of_a_workspace(made: World) -> None:
    assert list(differences(made, WORKSPACE)) == []


def test_a_token_that_proposes(made: World) -> None:
    assert list(differences(made, PROPOSING)) == []


def test_a_token_is_handed_no_method_of_a_store_unchecked() -> None:
    assert READS | public(TokenStore) - {"reaches", "may_see_file"} == public(Store)
    assert not READS & public(TokenStore)


def test_threads(made: World) -> None:
    assert list(differences(made, THREADS)) == []


def test_documents_and_files(made: World) -> None:
    found = []
    for row in (*KEEPER, *OTHERS):
        for kind, desk in desks(made):
            expected = row.needs(kind, made.general)
            try:
                row.call(desk)
                outcome = ALLOWED
            except (NotFound, NotAllowed) as error:
                outcome = NOT_FOUND if isinstance(error, NotFound) else REFUSED
            if outcome != expected:
                found.append(
                    f"{row.name}: {kind}, {made.general.word} of the workspace: {outcome}, not {expected}"
                )
    assert found == []


NAMESPACES = {
    "rules": BranchRules,
    "documents": BranchDocuments,
    "people": Participants,
    "branches": Branches,
    "tags": Tags,
    "stashes": Stashes,
    "history": ConversationHistory,
    "merges": BranchMerges,
    "requests": MergeRequests,
    "bisections": Bisections,
    "polls": Polls,
    "replies": RunningReplies,
    "calls": ModelCalls,
}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_entrance_has_a_row() -> None:
    assert {row.covers for row in STORE} == public(Store)
    assert {row.covers for row in KEEPER} == public(DocumentKeeper)
    verbs = public(Conversation) - NAMESPACES.keys()
    verbs |= {f"{name}.{verb}" for name, kind in NAMESPACES.items() for verb in public(kind)}
    assert {row.covers for row in VERBS} == verbs
    assert {row.covers for row in THREADS} == public(ConversationThreads)
    assert ({row.covers for row in WORKSPACE} | {row.covers for row in OTHERS}) - {"blob"} == public(
        Workspace
    )
    for name, kind in NAMESPACES.items():
        assert get_type_hints(getattr(Conversation, name).fget)["return"].__name__ == kind.__name__


def test_there_are_enough_rows() -> None:
    conversations = len((*STORE, *VERBS, *WORKSPACE)) * len(SITUATIONS) * len(WORKSPACE_ROLES)
    files = len((*KEEPER, *OTHERS)) * len(FILES) * len(WORKSPACE_ROLES)
    assert conversations + files >= 3_000
