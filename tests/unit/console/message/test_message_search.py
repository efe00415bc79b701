import contextlib

from tests.console_kit import ConsoleClient


def _search(console: ConsoleClient, query: str) -> tuple[list[str], dict[str, object]]:
    keys: list[str] = []
    with contextlib.closing(console.events(f"/api/messages/search?topic=orders&{query}")) as events:
        for name, data in events:
            if name == "message":
                keys += data["keys"]
            elif name == "done":
                return keys, data
    raise AssertionError("it never ended")


def test_a_search_looks_at_everything_and_finds_what_fits(console: ConsoleClient) -> None:
    keys, done = _search(console, "")
    assert sorted(keys) == [f"o-{number}" for number in range(6)]
    assert done == {"scanned": 6, "found": 6, "complete": True, "why": "end"}
    assert _search(console, "sql=n%20%3D%20%274%27")[0] == ["o-4"]
    assert _search(console, "text=%22total%22%3A%2030")[0] == ["o-3"]
    assert _search(console, "tag=old")[0] == []


def test_the_order_of_a_queue_is_the_one_that_was_asked_for(console: ConsoleClient) -> None:
    newest, _ = _search(console, "queue=0&broker=broker-a")
    oldest, _ = _search(console, "queue=0&broker=broker-a&order=oldest")
    assert newest == oldest[::-1]
    assert 0 < len(newest) < 6


def test_a_search_ends_at_its_limit(console: ConsoleClient) -> None:
    keys, done = _search(console, "limit=2")
    assert len(keys) == 2
    assert (done["found"], done["why"]) == (2, "limit")


def test_a_span_of_time_leaves_the_others_out(console: ConsoleClient) -> None:
    stored = sorted(row["stored"] for row in console.get("/api/messages?topic=orders")["rows"])
    _, done = _search(console, f"to={stored[0] - 1}")
    assert done["scanned"] == 0
    keys, _ = _search(console, f"from={stored[0]}")
    assert len(keys) == 6
