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
