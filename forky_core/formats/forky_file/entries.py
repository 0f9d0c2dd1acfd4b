"""Validates the entries of a view (model.View): every value that a file's log ever set.

The log's hash chain proves that nobody changed a line, not that its author wrote valid values; and undo and restore
bring back values of earlier operations. So the values before and after each change are validated by the same rules as
the final ones. Unknown keys may hold anything: a later version wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from forky_core.conversation.identity import disturbs
from forky_core.conversation.merging.merge_request import REVIEWS, MergeRequest, sound
from forky_core.conversation.merging.merging import CONFLICTS, RESOLUTIONS
from forky_core.conversation.merging.review_log import Review
from forky_core.conversation.voting.poll import FEWEST, MARK, MOST, POLLS, Poll, Vote
from forky_core.formats.forky_file.lines import BadLine
from forky_core.model import Change, Rules, Stash
from forky_core.model.erasure import ERASED, Erasure
from forky_core.model.experiment import (
    EXPERIMENTS,
    HIGHEST_NUMBER,
    MARKS,
    ROWS,
    SCORES,
    Experiment,
    ExperimentRow,
)
from forky_core.model.memory import Memory
from forky_core.model.parts import Json
from forky_core.model.room import Person, room_in

_MOST_ROWS, _MOST_COLUMNS, _MOST_SAMPLES = 20_000, 50, 50
"""Of an experiment: what forky_core/experiments/validation.py lets in."""
_LONGEST = 1_000
"""The most characters of a name: more than any version wrote, and short enough to show."""


def check_entry(key: str, value: Json) -> tuple[str, ...]:
    """Validate an entry; returns the ids of the messages that it names as tips.

    Raises:
        BadLine: the value is invalid for its key.
    """
    kind, slash, name = key.partition("/")
    check = _CHECKS.get(kind + slash)
    if check is None:
        return ()
    try:
        return tuple(check(name, value))
    except BadLine:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadLine(f"“{_shown(key)}” has not the fields docs/format.md says") from error


class ViewReplay:
    """Applies a log's changes to a view one by one, in time linear to the log."""

    def __init__(self) -> None:
        self.entries: dict[str, Json] = {}

    def take(self, changes: Iterable[Change]) -> Iterator[str]:
        """Apply the changes of the next operation; yields the ids of the messages they name.

        Raises:
            BadLine: a value is invalid, or the former value is not the one that the change names.
        """
        for change in changes:
            if not isinstance(change.key, str):
                raise BadLine("a change has no key")
            if change.before != self.entries.get(change.key):
                raise BadLine(f"it says of “{_shown(change.key)}” what did not stand there before")
            if change.after is None:
                self.entries.pop(change.key, None)
                continue
            yield from check_entry(change.key, change.after)
            self.entries[change.key] = change.after


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:60])


def _must(holds: object) -> None:
    if not holds:
        raise ValueError


def _texts(*values: Any) -> None:
    _must(all(isinstance(value, str) for value in values))


def _whole(*values: Any) -> None:
    _must(all(isinstance(value, int) and not isinstance(value, bool) for value in values))


def _named(name: str) -> None:
    if not name.strip() or len(name) > _LONGEST or disturbs(name):
        raise BadLine(f"“{_shown(name)}” is no name: it is empty, too long or holds control characters")


def _head(name: str, value: Any) -> Iterable[str]:
    _named(name)
    at = value["at"]
    if at is None:
        return ()
    _texts(at)
    return (at,)


def _tag(name: str, value: Any) -> Iterable[str]:
    _must(value["at"] is not None)
    return _head(name, value)


def _rules_hold(value: Any) -> None:
    _must(isinstance(value, dict))
    _must(isinstance(value.get("parameters", {}), dict))
    for ids in (value.get("pins", []), value.get("exclusions", [])):
        _must(isinstance(ids, list))
        _texts(*ids)
    rules = Rules.from_stored(value)
    if any(not isinstance(word, str | None) for word in (rules.system, rules.model)):
        raise BadLine("the rules of a branch are no text")


def _person(name: str, value: Any) -> Iterable[str]:
    _named(name)
    Person.from_stored(name, value)
    return ()


def _room(_name: str, value: Any) -> Iterable[str]:
    _must(isinstance(value, dict) and isinstance(value.get("models", []), list))
    room_in({"room": value})
    return ()


def _memory(_name: str, value: Any) -> Iterable[str]:
    Memory.from_stored(value)
    return ()


def _rules(name: str, value: Any) -> Iterable[str]:
    _named(name)
    _rules_hold(value)
    return ()


def _kept(name: str, value: Any) -> Iterable[str]:
    _must(value is True)
    return (name,)


def _number(name: str) -> int:
    """Parse a number in a key; only one spelling is valid, so that two keys never mean the same number."""
    number = int(name)
    _must(str(number) == name and number >= 0)
    return number


def _stash(name: str, value: Any) -> Iterable[str]:
    stash = Stash.from_stored(_number(name), value)
    _texts(stash.note, stash.draft)
    _whole(stash.created)
    for ids in (value.get("attachments", []), value.get("messages", [])):
        _must(isinstance(ids, list))
        _texts(*ids)
    if "rules" in value:
        _rules_hold(value["rules"])
    return stash.messages


def _request(name: str, value: Any) -> Iterable[str]:
    for listed in (value.get("others", []), value.get("picks", [])):
        _must(isinstance(listed, list))
    _must(all(isinstance(beside, list) for beside in value.get("others", [])))
    one = MergeRequest.from_stored(_number(name), value)
    _texts(*one.sources, *one.picks)
    _texts(one.into, one.by, one.note, one.strategy, one.answered_by)
    _whole(one.at, *(comment.at for comment in one.comments))
    _must(one.state in ("open", "accepted", "declined"))
    _texts(*(word for comment in one.comments for word in (comment.by, comment.text)))
    _must(
        all(
            seen is None or isinstance(seen, str)
            for seen in (one.source_head, *(o.source_head for o in one.others))
        )
    )
    _must(sound(one))
    return ()


def _review(name: str, value: Any) -> Iterable[str]:
    number, _, person = name.partition("/")
    _number(number)
    _named(person)
    Review.from_stored(person, value)
    return ()


def _poll(name: str, value: Any) -> Iterable[str]:
    """Validate a poll, a vote in one, or its reveal. Its candidates are no tips: they may have been pruned since."""
    number, _, rest = name.partition("/")
    kind, _, person = rest.partition("/")
    if not rest:
        _must(isinstance(value["candidates"], list) and isinstance(value.get("criteria", []), list))
        poll = Poll.from_stored(_number(number), value)
        _must(FEWEST <= len(poll.candidates) <= MOST)
        _texts(poll.by, poll.title, *poll.criteria, *poll.messages)
        _texts(*(word for one in poll.candidates for word in (*one.models, *one.branches)))
        _texts(*(word for one in poll.candidates if one.prompt for word in (one.prompt.id, one.prompt.line)))
        _whole(poll.at)
        _must(isinstance(value.get("blind", True), bool) and isinstance(value["question"], str | None))
    elif kind == "votes":
        _number(number)
        _named(person)
        vote = Vote.from_stored(person, value)
        _texts(vote.choice, vote.note, *(name for given in vote.scores.values() for name in given))
        _whole(vote.at, *(score for given in vote.scores.values() for score in given.values()))
    else:
        _number(number)
        _must(rest == "revealed")
        _texts(value["by"])
        _whole(value["at"])
    return ()


def _marked(_name: str, value: Any) -> Iterable[str]:
    _must(value is True)
    return ()


def _resolution(_name: str, value: Any) -> Iterable[str]:
    _texts(value["key"], value["text"])
    _must(isinstance(value["values"], list))
    _texts(*value["values"])
    return ()


def _conflicts(name: str, value: Any) -> Iterable[str]:
    for one in value:
        _texts(one["key"], *one["values"])
    return (name,)


def _experiment(name: str, value: Any) -> Iterable[str]:
    _named(name)
    _must(len(value["columns"]) <= _MOST_COLUMNS)
    _must("/" not in name and isinstance(value["rows"], int) and 0 <= value["rows"] <= _MOST_ROWS)
    read = Experiment.from_stored(name, value, ())
    _must(0 <= read.last_number <= HIGHEST_NUMBER)
    _must(all(len(column.id) <= _LONGEST for column in read.columns))
    _must(all(column.id and 0 < column.samples <= _MOST_SAMPLES for column in read.columns))
    _must([column["id"] for column in value["columns"]] == [column.id for column in read.columns])
    return ()


def _experiment_rows(name: str, value: Any) -> Iterable[str]:
    experiment, _, number = name.rpartition("/")
    _named(experiment)
    _number(number)
    _must(isinstance(value, list) and len(value) <= _MOST_ROWS)
    _must(all(0 < ExperimentRow.from_stored(row).id <= HIGHEST_NUMBER for row in value))
    return ()


def _of_a_cell(name: str, value: Any) -> Iterable[str]:
    """Validate what a person or a program's code says of an answer."""
    _must(name.count("/") == 3)
    _texts(value["answer"], value.get("by", ""))
    _must(isinstance(value.get("passed", False), bool) and isinstance(value.get("verdicts", {}), dict))
    for verdict in value.get("verdicts", {}).values():
        _must(verdict.get("passed") in (True, False, None))
        _texts(verdict.get("reason", ""))
        _must(isinstance(verdict.get("score", 0), int | float))
    return ()


def _title(_name: str, value: Any) -> Iterable[str]:
    _texts(value)
    return ()


def _trashed(_name: str, value: Any) -> Iterable[str]:
    _must(isinstance(value, bool))
    return ()


def _forked_from(_name: str, value: Any) -> Iterable[str]:
    _texts(value["id"], value["name"], *(value.get(one, "") for one in ("of", "through", "at")))
    return ()


def _origin(_name: str, value: Any) -> Iterable[str]:
    """Validate the origin of an imported conversation, which `running_import.py` writes and searches at the
    next import.
    """
    _texts(value["format"], value["id"])
    _texts(value.get("file", ""))
    _must(isinstance(value.get("account", {}), dict) and isinstance(value.get("x", {}), dict))
    return ()


def _erased(_name: str, value: Any) -> Iterable[str]:
    Erasure.from_stored(value)
    return ()


_CHECKS: Mapping[str, Callable[[str, Any], Iterable[str]]] = {
    "title": _title,
    "folder": _title,
    "trashed": _trashed,
    "memory": _memory,
    "room": _room,
    "people/": _person,
    "forked_from": _forked_from,
    "origin": _origin,
    "heads/": _head,
    "rules/": _rules,
    "tags/": _tag,
    "kept/": _kept,
    "stash/": _stash,
    "requests/": _request,
    REVIEWS: _review,
    ERASED: _erased,
    MARK: _marked,
    POLLS: _poll,
    RESOLUTIONS: _resolution,
    CONFLICTS: _conflicts,
    EXPERIMENTS: _experiment,
    ROWS: _experiment_rows,
    MARKS: _of_a_cell,
    SCORES: _of_a_cell,
}
