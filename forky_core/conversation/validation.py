"""Validates what a person, a page or a script passes in, or refuses it with a sentence.

A store keeps JSON in UTF-8, and ids are computed from it; so all input is validated here (or in identity.py, for names)
before it becomes part of a value. A key or an address is never accepted as a parameter: what is stored may be shared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forky_core.conversation.identity import title_line
from forky_core.model.errors import BadContent
from forky_core.model.hashing import mend_json, mend_text
from forky_core.model.parts import Json
from forky_core.store.contract import Store
from forky_core.wire.content import LONGEST_TEXT

LONGEST_PARAMETERS = 100_000
"""The most characters of one parameter as JSON."""
_MODEL_NAME = 200
_SECRET = re.compile(
    r"key$|token$|secret|passw|credential|authori[sz]ation|headers?$|^(api|base)_(base|url)$", re.IGNORECASE
)


def fit_text(text: str, what: str = "A message") -> str:
    """`text` as it can be stored. Raises BadContent if it is longer than LONGEST_TEXT characters."""
    if len(text) > LONGEST_TEXT:
        raise BadContent(f"{what} may have {LONGEST_TEXT:,} characters; this one has {len(text):,}.")
    return mend_text(text)


def fit_model(name: str | None) -> str | None:
    """A model's name as it can be stored; None stays None. Raises BadContent for an invalid name."""
    if name is None:
        return None
    line = title_line(name)
    if not line or len(name) > _MODEL_NAME:
        raise BadContent("That is not the name of a model.", "Settings lists the models there are.")
    return line


def fit_parameters(parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    """Parameters as JSON will return them.

    Raises:
        BadContent: JSON cannot represent one of them, or one is a key or an address.
    """
    for name in parameters:
        if _SECRET.search(str(name)):
            raise BadContent(
                f"“{str(name)[:60]}” is no parameter of a model and would be kept with the conversation.",
                "Set keys and addresses in the environment or on the Settings page.",
            )
    return MappingProxyType(
        {mend_text(str(name)): _as_json(name, value) for name, value in parameters.items()}
    )


def _as_json(name: str, value: Json) -> Json:
    """The value after a trip through JSON: tuples become lists, keys become strings."""
    try:
        text = json.dumps(value, allow_nan=False)
        fit = mend_json(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        raise BadContent(f"The parameter “{str(name)[:60]}” has a value that cannot be kept.") from None
    if len(text) > LONGEST_PARAMETERS:
        raise BadContent(
            f"The parameter “{str(name)[:60]}” is longer than {LONGEST_PARAMETERS:,} characters."
        )
    return fit


def refuse_unknown_files(store: Store, sha256s: Sequence[str]) -> None:
    """Raise NotFound if a file is not in the store: a message that names it could never be verified."""
    for sha256 in sha256s:
        store.blob(sha256)
