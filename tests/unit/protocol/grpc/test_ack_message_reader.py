import pytest

from aerobee.protocol.consume.pop_receipt import decode_pop_receipt
from aerobee.protocol.grpc.ack_message_reader import AckMessageReader
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    AckMessageResponse,
    AckMessageResultEntry,
)
from aerobee.protocol.grpc.resources import Resource, Status
from aerobee.protocol.grpc.wire import encode

HANDLE = "7 1700000000123 30000 3 0 broker-a 2 9 123456"
ID = "01ABCDEF0123456789ABCDEF0123456789"


def request(handle: str = HANDLE, *more: AckMessageEntry, namespace: str = "") -> bytes:
    return encode(
        AckMessageRequest(
            Resource(namespace, "group"),
            Resource(namespace, "orders"),
            [AckMessageEntry(ID, handle), *more],
        )
    )


@pytest.mark.parametrize("namespace", ["", "space"])
@pytest.mark.parametrize(
    "handle", [HANDLE, "0 0 0 0 0  0 0 0", f"{10**17} {10**17} 1 {2**31 - 1} 0 b 0 {10**17} 5"]
)
def test_names_and_numbers_are_those_of_the_general_reader(handle: str, namespace: str) -> None:
    reader = AckMessageReader()
    assert reader.read(request(handle, namespace=namespace))
    wanted = decode_pop_receipt(handle)
    assert (reader.group, reader.topic) == (b"group", b"orders")
    assert reader.message_id() == ID
    found = (reader.start_offset, reader.pop_time, reader.invisible_ms, reader.revive_queue)
    assert found == (
        wanted.start_offset,
        wanted.pop_time,
        wanted.invisible_ms,
        wanted.revive_queue,
    )
    assert reader.broker_name.decode() == wanted.broker_name
    assert (reader.queue_id, reader.queue_offset) == (wanted.queue_id, wanted.queue_offset)


@pytest.mark.parametrize(
    "handle",
    [
        "",
        "nonsense",
        HANDLE.replace(" 0 broker", " 1 broker"),  # of a retry
        HANDLE.removesuffix(" 123456"),  # not handed out here
        f"{HANDLE} 1",
        f"{HANDLE} ",
        f" {HANDLE}",
        HANDLE.replace("7 ", "-7 ", 1),
        HANDLE.replace("7 ", "x ", 1),
        HANDLE.replace("30000", "1" * 19),
        HANDLE.replace(" 3 0 ", " 4294967296 0 "),
        "1 " * 300,
    ],
)
def test_other_handles_are_left_to_the_general_reader(handle: str) -> None:
    assert not AckMessageReader().read(request(handle))


def test_other_requests_are_left_to_the_general_reader() -> None:
    reader = AckMessageReader()
    assert not reader.read(request(HANDLE, AckMessageEntry(ID, HANDLE)))
    assert not reader.read(request()[:-1])
    assert not reader.read(request() + b"\x20\x01")
    assert not reader.read(b"")
    entry = [AckMessageEntry(ID, HANDLE)]
    assert not reader.read(encode(AckMessageRequest(None, Resource("", "orders"), entry)))
    assert not reader.read(encode(AckMessageRequest(Resource("", "ü"), Resource("", "o"), entry)))
    lite = [AckMessageEntry(ID, HANDLE, "lite")]
    names = (Resource("", "group"), Resource("", "orders"))
    assert not reader.read(encode(AckMessageRequest(*names, lite)))


def test_the_answer_has_the_entry_and_its_status() -> None:
    reader = AckMessageReader()
    for handle in (HANDLE, HANDLE.replace("broker-a", "b" * 120)):
        assert reader.read(request(handle))
        ok = Status(20000, "OK")
        wanted = AckMessageResponse(ok, [AckMessageResultEntry(ID, handle, ok)])
        assert reader.answer() == encode(wanted)
