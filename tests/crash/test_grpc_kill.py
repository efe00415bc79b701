"""A broker is killed with SIGKILL between receives and acknowledgements of a client of gRPC.

A message whose send was answered OK comes until it is acknowledged, and never again if that was its
first delivery. One that came again may come once more: the kill may fall between its copy and the
note of that (`docs/formats/pop.md`).

KILL_CYCLES=1000   cycles at night
"""

import os
import random
import time
from pathlib import Path

import pytest

from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    ChangeInvisibleDurationRequest,
    SendMessageRequest,
)
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Duration, GrpcMessage, Resource
from tests.broker_kit import create_fields
from tests.grpc_caller import SECONDS_MAX, GrpcCaller
from tests.grpc_kit import message, receiving, typed
from tests.process_kit import SMALL_FILES, Started
from tests.wire_client import WireClient

CYCLES = 2
NIGHT_CYCLES = int(os.environ.get("KILL_CYCLES", "1000"))
INVISIBLE_SECONDS = 10
SENDS_MAX = 30
CREATE_TOPIC = 17
GROUP, TOPIC = Resource("", "g"), Resource("", "orders")


class Story:
    """The life of one store, from kill to kill."""

    def __init__(self, folder: Path, *, is_patient: bool) -> None:
        """`is_patient`: some messages are left to come again by themselves, after ten seconds."""
        self._is_patient = is_patient
        self._folder = folder
        self._generator = random.Random("a client of gRPC whose broker is killed")
        folder.joinpath("broker.conf").write_text(
            f"storePathRootDir={folder}/store\ngrpcServerPort=0\n{SMALL_FILES}"
        )
        self.sent: set[bytes] = set()
        self.acknowledged: set[bytes] = set()
        """Those of which an acknowledgement was answered OK."""
        self.settled: set[bytes] = set()
        """Those of them that were delivered once."""
        self.tried: set[bytes] = set()
        """Those of which it was not answered, and may count."""
        self.again = 0
        """Messages that came again."""
        self._attempts: dict[bytes, int] = {}

    def _start(self) -> Started:
        path = str(self._folder / "broker.conf")
        return Started(self._folder, "broker", "start", "-c", path, "--port", "0")

    def run(self) -> None:
        """One cycle: some are sent, some received, these acknowledged or not; then the kill."""
        draw = self._generator.randint
        with self._start() as broker, self._caller(broker) as caller:
            for _ in range(draw(1, SENDS_MAX)):
                self._send(caller)
            for one in self._receive(caller, draw(1, SENDS_MAX)):
                match draw(0, 2 if self._is_patient else 1):
                    case 0:
                        self._acknowledge(caller, one)
                    case 1:
                        self._postpone(caller, one)
            # One more is on its way.
            for one in self._receive(caller, 1):
                self.tried.add(one.body)
                caller.begin("AckMessage", _ack(one), is_whole=True)
            broker.process.kill()
            broker.end()

    def finish(self) -> None:
        """Everything that was not acknowledged comes, and nothing else."""
        with self._start() as broker, self._caller(broker) as caller:
            end_s = time.monotonic() + SECONDS_MAX
            while self.sent - self.acknowledged - self.tried and time.monotonic() < end_s:
                for one in self._receive(caller, 32, poll_ms=1_000):
                    self._acknowledge(caller, one)
            assert broker.stop()[0] == 0
        assert self.sent - self.acknowledged - self.tried == set(), "lost"

    def _caller(self, broker: Started) -> GrpcCaller:
        ports = broker.ports()
        with WireClient(ports["broker"]) as client:
            answer = client.ask(CREATE_TOPIC, create_fields(typed("orders", "NORMAL", 2)))
            assert answer.code == 0, answer.remark
        return GrpcCaller(ports["gRPC"])

    def _send(self, caller: GrpcCaller) -> None:
        body = b"m%d" % len(self.sent)
        (answer,) = caller.call("SendMessage", SendMessageRequest([message(body=body)])).messages
        assert answer.status.code == GrpcCode.OK, answer.status
        self.sent.add(body)

    def _receive(self, caller: GrpcCaller, count: int, poll_ms: int = 0) -> list[GrpcMessage]:
        request = receiving(invisible_s=INVISIBLE_SECONDS, batch=count, poll_ms=poll_ms)
        answers = caller.call("ReceiveMessage", request).messages
        found = [one.message for one in answers if one.message is not None]
        for one in found:
            assert one.body in self.sent
            assert one.body not in self.settled, (one.body, "was acknowledged")
            attempt = one.system_properties.delivery_attempt
            self.again += attempt > 1
            # The same again, if the kill came before the group's position was saved.
            assert attempt >= self._attempts.get(one.body, 0), (one.body, "is counted down")
            self._attempts[one.body] = attempt
        return found

    def _acknowledge(self, caller: GrpcCaller, one: GrpcMessage) -> None:
        (answer,) = caller.call("AckMessage", _ack(one)).messages
        assert answer.status.code == GrpcCode.OK, answer.status
        self.acknowledged.add(one.body)
        if self._attempts[one.body] == 1:
            self.settled.add(one.body)

    def _postpone(self, caller: GrpcCaller, one: GrpcMessage) -> None:
        (answer,) = caller.call("ChangeInvisibleDuration", _change(one, 1)).messages
        assert answer.status.code == GrpcCode.OK, answer.status


def _change(one: GrpcMessage, seconds: int) -> ChangeInvisibleDurationRequest:
    system = one.system_properties
    assert system is not None
    handle, wanted = system.receipt_handle or "", Duration(seconds)
    return ChangeInvisibleDurationRequest(GROUP, TOPIC, handle, wanted, system.message_id)


def _ack(one: GrpcMessage) -> AckMessageRequest:
    system = one.system_properties
    assert system is not None
    entry = AckMessageEntry(system.message_id, system.receipt_handle or "")
    return AckMessageRequest(GROUP, TOPIC, [entry])


def kill(folder: Path, count: int, *, is_patient: bool) -> None:
    story = Story(folder, is_patient=is_patient)
    for _ in range(count):
        story.run()
    story.finish()
    assert len(story.settled) > count
    assert story.again > 0, "every message was acknowledged the first time"


def test_a_client_of_a_broker_that_is_killed_gets_again_what_it_did_not_acknowledge(
    tmp_path: Path,
) -> None:
    kill(tmp_path, CYCLES, is_patient=False)


@pytest.mark.night
def test_a_client_of_a_broker_that_is_killed_all_night_loses_nothing(tmp_path: Path) -> None:
    kill(tmp_path, NIGHT_CYCLES, is_patient=True)
