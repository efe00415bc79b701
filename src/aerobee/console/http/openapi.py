"""OpenAPI 3.1 of the console's API, made from the table of actions.

Beside the standard's own fields an operation has:

    x-role          the least role that may: viewer, operator, admin; absent: everybody
    x-confirm       the parameter whose value is repeated in the body's `confirm`
    x-destructive   true: it cannot be undone
    x-dry-run       true: it takes `dry_run`
    x-aerobee       the same as a command; x-python: as a call of the admin client
"""

from collections.abc import Iterable
from typing import Any

from aerobee.console.http.action import GET, Action
from aerobee.console.http.parameters import BODY, Parameter, ValueKind

VERSION = "3.1.0"
_ERROR = {"$ref": "#/components/responses/error"}
_COMPONENTS: dict[str, Any] = {
    "responses": {
        "error": {
            "description": "The reason, and what to do next",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/error"}}},
        }
    },
    "schemas": {
        "error": {
            "type": "object",
            "required": ["error"],
            "properties": {
                "error": {
                    "type": "object",
                    "required": ["code", "message", "hint"],
                    "properties": {
                        "code": {"type": "string"},
                        "message": {"type": "string"},
                        "hint": {"type": "string"},
                    },
                }
            },
        }
    },
    "securitySchemes": {
        "session": {"type": "apiKey", "in": "cookie", "name": "aerobee"},
        "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
    },
}


def describe(actions: Iterable[Action], version: str) -> dict[str, Any]:
    """Return the description of all actions."""
    paths: dict[str, dict[str, Any]] = {}
    for one in actions:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": VERSION,
        "info": {"title": "Aerobee console", "version": version},
        "paths": dict(sorted(paths.items())),
        "components": _COMPONENTS,
    }


def schema_of(parameter: Parameter) -> dict[str, Any]:
    """Return the JSON schema of a parameter's values."""
    schema: dict[str, Any] = {"type": parameter.kind.value}
    match parameter.kind:
        case ValueKind.TEXTS:
            schema["items"] = {"type": "string"}
        case ValueKind.TABLE:
            schema["additionalProperties"] = {"type": "string"}
        case ValueKind.MOMENT:
            schema = {"anyOf": [{"type": "integer"}, {"enum": ["earliest", "latest"]}]}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.bounds is not None:
        schema["minimum"], schema["maximum"] = parameter.bounds
    if parameter.default is not None:
        schema["default"] = parameter.default
    schema["description"] = parameter.about
    return schema


def body_schema(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the schema of an object with these parameters."""
    listed = list(parameters)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: schema_of(one) for one in listed},
        "additionalProperties": False,
    }
    required = [one.name for one in listed if one.is_required]
    return {**schema, "required": required} if required else schema


def _operation(action: Action) -> dict[str, Any]:
    parameters = action.all_parameters()
    told: dict[str, Any] = {
        "operationId": action.name,
        "summary": action.about,
        "parameters": [
            {
                "name": one.name,
                "in": one.place,
                "required": one.is_required,
                "schema": schema_of(one),
            }
            for one in parameters
            if one.place != BODY
        ],
        "responses": {"200": _good(action), "default": _ERROR},
    }
    in_body = [one for one in parameters if one.place == BODY]
    if in_body:
        told["requestBody"] = {"content": {"application/json": {"schema": body_schema(in_body)}}}
    if action.method != GET:
        told["security"] = [{"csrf": [], "session": []}]
    extras = {
        "x-role": action.role.word if action.role is not None else None,
        "x-confirm": action.confirm,
        "x-destructive": bool(action.confirm),
        "x-dry-run": action.has_dry_run,
        "x-aerobee": action.command,
        "x-python": action.python,
    }
    return {**told, **{name: value for name, value in extras.items() if value}}


def _good(action: Action) -> dict[str, Any]:
    if action.is_stream:
        return {"description": "Server-sent events", "content": {"text/event-stream": {}}}
    if action.is_download:
        return {"description": "A file", "content": {"application/octet-stream": {}}}
    return {"description": "The answer", "content": {"application/json": {}}}
