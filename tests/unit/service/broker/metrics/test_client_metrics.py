from aerobee.model.subscription import ConsumeType
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.metrics.client_metrics import ClientMetrics
from tests.consumer_kit import ORDERS, ConsumerKit


def shown(
    kit: ConsumerKit, samples_max: int = 100
) -> dict[str, list[tuple[dict[str, str], float]]]:
    metrics = ClientMetrics(kit.consumers, kit.producers).metrics(samples_max)
    return {
        metric.name: [(dict(one.labels), float(str(one.value))) for one in metric.samples]
        for metric in metrics
    }


def test_producers_are_counted_by_language_and_version() -> None:
    kit = ConsumerKit()
    for client in ("a", "b"):
        kit.beat_as(client, Heartbeat(client, ("producers",), ()))
    assert shown(kit)["rocketmq_producer_connections"] == [
        ({"language": "java", "version": "513", "protocol_type": "remoting"}, 2)
    ]


def test_consumers_are_counted_by_group_and_by_how_they_consume() -> None:
    kit = ConsumerKit()
    kit.beat("a", "g")
    kit.beat("b", "g")
    beat = ConsumerBeat("h", consume_type=ConsumeType.ACTIVELY, subscriptions=(ORDERS,))
    kit.beat_as("c", Heartbeat("c", (), (beat,)))
    found = shown(kit)["rocketmq_consumer_connections"]
    assert [
        (labels["consumer_group"], labels["consume_mode"], count) for labels, count in found
    ] == [
        ("g", "push", 2),
        ("h", "pull", 1),
    ]
    assert found[0][0]["is_system"] == "false"


def test_groups_beyond_the_bound_are_counted_together() -> None:
    kit = ConsumerKit()
    for client in "abcde":
        kit.beat(client, f"group-{client}")
    found = shown(kit, samples_max=2)["rocketmq_consumer_connections"]
    assert [count for _, count in found] == [1, 4]


def test_members_that_subscribe_to_different_things_are_shown() -> None:
    kit = ConsumerKit()
    kit.beat("a", "g")
    kit.beat("b", "g")
    kit.beat("c", "h")
    found = shown(kit)
    assert found["aerobee_subscription_mismatches"] == [({}, 0)]
    assert found["aerobee_subscription_mismatch"] == []
    kit.beat("b", "g", [make_subscription("Orders", "paid", 2)])
    found = shown(kit)
    assert found["aerobee_subscription_mismatches"] == [({}, 1)]
    assert found["aerobee_subscription_mismatch"] == [({"consumer_group": "g"}, 1)]
