import re
import time

import pytest

from aerobee.cli.commands.message_send import filled
from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server


def test_templates_are_filled_and_json_is_left_alone() -> None:
    assert filled('{"id": {n}, "x": {}}', 7) == '{"id": 7, "x": {}}'
    assert filled("{{n}} {{time}} {other}", 7) == "{n} {time} {other}"
    one, two = filled("{uuid} {uuid}", 1).split()
    assert one != two
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT.*", filled("{time}", 1))
    assert abs(int(filled("{time_ms}", 1)) - time.time() * 1000) < 60_000


def test_many_messages_are_sent_each_with_its_own_key_and_header(server: Server) -> None:
    aerobee(server, "topic", "create", "CliMany", "--queues", "1")
    words = ("--key", "k-{n}", "-H", "number=n{n}", "--tag", "t", "--count", "3", "-o", "json")
    said = aerobee(server, "message", "send", "CliMany", "body {n}", *words)
    assert [one["offset"] for one in said.records] == [0, 1, 2]
    get = ("message", "get", "CliMany", "--key", "k-2", "-o", "json")
    (found,) = aerobee(server, *get).records
    assert (found["body"], found["headers"], found["tag"]) == ("body 2", {"number": "n2"}, "t")


def test_more_than_fit_on_a_screen_are_counted(server: Server) -> None:
    said = aerobee(server, "message", "send", "CliHundred", "x", "--count", "100")
    assert re.fullmatch(r"100 messages sent in [\d.]+ s, \d+ a second\n", said.out)


def test_they_go_no_faster_than_they_may(server: Server) -> None:
    begun = time.monotonic()
    words = ("--count", "6", "--rate", "20")
    assert aerobee(server, "message", "send", "CliRated", "x", *words).status == 0
    assert time.monotonic() - begun >= 0.25


def test_equal_texts_go_to_the_same_queue_and_one_can_be_chosen(server: Server) -> None:
    aerobee(server, "topic", "create", "CliOrdered", "--queues", "4")
    send = ("message", "send", "CliOrdered", "x", "--count", "5", "-o", "json")
    said = aerobee(server, *send, "--order-by", "user-7")
    assert len({one["queue"] for one in said.records}) == 1
    chosen = aerobee(server, *send, "--queue", "broker-a:3")
    assert {one["queue"] for one in chosen.records} == {3}


def test_a_priority_chooses_the_queue(server: Server) -> None:
    make = ("topic", "create", "CliRanked", "--queues", "4", "--type", "priority")
    assert aerobee(server, *make).status == 0
    (topic,) = [
        one
        for one in aerobee(server, "topic", "list", "-o", "json").records
        if one["topic"] == "CliRanked"
    ]
    assert topic["type"] == "PRIORITY"
    send = ("message", "send", "CliRanked", "x", "--count", "3", "-o", "json")
    for priority, queue_id in ((1, 1), (99, 3)):
        said = aerobee(server, *send, "--priority", str(priority))
        assert {one["queue"] for one in said.records} == {queue_id}
    assert aerobee(server, *send, "--priority", "1", "--order-by", "k").status == 1
    assert aerobee(server, *send, "--priority", "1", "--queue", "broker-a:3").status == 1


def test_lines_of_stdin_are_sent_as_they_come(server: Server) -> None:
    aerobee(server, "topic", "create", "CliLines", "--queues", "1")
    sent = aerobee(server, "message", "send", "CliLines", "-", stdin="{n}\n\nend")
    assert sent.status == 0
    found = aerobee(server, "message", "get", "CliLines", "--from", "1h", "-o", "json").records
    assert [one["body"] for one in found] == ["{n}", "end"]
    assert "nothing to send" in aerobee(server, "message", "send", "CliLines", "-", stdin="").out


def test_a_message_for_later_is_not_there_yet(server: Server) -> None:
    aerobee(server, "topic", "create", "CliLater", "--queues", "1")
    for words in (("--delay", "1h"), ("--at", "2099-01-01T00:00:00")):
        said = aerobee(server, "message", "send", "CliLater", "x", *words)
        if words[0] == "--delay":
            assert said.status == 0
        else:
            assert said.status == 1  # brokers take a few days at most
            assert "code: " in said.error
    (queue,) = aerobee(server, "topic", "status", "CliLater", "-o", "json").records
    assert queue["messages"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--count", "0"),
        ("--rate", "0"),
        ("--delay", "soon"),
        ("--at", "latest"),
        ("--queue", "nonsense"),
        ("--header", "nonsense"),
    ],
)
def test_what_cannot_be_meant_is_wrong_use(server: Server, words: tuple[str, ...]) -> None:
    assert aerobee(server, "message", "send", "CliWrong", "x", *words).status == 2


def test_what_cannot_be_sent_is_said(server: Server) -> None:
    assert aerobee(server, "message", "send", "CliWrong", "-", "--count", "2").status == 2
    assert aerobee(server, "message", "send", "CliWrong", "").status == 1
    nowhere = aerobee(server, "message", "send", "CliNowhere", "x", "--queue", "broker-a:0")
    assert nowhere.status == 3
    assert aerobee(NOWHERE, "message", "send", "CliWrong", "x").status == 1
