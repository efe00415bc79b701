"""A little of everything that a broker counts: sends, pulls, lag, a dead letter, clients."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.broker_kit import pull_fields
from tests.process_kit import SECONDS_MAX
from tests.send_rig import send_frame
from tests.wire_client import WireClient

TOPIC = "Orders"
GROUP = "watchers"
QUEUE = {"topic": TOPIC, "queueId": "0"}


class Traffic:
    """One client that does all of it, again and again."""

    def __init__(self, port: int) -> None:
        self._client = WireClient(port)
        subscription = make_subscription(TOPIC, "*", 1)
        consumer = ConsumerBeat(GROUP, subscriptions=(subscription,))
        beat = Heartbeat("watcher", ("producers",), (consumer,))
        self._ask(34, body=encode_heartbeat(beat))
        self.offset = 0

    def flow(self) -> None:
        """Three messages in, two out, one committed, one of them a dead letter."""
        for _ in range(3):
            self._answer_to(send_frame({"e": "0"}, b"a message"))
        fields = pull_fields(
            consumerGroup=GROUP, suspendTimeoutMillis=0, queueOffset=self.offset, maxMsgNums=2
        )
        pulled = self._ask(11, fields)
        message = decode_records(bytes(pulled.body))[0]
        back = {"offset": str(message.log_offset), "group": GROUP, "delayLevel": "-1"}
        self._ask(36, {**back, "originTopic": TOPIC})
        self.offset += 1
        commit = {"consumerGroup": GROUP, **QUEUE, "commitOffset": str(self.offset)}
        self._ask(15, commit)

    def _ask(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> RemotingCommand:
        command = RemotingCommand(code, ext_fields=dict(fields or {}), body=body)
        return self._answer_to(b"".join(encode(command)))

    def _answer_to(self, frame: bytes) -> RemotingCommand:
        """The next answer; what the broker wants of its client by itself is passed over."""
        self._client.write(frame)
        while True:
            answer = self._client.read()
            assert answer is not None, "the connection was closed"
            if answer.is_response:
                assert answer.code == 0, answer.remark
                return answer

    def close(self) -> None:
        self._client.close()


class Shown(NamedTuple):
    status: int
    content_type: str
    text: str


def shown(port: int, path: str) -> Shown:
    """A page of a process."""
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=SECONDS_MAX) as answer:
            status, headers, body = answer.status, answer.headers, answer.read()
    except HTTPError as error:
        status, headers, body = error.code, error.headers, error.read()
    return Shown(status, headers.get("Content-Type", ""), body.decode())
