"""Two thousand merges stacked on each other, 2^2,000 paths: what walks paths instead of messages never ends here, and
what calls itself once a message goes deeper than Python lets it.

How long each step takes, and that twice as many take twice as long, is measured by `python -m bench diamonds`.
"""

from __future__ import annotations

from bench.diamonds import diamonds
from forky_core.conversation.identity import new_id
from forky_core.conversation.transaction import Transaction
from forky_core.model import EMPTY_VIEW, ConversationId, Rules
from forky_core.store.memory.store import MemoryStore
from forky_core.views.drawing import draw
from forky_core.views.graph import build_graph
from forky_core.views.layout.shape import shape_of
from tests.builders import workspace


def test_two_thousand_stacked_merges_are_loaded_merged_rebased_and_drawn() -> None:
    store, count = MemoryStore(), 2_000
    forky, _ = workspace(store)
    messages, tip, side = diamonds(count)
    id = ConversationId(new_id())
    tx = Transaction(store, id, EMPTY_VIEW, "you", messages)
    tx.create_branch("main", tip.id, Rules())
    tx.create_branch("side", side.id, Rules())
    tx.publish("create", "Stacked diamonds")
    main = forky.conversation(id, "main")
    assert len(main.path()) == 2 * count + 1
    plan = main.plan_merge("side", strategy="full")
    assert len(plan.turns) == 4 and plan.bases
    other = main.checkout("side").plan_merge("main")
    assert len(other.delta) > count
    assert main.checkout("side").merges.plan_rebase("main").tokens
    main.merge(plan)
    shown, view = main.visible.messages, main.view
    assert len(shown) == len(messages) + 1
    assert build_graph(shown, view, current=main.branch.head, shape=shape_of(shown, view)).rows
    assert sum(1 for _ in draw(shown, view)) > count
