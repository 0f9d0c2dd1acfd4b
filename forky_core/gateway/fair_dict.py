"""A dictionary shared by several people or addresses, in which nobody can displace the entries of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class FairDict(Mapping[Key, Value]):
    """A dictionary with an owner for each value and a limited size. When it is full, the owner with the most values
    loses the one that was put or touched longest ago.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, tuple[str, Value]] = {}
        self._of: dict[str, dict[Key, None]] = {}
        """The keys of each owner: an owner who put or touched one stands last, and so does the key among theirs."""

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Key]:
        """The keys, the one first that was put first."""
        return iter(tuple(self._values))

    def __getitem__(self, key: Key) -> Value:
        return self._values[key][1]

    def put(self, key: Key, value: Value, owner: str) -> tuple[Key, Value] | None:
        """Keep a value; returns what was dropped for it. `owner` is a person's id, a token's id or a network."""
        self.pop(key)
        self._values[key] = (owner, value)
        self.touch(key)
        if len(self._values) <= self._most:
            return None
        dropped = next(iter(self._of[max(self._of, key=lambda one: len(self._of[one]))]))
        value = self._values[dropped][1]
        self.pop(dropped)
        return dropped, value

    def touch(self, key: Key) -> None:
        """Note that a value is in use, if it is there."""
        if key in self._values:
            owner = self._values[key][0]
            keys = self._of.pop(owner, {})
            keys.pop(key, None)
            keys[key] = None
            self._of[owner] = keys

    def pop(self, key: Key) -> Value | None:
        """Forget a value, and return it."""
        found = self._values.pop(key, None)
        if found is None:
            return None
        keys = self._of[found[0]]
        del keys[key]
        if not keys:
            del self._of[found[0]]
        return found[1]

    def clear(self) -> None:
        self._values.clear()
        self._of.clear()
