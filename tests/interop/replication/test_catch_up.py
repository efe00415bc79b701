"""An empty slave catches up with a master of the other make that has 2 GiB, while both are killed
and stopped on the way: the logs are the same bytes in the end, and the queues as long.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.interop.apache import Jars
from tests.interop.features.ground import Ground
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import Broker, Pair
from tests.interop.replication.conftest import BOTH_WAYS
from tests.interop.replication.log_bytes import wait_until_equal
from tests.interop.replication.metadata import queue_ends
from tests.interop.replication.traffic import QUEUES, fill

# Each way takes some minutes.
pytestmark = [pytest.mark.java, pytest.mark.timeout(1200)]

TOPIC = "Large"
STORE_BYTES = 2 << 30
SIZES = (100, 2_000, 1 << 20, 2 << 20)
SETTINGS = {
    "mappedFileSizeCommitLog": 256 << 20,
    "maxMessageSize": 4 << 20,
    # As fast as it could, a master sends a third of everything while this test looks away.
    "haFlowControlEnable": "true",
    "maxHaTransferByteInSecond": 64 << 20,
}
SECONDS_MAX = 300
STEP_SECONDS = 0.1

_never = threading.Event()

INTERRUPTIONS: list[tuple[float, Callable[[Pair], Broker], Callable[[Broker], None]]] = [
    (0.1, lambda pair: pair.slave, Broker.kill),
    (0.3, lambda pair: pair.master, Broker.kill),
    (0.5, lambda pair: pair.slave, Broker.stop),
    (0.7, lambda pair: pair.master, Broker.stop),
]
"""At this part of the copy, who is ended, and how."""


@pytest.fixture(params=BOTH_WAYS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    with Pair(request.param, folder, jars, SETTINGS) as made:
        made.master.start()
        yield made
    shutil.rmtree(folder)


def test_a_slave_catches_up_with_two_gigabytes_whatever_ends_on_the_way(
    pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    master, slave = pair.master, pair.slave
    Ground(master).create_topic(TOPIC)
    count = fill(master, TOPIC, STORE_BYTES, seed=11, sizes=SIZES)
    wanted = master.log_end()
    assert wanted > STORE_BYTES
    began = time.monotonic()
    master.freeze()
    slave.start()
    for part, chosen, end in INTERRUPTIONS:
        _copy(pair, int(part * wanted))
        assert slave.log_end() < wanted, f"the {part:.0%} mark was seen too late"
        broker = chosen(pair)
        if broker is master:
            master.thaw()
        end(broker)
        broker.start()
    until(_has(slave, wanted), SECONDS_MAX, "all is copied")
    seconds = time.monotonic() - began
    wait_until_equal(master, slave, SECONDS_MAX)
    assert sum(queue_ends(master, TOPIC, QUEUES)) == count
    until(
        lambda: queue_ends(slave, TOPIC, QUEUES) == queue_ends(master, TOPIC, QUEUES),
        SECONDS_MAX,
        "the slave's queues have as many messages",
    )
    with capsys.disabled():
        what = f"{slave.make} slave of {master.make} master, {wanted >> 20} MiB, {count} messages"
        print(f"\n{what}: copied in {seconds:.0f} s, with {len(INTERRUPTIONS)} interruptions")


def _copy(pair: Pair, offset: int) -> None:
    """Have the slave copy up to an offset, or a little more. The master stands still whenever
    nobody looks: much could be copied before a slave is ready or has answered."""

    def step() -> bool:
        pair.master.thaw()
        _never.wait(STEP_SECONDS)
        pair.master.freeze()
        return pair.slave.log_end() >= offset

    until(step, SECONDS_MAX, f"{offset} bytes are copied")


def _has(broker: Broker, offset: int) -> Callable[[], bool]:
    return lambda: broker.log_end() >= offset
