"""Checks of answers that should be JSON, perhaps by a schema.

Somebody else may have written the schema, so nothing that it refers to is fetched, and its patterns have a time limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import regex

from forky_core.experiments.checks.text_checks import LONGEST_SEARCH, quoted
from forky_core.experiments.checks.verdict import AnswerFacts, Verdict
from forky_core.model.errors import BadContent
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json, canonical_json
from forky_core.process.extras import needed_for

_MOST_TRIES = 200
"""The most places of an answer at which JSON is tried."""


def is_json(answer: AnswerFacts, _check: RowCheck, value: Json) -> Verdict:
    """The whole answer is JSON, and fits the schema if there is one."""
    try:
        found = json.loads(answer.text)
    except (ValueError, RecursionError) as error:
        return Verdict(False, f"is no JSON: {str(error)[:100]}")
    return _by_schema(found, value, "is JSON")


def contains_json(answer: AnswerFacts, _check: RowCheck, value: Json) -> Verdict:
    """The answer contains a JSON object or array that fits the schema if there is one."""
    last = Verdict(False, "has no JSON in it")
    for found in json_in(answer.text):
        last = _by_schema(found, value, "has JSON in it")
        if last.passed:
            return last
    return last


def json_in(text: str) -> Iterator[Json]:
    """Yield the JSON objects and arrays in a text that are not inside another one."""
    decoder = json.JSONDecoder()
    at = tries = 0
    while tries < _MOST_TRIES:
        starts = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not starts:
            return
        at = min(starts)
        tries += 1
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield found


def _by_schema(found: Json, schema: Json, passes: str) -> Verdict:
    if schema in ("", None):
        return Verdict(True, passes)
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError) as error:
            raise BadContent(f"The schema is no JSON: {str(error)[:100]}.") from error
    if not isinstance(schema, Mapping | bool):
        raise BadContent("A JSON schema is an object.")
    problem = _problem(found, canonical_json(schema))
    return Verdict(problem is None, f"{passes}, and as the schema asks" if problem is None else problem)


def _problem(found: Json, schema: str) -> str | None:
    with needed_for("Checking by a JSON schema", "experiments"):
        import jsonschema  # noqa: PLC0415 - no page needs it
        import referencing.exceptions  # noqa: PLC0415 - as above
    validator = _validator(schema)
    try:
        error = next(iter(validator.iter_errors(found)), None)
    except referencing.exceptions.Unresolvable as missing:
        raise BadContent(
            f"The schema names {quoted(str(missing.ref))}, which is not in it.",
            "Nothing is fetched: put it into the schema's $defs.",
        ) from missing
    except (RecursionError, ArithmeticError, jsonschema.exceptions.UnknownType) as broken:
        raise BadContent("The schema cannot be followed to its end.") from broken
    if error is None:
        return None
    where = "".join(f"[{part!r}]" for part in error.absolute_path)[:80]
    return f"not as the schema asks{' at ' + where if where else ''}: {error.message[:160]}"


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    import jsonschema  # noqa: PLC0415 - as above
    from jsonschema import validators  # noqa: PLC0415 - as above
    from referencing import Registry  # noqa: PLC0415 - as above

    read = json.loads(schema)
    base = validators.validator_for(read, default=jsonschema.Draft202012Validator)
    try:
        base.check_schema(read)
    except (jsonschema.exceptions.SchemaError, RecursionError) as error:
        why = getattr(error, "message", "it is too deep")
        raise BadContent(f"The schema is no JSON schema: {str(why)[:160]}.") from error
    if {"patternProperties", "unevaluatedProperties"} <= set(_names_in(read)):
        raise BadContent(
            "A schema with both patternProperties and unevaluatedProperties is not checked here.",
            "Use additionalProperties in the place of unevaluatedProperties.",
        )
    extend: Any = validators.extend
    # jsonschema's own functions match patterns without a time limit, and compare every two items.
    changed = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    limited = extend(base, changed)
    # The empty registry keeps jsonschema from fetching what a schema refers to.
    return limited(read, registry=Registry())


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - as above

    if validator.is_type(instance, "string") and not _found(pattern, instance):
        yield ValidationError(f"{instance[:80]!r} does not match {pattern[:80]!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - as above

    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    others = [
        name
        for name in instance
        if name not in named and not any(_found(pattern, name) for pattern in patterns)
    ]
    if validator.is_type(allowed, "object"):
        for name in others:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and others:
        yield ValidationError(f"{', '.join(quoted(name) for name in others[:4])} may not be there")


def _unique_items(validator: Any, unique: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - as above

    if not unique or not validator.is_type(instance, "array"):
        return
    if len({canonical_json(_with_whole_numbers(item)) for item in instance}) < len(instance):
        yield ValidationError("an item is there twice")


def _with_whole_numbers(value: Any) -> Any:
    """Replace floats such as 1.0 by whole numbers, because they are equal in JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_whole_numbers(item) for name, item in value.items()}
    return value


def _names_in(schema: Any) -> Iterator[str]:
    """Yield the names of all fields, at any depth."""
    if isinstance(schema, dict):
        yield from schema
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for one in inner:
        yield from _names_in(one)


def _found(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=LONGEST_SEARCH, concurrent=True) is not None
    except regex.error as error:
        raise BadContent(f"The schema's pattern {quoted(pattern)} is no regular expression.") from error
    except TimeoutError as error:
        raise BadContent(f"The schema's pattern {quoted(pattern)} takes too long.") from error
