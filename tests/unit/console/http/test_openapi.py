import re
import shlex
from pathlib import Path

from aerobee.cli.main import parser_for
from aerobee.console.http.action import DELETE, GET, Action, Ask, Record
from aerobee.console.http.openapi import body_schema, describe, schema_of
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind, in_path
from aerobee.console.session.visitor import Role
from tests.console_kit import ConsoleClient

VALUES = {
    **dict.fromkeys(("queues", "batch", "processes"), "8"),
    "to": "earliest",
    "decision": "allow",
    "kind": "produce",
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
    operations = [one for path in console.get("/api")["paths"].values() for one in path.values()]
    commands = [one["x-aerobee"] for one in operations if one.get("x-aerobee")]
    assert len(commands) > 25
    for command in commands:
        filled = re.sub(r"{(\w+)\+?}", lambda found: VALUES.get(found[1], found[1]), command)
        words = shlex.split(re.sub(r"[\[\]]", "", filled))
        parser_for(words[1:2]).parse_args(words[1:])


def test_every_change_of_the_pages_is_a_call_that_takes_what_they_send(
    console: ConsoleClient,
) -> None:
    paths = console.get("/api")["paths"]
    changes = [
        change
        for file in sorted(PAGES.rglob("*.ts*"))
        for change in changes_in(file.read_text("utf-8"))
    ]
    assert len(changes) > 15
    for method, template, sent in changes:
        told = paths[template][method.lower()]
        content = told.get("requestBody", {}).get("content", {})
        known = content.get("application/json", {}).get("schema", {}).get("properties", {})
        assert sent <= known.keys(), (method, template)


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
