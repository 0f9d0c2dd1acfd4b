"""Markdown as HTML in which only our own elements are markup.

It reads what models write: headings, lists, tables, quotes, code, emphasis and links. Everything else stays the text
that it is. All of it is escaped before any element is added, and the work grows with the length of the text alone. No
package reads the Markdown, because an export must work in an installation of the library alone, for which
markdown-it-py would be a fifth package; formulas are drawn where the package that draws them is installed, and are
their source elsewhere. The only attribute that holds somebody's text is the address of a link, `http` or `https`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from forky_core.layout.emphasis import CJK
from forky_core.mathematics.mathml import mathml
from forky_core.mathematics.recognition import DOLLARS, is_mathematics
from forky_core.showing.escaping import safe

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})[^`\n]*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_RULE = re.compile(r"^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$")
_ITEM = re.compile(r"^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(.*)$")
_QUOTE = re.compile(r"^ {0,3}> ?(.*)$")
_DELIMITERS = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CODE = re.compile(r"(?<!`)(`+)(?!`)([^`\n]{1,500})(?<!`)\1(?!`)")
_LINK = re.compile(
    r"\[([^\[\]\n]{1,300})\]\((https?://[^\s()<>]{1,1000})\)|(?<![\w/])(https?://[^\s<>()\[\]\"']{1,1000})"
)
_FORMULA = re.compile(
    r"\\\((?P<inline>(?:[^`\n\\]|\\\\|\\(?![()\\])){1,1000}?)\\\)"
    r"|\\\[(?P<display>(?:[^`\n\\]|\\\\|\\(?![\[\]\\])){1,2000}?)\\\]"
    r"|\$\$(?!\$)(?P<dollars>[^$`\n]{1,2000}?)\$\$"
    "|" + DOLLARS
)
_DISPLAY = re.compile(r"^[ \t]*(?:(\$\$)|\\\[)[ \t]*")
_LINES_OF_A_FORMULA = 60
_MOST_FAILURES = 200
"""Signs of formulas in one line that begin none, after which the rest of the line is not searched for more."""
_EMPHASIS = (
    (re.compile(r"\*\*(?=[^\s*])([^\n]{1,400}?)(?<=\S)\*\*"), "strong"),
    (re.compile(r"(?<!\w)__(?=[^\s_])([^\n]{1,400}?)(?<=\S)__(?!\w)"), "strong"),
    (re.compile(rf"(?<![^\W{CJK}])(?<!\*)\*(?=[^\s*])([^*\n]{{1,400}})(?<=\S)\*(?!\*)(?![^\W{CJK}])"), "em"),
    (re.compile(r"(?<!\w)_(?=[^\s_])([^_\n]{1,400})(?<=\S)_(?!\w)"), "em"),
    (re.compile(r"~~(?=\S)([^~\n]{1,400})(?<=\S)~~"), "s"),
)
LONG = 12_000
"""Characters of a text that are drawn at once; the rest is there behind a press."""
_DEEPEST = 8
"""Quotes within quotes, and lists within lists; what is deeper is drawn at this depth."""


def prose(text: str) -> str:
    """The HTML of a text."""
    return "".join(_blocks(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 0))


def long_prose(text: str) -> str:
    """The HTML of a text; of a very long one the rest stands behind a press, so that the beginning is drawn at once."""
    if len(text) <= LONG:
        return prose(text)
    cut = text.rfind("\n", LONG // 2, LONG)
    cut = cut if cut > 0 else LONG
    rest = text[cut:]
    return prose(text[:cut]) + rest_html("text", len(text), rest, prose(rest))


def long_code(text: str) -> str:
    """The HTML of a text in which nothing is markup; of a very long one the rest stands behind a press."""
    rest = text[LONG:]
    return code_html(text[:LONG]) + (rest_html("text", len(text), rest, code_html(rest)) if rest else "")


def code_html(text: str) -> str:
    """The HTML of a text in which nothing is markup."""
    return f"<pre><code>{safe(text)}</code></pre>"


def rest_html(what: str, characters: int, rest: str, drawn: str) -> str:
    """The `rest` of a text or a block of so many characters behind a press, as it is `drawn`."""
    return (
        f'<details class="rest"><summary>This {what} has {characters:,} characters. The other {len(rest):,} are '
        f"here.</summary>{drawn}</details>"
    )


def words_html(text: str) -> str:
    """The HTML of words on a line: code, formulas, emphasis and links."""
    pieces: list[str] = []
    last = 0
    for found in _CODE.finditer(text):
        pieces += (_calculated(text[last : found.start()]), f"<code>{safe(found[2])}</code>")
        last = found.end()
    return "".join((*pieces, _calculated(text[last:])))


def _calculated(text: str) -> str:
    """Words without code: formulas as MathML, and what cannot be read as one as it was written."""
    if "$" not in text and "\\" not in text:
        return _linked(text)
    pieces: list[str] = []
    last = at = failures = 0
    while failures < _MOST_FAILURES and (found := _FORMULA.search(text, at)) is not None:
        inside = next(one for one in found.groups() if one is not None)
        drawn = ""
        if found["dollar"] is None or is_mathematics(inside):
            drawn = mathml(inside, display=found["inline"] is None and found["dollar"] is None)
        if drawn:
            pieces += (_linked(text[last : found.start()]), drawn)
            last = at = found.end()
        else:
            failures += 1
            at = found.start() + 1  # What stands after the first sign may be a formula of its own.
    return "".join((*pieces, _linked(text[last:])))


def _linked(text: str) -> str:
    pieces: list[str] = []
    last = 0
    for found in _LINK.finditer(text):
        address = found[2] or found[3].rstrip(".,;:!?")
        end = found.end() if found[2] else found.start() + len(address)
        said = _stressed(found[1]) if found[1] else safe(address)
        pieces += (
            _stressed(text[last : found.start()]),
            f'<a href="{safe(address)}" target="_blank" rel="noopener noreferrer">{said}</a>',
        )
        last = end
    return "".join((*pieces, _stressed(text[last:])))


def _stressed(text: str) -> str:
    said = safe(text)
    if not any(sign in said for sign in "*_~"):
        return said
    for pattern, element in _EMPHASIS:
        said = pattern.sub(rf"<{element}>\1</{element}>", said)
    return said


def _blocks(lines: Sequence[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif (fence := _FENCE.match(line)) is not None:
            end = _end_of_fence(lines, at, fence[1])
            yield _code(lines[at + 1 : end], line, fence[2])
            at = end + 1
        elif alone := _line_alone(line):
            yield alone
            at += 1
        elif (end := _end_of_formula(lines, at)) > at:
            yield _formula(lines[at:end])
            at = end
        elif _ITEM.match(line):
            end = _end_of_list(lines, at)
            yield _list(lines[at:end])
            at = end
        elif depth < _DEEPEST and _QUOTE.match(line):
            end = at
            inner: list[str] = []
            while end < len(lines) and (quoted := _QUOTE.match(lines[end])) is not None:
                inner.append(quoted[1])
                end += 1
            yield f"<blockquote>{''.join(_blocks(inner, depth + 1))}</blockquote>"
            at = end
        elif _is_table(lines, at):
            end = at + 2
            while end < len(lines) and "|" in lines[end] and lines[end].strip():
                end += 1
            yield _table(lines[at:end])
            at = end
        else:
            end = at + 1
            while end < len(lines) and not _begins_block(lines, end, depth):
                end += 1
            yield f'<p dir="auto">{"<br>".join(map(words_html, lines[at:end]))}</p>'
            at = end


def _line_alone(line: str) -> str:
    """The HTML of a line that is a block by itself, a heading or a rule; "" for any other."""
    if (heading := _HEADING.match(line)) is not None:
        level = min(len(heading[1]) + 2, 5)
        return f"<h{level}>{words_html(heading[2])}</h{level}>"
    return "<hr>" if _RULE.match(line) else ""


def _formula(lines: Sequence[str]) -> str:
    """A displayed formula of several lines, or its source if it cannot be drawn."""
    opening = _DISPLAY.match(lines[0])
    assert opening is not None
    text = "\n".join((lines[0][opening.end() :], *lines[1:])).strip()
    drawn = mathml(text.removesuffix("$$").removesuffix("\\]"), display=True)
    return f'<p class="formula">{drawn or "<br>".join(map(safe, lines))}</p>'


def _begins_block(lines: Sequence[str], at: int, depth: int) -> bool:
    line = lines[at]
    return (
        not line.strip()
        or any(pattern.match(line) is not None for pattern in (_FENCE, _HEADING, _RULE, _ITEM))
        or _end_of_formula(lines, at) > at
        or (depth < _DEEPEST and _QUOTE.match(line) is not None)
        or _is_table(lines, at)
    )


def _end_of_formula(lines: Sequence[str], start: int) -> int:
    """The line after a displayed formula of several lines that begins here; `start` if none does."""
    opening = _DISPLAY.match(lines[start])
    if opening is None:
        return start
    closing = "$$" if opening[1] else "\\]"
    if closing in lines[start][opening.end() :]:
        return start
    for at in range(start + 1, min(len(lines), start + _LINES_OF_A_FORMULA)):
        if lines[at].rstrip().endswith(closing):
            return at + 1
        if not lines[at].strip():
            break
    return start


def _end_of_fence(lines: Sequence[str], start: int, fence: str) -> int:
    for at in range(start + 1, len(lines)):
        closing = lines[at].strip()
        if closing.startswith(fence) and not closing.strip(fence[0]):
            return at
    return len(lines)


def _code(lines: Sequence[str], opening: str, language: str) -> str:
    """A block of code without the indentation of the item that it stands in."""
    indent = len(opening) - len(opening.lstrip())
    text = "\n".join(line[indent:] if not line[:indent].strip() else line for line in lines)
    label = f' data-language="{safe(language)}"' if language else ""
    return f"<pre{label}><code>{safe(text)}</code></pre>"


def _is_table(lines: Sequence[str], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at] or "-" not in lines[at + 1]:
        return False
    below = lines[at + 1]
    return len(below) < 2_000 and "|" in below and _DELIMITERS.match(below) is not None


def _table(lines: Sequence[str]) -> str:
    head, marks, *rows = (_cells(line) for line in lines)
    right = [mark.strip().endswith(":") and not mark.strip().startswith(":") for mark in marks]

    def row(cells: Sequence[str], element: str) -> str:
        drawn = (
            f"<{element}{' class=right' if at < len(right) and right[at] else ''}>{words_html(cell.strip())}</{element}>"
            for at, cell in enumerate(cells[: len(head)])
        )
        return f"<tr>{''.join(drawn)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f'<div class="wide"><table><thead>{row(head, "th")}</thead><tbody>{body}</tbody></table></div>'


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return re.split(r"(?<!\\)\|", inner)


def _end_of_list(lines: Sequence[str], start: int) -> int:
    """The line after the last item: an indented line goes on with the item above it, unless it begins a fence."""
    at = start + 1
    while at < len(lines):
        line = lines[at]
        if _FENCE.match(line) or _RULE.match(line):
            break
        if _ITEM.match(line):
            at += 1
        elif not line.strip():
            following = lines[at + 1] if at + 1 < len(lines) else ""
            if not (_ITEM.match(following) or following.startswith(("  ", "\t"))) or _FENCE.match(following):
                break
            at += 1
        elif line.startswith(("  ", "\t")):
            at += 1
        else:
            break
    return at


def _list(lines: Sequence[str]) -> str:
    pieces: list[str] = []
    open_lists: list[tuple[int, str]] = []
    for line in lines:
        item = _ITEM.match(line)
        if item is None:
            if line.strip():
                pieces.append(f"<br>{words_html(line.strip())}")
            continue
        indent, numbered = len(item[1].expandtabs(4)), item[2][0].isdigit()
        while len(open_lists) > 1 and indent < open_lists[-1][0]:
            pieces.append(f"</li></{open_lists.pop()[1]}>")
        element = "ol" if numbered else "ul"
        if len(open_lists) == 1 and indent <= open_lists[0][0] + 1 and open_lists[0][1] != element:
            pieces.append(f"</li></{open_lists.pop()[1]}>")
        if not open_lists or (indent > open_lists[-1][0] + 1 and len(open_lists) < _DEEPEST):
            start = f' start="{int(item[2][:-1])}"' if numbered and item[2][:-1] != "1" else ""
            pieces.append(f"<{element}{start}><li>")
            open_lists.append((indent, element))
        else:
            pieces.append("</li><li>")
        done = {"x": "☑ ", "X": "☑ ", " ": "☐ "}.get(item[3] or "", "")
        pieces.append(f'<span dir="auto">{done}{words_html(item[4])}</span>')
    while open_lists:
        pieces.append(f"</li></{open_lists.pop()[1]}>")
    return "".join(pieces)
