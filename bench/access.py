"""`python -m bench.access`: what the check of a signature costs a send on the fast path.

python -m bench.access                 # the least CPU time of 30 runs of 1,000 sends of 100 bytes
python -m bench.access --runs 5        # a first look

The sends are handled in this process, sockets not included, by brokers that take turns: one without
users, one that checks each request, one with RocketMQ's stateful strategy.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from aerobee.model.access import Rule
from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader, is_compiled
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.access.config import OPEN, AccessConfig
from bench.broker import verdict
from tests.access_kit import ACCESS, IDENTITY, ask_as, make_user, signed
from tests.broker_kit import CLIENT, STORAGE, BrokerKit, create_fields

TOPIC = TopicConfig("Orders", 4, 4)
BODY = b"x" * 100
SENDS = 1_000
ROOMY = replace(STORAGE, log_file_bytes=8 << 20, queue_file_units=100_000)
STATELESS_GOAL_US, STATEFUL_GOAL_US = 3.0, 0.5
SENT: Mapping[str, str] = {
    "a": "bench-producers",
    "b": TOPIC.name,
    "c": "TBW102",
    "d": "4",
    "e": "0",
    "f": "0",
    "g": "1700000000000",
    "h": "0",
    "i": "UNIQ_KEY\x01" + "7F000001" * 4 + "\x02WAIT\x01true\x02TAGS\x01TagA\x02",
    "j": "0",
    "k": "false",
    "m": "false",
    "n": "broker-a",
}
WAYS: Mapping[str, AccessConfig] = {
    "without users": OPEN,
    "each request checked": ACCESS,
    "stateful strategy": replace(ACCESS, trusts_connections=True),
}
FORMS = {"JSON": 0, "binary": 1}


class Sends:
    """A broker, and one read of a connection that brings all sends."""

    def __init__(self, access: AccessConfig, serialize_type: int) -> None:
        self._kit = BrokerKit(identity=replace(IDENTITY, access=access), storage=ROOMY)
        super_user = "root" if access.authenticates else None
        assert ask_as(self._kit, super_user, 17, create_fields(TOPIC)).code == 0
        if access.authenticates:
            make_user(self._kit, "alice", Rule("Topic:Orders", ("Pub",)))
        fields = signed("alice" if access.authenticates else None, SENT, BODY)
        command = RemotingCommand(310, opaque=7, ext_fields=fields, body=BODY)
        command.serialize_type = serialize_type
        self._frame = b"".join(encode(command))
        self._kit.send_frames(self._frame)  # the general path decides
        self._kit.finish()

    def run_us(self) -> float:
        """CPU time of one send."""
        frames, output = FrameReader(FrameLimits()), ReplyBuffer()
        broker, now = self._kit.broker, self._kit.clock.now()
        frames.receive(self._frame * SENDS)
        left = 0
        began = time.process_time_ns()
        while frames.advance() and broker.take(CLIENT, frames, output, now):
            decode(frames)
            left += 1
        took_ns = time.process_time_ns() - began
        if left:
            raise SystemExit(f"{left} of {SENDS} sends were left to the general path")
        self._kit.carry_out(broker.settle(now))
        self._kit.finish()
        return took_ns / SENDS / 1000


def measure(runs: int) -> dict[tuple[str, str], float]:
    sends = {
        (way, form): Sends(access, number)
        for form, number in FORMS.items()
        for way, access in WAYS.items()
    }
    least = dict.fromkeys(sends, float("inf"))
    for _ in range(runs):
        for name, one in sends.items():
            least[name] = min(least[name], one.run_us())
    return least


def table(least: Mapping[tuple[str, str], float]) -> str:
    goals = dict(zip(list(WAYS)[1:], (STATELESS_GOAL_US, STATEFUL_GOAL_US), strict=True))
    lines: list[Sequence[str]] = [["", *FORMS, "goal"], ["---"] * (len(FORMS) + 2)]
    without = next(iter(WAYS))
    for way in WAYS:
        cells = []
        more = []
        for form in FORMS:
            took = least[way, form]
            more.append(took - least[without, form])
            cells.append(f"{took:.2f} µs" + (f" (+{more[-1]:.2f})" if way != without else ""))
        goal = goals.get(way)
        shown = "" if goal is None else verdict(f"+ ≤ {goal:g} µs", max(more) <= goal)
        lines.append([way, *cells, shown])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    print("compiled" if is_compiled() else "pure Python", end="\n\n")
    print(table(measure(options.runs)))


if __name__ == "__main__":
    main()
