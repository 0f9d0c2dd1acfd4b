"""Which methods of a store's contract can be called over HTTP, and the types that they take and return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from forky_core.store.contract import Store
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.remote.codec import ARRAY, Codec, codec

DOCUMENTS = "documents."
"""What the names of the methods of the keeper of documents begin with."""
_HERE = frozenset(
    {"identity", "documents", "process", "is_exclusive", "hear", "close", "status", "set_setting"}
)
"""What a client answers itself, or asks in a form of its own."""
_OWN: Mapping[str, tuple[Mapping[str, Any], Any]] = {
    "set_setting": ({"key": str, "value": str | None}, str | None),
    "replace_setting": ({"key": str, "before": str | None, "after": str | None}, bool),
}
"""Methods with other values than the contract's: a function is called by the client, and what it makes is stored if the
setting still has the value that the function was given."""


@dataclass(frozen=True, slots=True)
class RemoteMethod:
    """A method by the codecs of what it takes, by name, and of what it returns."""

    takes: Mapping[str, Codec]
    returns: Codec


@cache
def methods() -> Mapping[str, RemoteMethod]:
    """Every method that a server answers, by name."""
    found: dict[str, RemoteMethod] = {}
    for contract, prefix in ((Store, ""), (DocumentKeeper, DOCUMENTS)):
        for name, method in vars(contract).items():
            if inspect.isfunction(method) and not name.startswith("_") and (prefix or name not in _HERE):
                found[prefix + name] = _described(method)
    for name, (takes, returns) in _OWN.items():
        found[name] = RemoteMethod({key: codec(kind) for key, kind in takes.items()}, codec(returns))
    embed = found[f"{DOCUMENTS}embed"]
    found[f"{DOCUMENTS}embed"] = RemoteMethod({**embed.takes, "rows": ARRAY}, embed.returns)
    return found


def _described(method: Callable[..., Any]) -> RemoteMethod:
    hints = get_type_hints(method)
    returns = hints.pop("return")
    return RemoteMethod({name: codec(kind) for name, kind in hints.items()}, codec(returns))


@cache
def parameters(name: str) -> inspect.Signature:
    """The signature of a method of the contract, without `self`."""
    contract: Any = DocumentKeeper if name.startswith(DOCUMENTS) else Store
    signature = inspect.signature(getattr(contract, name.removeprefix(DOCUMENTS)))
    return signature.replace(parameters=list(signature.parameters.values())[1:])
