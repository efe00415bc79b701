"""The times for which a slow broker is left alone and a failed message waits: as in the Java
client's own classes."""

import random
import subprocess

import pytest

from aerobee.client.core.consume.backoff import DELAY_SECONDS, POP_SECONDS
from aerobee.client.core.send.latency_faults import (
    ISOLATION_LATENCY_MS,
    LATENCY_TABLE,
    LatencyFaults,
)
from tests.interop.apache import Jars

pytestmark = pytest.mark.java

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def ask(jars: Jars, *questions: str) -> list[str]:
    done = subprocess.run(
        jars.command("ClientTables", options=("-Xmx128m",)),
        input="\n".join(questions) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [line[2:] for line in done.stdout.splitlines() if line.startswith("= ")]


def test_a_slow_broker_is_left_alone_for_as_long(jars: Jars) -> None:
    choice = random.Random(3)
    edges = [at + step for at, _ in LATENCY_TABLE for step in (-1, 0, 1)]
    latencies = [0, *edges, *(choice.randint(0, 40_000) for _ in range(300))]
    faults = LatencyFaults()
    ours = [str(faults.rest_ms(latency)) for latency in latencies]
    ours += [str(faults.rest_ms(ISOLATION_LATENCY_MS)) for _ in latencies]
    asked = [f"rest {latency} {said}" for said in ("false", "true") for latency in latencies]
    javas = ask(jars, *asked)
    assert len(javas) == len(asked)
    assert [one for one in zip(asked, ours, javas, strict=True) if one[1] != one[2]] == []


def test_a_failed_message_comes_again_after_as_long(jars: Jars) -> None:
    popped, levels = ask(jars, "pop", "levels")
    assert tuple(map(int, popped.split())) == POP_SECONDS
    assert tuple(int(one[:-1]) * _SECONDS[one[-1]] for one in levels.split()) == DELAY_SECONDS
