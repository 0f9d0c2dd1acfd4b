"""Strips Markdown from a text where there is no room for it, as on a line of the graph.

For lines of a few hundred characters, of a whole text or of a piece cut out of one: markup that is cut off before its
end is stripped as well. Code keeps every character; `snake_case` and `2**3` are no emphasis.
"""

from __future__ import annotations

import re

from forky_core.text.emphasis import CJK

_LINES = re.compile(
    r"""
      ^[ \t>]*(?:`{3,}|~{3,})[^`\n]*$                # a fence, with the name of its language
    | ^[ \t>]*(?:[-*_=][ \t]*){3,}$                  # a rule, or the line below a heading
    | ^[ \t>]*\|?[ \t]*:?-{2,}:?[ \t]*\|[-|: \t]*$   # below the head of a table
    | ^[ \t]*(?:>[ \t]?)+                            # a quote
    | ^[ \t]*\#{1,6}[ \t]+ | [ \t]+\#+[ \t]*$        # a heading
    | ^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?         # an item of a list
    | ^[ \t]*\| | \|[ \t]*$                          # the edges of a table
    | (?<=\s)\#{1,6}[ \t]+(?=\S) | `{3,}[\w+-]*      # headings and fences in a line that was more than one
    """,
    re.MULTILINE | re.VERBOSE,
)
_INLINE = re.compile(
    r"""
      (?P<ticks>`{1,2})(?P<code>[^`\n]+)(?P=ticks)
    | !?\[(?P<words>[^\]\n]*)\](?:\([^)\n]*(?:\)|$)|\[[^\]\n]*\])
    | <(?P<link>https?://[^\s<>]+)>
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | (?<![\w*])\*{2,3}(?=\S) | (?<=\S)\*{2,3}(?![\w*]) | (?<=[CJK])\*{2,3}(?=\S) | (?<=\S)\*{2,3}(?=[CJK])
    | (?<!\w)_{2,3}(?=\w) | (?<=\w)_{2,3}(?!\w)
    | ~~
    | (?<![\w*])\*(?P<stars>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])
    | (?<!\w)_(?P<bars>[^\s_](?:[^_\n]*[^\s_])?)_(?!\w)
    """.replace("CJK", CJK),
    re.VERBOSE,
)


def plain_words(text: str) -> str:
    """Return `text` without Markdown's markup; line breaks stay."""
    return _INLINE.sub(_kept, _LINES.sub("", text))


def _kept(found: re.Match[str]) -> str:
    name = next((name for name, said in found.groupdict().items() if said and name != "ticks"), None)
    if name is None:
        return ""
    said = found[name]
    return said if name in {"code", "link", "escaped"} else _INLINE.sub(_kept, said)
