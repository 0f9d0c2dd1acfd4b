"""What the model sees: one builder, its account, and the normaliser every request passes through (law 7)."""

from forky_core.context.account import Context, Item, ItemKind
from forky_core.context.build import build_context
from forky_core.context.normalise import normalise

__all__ = ["Context", "Item", "ItemKind", "build_context", "normalise"]
