from aerobee.console.message.message_rows import body_row, host_of, message_detail, message_row
from aerobee.model.flags import TransactionType, with_transaction_type
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset

MESSAGE = StoredMessage(
    "orders",
    QueueId(1),
    QueueOffset(7),
    LogOffset(100),
    b'{"a": 1}',
    {"TAGS": "new", "KEYS": "k1 k2", "UNIQ_KEY": "A" * 32, "color": "red"},
    1_000,
    Host("10.0.0.1", 5),
    2_000,
    Host("10.0.0.2", 10911),
    sys_flag=with_transaction_type(0, TransactionType.COMMIT),
)


def test_a_row_has_the_place_and_the_beginning_of_a_message() -> None:
    row = message_row(MESSAGE, "broker-a")
    assert (row["id"], row["broker"], row["queue"], row["offset"]) == ("A" * 32, "broker-a", 1, 7)
    assert (row["tag"], row["keys"], row["attempt"]) == ("new", ["k1", "k2"], 1)
    assert (row["kind"], row["size"], row["preview"]) == ("json", 8, '{"a": 1}')


def test_a_detail_parts_the_properties_of_the_application_from_the_others() -> None:
    detail = message_detail(MESSAGE, "broker-a")
    assert detail["headers"] == {"color": "red"}
    assert detail["properties"].keys() == {"TAGS", "KEYS", "UNIQ_KEY"}
    assert detail["flags"] == ["transaction commit"]
    assert detail["store_host"] == host_of(MESSAGE) == "10.0.0.2:10911"


def test_a_body_is_shown_in_its_formats() -> None:
    told = body_row(MESSAGE.body)
    assert (told["kind"], told["shown"]["json"], told["truncated"]) == ("json", {"a": 1}, False)
