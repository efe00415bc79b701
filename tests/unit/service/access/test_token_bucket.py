"""Unit tests of token buckets."""

from aerobee.service.access import token_bucket
from aerobee.service.access.token_bucket import TokenBuckets


def test_a_second_has_as_many_tokens_as_its_rate() -> None:
    buckets = TokenBuckets(10)
    for _ in range(10):
        assert buckets.wait_ms("a", 1_000) == 0
        buckets.take("a", 1, 1_000)
    wait_ms = buckets.wait_ms("a", 1_000)
    assert 100 <= wait_ms <= 101
    assert buckets.wait_ms("a", 1_000 + wait_ms) == 0
    assert buckets.wait_ms("b", 1_000) == 0


def test_a_debt_is_paid_at_the_rate() -> None:
    buckets = TokenBuckets(1_000)
    buckets.take("a", 5_000, 0)
    assert 4_000 <= buckets.wait_ms("a", 0) <= 4_002
    assert buckets.wait_ms("a", 4_002) == 0


def test_tokens_are_not_saved_beyond_a_second() -> None:
    buckets = TokenBuckets(10)
    buckets.take("a", 1, 0)
    for _ in range(10):
        buckets.take("a", 1, 3_600_000)
    assert buckets.wait_ms("a", 3_600_000) > 0


def test_names_are_bounded_and_those_in_debt_are_kept() -> None:
    buckets = TokenBuckets(10)
    buckets.take("debtor", 1_000, 0)
    for number in range(token_bucket.NAMES_MAX + 10):
        buckets.take(number, 1, 0)
    assert buckets.wait_ms("debtor", 0) > 0
