"""The short way of an acknowledgement, compiled and pure: the same frames become the same runs."""

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from tests import wire
from tests.pure import pure
from tests.store_kit import properties

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.service.broker.pop.ack.fast_ack"), reason="nothing is compiled"
)

CHANNEL = 1
LIKE = ("0", "3", "0", "1700000000000", "60000", "5", "0", "3", "77")
"""Queue, offset; of the receipt start, pop time, time hidden, revive queue, queue, offset; then
the opaque."""


def ack_frame(numbers: tuple[str, ...]) -> bytes:
    queue, offset, start, pop_time, hidden, revive, place_queue, place_offset, opaque = numbers
    receipt = f"{start} {pop_time} {hidden} {revive} 0 broker-a {place_queue} {place_offset}"
    header = (
        f'{{"code":200051,"extFields":{{"queueId":"{queue}","offset":"{offset}","topic":"Orders",'
        f'"consumerGroup":"g","extraInfo":"{receipt}"}},"flag":0,"language":"JAVA",'
        f'"opaque":{opaque},"serializeTypeCurrentRPC":"JSON","version":513}}'
    )
    return wire.frame(header.encode())


class AckRig:
    """One world's short way, which has learned from one acknowledgement."""

    def __init__(self, module: Callable[[str], Any] = importlib.import_module) -> None:
        config = module("aerobee.storage.config").StorageConfig(
            log_file_bytes=1 << 16, queue_file_units=50, index_slots=16, index_units=500
        )
        worker = module("aerobee.sim.disk_worker").SimDiskWorker()
        disk = module("aerobee.sim.disk").SimDisk()
        store = module("aerobee.storage.store").Store.open(disk, "store", config, worker)
        draft = module("aerobee.protocol.message.message_draft").MessageDraft()
        draft.topic = b"Orders"
        draft.set_properties(properties())
        for _ in range(10):
            store.append(draft, 1_700_000_000_000)
        store.dispatch()
        topic = module("aerobee.model.topic").TopicConfig("Orders", 2, 2)
        topics = SimpleNamespace(find=lambda name: topic if name == "Orders" else None)
        plain_ack = module("aerobee.service.broker.pop.ack.fast_ack")
        self.plain = plain_ack.FastAck(store.fast_path_readers[0], topics, 8)
        frame = module("aerobee.protocol.remoting.frame")
        self._frames = frame.FrameReader(frame.FrameLimits())
        self._output = module("aerobee.protocol.remoting.reply_buffer").ReplyBuffer()
        self._store = store
        self._learn(module)

    def _learn(self, module: Callable[[str], Any]) -> None:
        assert self.take([LIKE]) == (0, [], b"")
        header = module("aerobee.protocol.headers.popping").AckHeader("g", "Orders", 0, "", 3)
        receipt = module("aerobee.protocol.consume.pop_receipt").decode_pop_receipt(
            "0 1700000000000 60000 5 0 broker-a 0 3"
        )
        request = SimpleNamespace(channel=CHANNEL, command=SimpleNamespace(is_oneway=False))
        self.plain.learn(request, header, receipt)
        assert self.take([LIKE])[0] == 2

    def take(self, acks: list[tuple[str, ...]]) -> tuple[int, list[Any], bytes]:
        """How many of a read were taken (none, some, all), their runs and the answers to them."""
        self._frames.receive(b"".join(map(ack_frame, acks)))
        taken = 0
        if self._frames.advance():
            taken = self.plain.take_all(CHANNEL, self._frames)
        while self._frames.advance():
            pass  # what is left is not for here
        runs = self.plain.take_runs()
        for run in runs:
            self.plain.answer(run, self._output)
        shown = [
            (run.key(), run.revive_queue, run.revive_time(), list(run.offsets), list(run.opaques))
            for run in runs
        ]
        return taken, shown, self._output.take()


EDGES = ["0", "1", "-1", "-0", "007", "2147483647", "2147483648", "9223372036854775807", "9" * 19]
STRANGE = st.builds(
    lambda index, edge: (*LIKE[:index], edge, *LIKE[index + 1 :]),
    st.integers(0, 8),
    st.sampled_from(EDGES),
)
USUAL = st.builds(
    lambda queue, offset, start: (queue, offset, start, *LIKE[3:]),
    st.sampled_from("01"),
    st.integers(0, 11).map(str),
    st.sampled_from("012"),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(USUAL, STRANGE), min_size=1, max_size=12))
def test_both_take_the_same_and_gather_it_alike(acks: list[tuple[str, ...]]) -> None:
    compiled, interpreted = AckRig(), AckRig(pure)
    assert compiled.take(acks) == interpreted.take(acks)
    for ack in acks:
        assert compiled.take([ack]) == interpreted.take([ack])
