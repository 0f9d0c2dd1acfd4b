"""Counts tokens without the network.

Counts are exact for OpenAI's models, whose vocabularies litellm ships; they are estimates for all others, and until a
vocabulary is read. The one rule for which text of a provider message counts is here as well (law 7: the inspector, the
cost estimate and the usage of the offline models read the same numbers).
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from types import FunctionType
from typing import Any

from forky_core.llm.contract import ProviderMessage
from forky_core.model.hashing import mend_text

_WIDE = re.compile(
    r"[\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_BYTES_PER_TOKEN = 4
_VOCABULARIES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
"""The sha1 of the address from which tiktoken would download each vocabulary, which names the file that litellm
ships."""
_PIECE = 100_000
"""The characters that are counted at a time."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: four bytes of UTF-8 each, and one for each Chinese, Japanese or Korean
    character.
    """
    return -(-len(text) // _BYTES_PER_TOKEN) if text.isascii() else _estimated(text)


def count_each(texts: Iterable[str], count_tokens: Callable[[str], int]) -> list[int]:
    """Count the tokens of each text; estimates are inlined, since ten thousand calls would take a third longer."""
    if count_tokens is not estimate_tokens:
        return list(map(count_tokens, texts))
    return [-(-len(text) // _BYTES_PER_TOKEN) if text.isascii() else _estimated(text) for text in texts]


@lru_cache(maxsize=8192)
def _estimated(text: str) -> int:
    narrow, wide = _WIDE.subn("", text)
    return wide + math.ceil(len(narrow.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


class Vocabulary:
    """An exact tokenizer: a call returns the tokens of a text."""

    def __init__(self, name: str) -> None:
        """Load a vocabulary.

        Raises:
            FileNotFoundError: its file is not on this machine.
        """
        file = _vocabulary_file(name)
        if file is None:
            raise FileNotFoundError(f"The vocabulary {name} is not on this machine.")
        self.name = name
        self._encoding = _encoding(name, file)

        self.count = lru_cache(maxsize=8192)(self._count)
        """Counts the tokens of a text."""

    def __call__(self, text: str) -> int:
        return self.count(text)

    def _count(self, text: str) -> int:
        if len(text) <= _PIECE:
            return len(self._encoding.encode_ordinary(text))
        # In pieces: the merge loop of a very long run without spaces is quadratic.
        pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
        return sum(len(self._encoding.encode_ordinary(mend_text(piece))) for piece in pieces)


def _encoding(name: str, file: Path) -> Any:
    """Build what `tiktoken.get_encoding` returns, from a local file.

    tiktoken itself looks for the file in a folder that an environment variable names, and downloads it if that is
    another folder. So its constructor is called with a loader that reads the file.
    """
    constructor: Any = import_module("tiktoken_ext.openai_public").ENCODING_CONSTRUCTORS[name]

    def load(_address: str, expected_hash: str | None = None) -> dict[bytes, int]:
        content = file.read_bytes()
        if expected_hash is not None and sha256(content).hexdigest() != expected_hash:
            raise ValueError(f"{file} does not hold the vocabulary {name}.")
        lines = (line.split() for line in content.splitlines() if line)
        return {b64decode(token): int(rank) for token, rank in lines}

    own = FunctionType(constructor.__code__, {**constructor.__globals__, "load_tiktoken_bpe": load})
    return import_module("tiktoken").Encoding(**own())


_lock = Lock()
_ready: dict[str, Vocabulary] = {}
_reading: dict[str, Thread] = {}


def vocabulary(name: str) -> Vocabulary | None:
    """Return the vocabulary of that name; None while it is read in the background, and if it is not on this machine.

    It is read on first use: that takes 0.3 s and some 80 MB.
    """
    ready = _ready.get(name)
    if ready is None and name:
        read_vocabulary(name)
    return ready


def read_vocabulary(name: str) -> Thread:
    """Start reading a vocabulary; the returned thread can be joined."""
    with _lock:
        if name not in _reading:
            _reading[name] = Thread(target=_read, args=(name,), name=f"forky-{name}", daemon=True)
            _reading[name].start()
        return _reading[name]


def _read(name: str) -> None:
    if _vocabulary_file(name) is not None:
        _ready[name] = Vocabulary(name)


def _vocabulary_file(name: str) -> Path | None:
    spec = find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / "litellm_core_utils" / "tokenizers" / _VOCABULARIES[name]
        if file.is_file():
            return file
    return None


def message_text(message: ProviderMessage) -> str:
    """Return the text of a provider message, its tool calls included; images and files have none."""
    content: Any = message.get("content")
    texts: list[str] = []
    if isinstance(content, str):
        texts.append(content)
    elif isinstance(content, list):
        texts += [
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        texts.append(f"{function.get('name', '')} {function.get('arguments', '')}")
    return "\n\n".join(text for text in texts if text)


def prompt_tokens(messages: Iterable[ProviderMessage], count: Callable[[str], int] = estimate_tokens) -> int:
    """Return the tokens of a whole request: the sum over its messages, by `count`."""
    return sum(count(message_text(message)) for message in messages)
