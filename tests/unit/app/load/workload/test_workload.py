import pytest

from aerobee.app.load.workload.workload import Workload, from_openmessaging, read_yaml
from aerobee.errors import Misuse

FILE = """
name: 1 topic / 16 partitions / 1kb
topics: 2
partitionsPerTopic: 16
keyDistributor: "NO_KEY"
messageSize: 512
payloadFile: "payload/payload-1Kb.data"
subscriptionsPerTopic: 3
consumerPerSubscription: 4
producersPerTopic: 5
producerRate: 50000
consumerBacklogSizeGB: 1
testDurationMinutes: 15
warmupDurationMinutes: 0.5
useRandomizedPayloads: false
"""


def test_an_openmessaging_file_says_what_it_says() -> None:
    said = read_yaml(FILE, "omb.yaml")
    workload = from_openmessaging(said, Workload(kind="roundtrip"))
    assert (workload.topics, workload.queues) == (2, 16)
    assert (workload.size_min, workload.size_max) == (512, 512)
    assert workload.payload_path == "payload/payload-1Kb.data"
    assert (workload.groups, workload.consumers, workload.producers) == (3, 4, 10)
    assert workload.rate == 50_000
    assert workload.backlog == 10**9 // 512
    assert (workload.duration, workload.warm_up) == (900, 30)
    assert workload.ignored == ("keyDistributor", "useRandomizedPayloads")


def test_a_producer_rate_of_nothing_is_theirs_for_as_fast_as_it_goes() -> None:
    assert from_openmessaging({"producerRate": 0}, Workload(rate=5.0)).rate is None


def test_a_backlog_is_for_those_who_consume() -> None:
    assert from_openmessaging({"consumerBacklogSizeGB": 1}, Workload()).backlog == 0


@pytest.mark.parametrize("value", ["many", True, -1, None, [1]])
def test_a_field_that_is_no_number_is_named(value: object) -> None:
    with pytest.raises(Misuse, match="topics"):
        from_openmessaging({"topics": value}, Workload())


@pytest.mark.parametrize("text", ["- 1\n- 2\n", "just words", "a: [1"])
def test_what_is_no_workload_file_is_said(text: str) -> None:
    with pytest.raises(Misuse, match=r"it\.yaml"):
        read_yaml(text, "it.yaml")


@pytest.mark.parametrize(
    "wrong",
    [
        {"topics": 0},
        {"batch": 0},
        {"in_flight": 0},
        {"processes": 0},
        {"duration": 0.0},
        {"warm_up": -1.0},
        {"count": 0},
        {"rate": 0.0},
        {"size_min": 0},
        {"size_min": 9, "size_max": 8},
        {"kind": "roundtrip", "size_min": 15},
    ],
)
def test_what_cannot_be_is_refused_with_a_hint(wrong: dict[str, object]) -> None:
    with pytest.raises(Misuse) as caught:
        Workload(**wrong)  # type: ignore[arg-type]
    assert caught.value.hint


def test_it_is_described_on_a_line() -> None:
    assert Workload(rate=5000.0, batch=8, processes=2).described() == (
        "1 × 8 queues, 1024 bytes, batches of 8, 256 in flight, 5,000/s, 2 processes"
    )
    assert Workload(kind="consume", topic="orders", groups=2, consumers=3).described() == (
        "orders, 1024 bytes, 2 groups of 3 consumers"
    )
