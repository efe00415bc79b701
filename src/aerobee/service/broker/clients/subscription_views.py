"""SubscriptionViews compares the subscriptions that the members of one group send.

All members of a group should send the same: the group has one subscription for each topic, the
latest, and a member that expects another gets the wrong messages, or queues that no member reads.
Old and new versions of a program side by side cause that, and two programs with one group's name.

A view is a member's subscriptions to all topics, the group's own retry topic aside; tags have no
order in it and versions do not count. Members with the same view share it, so that a group of a
thousand members holds one.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import Subscription
from aerobee.ports.service import ChannelId

SHOWN_MAX = 100
"""Limit of the differences shown for one group."""

View: TypeAlias = frozenset[tuple[str, str, str]]
"""(topic, type of expression, expression) of every topic."""


class Difference(NamedTuple):
    """A topic for which the members of a group have different subscriptions."""

    topic: str
    said: Mapping[str, list[ChannelId]]
    """The members' channels by expression, `-` for no subscription."""


class SubscriptionViews:
    """The views of a group's members. V1. A view is kept as long as a member has it."""

    __slots__ = ("_by_channel", "_counts", "has_news", "weight")

    def __init__(self) -> None:
        self._by_channel: dict[ChannelId, View] = {}
        self._counts: dict[View, int] = {}
        # Whether members have come to differ, to differ otherwise, or to agree again.
        self.has_news = False
        # Number of subscriptions held, plus one for each 100 characters.
        self.weight = 0

    @property
    def is_mixed(self) -> bool:
        return len(self._counts) > 1

    def take(self, channel: ChannelId, said: Iterable[Subscription]) -> None:
        """Set the view of a member."""
        view = view_of(said)
        before = self._by_channel.get(channel)
        if before == view:
            return
        was_mixed = self.is_mixed
        is_new = view not in self._counts
        if is_new:
            self._counts[view] = 0
            self.weight += _weight(view)
        self._counts[view] += 1
        self._by_channel[channel] = view
        is_changed = self._release(before) or is_new
        # A change of the only view is no news.
        if is_changed and (was_mixed or self.is_mixed):
            self.has_news = True

    def drop(self, channel: ChannelId) -> None:
        """Remove a member."""
        was_mixed = self.is_mixed
        if self._release(self._by_channel.pop(channel, None)) and was_mixed:
            self.has_news = True

    def _release(self, view: View | None) -> bool:
        """A member has this view no more; whether it was the last one."""
        if view is None:
            return False
        self._counts[view] -= 1
        if self._counts[view] > 0:
            return False
        del self._counts[view]
        self.weight -= _weight(view)
        return True

    def differences(self) -> list[Difference]:
        """The topics for which members have different subscriptions."""
        if not self.is_mixed:
            return []
        expressions = {
            view: {topic: f"{kind}: {text}" for topic, kind, text in view} for view in self._counts
        }
        topics = sorted({topic for said in expressions.values() for topic in said})
        found = []
        for topic in topics:
            if len({said.get(topic) for said in expressions.values()}) > 1:
                by_text: dict[str, list[ChannelId]] = {}
                for channel, view in self._by_channel.items():
                    by_text.setdefault(expressions[view].get(topic, "-"), []).append(channel)
                found.append(Difference(topic, by_text))
                if len(found) == SHOWN_MAX:
                    break
        return found


def view_of(said: Iterable[Subscription]) -> View:
    return frozenset(
        (one.topic, one.expression_type, _canonical(one))
        for one in said
        if not is_retry_topic(one.topic)
    )


def _canonical(subscription: Subscription) -> str:
    if subscription.is_by_tag and subscription.tags:
        return " || ".join(sorted(subscription.tags))
    return subscription.expression


def _weight(view: View) -> int:
    return sum(1 + len(text) // 100 for _, _, text in view)
