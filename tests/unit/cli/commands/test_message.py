import asyncio
import json

import pytest

import aerobee as mq
from tests.cli_kit import NOWHERE, OnTerminal, aerobee
from tests.server_kit import Server

SOME_ID = "C0A8000100002A9F0000000000000F00"


def test_a_message_is_sent_found_by_key_id_and_place_and_followed(server: Server) -> None:
    aerobee(server, "topic", "create", "CliMessages", "--queues", "1")
    send = ("message", "send", "CliMessages")
    said = aerobee(server, *send, '{"id": 1}', "--tag", "new", "--key", "o-1", "-o", "json")
    assert said.status == 0
    (receipt,) = said.records
    assert (receipt["broker"], receipt["queue"], receipt["offset"]) == ("broker-a", 0, 0)
    get = ("message", "get", "CliMessages")
    (by_key,) = aerobee(server, *get, "--key", "o-1", "-o", "json").records
    assert (by_key["body"], by_key["tag"], by_key["keys"]) == ('{"id": 1}', "new", ["o-1"])
    assert by_key["id"] == receipt["id"]
    for words in ((receipt["id"],), (by_key["offset_id"],), ("--from", "1h"), ("--to", "latest")):
        assert aerobee(server, *get, *words, "-o", "json").records == [by_key], words
    place = aerobee(server, "message", "get", "CliMessages@broker-a:0:0", "-o", "json")
    assert place.records == [by_key]
    report = aerobee(server, "message", "get", "CliMessages", receipt["id"]).out
    assert "\nBODY        {" in report
    assert aerobee(server, *send, "-", stdin="a\n\nb\n").status == 0
    tail = ("message", "tail", "CliMessages", "--from", "earliest")
    followed = aerobee(server, *tail, "--count", "3").out.splitlines()
    assert [line.rsplit("  ", 1)[1] for line in followed] == ['{"id": 1}', "a", "b"]
    only_new = aerobee(server, *tail, "--count", "1", "--tags", "new", "-o", "json")
    assert only_new.records["offset"] == 0
    by_sql = aerobee(server, *tail, "--count", "1", "--sql", "TAGS = 'new'", "-o", "ndjson")
    assert by_sql.records["body"] == '{"id": 1}'
    as_csv = aerobee(server, *tail, "--count", "2", "-o", "csv").out.splitlines()
    assert len(as_csv) == 3
    assert as_csv[0].startswith("id,stored,queue,offset")


def test_what_is_no_text_is_shown_as_what_it_is_and_lost_to_nobody(server: Server) -> None:
    server.send("CliBytes", [b"\xff\x00" * 40])
    tail = ("message", "tail", "CliBytes", "--from", "earliest", "--count", "1")
    said = aerobee(server, *tail)
    assert "0xff00ff00" in said.out
    assert "(80 bytes)" in said.out
    told = aerobee(server, *tail, "-o", "json").records
    assert told["body"] is None
    (found,) = aerobee(server, "message", "get", "CliBytes", told["id"], "-o", "json").records
    assert found["body_base64"] == told["body_base64"] == "/wD/" + told["body_base64"][4:]


def test_the_body_alone_is_printed_as_it_is(server: Server) -> None:
    server.send("CliBody", [b'{"a": 1}'])
    server.send("CliBody", [b"two"], keys=["k"])
    words = ("message", "get", "CliBody", "--key", "k", "--body")
    assert aerobee(server, *words, stdin="").out == "two"
    assert aerobee(server, "message", "get", "CliBody", "--from", "1h", "--body").status == 2


def test_following_ends_well_with_ctrl_c(server: Server) -> None:
    server.send("CliFollowed", [b"x"])
    words = ("message", "tail", "CliFollowed", "--from", "1h", "-n", server.name_server)
    screen = OnTerminal(*words)
    screen.wait_for("x\r\n")
    screen.interrupt()
    status, lines = screen.end()
    assert status == 0
    assert "following CliFollowed, 4 queues; Ctrl-C ends it" in lines
    piped = aerobee(server, "message", "tail", "CliFollowed", "--from", "1h", "--count", "1")
    assert piped.error == ""


def test_a_message_is_sent_again_to_its_topic_to_another_or_to_a_group(server: Server) -> None:
    for topic in ("CliAgain", "CliElsewhere"):
        aerobee(server, "topic", "create", topic, "--queues", "1")
    send = ("message", "send", "CliAgain", "x", "--key", "a-1", "-o", "json")
    (receipt,) = aerobee(server, *send).records
    again = ("message", "resend", "CliAgain", receipt["id"])
    assert "would send" in aerobee(server, *again, "--dry-run").out
    assert aerobee(server, *again).status == 0
    assert aerobee(server, *again, "--to", "CliElsewhere").status == 0
    get = ("message", "get", "CliAgain", "--key", "a-1", "-o", "json")
    assert [one["id"] for one in aerobee(server, *get).records] == [receipt["id"]] * 2
    (other,) = aerobee(
        server, "message", "get", "CliElsewhere", receipt["id"], "-o", "json"
    ).records
    assert (other["body"], other["keys"]) == ("x", ["a-1"])
    assert aerobee(server, *again, "--group", "cli-nobody").status == 3
    assert aerobee(server, *again, "--to", "a", "--group", "b").status == 2


def test_what_clients_wrote_down_about_a_message_is_shown(server: Server) -> None:
    async def send() -> str:
        async with mq.connect(server.name_server, trace=True) as client:
            return (await client.send("CliTraced", b"x", keys=["t-1"])).message_id

    message_id = asyncio.run(send())
    while (said := aerobee(server, "message", "trace", message_id, "-o", "json")).status:
        pass  # a name server hears of a new topic a moment later
    (step,) = said.records
    assert (step["step"], step["is_success"], step["note"]) == (
        "sent",
        True,
        "1 bytes to CliTraced",
    )
    untraced = aerobee(server, "message", "trace", SOME_ID, "-o", "json")
    assert untraced.status == 3
    assert "trace=True" in json.loads(untraced.error)["hint"]


@pytest.mark.parametrize(
    "words",
    [
        ("get", "CliEmpty", SOME_ID),
        ("get", "CliEmpty", "--key", "k"),
        ("get", "CliEmpty@broker-a:0:7"),
        ("get", "CliEmpty@broker-z:0:7"),
        ("get", "CliNowhere", SOME_ID),
        ("resend", "CliEmpty", SOME_ID),
        ("tail", "CliNowhere", "--count", "1"),
    ],
)
def test_a_message_that_is_not_there_is_not_found(server: Server, words: tuple[str, ...]) -> None:
    aerobee(server, "topic", "create", "CliEmpty", "--if-missing")
    assert aerobee(server, "message", *words).status == 3
    assert aerobee(NOWHERE, "message", *words).status == 1


@pytest.mark.parametrize(
    "words",
    [
        ("get", "CliEmpty"),
        ("get", "CliEmpty", SOME_ID, "--key", "k"),
        ("get", "CliEmpty", "--from", "soon"),
        ("get", "CliEmpty", "--from", "1h", "--to", "2h"),
        ("resend", "CliEmpty"),
        ("tail", "CliEmpty", "--from", "soon"),
    ],
)
def test_what_cannot_be_meant_is_wrong_use(server: Server, words: tuple[str, ...]) -> None:
    assert aerobee(server, "message", *words).status == 2
