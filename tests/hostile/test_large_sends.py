"""Sends that are too large in some part, and other requests whose headers are: each is answered,
and its connection goes on. The codes and words are those of Apache RocketMQ 5.5.0.
"""

import struct

import pytest

from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.hostile.server import MIB, Server, pull_fields, send_fields, undisturbed
from tests.wire import LONG_NAMES, binary_header, frame, java_header
from tests.wire_client import WireClient

BODY_BYTES_MAX = 4 * MIB
TOO_LARGE = (
    "the message is illegal, maybe msg body or properties length not matched. "
    f"msg body length limit {BODY_BYTES_MAX}B, msg properties length limit 32KB."
)
GROWN_BYTES_MAX = 96 * MIB
FORMS = pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
SEND, SEND_V2, SEND_BATCH, REPLY, REPLY_V2, SEND_ONCE = 10, 310, 320, 324, 325, 28002


def frame_of(form: int, code: int, fields: dict[str, str], body: bytes = b"") -> bytes:
    """Without any limit on what may be written."""
    if code in (SEND, REPLY):
        fields = {LONG_NAMES[letter]: text for letter, text in fields.items()}
    if form == BINARY_TYPE:
        return frame(binary_header(code, fields), body, BINARY_TYPE)
    return frame(java_header(code, fields), body)


def properties(size: int) -> str:
    text = "UNIQ_KEY\x010A\x02KEYS\x01k1 k2\x02"
    return text + "p\x01" + "x" * (size - len(text) - 3) + "\x02"


def many_properties(size: int) -> str:
    """The same, in which a JSON header has more escapes than letters."""
    return ("UNIQ_KEY\x010A\x02" + "é\x01\n\x02" * (size // 5)).ljust(size, "x")


def entry(size: int) -> bytes:
    """A batch of one message, of so many bytes in all."""
    return struct.pack(">iiiii", size, 0, 0, 0, size - 22).ljust(size, b"\0")


def ask(client: WireClient, data: bytes) -> RemotingCommand:
    client.write(data)
    answer = client.read()
    assert answer is not None, "the connection was closed"
    assert (answer.is_response, answer.opaque) == (True, 7)
    return answer


def check_refused(client: WireClient, data: bytes, form: int, topic: str) -> None:
    """Refused as too large; and then the same connection sends something good."""
    answer = ask(client, data)
    assert (answer.code, answer.remark) == (13, TOO_LARGE)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    assert answer.serialize_type == form
    check_good(client, form, topic)


def check_good(client: WireClient, form: int, topic: str) -> None:
    answer = ask(client, frame_of(form, SEND_V2, send_fields(topic), b"good"))
    assert (answer.code, answer.remark) == (0, "")


def stored(client: WireClient, topic: str) -> int:
    return int(client.ask(30, {"topic": topic, "queueId": "0"}).ext_fields["offset"])


@FORMS
@pytest.mark.parametrize("code", [SEND, SEND_V2, SEND_BATCH, REPLY, REPLY_V2, SEND_ONCE])
def test_properties_that_are_too_long_are_refused_and_the_connection_goes_on(
    server: Server, code: int, form: int
) -> None:
    topic = f"Long{code}x{form}"
    sizes = [32_768, 32_769, 33_000, 65_535, 65_536, MIB, 15 * MIB]
    if code in (SEND, SEND_V2):
        sizes.append(32_767)  # they would fit, but not with what the broker adds
    body = entry(100) if code == SEND_BATCH else b"x"
    with (
        undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX),
        WireClient(server.broker) as client,
    ):
        check_good(client, form, topic)
        for size in sizes:
            text = properties(size)
            check_refused(
                client, frame_of(form, code, send_fields(topic, i=text), body), form, topic
            )
        # Letters of three bytes: fewer than the limit, if letters were counted.
        text = "UNIQ_KEY\x010A\x02p\x01" + "中" * 20_000 + "\x02"
        check_refused(client, frame_of(form, code, send_fields(topic, i=text), body), form, topic)
        if code != SEND_ONCE:
            for size in (32_768, 70_000, 2 * MIB):
                fields = send_fields(topic, i=many_properties(size))
                check_refused(client, frame_of(form, code, fields, body), form, topic)
        count = len(sizes) + (1 if code == SEND_ONCE else 4)
        assert stored(client, topic) == 1 + count, "nothing is stored but what was good"


@FORMS
@pytest.mark.parametrize("code", [SEND, SEND_V2, SEND_BATCH, REPLY, REPLY_V2])
def test_a_body_that_is_too_large_is_refused_and_the_connection_goes_on(
    server: Server, code: int, form: int
) -> None:
    topic = f"Large{code}x{form}"
    header = frame_of(form, code, send_fields(topic))
    largest = FRAME_BYTES_MAX - len(header)
    with (
        undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX),
        WireClient(server.broker) as client,
    ):
        check_good(client, form, topic)
        for size in (BODY_BYTES_MAX + 1, 8 * MIB, largest):
            data = frame_of(form, code, send_fields(topic), entry(size))
            check_refused(client, data, form, topic)
        assert stored(client, topic) == 4
        if code in (SEND, SEND_V2, SEND_BATCH):
            data = frame_of(form, code, send_fields(topic), entry(BODY_BYTES_MAX))
            answer = ask(client, data)
            assert (answer.code, answer.ext_fields["queueOffset"]) == (0, "4"), answer.remark
            check_good(client, form, topic)
        client.write(frame_of(form, code, send_fields(topic), bytes(largest + 1))[:8])
        assert client.read() is None, "a frame beyond the limit closes its connection"


@FORMS
def test_topics_and_queues_are_told_before_sizes_and_no_topic_is_made(
    server: Server, form: int
) -> None:
    topic = f"Order{form}"
    large = ("UNIQ_KEY\x010A\x02", bytes(BODY_BYTES_MAX + 1)), (properties(33_000), b"x")
    with (
        undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX),
        WireClient(server.broker) as client,
    ):
        check_good(client, form, topic)
        for text, body in large:
            for code, more in (
                (29, {"b": "t" * 128}),
                (29, {"b": "t" * 40_000}),
                (29, {"b": "t" * MIB}),
                (17, {"b": f"Absent{form}", "c": "nowhere"}),
                (29, {"e": "99"}),
                (13, {"b": f"Made{form}"}),
            ):
                fields = send_fields(topic, i=text) | more
                answer = ask(client, frame_of(form, SEND_V2, fields, body))
                assert answer.code == code, (more.keys(), answer.remark[:200])
            check_good(client, form, topic)
        assert client.ask(351, {"topic": f"Made{form}"}).code == 17
        assert stored(client, topic) == 3


@FORMS
def test_a_name_that_is_too_long_is_shown_up_to_255_characters(server: Server, form: int) -> None:
    with WireClient(server.broker) as client:
        for size in (128, 255, 256, 40_000, MIB):
            answer = ask(client, frame_of(form, SEND_V2, send_fields("t" * size), b"x"))
            shown = "t" * min(size, 255)
            assert (answer.code, answer.remark) == (
                29,
                f"The specified topic: {shown}, is longer than topic max length: 127",
            )


EXCESSES: dict[str, dict[str, str]] = {
    "129 fields": {f"x{n}": "" for n in range(129)},
    "20,000 fields": {f"x{n}": "" for n in range(20_000)},
    "a key of 129 bytes": {"k" * 129: ""},
    "a value of 32,769 bytes": {"unknown": "v" * 32_769},
    "a value of 15 MiB": {"unknown": "v" * (15 * MIB)},
    "a value of a mebibyte of quotes": {"unknown": '"' * MIB},
}


@FORMS
@pytest.mark.parametrize("what", EXCESSES)
def test_a_header_that_is_too_large_otherwise_is_refused_with_the_reason(
    server: Server, what: str, form: int
) -> None:
    topic = f"Header{form}"
    excess = EXCESSES[what]
    requests = {
        SEND_V2: (send_fields(topic), 13),
        REPLY_V2: (send_fields(topic), 13),
        11: (pull_fields(topic, "readers", 0), 29),
        36: ({"offset": "0", "group": "g", "delayLevel": "0"}, 29),
        37: ({"producerGroup": "g", "commitOrRollback": "8"}, 29),
    }
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        with WireClient(server.broker) as client:
            check_good(client, form, topic)
            for code, (fields, expected) in requests.items():
                for said in (fields | excess, excess | fields):
                    answer = ask(client, frame_of(form, code, said, b"x"))
                    assert (answer.code, "the request header is too large: " in answer.remark) == (
                        expected,
                        True,
                    ), (code, answer.remark[:200])
                check_good(client, form, topic)
        with WireClient(server.nameserver) as client:
            answer = ask(client, frame_of(form, 105, excess | {"topic": "TBW102"}))
            assert (answer.code, "the request header is too large: " in answer.remark) == (29, True)
            assert ask(client, frame_of(form, 105, {"topic": "TBW102"})).code == 0


@FORMS
def test_a_remark_of_any_length_does_not_keep_a_request_from_being_served(
    server: Server, form: int
) -> None:
    """Java puts an exception of the application into the remark of END_TRANSACTION."""
    fields = send_fields(f"Remark{form}")
    remark = b"r" * (2 * MIB)
    if form == BINARY_TYPE:
        data = frame(binary_header(SEND_V2, fields, remark=remark), b"x", BINARY_TYPE)
    else:
        header = java_header(SEND_V2, fields)
        data = frame(header.replace(b'"version"', b'"remark":"' + remark + b'","version"'), b"x")
    with WireClient(server.broker) as client:
        for _ in range(2):
            answer = ask(client, data)
            assert (answer.code, answer.remark) == (0, "")
        check_good(client, form, f"Remark{form}")
