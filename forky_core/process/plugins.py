"""What other packages add to Forky, found by entry points: https://packaging.python.org/specifications/entry-points/.

A registry has the values of one kind that Forky ships, those of installed packages, and those that a program adds while
it runs. An installed package can add a value, but it cannot replace or break one: a value whose name is in use, or that
cannot be loaded, is left out with a warning in the log (`plugin.skipped`). docs/extending.md shows every group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from forky_core.process import events


class Named(Protocol):
    """A value that a registry can have."""

    @property
    def name(self) -> str:
        """A word that no other value of the registry has."""
        ...


T = TypeVar("T", bound=Named)


def _nothing(_value: object) -> None:
    pass


class Registry(Generic[T]):
    """The values of one kind, by their names: first Forky's own, then those of installed packages, then added ones.

    Installed packages are looked up at the first use of the registry, not when Forky is imported.
    """

    def __init__(
        self,
        group: str,
        contract: type[Any],
        ours: tuple[T, ...],
        *,
        check_added: Callable[[T], None] = _nothing,
        register: Callable[[T], None] = _nothing,
        unregister: Callable[[T], None] = _nothing,
    ) -> None:
        """Make a registry of the entry points of `group`; `contract` is a class or a runtime protocol for its values.

        `check_added` is called for each value that a program adds, and raises ValueError for one that cannot be
        offered. `register` is called for each value before it is offered, and `unregister` after it was removed. A
        value that is not Forky's own is left out where `register` raises.
        """
        self.group = group
        self.ours = ours
        self._contract = contract
        self._check_added = check_added
        self._register = register
        self._unregister = unregister
        self._installed: tuple[T, ...] | None = None
        self._added: tuple[T, ...] = ()
        for one in ours:
            register(one)

    def __iter__(self) -> Iterator[T]:
        return iter((*self.ours, *self.others))

    @property
    def others(self) -> tuple[T, ...]:
        """The values of installed packages and those that this program has added."""
        if self._installed is None:
            self._installed = tuple(self._load())
        return (*self._installed, *self._added)

    @property
    def additions(self) -> tuple[T, ...]:
        """The values that this program has added."""
        return self._added

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self)

    def find(self, name: str) -> T | None:
        """Return the value of this name, or None."""
        return next((one for one in self.ours if one.name == name), None) or next(
            (one for one in self.others if one.name == name), None
        )

    def add(self, value: T) -> None:
        """Offer one more value in this process.

        Raises:
            ValueError: its name is in use, or the group cannot offer it.
        """
        if self.find(value.name) is not None:
            raise ValueError(f"The name “{value.name}” is taken.")
        self._check_added(value)
        self._register(value)
        self._added = (*self._added, value)

    def remove(self, value: T) -> None:
        """Undo `add`."""
        self._added = tuple(one for one in self._added if one is not value)
        self._unregister(value)

    @contextmanager
    def added(self, value: T) -> Iterator[T]:
        """Offer one more value within a `with` block."""
        self.add(value)
        try:
            yield value
        finally:
            self.remove(value)

    def forget_installed(self) -> None:
        """Look installed packages up again at the next use of the registry."""
        for one in self._installed or ():
            self._unregister(one)
        self._installed = None

    def _load(self) -> Iterator[T]:
        from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and most commands ask for nothing that is not ours

        taken = {one.name for one in (*self.ours, *self._added)}
        for point in entry_points(group=self.group):
            try:
                value = point.load()
                if isinstance(value, type) or not isinstance(value, self._contract):
                    events.plugin_skipped(
                        group=self.group, name=point.name, reason="not what the group asks for"
                    )
                elif value.name in taken:
                    events.plugin_skipped(group=self.group, name=point.name, reason="its name is taken")
                else:
                    self._register(value)
                    taken.add(value.name)
                    yield value
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - somebody else's code must not end the program
                events.plugin_skipped(
                    group=self.group, name=point.name, reason="it failed to load", fault=fault
                )
