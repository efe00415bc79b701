from typing import Any

import pytest

from aerobee.errors import MessageIllegal, RemoteProtocolError
from aerobee.model.message import Host
from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.service.broker.send.send_request import SendRequest, read_send_request
from tests.captured import captured
from tests.wire import JAVA_FIELDS, LONG_NAMES

HOST = Host("10.0.0.9", 40_000)


def header(code: int = 310, **changes: Any) -> CommandHeader:
    """A send as Java writes it, with some fields otherwise, or left out where they are None."""
    said: dict[str, Any] = {**JAVA_FIELDS, **changes}
    said = {key: text for key, text in said.items() if text is not None}
    if code in (10, 324):
        said = {LONG_NAMES[letter]: text for letter, text in said.items()}
    return CommandHeader(code, version=317, ext_fields=said)


@pytest.mark.parametrize("code", [10, 310, 324, 325])
def test_a_header_says_what_is_sent_by_letters_and_by_names(code: int) -> None:
    assert read_send_request(header(code, l="5", j="2"), b"body") == SendRequest(
        group="group",
        topic="Orders",
        default_topic="TBW102",
        default_queues=4,
        queue_id=1,
        sys_flag=0,
        born_timestamp=1794732382394,
        flag=0,
        properties={"KEYS": "k1", "UNIQ_KEY": "C00002021F384E0E2F2A49FAF0BA0001", "TAGS": "A"},
        reconsume_times=2,
        reconsume_times_max=5,
        is_batch=False,
        version=317,
        body=b"body",
    )


def test_sends_of_real_clients_are_read() -> None:
    for name in ("SEND_MESSAGE_V2", "SEND_BATCH_MESSAGE", "SEND_REPLY_MESSAGE_V2"):
        for request in captured(name, "request"):
            sending = read_send_request(request, bytes(request.body))
            assert sending.topic == request.ext_fields["b"]
            assert sending.is_batch == (name == "SEND_BATCH_MESSAGE")
            assert sending.body == bytes(request.body)


@pytest.mark.parametrize("absent", [None, ""])
def test_what_is_not_said_has_a_default(absent: str | None) -> None:
    sending = read_send_request(header(a=absent, c=absent, d=absent, i=absent, j=absent), b"")
    assert (sending.group, sending.default_topic, sending.properties) == ("", "", {})
    assert (sending.default_queues, sending.reconsume_times) == (4, 0)
    assert sending.reconsume_times_max == -1


@pytest.mark.parametrize(
    ("code", "said", "is_batch"),
    [
        (310, "true", True),
        (310, "1", True),
        (310, "false", False),
        (310, "0", False),
        (310, None, False),
        (10, "True", True),
        (320, None, True),
        (320, "false", True),
    ],
)
def test_a_batch_is_said_by_its_field_or_its_code(
    code: int, said: str | None, is_batch: bool
) -> None:
    assert read_send_request(header(code, m=said), b"").is_batch == is_batch


def test_flags_that_are_the_brokers_to_set_are_dropped() -> None:
    assert read_send_request(header(f=str(0xFFF)), b"").sys_flag == 0x701


@pytest.mark.parametrize("letter", ["b", "e", "f", "g", "h"])
def test_what_is_missing_is_named(letter: str) -> None:
    with pytest.raises(RemoteProtocolError, match=f"field {letter}$"):
        read_send_request(header(310, **{letter: None}), b"")
    with pytest.raises(RemoteProtocolError, match=f"field {LONG_NAMES[letter]}$"):
        read_send_request(header(10, **{letter: None}), b"")


def test_properties_that_no_record_can_hold_are_noticed_by_their_bytes() -> None:
    fits = "a\x01" + "x" * 32_763 + "\x02"
    assert not read_send_request(header(i=fits + "x"), b"").has_long_properties
    assert read_send_request(header(i=fits + "é"), b"").has_long_properties


def test_the_excess_of_a_header_stays_with_the_send() -> None:
    said = header()
    assert read_send_request(said, b"").excess == ""
    said.excess = "more than 128 fields"
    assert read_send_request(said, b"").excess == "more than 128 fields"


def test_a_field_that_was_not_read_because_the_header_is_too_large_is_not_missed() -> None:
    for changes in ({"b": None}, {"e": None}, {"g": "x" * 32_769}):
        said = header(**changes)
        with pytest.raises(RemoteProtocolError):
            read_send_request(said, b"")
        said.excess = "more than 128 fields"
        with pytest.raises(MessageIllegal, match="header is too large: more than 128 fields"):
            read_send_request(said, b"")


def test_the_message_has_what_was_sent() -> None:
    sending = read_send_request(header(h="3", j="2", f="1"), b"body")
    message = sending.message(HOST)
    assert (message.topic, message.queue_id, message.body) == ("Orders", 1, b"body")
    assert (message.flag, message.reconsume_times, message.sys_flag) == (3, 2, 1)
    assert (message.born_timestamp, message.born_host) == (1794732382394, HOST)
    assert message.properties is sending.properties


def test_the_batch_has_what_was_sent() -> None:
    draft = read_send_request(header(320, h="3"), b"a batch").batch(HOST)
    assert (draft.topic, draft.queue_id, draft.flag) == (b"Orders", 1, 3)
    assert draft.is_batch
    assert draft.born_host == bytes((10, 0, 0, 9)) + (40_000).to_bytes(4, "big")
    assert draft.born_timestamp == 1794732382394
    assert draft.body_size == 7


def test_a_batch_from_an_ipv6_host_is_kept_with_its_address() -> None:
    draft = read_send_request(header(320), b"a batch").batch(Host("::1", 5))
    assert draft.born_host == bytes(15) + b"\x01" + (5).to_bytes(4, "big")


@pytest.mark.parametrize(
    ("properties", "times", "is_half"),
    [
        ("TRAN_MSG\x01true\x02", "0", True),
        ("TRAN_MSG\x01TRUE\x02", "0", True),
        ("TRAN_MSG\x01true\x02DELAY\x013\x02", "0", True),
        ("TRAN_MSG\x01false\x02", "0", False),
        ("TRAN_MSG\x011\x02", "0", False),
        ("KEYS\x01k\x02", "0", False),
        # A consumer hands back what was committed once.
        ("TRAN_MSG\x01true\x02DELAY\x013\x02", "1", False),
        ("TRAN_MSG\x01true\x02", "1", False),
    ],
)
def test_what_begins_a_transaction(properties: str, times: str, is_half: bool) -> None:
    assert read_send_request(header(i=properties, j=times), b"").is_half is is_half


@pytest.mark.parametrize(
    ("keys", "is_enough"),
    [(("k",), True), (("k", "l"), True), (("k", ""), False), (("", "k"), False)],
)
def test_a_batch_has_keys_if_each_of_its_messages_has(
    keys: tuple[str, ...], is_enough: bool
) -> None:
    messages = [BatchMessage(b"body", {"KEYS": key} if key else {}) for key in keys]
    sending = read_send_request(header(320), encode_batch(messages))
    assert sending.has_keys() == is_enough


def fitted(properties: str, **changes: Any) -> SendRequest:
    """A send to a topic of four queues, for which a queue was chosen; its sender named queue 1."""
    sending = read_send_request(header(i=f"UNIQ_KEY\x01id\x02{properties}", **changes), b"")
    sending.fit_to(TopicConfig("Orders", 6, 4), 0)
    return sending


@pytest.mark.parametrize(("priority", "queue_id"), [("2", 2), ("3", 3), ("9", 3), ("-1", 1)])
def test_a_priority_chooses_the_queue_whichever_the_sender_names(
    priority: str, queue_id: int
) -> None:
    sending = fitted(f"_SYS_MSG_PRIORITY_\x01{priority}\x02")
    assert sending.queue_id == queue_id
    assert sending.properties["_SYS_MSG_PRIORITY_"] == priority


@pytest.mark.parametrize("other", ["__SHARDINGKEY\x01k", "DELAY\x011", "TRAN_MSG\x01true"])
def test_a_message_of_another_type_loses_its_priority(other: str) -> None:
    sending = fitted(f"_SYS_MSG_PRIORITY_\x013\x02{other}\x02")
    assert sending.queue_id == 1
    assert "_SYS_MSG_PRIORITY_" not in sending.properties


def test_a_batch_and_a_message_that_is_stored_once_stay_in_the_queue_that_they_name() -> None:
    assert fitted("_SYS_MSG_PRIORITY_\x013\x02", m="true").queue_id == 1
    once = fitted("")
    once.is_once, once.properties["_SYS_MSG_PRIORITY_"] = True, "3"
    once.fit_to(TopicConfig("Orders", 4, 4), 0)
    assert once.queue_id == 1
