from tests.console_kit import ConsoleClient


def test_no_get_changes_anything(console: ConsoleClient) -> None:
    """Every GET is called with likely values; topics, groups and offsets are the same after it."""

    def state() -> object:
        topics = console.get("/api/topics?kind=all&limit=1000")["rows"]
        groups = console.get("/api/groups?kind=all&limit=1000")["rows"]
        queues = console.get("/api/groups/billing")["queues"]
        return (
            [(one["name"], one["queues"], one["permission"]) for one in topics],
            [(one["name"], one["enabled"]) for one in groups],
            [(one["topic"], one["queue"], one["offset"]) for one in queues],
        )

    values = {"topic": "orders", "group": "billing", "name": "broker-a"}
    before = state()
    for path, methods in console.get("/api")["paths"].items():
        told = methods.get("get")
        if told is None or "text/event-stream" in told["responses"]["200"]["content"]:
            continue
        for name in [one["name"] for one in told["parameters"] if one["in"] == "path"]:
            path = path.replace(f"{{{name}}}", values.get(name, "x"))
        query = "&".join(
            f"{one['name']}={values.get(one['name'], 'x')}"
            for one in told["parameters"]
            if one["in"] == "query" and one["required"]
        )
        assert console.ask("GET", f"{path}?{query}").status != 500, path
    assert state() == before
