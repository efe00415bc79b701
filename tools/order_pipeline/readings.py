"""Progress of each stage: the database's changes, the topic's messages, the offsets of queries.

Offsets are next-to-read, and a queue begins at 0: so the sum of them is a number of messages.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from aerobee.client.sync.sync_client import SyncClient
from aerobee.pipeline.jobs.progress_line import places_of
from tools.order_pipeline.picture import Sample
from tools.order_pipeline.shop import Shop


class Readings:
    """Samples of a run, and whether it has come to its end."""

    def __init__(
        self, shop: Shop, client: SyncClient, topic: str, table: Any, statistics: Any
    ) -> None:
        self._shop = shop
        self._client = client
        self._topic = topic
        self._queries = (table, statistics)
        self._began = time.monotonic()
        self.samples: list[Sample] = []

    def take(self) -> Sample:
        changed = self._shop.changes
        captured = messages_of(self._client, self._topic)
        applied, counted = (_read(_progress(query)) for query in self._queries)
        sample = Sample(
            time.monotonic() - self._began,
            changed,
            captured,
            applied,
            lag_of_table=max(0, captured - applied),
            lag_of_statistics=max(0, captured - counted),
        )
        self.samples.append(sample)
        return sample

    def has_all(self) -> bool:
        """Whether all changes are in the topic, and both queries have read all of it. An update
        that changes nothing is none; one of a key would be two, and there is none of those."""
        captured = messages_of(self._client, self._topic)
        read = [_read(_progress(query)) for query in self._queries]
        return captured >= self._shop.changes and all(one >= captured for one in read)

    def failure(self) -> Exception | None:
        found = (query.exception() for query in self._queries if not query.isActive)
        return next((one for one in found if one is not None), None)


def messages_of(client: SyncClient, topic: str) -> int:
    """How many messages a topic has got."""
    queues = client.admin.topics.stats(topic).queues
    return sum(one.max_offset for one in queues.values())


def end_of(client: SyncClient, topic: str) -> Iterator[bytes]:
    """The bodies of all messages of a topic, each queue in order."""
    left = messages_of(client, topic)
    with client.reader(topic, start="earliest") as reader:
        while left:
            yield next(reader).body
            left -= 1


def _progress(query: Any) -> dict[str, Any]:
    last = query.lastProgress
    told: dict[str, Any] = {} if last is None else json.loads(last.json)
    return told


def _read(progress: dict[str, Any]) -> int:
    return sum(
        sum(places_of(source.get("endOffset") or {}).values())
        for source in progress.get("sources", ())
    )
