"""Parameters of verbs: frozen dataclasses whose fields have a sentence each, their JSON schema, and how they are read.

The same fields become the schema of a tool, the parameters of an HTTP route and the options of a command. Pydantic
could make the schema too, and takes longer to import than the app may wait for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from forky_core.model.errors import BadCall, there_are
from forky_core.model.hashing import mend_text
from forky_core.model.parts import Json

Params = TypeVar("Params")

LONGEST_TEXT = 100_000
"""The most characters of a text, unless its parameter says otherwise."""
MOST_ITEMS = 50
"""The most entries of a list."""
_SAYS, _MOST, _PLACE, _FILLED = "says", "most", "place", "filled"


def param(
    says: str, default: Any = MISSING, *, most: int = 0, place: bool = False, filled: bool = False
) -> Any:
    """A parameter with its sentence; without a default it is required.

    `most` bounds a text's characters, a number, or a list's entries. On the command line, `place` makes it an argument
    without a name, and one that is `filled` may be left out: the command takes it from what is there now.
    """
    metadata = {_SAYS: says, _MOST: most, _PLACE: place, _FILLED: filled}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def says(one: Field[Any]) -> str:
    """The sentence of a parameter."""
    return str(one.metadata[_SAYS])


def has_place(one: Field[Any]) -> bool:
    """Whether the command line takes it without a name."""
    return bool(one.metadata[_PLACE])


def is_filled(one: Field[Any]) -> bool:
    """Whether the command line may leave it out although it is required."""
    return bool(one.metadata[_FILLED])


def is_required(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def type_of(params: type, name: str) -> Any:
    """The type of a parameter."""
    return _hints(params)[name]


@cache
def _hints(params: type) -> Mapping[str, Any]:
    return get_type_hints(params)


@cache
def schema_of(params: type) -> Mapping[str, Json]:
    """The JSON schema (2020-12) of a dataclass of parameters. Nobody changes what is returned."""
    properties: dict[str, Json] = {}
    for one in fields(params):
        entry = {**_schema(type_of(params, one.name), one.metadata[_MOST]), "description": says(one)}
        if not is_required(one) and one.default is not MISSING and one.default not in {"", None, ()}:
            entry["default"] = one.default
        properties[one.name] = entry
    required: list[Json] = [one.name for one in fields(params) if is_required(one)]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _schema(kind: Any, most: int) -> dict[str, Json]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in {Union, UnionType}:
        return _schema(next(one for one in inner if one is not type(None)), most)
    if origin is tuple:
        return {"type": "array", "items": _schema(inner[0], 0), "maxItems": most or MOST_ITEMS}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], 0), "maxProperties": MOST_ITEMS}
    if is_dataclass(kind):
        return dict(schema_of(cast("type", kind)))
    if kind is bool:
        return {"type": "boolean"}
    if kind is int:
        return {"type": "integer", "minimum": 0, **({"maximum": most} if most else {})}
    return {"type": "string", "maxLength": most or LONGEST_TEXT}


def read_params(params: type[Params], arguments: Mapping[str, Any], *, where: str = "") -> Params:
    """Read arguments as their schema says; a text may stand for a number or a truth, as addresses and options have it.

    Raises:
        BadCall: an argument is missing, unknown, or does not have its type.
    """
    known = {one.name: one for one in fields(cast("Any", params))}
    for name in arguments:
        if name not in known:
            raise BadCall(
                f"There is no parameter “{str(name)[:60]}” here.", where + str(name), there_are(known)
            )
    found = {}
    for name, one in known.items():
        if name in arguments and arguments[name] is not None:
            kind = type_of(params, name)
            found[name] = _read(kind, arguments[name], one.metadata[_MOST], where + name)
        elif is_required(one):
            raise BadCall(f"“{where + name}” is missing.", where + name, says(one))
    return params(**found)


def _read(kind: Any, value: Any, most: int, where: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return _read(next(one for one in inner if one is not type(None)), value, most, where)
    if origin is tuple:
        return _list(inner[0], value, most or MOST_ITEMS, where)
    if is_dataclass(kind) or (origin is not None and origin is not Literal):
        return _object(kind, value, where)
    if origin is Literal:
        if value not in inner:
            raise BadCall(f"“{where}” has a value that is not known.", where, there_are(inner))
        return value
    if kind is bool:
        named = {"true": True, "false": False}
        read = named.get(value) if isinstance(value, str) else value
        if not isinstance(read, bool):
            raise BadCall(f"“{where}” is true or false.", where)
        return read
    if kind is int:
        number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else value
        if type(number) is not int or number < 0 or (most and number > most):
            raise BadCall(f"“{where}” is a whole number{f' up to {most}' if most else ''}.", where)
        return number
    return _text(value, most, where)


def _list(kind: Any, value: Any, most: int, where: str) -> tuple[Any, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or len(items) > most:
        raise BadCall(f"“{where}” is a list of at most {most} entries.", where)
    return tuple(_read(kind, one, 0, f"{where}[{n}]") for n, one in enumerate(items))


def _object(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping) or len(value) > MOST_ITEMS:
        raise BadCall(f"“{where}” is an object of at most {MOST_ITEMS} entries.", where)
    if is_dataclass(kind):
        return read_params(cast("type", kind), value, where=f"{where}.")
    of = get_args(kind)[1]
    return {_text(key, 0, where): _read(of, one, 0, f"{where}.{key}") for key, one in value.items()}


def _text(value: Any, most: int, where: str) -> str:
    if not isinstance(value, str):
        raise BadCall(f"“{where}” is a text.", where)
    if len(value) > (most or LONGEST_TEXT):
        raise BadCall(f"“{where}” has at most {most or LONGEST_TEXT} characters.", where)
    return mend_text(value)
