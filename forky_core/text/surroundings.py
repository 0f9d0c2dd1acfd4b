"""Tells what a person said from what a program wrote around it.

An agent's program puts reminders, instructions of the folder, its environment, the time and examples of its own into
messages of the user. A title is made from what is left without them (`spoken`), and within one session of a program two
spellings of a message that differ by nothing else are one message (matching/rewritten.py). The gateway and the
importers use the same rules, so that one session has one title on both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TAGS = (
    "system-reminder|system_reminder|environment_context|environment_details|user_instructions|permissions instructions"
    "|skills_instructions|apps_instructions|plugins_instructions|collaboration_mode|turn_aborted|ide_opened_file"
    "|ide_selection|ide_diagnostics|command-name|command-message|command-args|command-contents|local-command-caveat"
    "|local-command-stdout|local-command-stderr|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook"
    "|open_and_recently_viewed_files"
)
_BLOCK = re.compile(rf"(?:^|(?<=[\n>]))[ \t]*<(?P<tag>{_TAGS})(?:\s[^<>\n]*)?>.*?</(?P=tag)>", re.DOTALL)
"""A block in a tag that a program is known to write, at the beginning of a line."""
_MAY = re.compile("<|# AGENTS")
_ANY_BLOCK = re.compile(r"\s*<(?P<tag>[A-Za-z][\w-]*)(?:\s[^<>\n]*)?>.*?</(?P=tag)>[ \t]*(?:\n|$)", re.DOTALL)
"""A block in any tag, at the beginning of a text."""
_HEADED = re.compile(r"^# AGENTS\.md instructions\b[^\n]*(?:\s*<INSTRUCTIONS>.*?</INSTRUCTIONS>)?", re.DOTALL)
"""The instructions of a folder, as Codex sends them."""
_CANNED = re.compile(
    r"I have \*added these files to the chat\*|I switched to a new code base\.|Here are summaries of some files present"
    r"|Here are some READ ONLY files|I am sharing these files|Just tell me how to edit the files"
)
"""How messages of the user begin that aider wrote."""
_EXAMPLES_END = "I switched to a new code base."
"""How the message begins that ends aider's examples of a conversation."""
_TIME = (
    r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?(?:\s?(?:Z|UTC|GMT)\b|[+-]\d{2}:?\d{2})?"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+"
_CLOCK = re.compile(
    rf"(?:{_DAY})?(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|{_MONTH}\s+\d{{1,2}}(?:,?\s+\d{{4}})?|\d{{1,2}}\.?\s+{_MONTH}(?:\s+\d{{4}})?)(?:(?:T|,?\s+(?:at\s+)?){_TIME})?|{_TIME}"
    r"|\b1[0-9]{9}(?:[0-9]{3})?\b"
)
"""A date, a time of day, or seconds or milliseconds since 1970."""
_CLEARED = re.compile(
    r"\W*(?:old |previous |this )?(?:tool |function )?(?:result|output|response|content|call|image|file)s?\b[^\n]{0,80}"
    r"\b(?:clear|omit|remov|truncat|elid|compact|prun|trimm|hidden|dropped)\w*[^\n]{0,80}"
    r"|\W*(?:clear|omitt|remov|truncat|elid|compact|prun|trimm)ed\b[^\n]{0,80}",
    re.IGNORECASE,
)
"""What a program puts in the place of a result that it no longer sends."""
_MARK = re.compile(r"\s*(?:(?:\.\.\.|…|\[|\(|<)[^\n]{0,80})?\Z")
"""The end of a text that was cut: a mark such as “[truncated]”."""


def parted(text: str) -> tuple[str, str]:
    """Return a text without the blocks that programs are known to write, and these blocks."""
    blocks = (
        [found[0] for rule in (_BLOCK, _HEADED) for found in rule.finditer(text)] if _MAY.search(text) else []
    )
    return (_HEADED.sub("", _BLOCK.sub("", text)).strip(), "\n\n".join(blocks)) if blocks else (text, "")


def bare(text: str) -> str:
    """Return a text without the blocks that programs are known to write, and with single spaces for white space."""
    return " ".join(parted(text)[0].split())


def timeless(text: str) -> str:
    """Return a bare text with the same sign for every date and time of day."""
    return _CLOCK.sub("\N{WATCH}", text)


def spoken(text: str) -> str:
    """Return what a person said in a message of the user: "" if a program wrote all of it."""
    said = parted(text)[0].strip()
    if _CANNED.match(said) or _SUMMARIES.match(said):
        return ""
    while (block := _ANY_BLOCK.match(said)) is not None and (rest := said[block.end() :].strip()):
        said = rest
    if len(said) > 1 and said[0] == said[-1] == '"' and '"' not in said[1:-1]:
        return said[1:-1].strip()
    return said


def first_spoken(texts: Iterable[str]) -> str:
    """Return what a person said first in these messages of the user, examples aside; "" if nothing."""
    said = list(texts)
    after = next((at for at, text in enumerate(said) if text.startswith(_EXAMPLES_END)), -1) + 1
    return next((words for text in said[after:] if (words := spoken(text))), "")


def is_cleared(text: str, whole: str) -> bool:
    """Whether a program put `text` in the place of the longer `whole` that it sent before: a remark that it was
    cleared, or its beginning.
    """
    text, whole = text.strip(), whole.strip()
    if len(text) >= len(whole):
        return bool(whole) and _CLEARED.fullmatch(text) is not None
    if not text or _CLEARED.fullmatch(text):
        return True
    same = next((at for at, (one, two) in enumerate(zip(text, whole, strict=False)) if one != two), len(text))
    return same > 0 and same >= len(text) // 2 and _MARK.match(text, same) is not None


def is_contained(one: str, other: str) -> bool:
    """Whether the shorter of two texts begins or ends the longer one, with a line break where the rest begins."""
    short, long = sorted((one.strip(), other.strip()), key=len)
    if not short or short == long:
        return bool(short)
    if long.endswith(short):
        return "\n" in long[: -len(short)][-2:]
    return long.startswith(short) and long[len(short)] == "\n"


_FOLDER = re.compile(
    r"<cwd>\s*([^<\n]{1,500}?)\s*</cwd>|\bworking directory: *([^\s<][^<\n]{0,500})", re.IGNORECASE
)


def working_folder(texts: Iterable[str]) -> str:
    """Return the folder in which a program says that it works; "" if none of the texts has one."""
    found = next((found for text in texts if (found := _FOLDER.search(text[:50_000]))), None)
    return (found[1] or found[2]).strip() if found else ""


def program_in(program: str, folder: str) -> str:
    """Return how a list names a program and the folder that it worked in."""
    name = " ".join(re.split(r"[/\\]", folder.rstrip("/\\"))[-1].split())[:80]
    return " · ".join(filter(None, (program, name)))


_TITLES = re.compile(
    r"(?:please )?(?:generate|write|create|give|suggest|provide|come up with)\b[^.\n]{0,60}\b(?:title|name|summary)\b[^.\n]{0,40}"
    r"\b(?:conversation|chat|session|thread|message|task)|you are a title generator|<session>"
    r"|(?:please )?write a \d+-\d+ word title|summarize this coding conversation in under \d+ characters"
    r"|analyze if this message indicates a new conversation topic|quota\Z",
    re.IGNORECASE,
)
_SYSTEM_TITLES = re.compile(
    r"\b(?:generate|generator|write|create|come up with)\b[^.\n]{0,80}\btitles?\b|\btitle (?:generator|for (?:this|the) )"
    r"|\bthread title\b",
    re.IGNORECASE,
)
_ASIDES = re.compile(
    r"\[SUGGESTION MODE|(?:CRITICAL: Respond with TEXT ONLY\b.{0,3000}?)?your task is to create a detailed summary of (?:the|this)"
    r"|You are performing a CONTEXT CHECKPOINT COMPACTION|Provide a detailed (?:prompt|summary) for continuing our conversation"
    r"|Summarize (?:the|this|our) conversation (?:so far|above|history)",
    re.IGNORECASE | re.DOTALL,
)
_RECAP = "What did we do so far?"
"""What OpenCode puts before its summary, as if a person had asked and a model had answered."""
_SUMMARIES = re.compile(
    r"This session is being continued from a previous conversation"
    r"|Another language model started to solve this problem and produced a summary"
    r"|The conversation history before this point was compacted into"
    r"|(?:Here is|This is) a summary of (?:the|our) (?:earlier|previous) (?:conversation|part|messages)"
    rf"|{re.escape(_RECAP)}\s",
    re.IGNORECASE,
)


def asks_for_title(system: str, text: str) -> bool:
    """Whether a program asks for itself, such as for a session's title. `text` is the first message of the user,
    `system` the prompt of the system.
    """
    return _TITLES.match(text.strip()) is not None or _SYSTEM_TITLES.search(system[:4_000]) is not None


def asks_aside(text: str) -> bool:
    """Whether a program's last message asks for something that the person does not see: the summary with which it goes
    on, or a suggestion of what to ask next.
    """
    return _ASIDES.match(text.strip()) is not None


def is_summary(text: str) -> bool:
    """Whether a program's message of the user begins as the summary with which it goes on after a compaction."""
    return _SUMMARIES.match(text.strip()) is not None


def is_recap(text: str) -> bool:
    """Whether a program's message of the user is one that its summary answers in the next message."""
    return text.strip() == _RECAP


_SUMMED = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


def summary_in(answer: str) -> str:
    """Return the summary in a model's answer to a request to compact: what stands in its tags, or all of it."""
    found = _SUMMED.search(answer)
    return (found[1] if found else answer).strip()
