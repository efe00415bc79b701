"""Bytes that are no frames, not yet frames, or more frames than anybody reads the answers to."""

import random
import socket
import struct

import pytest

from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from tests.hostile.raw import connect, heard_until_closed, pour, rest_of
from tests.hostile.server import MIB, Server, heartbeat, pull_fields, send_fields, undisturbed

GROWN_BYTES_MAX = 48 * MIB
UNHEARD_BYTES_MAX = 32 * MIB
"""What the kernel keeps for two sockets that nobody reads, and more."""


def frame(code: int, fields: dict[str, str], body: bytes = b"", form: int = JSON_TYPE) -> bytes:
    command = RemotingCommand(code, opaque=5, ext_fields=fields, body=body)
    command.serialize_type = form
    return b"".join(encode(command))


def words(length: int, header: int = 0, kind: int = 0) -> bytes:
    return struct.pack(">iI", length, kind << 24 | header)


NO_FRAMES = {
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a TLS hello": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "an SSH client": b"SSH-2.0-OpenSSH_9.2\r\n",
    "length 0": words(0),
    "length 3": words(3),
    "length -1": words(-1),
    "the least length": words(-(2**31)),
    "the largest length": words(2**31 - 1),
    "one byte more than any frame": words(FRAME_BYTES_MAX + 1 - 4),
    "a header longer than its frame": words(100, 97) + bytes(100),
    "a header of 16 MiB": words(1000, 0xFFFFFF),
    "a header of a mebibyte of blanks": words(4 + MIB, MIB) + b" " * MIB,
    "an unknown form": words(100, 50, 2) + bytes(100),
    "the last form": words(100, 50, 255) + bytes(100),
    "no header": words(4, 0),
    "a header that is no JSON": words(8, 4) + b"nope",
    "a header that is an array": words(6, 2) + b"[]",
    "a header of 30,000 brackets": words(30_004, 30_000) + b"[" * 30_000,
    "a binary header of zeros": words(24, 20, 1) + bytes(20),
    "a binary header of ones": words(64, 60, 1) + b"\xff" * 60,
    "a value of a mebibyte that does not end": words(4 + MIB, MIB)
    + b'{"extFields":{"topic":"'.ljust(MIB, b"x"),
    "129 fields that do not end": words(4 + MIB, MIB)
    + (b'{"extFields":{' + b"".join(b'"k%d":1,' % n for n in range(129))).ljust(MIB),
    "a binary value longer than its header": frame(
        105, {"topic": "x" * 32_769}, form=BINARY_TYPE
    ).replace(struct.pack(">i", 32_769), struct.pack(">i", 32_770)),
    "bytes that are no UTF-8": frame(105, {"topic": "QQQQ"}).replace(b"QQQQ", b"\xff\xfe\xc0\x80"),
    "a binary header that is no UTF-8": frame(105, {"topic": "QQ"}, form=BINARY_TYPE).replace(
        b"QQ", b"\xc0\x80"
    ),
    "half a surrogate pair": frame(105, {"topic": "QQQQQQ"}).replace(b"QQQQQQ", b"\\ud800"),
    "a field twice": frame(105, {"topic": "x", "topiq": "x"}).replace(b"topiq", b"topic"),
}


def test_what_is_no_frame_costs_its_own_connection(server: Server) -> None:
    generator = random.Random(4)
    garbage = {**NO_FRAMES}
    for number in range(100):
        # Random, but no length that may be: such a frame would be waited for.
        first = bytes([generator.randrange(1, 256)])
        garbage[f"random {number}"] = first + generator.randbytes(generator.randrange(8, 3000))
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for port in (server.broker, server.nameserver):
            answered = {what for what, data in garbage.items() if heard_until_closed(port, data)}
            assert answered == set()
    assert "an HTTP request, not a RocketMQ frame" in server.log()
    assert "a TLS hello on a plain connection" in server.log()


def test_a_good_request_before_the_garbage_is_answered(server: Server) -> None:
    heard = heard_until_closed(server.broker, frame(28, {}) + b"\xff" * 100)
    frames = FrameReader()
    frames.receive(heard)
    assert frames.advance()
    assert decode(frames).code == 0
    assert not frames.advance()


@pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
def test_a_frame_cut_anywhere_is_never_carried_out(server: Server, form: int) -> None:
    topic = f"Cut{form}"
    whole = frame(310, send_fields(topic), b"0123456789", form)
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for size in range(len(whole)):
            with connect(server.broker) as one:
                one.sendall(whole[:size])
                one.shutdown(socket.SHUT_WR)
                assert rest_of(one) == b""
        heard = heard_until_closed(server.broker, frame(351, {"topic": topic}) + b"\xff" * 8)
    assert b'"code":17' in heard, "the topic was made"


@pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
def test_a_frame_that_comes_byte_by_byte_is_answered_once(server: Server, form: int) -> None:
    data = frame(34, {}, heartbeat("slow", f"slow{form}", "Citizen"), form)
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX), connect(server.broker) as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for position in range(len(data)):
            one.sendall(data[position : position + 1])
        one.shutdown(socket.SHUT_WR)
        frames = FrameReader()
        frames.receive(rest_of(one))
        answers = []
        while frames.advance():
            command = decode(frames)
            answers += [command.code] if command.is_response else []
        assert answers == [0]


def test_who_reads_no_answers_is_not_read_from(server: Server) -> None:
    """A hundred megabytes of requests are offered on each of these connections."""
    stream = frame(21, {}) * 500
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX, peak_bytes_max=64 * MIB):
        for port in (server.broker, server.nameserver):
            with connect(port) as one, connect(port) as two:
                for each in (one, two):
                    assert pour(each, stream, 100 * MIB) < UNHEARD_BYTES_MAX


def test_small_requests_do_not_make_answers_that_nobody_reads(server: Server) -> None:
    """A pull of 300 bytes is answered with 256 KiB, and a read has room for a thousand of them."""
    with connect(server.broker) as producer:
        for _ in range(16):
            producer.sendall(frame(310, send_fields("Large"), bytes(MIB // 8)))
    stream = frame(11, pull_fields("Large", "greedy", 0)) * 2000
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX, peak_bytes_max=64 * MIB):
        greedy = [connect(server.broker) for _ in range(8)]
        for one in greedy:
            one.sendall(stream)
        for one in greedy:
            assert one.recv(8)
        for one in greedy:
            assert pour(one, stream, 100 * MIB, 0.1) < UNHEARD_BYTES_MAX
        for one in greedy:
            one.close()
