import contextlib

from tests.console_kit import ConsoleClient


def test_messages_that_are_stored_from_now_on_are_followed(console: ConsoleClient) -> None:
    path = "/api/topics/followed/messages"
    assert console.change("POST", "/api/topics", {"name": "followed", "queues": 1}).status == 200
    assert console.change("POST", path, {"body": "before"}).status == 200
    with contextlib.closing(console.events("/api/messages/tail?topic=followed&tag=b")) as events:
        assert next(events)[0] == "hello"
        for tag in "ab":
            told = console.change("POST", path, {"body": f"after {tag}", "tag": tag})
            assert told.status == 200
        name, data = next(events)
    assert (name, data["preview"]) == ("message", "after b")
    told = console.change("DELETE", "/api/topics/followed", {"confirm": "followed"})
    assert told.status == 200
