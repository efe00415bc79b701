"""`Member`: the membership of a consumer in its group, the same for pull and for pop.

A pulling member owns queues; a popping one owns none.
"""

from collections.abc import Mapping
from typing import Protocol

from aerobee.client.api.consumer_options import ConsumerOptions
from aerobee.client.pull.owned_queues import OwnedQueues
from aerobee.model.subscription import Subscription


class Member(Protocol):
    @property
    def group(self) -> str:
        """The name of the group on the wire."""

    @property
    def options(self) -> ConsumerOptions: ...

    @property
    def subscriptions(self) -> Mapping[str, Subscription]: ...

    @property
    def queues(self) -> OwnedQueues:
        """The queues that this member owns now; none if it pops."""

    async def join(self) -> None: ...

    async def leave(self) -> None: ...

    def wake(self) -> None:
        """Look again at members and routes: they may have changed."""
