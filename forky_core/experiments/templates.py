"""Replaces variables in prompts: `{{name}}` and `{{name.part}}`. There are no other commands.

The value of a variable is never rendered again, so braces in the text of a case have no effect. A name that the row
does not have stays as it is, and is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from forky_core.model.parts import Json

_PLACE = re.compile(
    r"\{\{-?\s*([^\W\d][\w.\-]*)\s*(?:\|\s*(?:dump|safe|trim|string)\s*(?:\(\s*\))?\s*)*-?\}\}"
)
_COMMAND = re.compile(r"\{%.*?%\}", re.DOTALL)


def rendered(template: str, values: Mapping[str, Json]) -> str:
    """Replace the variables of a template that `values` has."""
    if "{{" not in template:
        return template

    def put(match: re.Match[str]) -> str:
        found, value = _looked_up(match.group(1), values)
        return _as_text(value) if found else match.group(0)

    return _PLACE.sub(put, template)


def names_in(template: str) -> tuple[str, ...]:
    """Return the variables of a template, each once."""
    return tuple(dict.fromkeys(match.group(1) for match in _PLACE.finditer(template)))


def missing(templates: Iterable[str], values: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the variables of the templates that `values` does not have."""
    named = dict.fromkeys(name for template in templates for name in names_in(template))
    return tuple(name for name in named if not _looked_up(name, values)[0])


def commands_in(template: str) -> tuple[str, ...]:
    """Return what looks like commands of a template language, such as `{% if x %}`, which Forky leaves unchanged."""
    return tuple(dict.fromkeys(match.group(0)[:60] for match in _COMMAND.finditer(template)))


def rendered_value(value: Json, values: Mapping[str, Json]) -> Json:
    """Replace the variables in all texts of a value."""
    if isinstance(value, str):
        return rendered(value, values)
    if isinstance(value, list | tuple):
        return [rendered_value(item, values) for item in value]
    if isinstance(value, Mapping):
        return {name: rendered_value(item, values) for name, item in value.items()}
    return value


def _looked_up(name: str, values: Mapping[str, Json]) -> tuple[bool, Json]:
    if name in values:
        return True, values[name]
    value: Any = values
    for part in name.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list | tuple) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False, None
    return True, value


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)
