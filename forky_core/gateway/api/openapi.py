"""The verbs as OpenAPI 3.1, made from the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forky_core.gateway.routes import VERBS
from forky_core.verbs.parameters import schema_of
from forky_core.verbs.registry import verbs
from forky_core.verbs.verb import RegisteredVerb

_REFUSED: Mapping[str, Any] = {
    "description": "It was refused: a sentence, and what to do about it.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
}
_REFUSAL: Mapping[str, Any] = {
    "type": "object",
    "required": ["refused"],
    "properties": {
        "refused": {
            "type": "object",
            "required": ["kind", "message", "hint"],
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "first": {"type": "object", "description": "The operation that came first."},
            },
        }
    },
}


def described() -> dict[str, Any]:
    """The description of every verb and of the stream of operations."""
    paths = {f"{VERBS}/{verb.name}": _operations(verb) for verb in verbs()}
    paths[f"{VERBS}/operations"] = {
        "get": {
            "operationId": "operations",
            "summary": "Server-sent events: operations as they happen, of what the token reaches.",
            "parameters": [
                _parameter("conversation", {"type": "string"}, "Only of this conversation."),
                {**_parameter("Last-Event-ID", {"type": "string"}, "Where to go on."), "in": "header"},
            ],
            "responses": {"200": {"description": "The events.", "content": {"text/event-stream": {}}}},
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Forky", "version": "1", "summary": "Conversations that fork and come home."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Refusal": _REFUSAL},
        },
    }


def _operations(verb: RegisteredVerb) -> dict[str, Any]:
    schema = schema_of(verb.params)
    common: dict[str, Any] = {
        "summary": verb.summary,
        "x-forky-scope": verb.scope,
        "responses": {
            "200": {
                "description": "What it found or did.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "default": _REFUSED,
        },
    }
    post = {
        "operationId": verb.name,
        **common,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
    }
    if verb.writes:
        return {"post": post}
    required = schema.get("required", ())
    properties: Any = schema["properties"]
    parameters = [
        _parameter(name, one, one["description"], required=name in required)
        for name, one in properties.items()
        if one["type"] != "object"
    ]
    return {"post": post, "get": {"operationId": f"{verb.name}_by_get", **common, "parameters": parameters}}


def _parameter(name: str, schema: Any, says: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": says, "required": required, "schema": schema}
