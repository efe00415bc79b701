"""What a consumer knows of its membership, whichever way the group consumes: by queues that its
members share, or by popping.
"""

from collections.abc import Mapping
from typing import Protocol

from aerobee.client.api.consumer_options import ConsumerOptions
from aerobee.client.pull.owned_queues import OwnedQueues
from aerobee.model.subscription import Subscription


class Member(Protocol):
    @property
    def group(self) -> str:
        """As on the wire."""

    @property
    def options(self) -> ConsumerOptions: ...

    @property
    def subscriptions(self) -> Mapping[str, Subscription]: ...

    @property
    def queues(self) -> OwnedQueues:
        """Those that are this member's now; none where messages are popped."""

    async def join(self) -> None: ...

    async def leave(self) -> None: ...

    def wake(self) -> None:
        """Something may have changed: members, routes."""
