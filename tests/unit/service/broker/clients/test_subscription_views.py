"""Unit tests of what the members of a group say it subscribes to."""

from aerobee.model.subscription import Subscription
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.clients.subscription_views import (
    SHOWN_MAX,
    SubscriptionViews,
    view_of,
)

A, B, C = ChannelId(1), ChannelId(2), ChannelId(3)


def tags(expression: str, version: int = 1, topic: str = "T") -> Subscription:
    return make_subscription(topic, expression, version)


def sql(expression: str) -> Subscription:
    return make_subscription("T", expression, 1, "SQL92")


def test_views_are_the_same_whatever_the_version_and_the_order_of_tags() -> None:
    assert view_of([tags("a || b", 1)]) == view_of([tags("b||a", 2)])
    assert view_of([tags("a"), tags("b", topic="U")]) == view_of([tags("b", topic="U"), tags("a")])
    assert view_of([tags("a"), tags("*", topic="%RETRY%g")]) == view_of([tags("a")])
    assert view_of([tags("a")]) != view_of([tags("b")])
    assert view_of([tags("a")]) != view_of([sql("a")])
    assert view_of([tags("a")]) != view_of([tags("a", topic="U")])
    assert view_of([sql("a = 1")]) != view_of([sql("a = 2")])


def test_members_that_say_the_same_are_not_mixed() -> None:
    views = SubscriptionViews()
    for channel in (A, B, C):
        views.take(channel, [tags("a")])
        views.take(channel, [tags("a", 2)])
    assert not views.is_mixed
    assert not views.has_news
    assert views.differences() == []


def test_one_that_says_otherwise_is_seen_until_it_goes() -> None:
    views = SubscriptionViews()
    views.take(A, [tags("a")])
    views.take(B, [tags("b")])
    assert views.is_mixed
    assert views.has_news
    ((topic, said),) = views.differences()
    assert (topic, dict(said)) == ("T", {"TAG: a": [A], "TAG: b": [B]})
    views.has_news = False
    views.drop(B)
    assert not views.is_mixed
    assert views.has_news


def test_one_that_comes_to_agree_ends_it() -> None:
    views = SubscriptionViews()
    views.take(A, [tags("a")])
    views.take(B, [tags("b")])
    views.has_news = False
    views.take(B, [tags("b", 9)])
    assert not views.has_news
    views.take(B, [tags("a")])
    assert not views.is_mixed
    assert views.has_news


def test_a_member_that_is_alone_may_change_its_mind_and_go() -> None:
    views = SubscriptionViews()
    views.take(A, [tags("a")])
    views.take(A, [tags("b")])
    views.drop(A)
    views.drop(A)
    assert not views.has_news
    assert views.weight == 0


def test_a_topic_that_some_do_not_subscribe_to_is_a_difference() -> None:
    views = SubscriptionViews()
    views.take(A, [tags("a"), tags("*", topic="U")])
    views.take(B, [tags("a")])
    ((topic, said),) = views.differences()
    assert (topic, dict(said)) == ("U", {"TAG: *": [A], "-": [B]})


def test_a_view_is_held_once_however_many_share_it() -> None:
    views = SubscriptionViews()
    views.take(A, [tags("a"), sql("x" * 1000)])
    weight = views.weight
    for number in range(2, 100):
        views.take(ChannelId(number), [tags("a"), sql("x" * 1000)])
    assert views.weight == weight == 12
    for number in range(1, 100):
        views.drop(ChannelId(number))
    assert views.weight == 0


def test_no_more_differences_are_told_than_can_be_read() -> None:
    views = SubscriptionViews()
    views.take(A, [tags("a", topic=f"T{number}") for number in range(2 * SHOWN_MAX)])
    views.take(B, [])
    assert len(views.differences()) == SHOWN_MAX
