"""Checks names: a message must have each name of a line, in one of the forms that people use for it."""

from __future__ import annotations

import re
from dataclasses import replace

from forky_core.merge.models.checks import invented
from forky_core.merge.models.line_checks.evidence import Evidence
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.note.passages import is_name
from forky_core.retrieval.words import stem

_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"[\w./@:#-]*[\w]", re.ASCII)
_CAPITAL = re.compile(r"(?<![\w.`/-])[A-ZÄÖÜÉÈÀÁÍÓÚ][\w'’-]*[a-zäöüßéèáíóú][\w'’-]*")
_SPELLED_FORMS = (
    {"typescript", ".ts", ".tsx", "ts"},
    {"javascript", ".js", ".jsx", "js"},
    {"python", ".py", "py"},
    {"markdown", ".md"},
    {"yaml", ".yml", ".yaml"},
    {"kubernetes", "k8s"},
    {"postgresql", "postgres", "pg"},
    {"rust", ".rs", "cargo"},
    {"golang", ".go", "go"},
    {"shell", ".sh", "bash"},
    {"sqlite", ".db", "sqlite3"},
    {"csharp", ".cs", "c#"},
    {"dockerfile", "docker"},
    {"javadoc", ".java", "java"},
    {"github", "gh", "git"},
)
_NOT_NAMES = """
    user assistant person model tool readme ai english german french spanish chinese christmas
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
"""
_GENERIC = frozenset(_NOT_NAMES.split())
"""Capitalised words that need not occur in a message."""


def with_spellings(line: NoteLine, transcript: Transcript) -> NoteLine:
    """Return the line with a further citation for each name that only an uncited message has."""
    here = Evidence(line, transcript)
    found = {at for name in _unspelled(here) if (at := _nearest(name, here)) is not None}
    if not found:
        return line
    return replace(line, cites=tuple(here.id(at) for at in sorted({*here.cited, *found})))


def made_up_name(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a name that no cited message has, and that the reader does not know."""
    known = [text.casefold() for text in here.transcript.known]
    for name in _unspelled(here):
        if not any(_spelled(name, text, here.transcript) for text in known):
            return f"“{name}” stands nowhere in what it cites."
    return None


def _unspelled(here: Evidence) -> list[str]:
    """Return the names of the line that the cited messages do not have."""
    said = here.text.casefold()
    return [
        name
        for name in _named(here.line.text, capital_nouns=here.transcript.capital_nouns)
        if not _spelled(name, said, here.transcript)
    ]


def _nearest(name: str, here: Evidence) -> int | None:
    """Return the message nearest to the cited ones that has a name."""
    messages = here.transcript.messages
    rest = [at for at in range(len(messages)) if at not in here.cited]
    rest.sort(key=lambda at: (min(abs(at - one) for one in here.cited), at))
    texts = here.transcript.texts
    return next(
        (at for at in rest if _spelled(name, texts[messages[at].id].casefold(), here.transcript)), None
    )


_ABBREVIATION = re.compile(
    r"(?<![\w/.])(?:e\.g|i\.e|z\.B|d\.h|p\.ex|p\.ej|etc|a\.m|p\.m)(?![\w/])\.?", re.IGNORECASE
)


def _named(text: str, *, capital_nouns: bool) -> tuple[str, ...]:
    """Return the names in a line that a message must have."""
    text = _ABBREVIATION.sub(" ", text)
    found = [span for span in _CODE_SPAN.findall(text) if is_name(span) or " " not in span]
    tokens = (token.strip("/.:-()") for token in _TOKEN.findall(text))
    found += [token for token in tokens if token and not token[0].isdigit() and invented(token, "")]
    if not capital_nouns:
        for match in _CAPITAL.finditer(text):
            before = text[: match.start()].rstrip(" “\"'(*`«")
            if before and before[-1] not in ".:;!?。：；—–" and match.group().casefold() not in _GENERIC:
                found.append(match.group())
    return tuple(dict.fromkeys(found))


def _spelled(name: str, said: str, transcript: Transcript) -> bool:
    """Whether a text in lower case has a name: also its stem, its possessive, its extension, its pieces."""
    bare = re.sub(r"['’]s?$", "", name.casefold()).strip("/.:-()`")
    if not bare or bare in transcript.speakers or _holds(said, bare) or stem(bare) in _GENERIC:
        return True
    forms = (bare.removesuffix("s"), f"{bare}s", bare.removesuffix("es"))
    if any(_holds(said, form) for form in forms if len(form) > 2):
        return True
    for group in _SPELLED_FORMS:
        if bare in group and any(_holds_form(said, form) for form in group):
            return True
    if is_name(name) and not re.fullmatch(r"[A-Z][a-z]+(?:-[A-Za-z]+)*", name):
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
        if re.fullmatch(r"[\w-]+(?:-[\w]+)+", bare):  # A compound: each piece stands.
            return all(_holds_stem(said, piece) for piece in bare.split("-") if len(piece) > 1)
        return spaced != bare and _holds(said, spaced)
    pieces = [piece for piece in re.split(r"[-'’]", bare) if len(piece) > 1]
    return bool(pieces) and all(_holds_stem(said, piece) for piece in pieces)


def _holds(said: str, name: str) -> bool:
    """Whether a text has a name, other than as the beginning of a longer one."""
    return re.search(rf"(?<![\w]){re.escape(name)}(?![\w]|[.-]\w)", said) is not None or (
        re.search(rf"(?<![\w]){re.escape(name)}(?!\w)", said) is not None and not re.search(r"[.\-_/]", name)
    )


def _holds_form(said: str, form: str) -> bool:
    return form in said if form.startswith(".") else _holds(said, form)


def _holds_stem(said: str, word: str) -> bool:
    root = stem(word)
    return root in said if len(root) > 3 else _holds(said, word)
