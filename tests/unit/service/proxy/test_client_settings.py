import json
from typing import Any

import pytest

from aerobee.model.group import GroupConfig
from aerobee.protocol.grpc.codes import ClientType
from aerobee.protocol.grpc.resources import (
    ClientSettings,
    Duration,
    GrpcSubscription,
    Publishing,
    Resource,
)
from aerobee.service.proxy.client_settings import (
    consumer_settings,
    producer_settings,
    retry_delay_ms,
)
from tests.grpc_kit import GrpcKit, typed

CONSUMER = ClientSettings(
    client_type=ClientType.PUSH_CONSUMER, subscription=GrpcSubscription(Resource("", "g"))
)


def delays_ms(settings: ClientSettings) -> list[int]:
    policy = settings.backoff_policy
    assert policy is not None
    assert policy.customized_backoff is not None
    return [one.ms for one in policy.customized_backoff.next]


def test_a_producer_gets_everything_that_clients_need_to_start() -> None:
    said = ClientSettings(publishing=Publishing([Resource("", "t")]), request_timeout=Duration(7))
    settings = producer_settings(said, 4_096)
    assert settings.publishing == Publishing([Resource("", "t")], 4_096, True)
    assert settings.request_timeout == Duration(7)
    policy = settings.backoff_policy
    assert policy is not None
    assert policy.max_attempts == 3
    assert policy.exponential_backoff is not None
    assert policy.exponential_backoff.initial == Duration(0, 10_000_000)


def test_a_consumer_of_an_unknown_group_gets_the_defaults() -> None:
    settings = consumer_settings(CONSUMER, None)
    subscription = settings.subscription
    assert subscription is not None
    assert (subscription.fifo, subscription.receive_batch_size) == (False, 32)
    assert subscription.long_polling_timeout == Duration(20)
    assert settings.backoff_policy is not None
    assert settings.backoff_policy.max_attempts == 17
    assert delays_ms(settings)[:5] == [1_000, 5_000, 10_000, 30_000, 60_000]
    assert len(delays_ms(settings)) == 18


def test_a_groups_order_retries_and_policy_are_told() -> None:
    policy = {"type": "CUSTOMIZED", "customizedRetryPolicy": {"next": [10, 20]}}
    group = GroupConfig("g", is_orderly=True, retries_max=4, retry_policy=policy)
    settings = consumer_settings(CONSUMER, group)
    assert settings.subscription is not None
    assert settings.subscription.fifo is True
    assert settings.backoff_policy is not None
    assert settings.backoff_policy.max_attempts == 5
    assert delays_ms(settings) == [10, 20]


def test_an_exponential_policy_is_told() -> None:
    policy = {"type": "EXPONENTIAL", "exponentialRetryPolicy": {"initial": 100, "multiplier": 3}}
    settings = consumer_settings(CONSUMER, GroupConfig("g", retry_policy=policy))
    assert settings.backoff_policy is not None
    backoff = settings.backoff_policy.exponential_backoff
    assert backoff is not None
    assert (backoff.initial, backoff.max, backoff.multiplier) == (
        Duration(0, 100_000_000),
        Duration(7_200),
        3.0,
    )


def test_a_policy_that_is_none_counts_as_the_default() -> None:
    for broken in ({"customizedRetryPolicy": {"next": ["x"]}}, {"customizedRetryPolicy": 7}, {}):
        assert (
            len(delays_ms(consumer_settings(CONSUMER, GroupConfig("g", retry_policy=broken)))) == 18
        )


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 10), (1, 30), (2, 60), (15, 7_200), (100, 7_200)]
)
def test_a_message_comes_again_after_the_step_of_its_failures(failures: int, seconds: int) -> None:
    assert retry_delay_ms(None, failures) == seconds * 1_000


@pytest.mark.parametrize(("failures", "seconds"), [(0, 5), (1, 10), (3, 40), (40, 7_200)])
def test_delays_that_grow_double_up_to_two_hours(failures: int, seconds: int) -> None:
    group = GroupConfig("g", retry_policy={"type": "EXPONENTIAL"})
    assert retry_delay_ms(group, failures) == seconds * 1_000


# What lists of clients show.

OWN_VERSION = 513


def agent(language: str, version: str) -> dict[str, Any]:
    return {"metadata": {"x-mq-language": language, "x-mq-client-version": version}}


def listed(kit: GrpcKit, code: int, fields: dict[str, str]) -> list[dict[str, Any]]:
    answer = kit.ask(code, fields)
    assert answer.code == 0
    rows: list[dict[str, Any]] = json.loads(bytes(answer.body))["connectionSet"]
    return rows


@pytest.mark.parametrize(
    ("said", "language", "version"),
    [
        (("GO", "5.1.4"), "GO", 441),
        (("JAVA", "5.0.7"), "JAVA", 427),
        (("HTTP", "1.0.7"), "HTTP", OWN_VERSION),
        (("COBOL", "5.12.1"), "OTHER", OWN_VERSION),
        (("", ""), "OTHER", OWN_VERSION),
        (("PYTHON", "5.1.2-SNAPSHOT"), "PYTHON", 437),
    ],
)
def test_a_client_is_listed_with_its_program(
    said: tuple[str, str], language: str, version: int
) -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.produce("orders", client="p", **agent(*said))
    kit.consume("g", "orders", client="c", **agent(*said))
    for code, fields, client in (
        (203, {"consumerGroup": "g"}, "c"),
        (204, {"producerGroup": "orders"}, "p"),
    ):
        (row,) = listed(kit, code, fields)
        assert row["clientId"] == client
        assert (row["language"], row["version"]) == (language, version)
        assert (row["protocolType"], row["clientAddr"]) == ("grpc", "10.0.0.9:50000")


def test_the_table_of_all_producers_has_those_of_grpc() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.produce("orders", client="p", **agent("RUST", "5.0.0"))
    (row,) = json.loads(bytes(kit.ask(328).body))["data"]["orders"]
    assert (row["clientId"], row["language"], row["protocolType"]) == ("p", "RUST", "grpc")


def test_monitoring_tells_the_protocols_apart() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.produce("orders", client="p", **agent("GO", "5.1.4"))
    kit.beat("remote", "g", {"orders": "*"})
    found = {
        metric.name: [dict(one.labels) for one in metric.samples]
        for metric in kit.broker.watch.metrics(kit.clock.now())
    }
    (producer,) = found["rocketmq_producer_connections"]
    assert (producer["protocol_type"], producer["language"]) == ("grpc", "go")
    (consumer,) = found["rocketmq_consumer_connections"]
    assert consumer["protocol_type"] == "remoting"
