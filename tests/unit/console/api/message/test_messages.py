import asyncio
from urllib.parse import quote

import aerobee
from tests.console_kit import ConsoleClient


def test_messages_are_found_by_key_id_and_offset(console: ConsoleClient) -> None:
    (row,) = console.get("/api/messages?topic=orders&key=o-3")["rows"]
    assert row["preview"] == '{"order": 3, "total": 30}'
    for name in ("id", "offset_id"):
        (found,) = console.get(f"/api/messages?topic=orders&id={row[name]}")["rows"]
        assert found == row
    place = f"broker={row['broker']}&queue={row['queue']}&offset={row['offset']}&limit=1"
    assert console.get(f"/api/messages?topic=orders&{place}")["rows"] == [row]
    assert console.get(f"/api/messages?topic=orders&id={'F' * 32}")["rows"] == []
    wrong = console.ask("GET", "/api/messages?topic=orders&offset=0")
    assert wrong.code == "bad_request"
    place = "broker=127.0.0.1:1&queue=0&offset=0"
    assert console.ask("GET", f"/api/messages?topic=orders&{place}").code == "not_found"
    assert console.ask("GET", "/api/messages?topic=nothing").code == "not_found"


def test_a_message_has_its_body_its_properties_and_its_groups(console: ConsoleClient) -> None:
    (row,) = console.get("/api/messages?topic=orders&key=o-3")["rows"]
    told = console.get(f"/api/messages/orders/{row['id']}")
    assert told["body"]["shown"]["json"] == {"order": 3, "total": 30}
    assert told["message"]["headers"] == {"n": "3"}
    assert "billing" in [one["group"] for one in told["consumed"]]
    body = console.ask("GET", f"/api/messages/orders/{row['id']}/body")
    assert body.body == b'{"order": 3, "total": 30}'
    assert body.headers["content-type"] == "application/octet-stream"
    assert body.headers["content-disposition"].startswith("attachment")
    trace = console.get(f"/api/messages/orders/{row['id']}/trace")
    assert trace["events"] == []
    assert "connect(trace=True)" in trace["unknown"]["events"]
    assert console.ask("GET", f"/api/messages/orders/{'F' * 32}").status == 404


def test_a_message_is_sent_again_to_a_topic(console: ConsoleClient) -> None:
    assert console.change("POST", "/api/topics", {"name": "again", "queues": 1}).status == 200
    (row,) = console.get("/api/messages?topic=orders&key=o-1")["rows"]
    path = f"/api/messages/orders/{row['id']}/resend"
    assert console.change("POST", path, {}).code == "bad_request"
    assert console.change("POST", path, {"to": "again"}).status == 200
    (copy,) = console.get("/api/messages?topic=again")["rows"]
    assert (copy["id"], copy["preview"]) == (row["id"], row["preview"])
    assert console.change("DELETE", "/api/topics/again", {"confirm": "again"}).status == 200


def test_a_search_is_exported_as_a_file(console: ConsoleClient) -> None:
    told = console.ask("GET", "/api/messages/export?topic=orders&text=o-2&format=ndjson")
    assert told.headers["content-disposition"] == 'attachment; filename="orders.ndjson"'
    assert len(told.body.splitlines()) == 1


def test_bodies_are_shown_by_a_schema_and_broken_ones_as_they_are(console: ConsoleClient) -> None:
    async def send() -> None:
        async with aerobee.connect(console.name_server) as client:
            for body in (b"\x54", b"Obj\x01\xff\xff\xff", b"\xff" * 50):
                await client.send("packed", body, keys=["p"])

    assert console.change("POST", "/api/topics", {"name": "packed", "queues": 1}).status == 200
    asyncio.run(send())
    schema = quote('{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}')
    found = f"/api/messages?topic=packed&key=p&schema={schema}"
    rows = {row["offset"]: row for row in console.get(found)["rows"]}
    assert rows[0]["preview"] == '{"n": 42}'
    assert rows[2]["preview"].startswith("ff ff")
    told = console.get(f"/api/messages/packed/{rows[0]['offset_id']}?schema={schema}")
    assert (told["body"]["kind"], told["body"]["shown"]["schema"]) == ("schema", {"n": 42})
    told = console.get(f"/api/messages/packed/{rows[1]['offset_id']}?schema={schema}")
    assert {"schema", "avro"} <= told["body"]["why"].keys()
    for name in ("search", "tail"):
        path = f"/api/messages/{name}?topic=packed&schema=nonsense"
        assert console.ask("GET", path).code == "bad_request"
    events = list(console.events(f"/api/messages/search?topic=packed&schema={schema}"))
    assert '{"n": 42}' in [data["preview"] for name, data in events if name == "message"]
    proto = quote("message A { sint32 n = 10; }")
    told = console.get(f"/api/messages/packed/{rows[0]['offset_id']}?schema={proto}")
    assert "no wire type" in told["body"]["why"]["schema"]
    gone = {"confirm": "packed"}
    assert console.change("DELETE", "/api/topics/packed", gone).status == 200
