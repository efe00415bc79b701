import ast
import asyncio
import inspect
import re
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aerobee
from aerobee.cli.main import parser_for
from aerobee.console.http.action import DELETE, GET, Action, Ask, Record
from aerobee.console.http.openapi import body_schema, describe, schema_of
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind, in_path
from aerobee.console.session.visitor import Role
from tests.console_kit import ConsoleClient

SAMPLES: dict[str, list[object]] = {
    "actions": [["Pub", "Sub"]],
    "resource": ["Topic:orders"],
    "type": ["NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "MIXED"],
}
INSTEAD = {"resendMessage": "to"}  # of the group
UNSAID = {
    # What is sent again is chosen by its ids, or limited, by one of the two only.
    ("resendDeadLetters", "x-aerobee"): {"limit"},
    ("resendDeadLetters", "x-python"): {"ids"},
}
PAGES = Path(__file__).parents[4] / "console" / "src" / "pages"
PUBLIC = {"session", "logIn", "logOut", "describe"}


async def nothing(ask: Ask) -> Record:
    return {}


def test_an_operation_has_its_role_its_confirmation_and_its_command() -> None:
    action = Action(
        "deleteTopic",
        DELETE,
        "/api/topics/{topic}",
        Role.ADMIN,
        "Delete it",
        nothing,
        (in_path("topic", "its name"),),
        confirm="topic",
        has_dry_run=True,
        command="aerobee topic delete {topic}",
    )
    told = describe([action], "1")["paths"]["/api/topics/{topic}"]["delete"]
    assert told["operationId"] == "deleteTopic"
    assert (told["x-role"], told["x-confirm"], told["x-destructive"]) == ("admin", "topic", True)
    assert told["x-dry-run"] is True
    assert told["x-aerobee"] == "aerobee topic delete {topic}"
    body = told["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"].keys() == {"confirm", "dry_run"}
    assert [one["name"] for one in told["parameters"]] == ["topic"]


def test_schemas_have_bounds_choices_and_defaults() -> None:
    limit = Parameter("limit", QUERY, "at most", ValueKind.WHOLE, 5, bounds=(1, 10))
    assert schema_of(limit) == {
        "type": "integer",
        "minimum": 1,
        "maximum": 10,
        "default": 5,
        "description": "at most",
    }
    kind = Parameter("kind", BODY, "k", choices=("a", "b"), is_required=True)
    assert body_schema([kind])["required"] == ["kind"]
    assert schema_of(kind)["enum"] == ["a", "b"]
    assert "anyOf" in schema_of(Parameter("to", BODY, "", ValueKind.MOMENT))


def test_a_stream_is_described_as_one() -> None:
    live = Action("live", GET, "/live", None, "", nothing, is_stream=True)
    told = describe([live], "1")["paths"]["/live"]["get"]
    assert "text/event-stream" in told["responses"]["200"]["content"]
    assert "x-role" not in told


def test_every_call_of_a_running_console_is_described_with_its_role(console: ConsoleClient) -> None:
    paths = console.get("/api")["paths"]
    operations = {
        told["operationId"]: (method, path, told)
        for path, methods in paths.items()
        for method, told in methods.items()
    }
    assert len(operations) == sum(map(len, paths.values()))
    for name, (method, path, told) in operations.items():
        assert ("x-role" in told) != (name in PUBLIC), name
        in_path = {one["name"] for one in told["parameters"] if one["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path)), name
        if method == "get":
            assert "requestBody" not in told, name


def test_every_command_is_one_of_ours(console: ConsoleClient) -> None:
    """With all that can be said, and with as little as possible."""
    commands = 0
    for told in operations(console):
        for given in samples(told, "x-aerobee"):
            commands += 1
            for line in filled(told["x-aerobee"], given, shlex.quote).split(" && "):
                words = shlex.split(line)
                parser_for(words[1:2]).parse_args(words[1:])
    assert commands > 60


def test_every_line_of_python_is_a_call_that_the_library_takes(console: ConsoleClient) -> None:
    async def names() -> dict[str, object]:
        client = aerobee.connect("127.0.0.1:1")
        return {"client": client, "admin": client.admin}

    known = asyncio.run(names())
    lines = 0
    for told in operations(console):
        for given in samples(told, "x-python"):
            line = filled(told["x-python"], given, repr)
            if line.startswith("async for"):
                compile(f"async def main():\n    {line}", "", "exec")
                continue
            parsed = ast.parse(line.removeprefix("await "), mode="eval").body
            assert isinstance(parsed, ast.Call), line
            callee = eval(ast.unparse(parsed.func), known)
            words = {str(one.arg): one.value for one in parsed.keywords}
            inspect.signature(callee).bind(*parsed.args, **words)
            lines += 1
    assert lines > 20


def test_what_a_page_sends_is_in_the_command_and_in_the_line_of_python(
    console: ConsoleClient,
) -> None:
    """A page leaves a recipe out that does not say all: here none is left out by mistake."""
    paths = console.get("/api")["paths"]
    for method, template, sent in all_changes():
        told = paths[template][method.lower()]
        for kind in ("x-aerobee", "x-python"):
            if kind in told:
                said = set(re.findall(r"\{(\w+)", told[kind])) | {"password"}
                left_out = UNSAID.get((told["operationId"], kind), set())
                assert sent - said == left_out, (template, kind)


def operations(console: ConsoleClient) -> list[dict[str, Any]]:
    return [told for path in console.get("/api")["paths"].values() for told in path.values()]


def samples(told: dict[str, Any], recipe: str) -> Iterator[dict[str, object]]:
    """Values for a recipe of a call: as few as possible, then each choice of each parameter."""
    if recipe not in told:
        return
    schemas = {one["name"]: one["schema"] for one in told["parameters"]}
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {})
    schemas |= body.get("schema", {}).get("properties", {})
    schemas.pop(INSTEAD.get(told["operationId"], ""), None)
    choices = {name: sample_values(name, schema) for name, schema in schemas.items()}
    whole: dict[str, object] = {name: some[0] for name, some in choices.items()}
    needed = re.findall(r"\{(\w+)", re.sub(r"\[[^\]]*\]", "", told[recipe]))
    needed += body.get("schema", {}).get("required", [])
    yield {name: whole[name] for name in needed}
    for name, some in choices.items():
        for value in some:
            yield {**whole, name: value}


def sample_values(name: str, schema: dict[str, Any]) -> list[object]:
    kind = schema.get("type", "moment")
    values: dict[str, list[object]] = {
        "boolean": [True, False],
        "integer": [8],
        "number": [8],
        "array": [["a", "b"]],
        "object": [{"longPollingEnable": "false"}],
        "moment": ["earliest", 1_700_000_000_000],
    }
    return SAMPLES.get(name) or schema.get("enum") or values.get(kind, ["some text"])


def filled(template: str, given: dict[str, object], quoted: Callable[[str], str]) -> str:
    """The same as `fill` of the pages (console/src/data/recipe.ts)."""

    def literal(value: object) -> str:
        return quoted(str(value)) if quoted is not repr else repr(value)

    def listed(value: object) -> list[object]:
        if isinstance(value, dict):
            return [f"{name}={one}" for name, one in value.items()]
        return list(value) if isinstance(value, list) else [value]

    def optional(found: re.Match[str]) -> str:
        choice = re.fullmatch(r"(.*)\?([!-]?)\{(\w+)(?:=(\w+))?\}", found[1])
        if choice:
            value = given.get(choice[3])
            is_meant = {
                "!": value is False,
                "-": value in (None, "", []),
                "": value is True or (isinstance(value, str) and value != ""),
            }[choice[2]]
            return choice[1] if (value == choice[4] if choice[4] else is_meant) else ""
        names = re.findall(r"\{(\w+)", found[1])
        return found[1] if all(given.get(name) is not None for name in names) else ""

    def put(found: re.Match[str]) -> str:
        name, mark = found[1], found[2] or ""
        if mark.startswith("+"):
            return " ".join(mark[1:] + literal(one) for one in listed(given[name]))
        value = given[name]
        if mark == "@" and isinstance(value, int):
            value = datetime.fromtimestamp(value / 1000, UTC).isoformat()
        return literal(value)

    text = re.sub(r"\[([^\]]*)\]", optional, template)
    return re.sub(r"\{(\w+)(!r|@|\+(?:--\w+ )?)?\}", put, text)


def test_every_change_of_the_pages_is_a_call_that_takes_what_they_send(
    console: ConsoleClient,
) -> None:
    paths = console.get("/api")["paths"]
    changes = all_changes()
    assert len(changes) > 15
    for method, template, sent in changes:
        told = paths[template][method.lower()]
        content = told.get("requestBody", {}).get("content", {})
        known = content.get("application/json", {}).get("schema", {}).get("properties", {})
        assert sent <= known.keys(), (method, template)


def test_every_change_of_the_api_has_its_place_on_a_page(console: ConsoleClient) -> None:
    offered = {
        (method.upper(), path)
        for path, methods in console.get("/api")["paths"].items()
        for method in methods
        if method != "get"
    }
    placed = {(method, template) for method, template, _ in all_changes()}
    assert offered - placed == {("POST", "/api/login"), ("POST", "/api/logout")}


def all_changes() -> list[tuple[str, str, set[str]]]:
    return [
        change
        for file in sorted(PAGES.rglob("*.ts*"))
        for change in changes_in(file.read_text("utf-8"))
    ]


def changes_in(source: str) -> list[tuple[str, str, set[str]]]:
    """Method, path and names in the body of each change that a page declares."""
    found = []
    for match in re.finditer(r'method: "(\w+)",\s+template: (["`])(.+?)\2,', source):
        rest = source[match.end() :].partition("method: ")[0]
        body = re.search(r"body: \(\w*\) =>\s+\((\{.*?\})\),\n", rest, re.DOTALL)
        names = set(re.findall(r"[{,]\s+(\w+):", body[1])) if body is not None else set()
        for kind in ("commit", "rollback") if "${kind}" in match[3] else ("",):
            found.append((match[1], match[3].replace("${kind}", kind), names))
    return found
