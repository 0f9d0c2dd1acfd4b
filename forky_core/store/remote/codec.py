"""The values of a store's contract as JSON, by the types that the contract states.

A dataclass becomes the list of its fields, so that nothing but the contract says which classes there are: what is read
can only ever be a value of the type that the method takes or returns.
"""

from __future__ import annotations

import base64
import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from forky_core.model import Operation
from forky_core.model import errors as error_classes
from forky_core.model.document import Postings, Vectors
from forky_core.model.erasure import Passages
from forky_core.model.errors import ForkyError, StoreError

Turn = Callable[[Any], Any]
_ARRAYS = (Postings, Vectors)
"""Classes whose fields of unknown type are arrays of numbers."""


@dataclasses.dataclass(frozen=True, slots=True)
class Codec:
    """How the values of one type are written as JSON and read again. None stands for values that are JSON already."""

    write: Turn | None
    read: Turn | None


_AS_IT_IS = Codec(None, None)


@cache
def codec(kind: Any) -> Codec:
    """The codec of a type of the contract.

    Raises:
        TypeError: the contract uses a type of which nothing is known here.
    """
    if isinstance(kind, NewType):
        return codec(kind.__supertype__)
    if kind in {Any, str, int, float, bool, types.NoneType} or get_origin(kind) is Literal:
        return _AS_IT_IS
    if kind is bytes:
        return Codec(lambda value: base64.b64encode(value).decode("ascii"), base64.b64decode)
    if kind is Passages:
        # They hold what was erased, and only the server of a team needs them, which has them.
        return Codec(lambda _: None, lambda _: Passages((), ""))
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
        return _of_fields(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _of_union(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _of_mapping(codec(inner[1]))
    if origin is tuple and len(inner) == 2 and inner[1] is not Ellipsis:
        pair = (codec(inner[0]), codec(inner[1]))
        return Codec(
            lambda value: [_turn(each.write, one) for each, one in zip(pair, value, strict=True)],
            lambda value: tuple(_turn(each.read, one) for each, one in zip(pair, value, strict=True)),
        )
    if inner and isinstance(origin, type) and hasattr(origin, "__iter__"):
        return _of_many(codec(inner[0]))
    raise TypeError(f"A store's contract has a value that cannot be sent: {kind}")


def _turn(how: Turn | None, value: Any) -> Any:
    return value if how is None else how(value)


def _of_many(inner: Codec) -> Codec:
    write, read = inner.write, inner.read
    return Codec(
        list if write is None else lambda value: [write(one) for one in value],
        tuple if read is None else lambda value: tuple([read(one) for one in value]),
    )


def _of_mapping(inner: Codec) -> Codec:
    """As pairs, since the keys of a mapping may be numbers."""
    write, read = inner.write, inner.read
    return Codec(
        lambda value: [[name, _turn(write, one)] for name, one in value.items()],
        lambda value: {name: _turn(read, one) for name, one in value},
    )


def _of_union(kinds: tuple[Any, ...]) -> Codec:
    """A value or None; or one of several classes, which the place in the contract's list names."""
    several = tuple(kind for kind in kinds if kind is not types.NoneType)
    codecs = [codec(kind) for kind in several]
    if len(several) > 1 and all(dataclasses.is_dataclass(kind) for kind in several):
        places: dict[Any, int] = {kind: place for place, kind in enumerate(several)}
        return Codec(
            lambda value: [places[type(value)], _turn(codecs[places[type(value)]].write, value)],
            lambda value: _turn(codecs[value[0]].read, value[1]),
        )
    one = next((found for found in codecs if found is not _AS_IT_IS), _AS_IT_IS)
    if one is _AS_IT_IS or len(several) > 1:
        return _AS_IT_IS
    return Codec(
        lambda value: None if value is None else _turn(one.write, value),
        lambda value: None if value is None else _turn(one.read, value),
    )


def _of_fields(kind: Any) -> Codec:
    hints = get_type_hints(kind)
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind) if field.init)
    else:
        names = tuple(kind._fields)
    each = [(name, ARRAY if kind in _ARRAYS and hints[name] is Any else codec(hints[name])) for name in names]

    def write(value: Any) -> list[Any]:
        return [
            getattr(value, name) if how.write is None else how.write(getattr(value, name))
            for name, how in each
        ]

    def read(fields: Any) -> Any:
        if not isinstance(fields, list) or len(fields) != len(each):
            raise TypeError(f"{kind.__name__} has {len(each)} fields.")
        return kind(
            *(one if how.read is None else how.read(one) for (_, how), one in zip(each, fields, strict=True))
        )

    return Codec(write, read)


def _write_array(value: Any) -> list[Any]:
    return [str(value.dtype), list(value.shape), base64.b64encode(value.tobytes()).decode("ascii")]


def _read_array(value: Any) -> Any:
    import numpy as np  # noqa: PLC0415 - only where documents are searched

    kind, shape, content = value
    if kind not in {"int64", "int32", "float64", "float32"}:
        raise TypeError("These are no numbers of a kind that a store keeps.")
    return np.frombuffer(base64.b64decode(content), np.dtype(kind)).reshape(shape).copy()


ARRAY = Codec(_write_array, _read_array)


def write_error(error: ForkyError) -> dict[str, Any]:
    """An error as JSON, by the name of its class."""
    written: dict[str, Any] = {
        "class": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        **{name: getattr(error, name) for name in ("candidates", "holder", "extra") if hasattr(error, name)},
    }
    first = getattr(error, "first", None)
    if isinstance(first, Operation):
        written["first"] = _turn(codec(Operation).write, first)
    return written


def read_error(written: Any) -> ForkyError:
    """The error that `write_error` wrote; one of a class that a client does not know is a StoreError."""
    kind = getattr(error_classes, str(written.get("class")), StoreError)
    if not (isinstance(kind, type) and issubclass(kind, ForkyError)):
        kind = StoreError
    error = kind.__new__(kind)
    ForkyError.__init__(error, str(written.get("message", "")), str(written.get("hint", "")))
    first = written.get("first")
    if kind is error_classes.Outdated:
        error.first = None if first is None else _turn(codec(Operation).read, first)  # type: ignore[attr-defined]
    for name in ("candidates", "holder", "extra"):
        if name in written:
            value = written[name]
            setattr(error, name, tuple(value) if isinstance(value, list) else value)
    return error
