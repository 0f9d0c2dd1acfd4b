"""Every error Forky raises on purpose, as one tree whose messages a person can act on.

    ForkyError
    ├── RequestError              your mistake: the call cannot be carried out as asked
    │   ├── NotFound              no such conversation, branch, message, tag, stash …
    │   ├── Ambiguous             an id prefix that fits several messages  (.candidates)
    │   ├── NameTaken             a branch or tag of that name exists
    │   ├── BadName               a name Forky cannot keep
    │   ├── BadContent            empty, too large or otherwise not sendable content
    │   │   └── BadCall           a program's request that no API takes  (.where: the field, "messages[3].content")
    │   ├── NothingToDo           merge of nothing, undo of nothing: already so
    │   └── InTheWay              refused because of something that must go first (a reply is running …)
    ├── Outdated                  the head you saw has moved  (.first: the operation that came first)
    ├── ModelError                a model call failed  (.failure: model.Failure, .partial: what had arrived)
    ├── ImportBrokenOff           an import ended in its middle; what came in stays  (.number: of its record)
    ├── SquashRejected            nothing that a model wrote stands (in merge/written/plan.py: .problems, .plan)
    └── StoreError                it failed: the database
        ├── StoreBusy             another process holds the file  (.holder)
        ├── StoreDamaged          cannot be read; the message says what can be done
        ├── StoreFull             no room or no permission to write
        └── StoreTooNew           written by a later Forky

A message says what happened; `hint` what to do about it. Both can be shown wherever text can: what a message quotes
of its caller's input is encodable and short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from forky_core.model.hashing import mend_text

if TYPE_CHECKING:
    from forky_core.model.generation import Failure
    from forky_core.model.operation import Operation
    from forky_core.model.parts import Part


NOTHING_SAVED = "; nothing was saved."
"""The end of a StoreError's message when the failed call was a single change. An import saves piece by piece."""

LONGEST_SENTENCE = 600
"""Characters; a longer message is cut in its middle, since it quotes a large input."""


LISTED = 12
"""The most names that a hint lists."""


def there_are(names: Iterable[str]) -> str:
    """Return the hint that lists what can be named, and how many more there are; "" for nothing."""
    every = tuple(names)
    if not every:
        return ""
    rest = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return f"There are: {', '.join(f'“{name[:60]}”' for name in every[:LISTED])}{rest}."


def _showable(sentence: str) -> str:
    if len(sentence) > LONGEST_SENTENCE:
        half = LONGEST_SENTENCE // 2
        sentence = f"{sentence[:half]} … {sentence[-half:]}"
    return mend_text(sentence)


class ForkyError(Exception):
    """Something a person should read: `str()` gives message and hint as sentences."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = _showable(message)
        self.hint = _showable(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class RequestError(ForkyError):
    """The call cannot be carried out as asked."""


class NotFound(RequestError):
    """No thing of that name or id exists."""


class Ambiguous(RequestError):
    """The beginning of an id that several messages have."""

    def __init__(self, message: str, candidates: Sequence[str], hint: str = "") -> None:
        super().__init__(message, hint)
        self.candidates = tuple(candidates)


class NameTaken(RequestError):
    """A branch or tag of that name exists."""


class BadName(RequestError):
    """A name that Forky cannot store, such as an empty one."""


class BadContent(RequestError):
    """Content that Forky cannot send or store."""


class BadCall(BadContent):
    """A request of another program that does not have the form of its protocol."""

    def __init__(self, message: str, where: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.where = _showable(where)
        """The field at fault, as a path: "messages[3].content[0].image_url"."""


class NotInstalled(RequestError):
    """A part of Forky is asked for whose packages are not installed."""

    def __init__(self, message: str, extra: str) -> None:
        super().__init__(message, f"Install it: pip install 'forky[{extra}]'")
        self.extra = extra
        """The group of packages that it needs."""


class NothingToDo(RequestError):
    """The call would change nothing."""


class NotAllowed(RequestError):
    """The person may not do or have that: their role is too low, or an allowance is used up."""


class InTheWay(RequestError):
    """The call cannot be carried out yet, because something else has to be done or to end first."""


class Outdated(ForkyError):
    """The state the call was made on has moved; nothing was written."""

    def __init__(self, message: str, first: Operation | None, hint: str = "") -> None:
        super().__init__(message, hint)
        self.first = first
        """The operation that came first; None if the conversation itself is new."""


class ModelError(ForkyError):
    """A call of a model that failed or was cut off; `partial` has what arrived before."""

    def __init__(self, failure: Failure, partial: tuple[Part, ...] = ()) -> None:
        super().__init__(failure.sentence)
        self.failure = failure
        self.partial = partial


class ImportBrokenOff(ForkyError):
    """An import that ended before all of the file was read. What it had brought stays, and is listed in its record."""

    def __init__(self, message: str, number: int, hint: str = "") -> None:
        super().__init__(message, hint)
        self.number = number
        """The import's number. Importing the same file again resumes it; undoing it removes what it had added."""


class StoreError(ForkyError):
    """The database could not carry out the call."""


class StoreBusy(StoreError):
    """Another process holds the file."""

    def __init__(self, message: str, holder: int | None, hint: str = "") -> None:
        super().__init__(message, hint)
        self.holder = holder
        """The process id of the other process, if it is known."""


class StoreDamaged(StoreError):
    """The file cannot be read as it is."""


class StoreFull(StoreError):
    """The disk is full, or Forky may not write there."""


class StoreTooNew(StoreError):
    """The file was written by a later version of Forky."""
