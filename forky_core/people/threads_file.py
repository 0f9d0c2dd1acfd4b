"""The threads of a conversation as a text in Markdown, for whoever exports them on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from forky_core.model import MessageId
from forky_core.people.threads import Thread
from forky_core.views.times import stamp_utc


def threads_file(
    title: str,
    threads: Iterable[Thread],
    name_of: Callable[[str], str],
    words_of: Callable[[MessageId], str],
) -> str:
    """Every thread with what it is about, who said what and when. `words_of` is how a message begins.

    What was deleted is left out. Everything that people wrote is quoted, so that none of it is read as a heading.
    """
    return "\n".join(_lines(title, threads, name_of, words_of))


def _lines(
    title: str,
    threads: Iterable[Thread],
    name_of: Callable[[str], str],
    words_of: Callable[[MessageId], str],
) -> Iterator[str]:
    yield f"# Threads of “{_one_line(title)}”"
    for number, thread in enumerate(threads, 1):
        said = [comment for comment in thread.comments if not comment.deleted]
        if not said:
            continue
        state = f"resolved {stamp_utc(thread.resolved)}" if thread.resolved else "open"
        yield ""
        yield f"## {number}, {state}, on message {thread.message.removeprefix('b2:')[:8]}"
        yield ""
        yield f"About: {_one_line(thread.quote or words_of(thread.message) or 'the whole message')}"
        for comment in said:
            edited = ", edited" if comment.edited else ""
            yield ""
            yield f"**{_one_line(name_of(comment.person))}**, {stamp_utc(comment.at)}{edited}:"
            yield ""
            yield from (f"> {line}" for line in comment.text.splitlines() or [""])
    yield ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
