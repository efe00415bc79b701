"""Queues are shared out as the Java client's own classes do, case by case."""

import random
import subprocess

import pytest

from aerobee.client.core.consume.allocation import (
    Averagely,
    AveragelyByCircle,
    ByMachineRoom,
    ConsistentHash,
    NearbyMachineRoom,
    Strategy,
    in_order,
)
from aerobee.model.message_queue import MessageQueue, QueueId
from tests.interop.apache import Jars

pytestmark = pytest.mark.java


def _room(name: str) -> str:
    return name.partition("@")[0]


STRATEGIES: tuple[Strategy, ...] = (
    Averagely(),
    AveragelyByCircle(),
    ConsistentHash(),
    ByMachineRoom({"r1", "r2"}),
    NearbyMachineRoom(_room, _room),
)


def test_every_member_gets_what_it_would_get_in_java(jars: Jars) -> None:
    choice = random.Random(7)
    cases: list[str] = []
    ours: list[str] = []
    for _ in range(150):
        brokers = [f"r{choice.randint(1, 3)}@b{number}" for number in range(choice.randint(1, 3))]
        made = {
            MessageQueue("T", broker, QueueId(number))
            for broker in brokers
            for number in range(choice.randint(1, 9))
        }
        ids = {
            f"r{choice.randint(1, 3)}@10.0.0.{choice.randint(1, 9)}#{choice.randint(1, 999)}"
            for _ in range(choice.randint(1, 7))
        }
        queues, members = in_order(made, ids)
        member = choice.choice(members)
        for strategy in STRATEGIES:
            said = ",".join(f"{queue.broker_name}:{queue.queue_id}" for queue in queues)
            cases.append(f"{strategy.name};{member};{','.join(members)};{said}")
            ours.append(_said(strategy.share(member, queues, members)))
    done = subprocess.run(
        jars.command("Allocation", options=("-Xmx128m",)),
        input="\n".join(cases) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [line[2:] for line in done.stdout.splitlines() if line.startswith("= ")]
    javas = [",".join(sorted(answer.split(","))) for answer in answers]
    assert len(javas) == len(cases)
    assert [pair for pair in zip(cases, ours, javas, strict=True) if pair[1] != pair[2]] == []


def _said(queues: list[MessageQueue]) -> str:
    return ",".join(sorted(f"{queue.broker_name}:{queue.queue_id}" for queue in queues))
