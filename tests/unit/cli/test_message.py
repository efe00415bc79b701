from tests.cli_kit import aerobee
from tests.server_kit import Server


def test_a_message_is_sent_found_by_key_and_by_id_and_followed(server: Server) -> None:
    aerobee(server, "topic", "create", "CliMessages", "--queues", "1")
    send = ("message", "send", "CliMessages")
    said = aerobee(server, *send, '{"id": 1}', "--tag", "new", "--key", "o-1", "-o", "json")
    assert said.status == 0
    (receipt,) = said.records
    assert (receipt["broker"], receipt["queue"], receipt["offset"]) == ("broker-a", 0, 0)
    (by_key,) = aerobee(
        server, "message", "find", "CliMessages", "--key", "o-1", "-o", "json"
    ).records
    assert (by_key["body"], by_key["tag"], by_key["keys"]) == ('{"id": 1}', "new", ["o-1"])
    (by_id,) = aerobee(server, "message", "get", "CliMessages", receipt["id"], "-o", "json").records
    assert by_id == by_key
    many = aerobee(server, *send, "-", "-o", "json", stdin="a\nb\n")
    assert [one["offset"] for one in many.records] == [1, 2]
    tail = ("message", "tail", "CliMessages", "--from", "earliest")
    followed = aerobee(server, *tail, "--count", "3").out.splitlines()
    assert [line.rsplit("  ", 1)[1] for line in followed] == ['{"id": 1}', "a", "b"]
    only_new = aerobee(server, *tail, "--count", "1", "--tags", "new", "-o", "ndjson")
    assert only_new.records["offset"] == 0


def test_what_is_no_text_is_shown_as_what_it_is(server: Server) -> None:
    server.send("CliBytes", [b"\xff\x00" * 40])
    said = aerobee(server, "message", "tail", "CliBytes", "--from", "earliest", "--count", "1")
    assert "0xff00ff00" in said.out
    assert "(80 bytes)" in said.out


def test_a_message_that_is_not_there_is_not_found(server: Server) -> None:
    aerobee(server, "topic", "create", "CliEmpty")
    said = aerobee(server, "message", "get", "CliEmpty", "C0A8000100002A9F0000000000000F00")
    assert said.status == 3
    assert aerobee(server, "message", "find", "CliEmpty", "--key", "k", "-o", "json").records == []
    assert aerobee(server, "message", "tail", "CliNowhere", "--count", "1").status == 3
