"""Cuts a text into passages, pieces that can be quoted by themselves, and says of each what it is.

A passage is a sentence of prose, a line of code, a heading, a tool call, or a line of a tool's output. A sentence may
go over several lines where the text is wrapped by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from forky_core.text.fences import CodeBlocks
from forky_core.text.sentences import language_of, sentence_ends

Shape = Literal["prose", "heading", "code", "call", "output", "removed"]
"""`removed`: code that an edit in the same message removes, so that it never stands as current."""
Source = Literal["text", "block", "call", "output"]
"""What a text is of its message; a `block` quotes other messages, so that nothing in it is code."""

READ = 200_000
"""The most characters of a part that are read; the middle of a longer one is not quoted, so that a preview is quick."""
LONGEST = 600
"""The most characters of a passage; a longer one is cut at a space."""
_KEPT_TEXT = 2_000
"""The most characters of a text whose atoms are cached."""
_ATOM = re.compile(
    r"""
      https?://[^\s<>"')\]]+
    | (?:~|\.{1,2}|(?<![\w.@+/-])[\w@][\w.@+-]*+)?(?:/[\w.@+-]*[\w@+-])++/?+   # a path
    | [A-Za-z_][\w-]*(?:(?:\.|::|->)[A-Za-z_]\w*)+   # a dotted name
    | --?[A-Za-z][\w-]+                          # an option
    | \d\w*(?:[.,:/-]\d\w*)*%?                   # a number, a date, a version, a hash
    | [^\W\d_][\w]*(?:[-'’][\w]+)*               # a word or an identifier
    | _\w+
    """,
    re.VERBOSE,
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff\uf900-\ufaff]+")
_NO_END = re.compile(r"(?:^|\s|[(*_\"“])(?:\d{1,2}|[^\W\d_a-zß-ÿ]|St|[Ff]ig|[Aa]bb|[Aa]rt|approx)[.]$")
"""A number, an initial or an abbreviation with a full stop, which ends no sentence."""
_ENCODED = re.compile(r"(?<![\w+/=-])[\w+/=-]{120,}+", re.ASCII)
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_OF_A_HUNK = frozenset("+- \\")
_HEADING = re.compile(r"^#{1,6}\s|^\*\*[^*]{1,80}\*\*:?$|^[^.!?。]{1,80}:$")
_ITEM = re.compile(r"(?:[-*+•|>]|\d+[.)])\s|[|<]")
_ENDS = (".", "!", "?", ":", ";", "…", "|", "。", "！", "？", "：", "”", '"', ")")
SHORTEST_ROW = 60
"""The fewest characters of a line whose sentence goes on in the next one."""
_EDIT_MARK = re.compile(r"(<{5,}|={5,}$|>{5,})")
_SEARCH = re.compile(r"<{5,}\s*(?:SEARCH|ORIGINAL)\b")
_CODE = re.compile(
    r"""[{};]\s*$|^\s*(def|class|import|from|return|if|for|while|const|let|var|fn|func|public|private|
    [#]include|async|await|try|except|catch|else|elif|with|raise|throw)\b.*[:({;=]|^\s*(?:[\w.]+\s*=\s*|await\s+|return\s+)?[\w.]+\([^)]*\)\s*[:{;]?\s*$|^\s*[\w.\[\]"']+\s*[+*/-]?=\s*\S
    |^\s*[$>]\s+\w|^[+-](?![\s+-])\S.*[({;=]""",
    re.VERBOSE,
)
_SPELLED_OUT = re.compile(
    r"[A-Z]?[^\W\dA-Z_]*(?:[-’'][^\W\d_]+)*|[^\W\d_]+/[^\W\d_]+|--?\w{1,2}|(?:[A-Za-z]\.)+[A-Za-z]?"
)
_NAME_LIKE = re.compile(r"[\d_./:@()-]|[a-z][A-Z]|^[A-Z]{2,}$")


def passages_in(
    sources: Iterable[tuple[Source, str]], language: str, *, of_tool: bool = False
) -> Iterator[tuple[str, Shape, int, str]]:
    """Yield the passages of a message's texts, each with its shape, the number of its line and the whole line.

    Everything that a tool says is its output.
    """
    rows = (each for source, text in sources for each in _rows(source, _read(text)))
    for row, (line, kind) in enumerate(rows):
        shape: Shape = "output" if of_tool else kind
        for text in _pieces(line, shape, language):
            yield text, shape, row, line


def _rows(source: Source, text: str) -> Iterator[tuple[str, Shape]]:
    """Yield the lines of a text, each with its shape."""
    if source == "text":
        yield from _lines(text)
    elif source == "block":
        for line, shape in _lines(text):
            yield line.strip(), "prose" if shape in ("code", "removed") else shape
    else:
        tells = _has_signs if source == "call" else _WORD.search
        yield from ((line, source) for line in map(str.strip, text.splitlines()) if tells(line))


def _pieces(line: str, shape: Shape, language: str) -> Iterator[str]:
    if shape != "prose" or line.startswith("|"):
        yield from _cut(line.strip())
        return
    for sentence in sentences_in(line, language):
        yield from _cut(sentence)


def _read(text: str) -> str:
    """Return the text without encoded bytes; for a very long one its beginning and its end, in whole lines if
    possible.
    """
    if len(text) > READ:
        start, end = text[: READ // 2], text[-READ // 2 :]
        text = (start.rpartition("\n")[0] or start) + "\n" + (end.partition("\n")[2] or end)
    return _ENCODED.sub("\n", text)


def _has_signs(line: str) -> bool:
    return any(map(str.isalnum, line))


def _lines(text: str) -> Iterator[tuple[str, Shape]]:
    """Yield the lines of a text with their shapes, without fences and edit marks; a patch's lines without their
    signs.
    """
    edited = patch = searched = hunk = False
    blocks = CodeBlocks()
    wrapped = ""
    for raw in text.splitlines():
        line = raw.strip()
        part = blocks.take(raw)
        if wrapped and (part != "prose" or not _goes_on(wrapped, line)):
            yield wrapped, "prose"
            wrapped = ""
        fence = part in {"opens", "closes"}
        hunk = not fence and (_HUNK.match(line) is not None or (hunk and raw[:1] in _OF_A_HUNK))
        if fence:
            edited = False
            patch = part == "opens" and blocks.info.startswith(("diff", "patch"))
        elif _EDIT_MARK.match(line) and (edited or line[0] == "<"):
            edited = line[0] != ">"
            searched = _SEARCH.match(line) is not None
        elif not line or not _has_signs(line):
            continue
        elif patch and line.startswith("+++ "):
            yield line[4:], "code"
        elif (patch or hunk) and line[0] in "+-":
            yield line[1:], "code" if line[0] == "+" else "removed"
        elif part == "code" or edited or is_code(raw):
            yield raw.rstrip(), "removed" if searched else "code"
        elif wrapped:
            wrapped += f"\n{line}"
        elif len(line) <= 90 and _HEADING.match(line):
            yield line, "heading"
        else:
            wrapped = line
    if wrapped:
        yield wrapped, "prose"


def _goes_on(paragraph: str, line: str) -> bool:
    """Whether a line goes on with the sentence at the end of the one above, as in text that is wrapped by hand."""
    above = paragraph.rpartition("\n")[2]
    if not line or _ITEM.match(line) or _HEADING.match(line) or is_code(line) or above.endswith(_ENDS):
        return False
    return (line[0].islower() and len(above) >= SHORTEST_ROW // 2) or len(above) >= SHORTEST_ROW


def is_code(line: str) -> bool:
    """Whether a line outside any fence looks like code."""
    return len(line) <= LONGEST and _CODE.search(line) is not None


def sentences_in(text: str, language: str = "") -> list[str]:
    """Split a paragraph into sentences, each a piece of it; the language is guessed where none is given."""
    edges = [0, *sentence_ends(text, language or language_of(text))]
    found: list[str] = []
    start = 0
    for end in edges[1:]:
        piece = text[start:end].strip()
        if end < len(text) and (_NO_END.search(piece) or not _may_end(text[start:end])):
            continue
        if piece:
            found.append(piece)
        start = end
    return found


def _may_end(piece: str) -> bool:
    """Whether a sentence may end here: behind white space or a Chinese full stop, in no code and no stressed words."""
    ends = piece[-1:].isspace() or piece.endswith(("。", "！", "？", "｡"))
    return ends and _has_signs(piece) and not piece.count("`") % 2 and not piece.count("**") % 2


def _cut(text: str) -> Iterator[str]:
    """Yield pieces of at most LONGEST characters, cut at a space if possible."""
    while len(text) > LONGEST:
        at = text.rfind(" ", LONGEST // 2, LONGEST)
        at = at if at > 0 else LONGEST
        yield text[:at].strip()
        text = text[at:].strip()
    if text:
        yield text


def atoms(text: str) -> tuple[str, ...]:
    """Return the names, numbers and words of a text, each once; scripts without spaces in pairs of characters."""
    return _kept_atoms(text) if len(text) <= _KEPT_TEXT else _atoms(text)


@lru_cache(maxsize=16_384)
def _kept_atoms(text: str) -> tuple[str, ...]:
    """Cached, because messages never change and each preview of a merge reads the whole target again."""
    return _atoms(text)


def _atoms(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in _ATOM.finditer(text):
        atom = match.group()
        if _UNSPACED.search(atom):
            continue
        if len(atom) > 1 or atom.isdigit():
            found[atom] = None
    for run in _UNSPACED.findall(text):
        found.update(dict.fromkeys(run[at : at + 2] for at in range(max(1, len(run) - 1))))
    return tuple(found)


def is_named(atom: str) -> bool:
    """Whether it looks like something that a program or a person named: an identifier, a path, a number, an acronym; no
    list number, no “and/or”, no hyphenated word.
    """
    return len(atom) > 2 and _NAME_LIKE.search(atom) is not None and _SPELLED_OUT.fullmatch(atom) is None


def names(text: str) -> frozenset[str]:
    """Return the names in a text, each behind a `=`, which no word begins with."""
    return frozenset(f"={atom}" for atom in atoms(text) if is_named(atom))


def plain(line: str) -> str:
    """Normalise a line for comparison: its words, without indentation and list signs."""
    return " ".join(line.split()).strip("-*+#> `").casefold()


def plain_lines(texts: Iterable[str]) -> set[str]:
    """Return every line and every sentence of the texts, normalised by `plain`."""
    found: set[str] = set()
    for text in texts:
        language = language_of(text)
        found.update(plain(line) for line in text.splitlines() if line.strip())
        for row, shape in _lines(text):
            found.add(plain(row))
            found.update(plain(piece) for piece in _pieces(row, shape, language))
    return found
