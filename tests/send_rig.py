"""The short way of a send on a small store: frames in, answers out.

Made of one world's modules, compiled or pure, so that both can be compared.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from aerobee.ports.clock import Now
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from tests import wire
from tests.broker_kit import CLIENT, BrokerKit

BODY_BYTES_MAX = 10_000
SUFFIX = b"MSG_REGION\x01DefaultRegion\x02TRACE_ON\x01true\x02CLUSTER\x01DefaultCluster\x02"
BORN = bytes((10, 0, 0, 9)) + (40_000).to_bytes(4, "big")
ROOT = "store"


class Ticks:
    """Whole seconds, but none of the odd ones."""

    def tick_of(self, deliver_ms: int, now: Now) -> int:
        return 0 if deliver_ms % 2000 else deliver_ms - 1000


class SendRig:
    """One store with the topic Orders, plain, of four queues. `diverts`: it takes halves (two at a
    time), delayed messages and ends of transactions, too."""

    def __init__(
        self, module: Callable[[str], Any] = importlib.import_module, *, diverts: bool = False
    ) -> None:
        config = module("aerobee.storage.config").StorageConfig(
            log_file_bytes=1 << 16, queue_file_units=50, index_slots=16, index_units=500
        )
        self.clock = module("aerobee.sim.clock").SimClock()
        self.worker = module("aerobee.sim.disk_worker").SimDiskWorker()
        disk = module("aerobee.sim.disk").SimDisk()
        self.store = module("aerobee.storage.store").Store.open(disk, ROOT, config, self.worker)
        topic = module("aerobee.model.topic").TopicConfig("Orders", read_queues=4, write_queues=4)
        self.entries = {
            b"Orders": module("aerobee.service.broker.state.topic_entry").TopicEntry(topic)
        }
        answer = module("aerobee.protocol.send.send_answer_writer").SendAnswerWriter(
            "DefaultRegion", True, config.store_host
        )
        self.plain = module("aerobee.service.broker.send.fast_send").FastSend(
            self.store.appender, self.entries, answer, SUFFIX, BODY_BYTES_MAX
        )
        self.ends: Any = None
        if diverts:
            self._divert(module)
        frame = module("aerobee.protocol.remoting.frame")
        self.frames = frame.FrameReader(frame.FrameLimits())
        self._frame = frame
        self._decode = module("aerobee.protocol.remoting.remoting_command").decode
        self.output = module("aerobee.protocol.remoting.reply_buffer").ReplyBuffer()

    def _divert(self, module: Callable[[str], Any]) -> None:
        transaction = "aerobee.service.broker.transaction"
        self.halves = module(f"{transaction}.open_halves").OpenHalves()
        progress = module(f"{transaction}.queue_progress").QueueProgress(0, 0)
        self.ends = module(f"{transaction}.fast_end_transaction").FastEndTransaction(
            self.store.appender, self.store.hot_records, self.entries, self.halves
        )
        diversion = module("aerobee.service.broker.send.send_diversion").SendDiversion(
            18, Ticks(), self.halves, progress, lambda now: (2, 6000, 60_000)
        )
        self.plain.divert(diversion, self.ends, "broker-a")

    def send(self, data: bytes) -> bool:
        """One read; whether a frame was left."""
        self.frames.receive(data)
        is_left = self.frames.advance() and self.plain.take_all(
            self.frames, self.output, BORN, self.clock.now()
        )
        self.store.dispatch()
        return bool(is_left)

    def answers(self) -> list[dict[str, Any]]:
        """What was answered so far, by the general codec."""
        reader = self._frame.FrameReader(self._frame.FrameLimits())
        reader.receive(self.output.take())
        said = []
        while reader.advance():
            said.append(wire.header_values(self._decode(reader)))
        return said


def send_frame(
    fields: Mapping[str, str] | None = None,
    body: bytes = b"a body",
    *,
    code: int = 310,
    opaque: int = 7,
    flag: int = 0,
    is_binary: bool = False,
) -> bytes:
    """A send as the Java client writes it, with some fields otherwise."""
    said = {**wire.JAVA_FIELDS, **(fields or {})}
    if code == 10:
        said = {wire.LONG_NAMES[letter]: value for letter, value in said.items()}
    if is_binary:
        header = wire.binary_header(code, said, opaque=opaque, flag=flag)
        return wire.frame(header, body, 1)
    return wire.frame(wire.java_header(code, said, opaque, flag), body)


def end_frame(
    fields: Mapping[str, str], *, opaque: int = 7, flag: int = 2, is_binary: bool = False
) -> bytes:
    """An END_TRANSACTION as the Java client writes it."""
    if is_binary:
        return wire.frame(wire.binary_header(37, dict(fields), opaque=opaque, flag=flag), b"", 1)
    return wire.frame(wire.java_header(37, dict(fields), opaque, flag))


def is_taken(kit: BrokerKit, data: bytes) -> bool:
    """Whether a broker takes a frame by a short way; what it answers then is lost."""
    frames = FrameReader(FrameLimits())
    frames.receive(data)
    assert frames.advance()
    now = kit.clock.now()
    is_left = kit.broker.take(CLIENT, frames, ReplyBuffer(), now)
    kit.broker.settle(now)
    return not is_left
