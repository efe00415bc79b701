from base64 import b64encode

from tests.console_kit import ConsoleClient


def test_the_list_has_topics_of_a_kind(console: ConsoleClient) -> None:
    (row,) = console.get("/api/topics?q=orders")["rows"]
    assert (row["queues"], row["permission"], row["messages"]) == (2, "rw", 6)
    normal = {one["name"] for one in console.get("/api/topics")["rows"]}
    assert "TBW102" not in normal
    assert "TBW102" in {one["name"] for one in console.get("/api/topics?kind=system")["rows"]}


def test_a_topic_has_its_queues_its_skew_and_its_groups(console: ConsoleClient) -> None:
    told = console.get("/api/topics/orders")
    assert sum(one["messages"] for one in told["queues"]) == told["messages"] == 6
    assert sum(one["share"] for one in told["queues"]) == 1
    assert told["skew"] >= 1
    assert told["span_ms"] >= 0
    assert "billing" in [one["name"] for one in told["groups"]]
    assert console.ask("GET", "/api/topics/nothing").status == 404


def test_a_topic_is_created_changed_filled_and_deleted_with_its_name_repeated(
    console: ConsoleClient,
) -> None:
    def change(method: str, path: str, **body: object) -> dict[str, object]:
        told = console.change(method, path, body)
        assert told.status == 200, told.body
        found: dict[str, object] = told.json()
        return found

    change("POST", "/api/topics", name="made", queues=2, type="FIFO")
    assert console.get("/api/topics/made")["type"] == "FIFO"
    assert console.change("POST", "/api/topics", {"name": "made"}).code == "conflict"
    assert console.change("POST", "/api/topics", {"name": "a/b"}).code == "bad_request"
    would = change("PATCH", "/api/topics/made", queues=4, dry_run=True)
    assert would["preview"]["brokers"][0]["queues"] == {"from": 2, "to": 4}  # type: ignore[index]
    assert console.get("/api/topics/made")["configs"][0]["write_queues"] == 2
    change("PATCH", "/api/topics/made", queues=4, permission="r")
    config = console.get("/api/topics/made")["configs"][0]
    assert (config["write_queues"], config["permission"]) == (4, "r")
    change("PATCH", "/api/topics/made", permission="rw")
    encoded = b64encode(b"\0\1").decode()
    sent = change("POST", "/api/topics/made/messages", body_base64=encoded, keys=["k"], tag="t")
    assert len(str(sent["id"])) == 32
    assert console.change("DELETE", "/api/topics/made", {}).code == "confirm"
    would = change("DELETE", "/api/topics/made", dry_run=True)
    assert would["preview"] == {"messages": 1, "groups": []}
    change("DELETE", "/api/topics/made", confirm="made")
    assert console.ask("GET", "/api/topics/made").status == 404


def test_no_address_of_a_request_is_dialled(console: ConsoleClient) -> None:
    body = {"name": "elsewhere", "on": "127.0.0.1:1"}
    for path in ("/api/topics", "/api/groups"):
        told = console.change("POST", path, body)
        assert told.code == "not_found", told.body


def test_a_body_that_is_no_base64_is_refused(console: ConsoleClient) -> None:
    told = console.change("POST", "/api/topics/orders/messages", {"body_base64": "?"})
    assert told.code == "bad_request"


def test_a_topic_counts_its_groups_and_whether_messages_may_be_mixed_is_the_brokers_to_say(
    console: ConsoleClient,
) -> None:
    rows = {row["name"]: row for row in console.get("/api/topics")["rows"]}
    assert rows["orders"]["groups"] == 1
    made = {"name": "mixed", "queues": 1, "type": "MIXED"}
    # RocketMQ's brokers take it with a setting of theirs: the console leaves that to the broker.
    assert console.change("POST", "/api/topics", made).code == "refused"
