"""Values as JSON without the fields that have their default: what is stored is short, and a field can be added."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from types import MappingProxyType
from typing import Any

from forky_core.model.parts import Json

_PLAIN = frozenset({str, int, float, bool})


def changed_fields(value: Any, *names: str) -> dict[str, Json]:
    """Return these fields of a dataclass as JSON, without those that are None or have their default.

    A field's value that has a form of its own has a method `stored`.
    """
    changed: dict[str, Json] = {}
    for name, default in _defaults(value.__class__, names):
        one = getattr(value, name)
        if one is not None and one is not default and one != default:
            changed[name] = one if one.__class__ in _PLAIN else _as_json(one)
    return changed


@cache
def _defaults(kind: Any, names: tuple[str, ...]) -> tuple[tuple[str, Any], ...]:
    known = {one.name: one for one in fields(kind)}
    made = (known[name].default_factory for name in names)
    return tuple(
        (name, known[name].default if make is MISSING else make())
        for name, make in zip(names, made, strict=True)
    )


def _as_json(value: Any) -> Json:
    if isinstance(value, tuple):
        return [_as_json(one) for one in value]
    if isinstance(value, dict | MappingProxyType):
        return {key: _as_json(one) for key, one in value.items()}
    return value.stored() if hasattr(value, "stored") else value
