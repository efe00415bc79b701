"""`Drafts` makes drafts from the arguments of a send: wire names, times as numbers, ids,
compression.

`core.send.outgoing` has what depends on the message alone; this module adds the clock, the client's
ids and its options.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypedDict, Unpack

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.keyword_check import check_keywords
from aerobee.client.connection.session import Session
from aerobee.client.core.namespace import with_namespace
from aerobee.client.core.send.outgoing import (
    COMPRESS_FROM_BYTES,
    Codec,
    Draft,
    Outgoing,
    body_bytes,
    check_body_size,
    properties_of,
    set_delivery,
    set_identity,
    set_priority,
    to_json,
)
from aerobee.client.send.delivery import RETRIES
from aerobee.errors import Misuse
from aerobee.model.flags import CompressionType
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import check_topic

Compress = bool | str
"""Whether a large body is compressed, or by what: "zlib", "lz4" or "zstd"."""


class MessageKeywords(TypedDict, total=False):
    """Keywords for a message of every method that sends, besides topic and body."""

    tag: str
    keys: str | Iterable[str]
    """A text is one key. An iterable is read once, before the first try."""
    headers: Mapping[str, str] | None
    order_by: str | None
    """Messages of one text go to one queue."""
    compress: Compress
    codec: Codec
    """What makes bytes of a body that is neither bytes nor text: JSON, if none is given."""


class TimedKeywords(MessageKeywords, total=False):
    """The same, with keywords for delayed delivery and priority."""

    delay: Duration | None
    deliver_at: datetime | None
    priority: int | None
    """Of a PRIORITY topic: the number of the queue, whose consumers are served first or last."""


class SendKeywords(TimedKeywords, total=False):
    """Keywords of `client.send`."""

    queue: MessageQueue | None
    timeout: Duration | None
    retries: int
    group: str | None


class BatchKeywords(TypedDict, total=False):
    """What `client.send_batch` takes by keyword, besides `dedup`."""

    order_by: str | None
    queue: MessageQueue | None
    timeout: Duration | None
    retries: int
    codec: Codec
    group: str | None


KEYWORDS = SendKeywords.__optional_keys__ | {"dedup"}
_BATCH_KEYWORDS = BatchKeywords.__optional_keys__ | {"dedup"}


class BatchOptions(NamedTuple):
    """What is the same for all parts of a batch."""

    topic: str
    seconds: float
    """For each of its requests, with all its tries."""
    order_by: str | None = None
    queue: MessageQueue | None = None
    retries: int = RETRIES
    codec: Codec = to_json
    group: str | None = None


def batch_options(topic: str, seconds: float, **said: Unpack[BatchKeywords]) -> BatchOptions:
    """`seconds`: where no `timeout` is said."""
    if not said:
        return BatchOptions(topic, seconds)
    check_keywords(said, _BATCH_KEYWORDS, "a batch")
    chosen: dict[str, Any] = {**said}
    timeout = chosen.pop("timeout", None)
    if timeout is not None:
        seconds = seconds_of(timeout, "timeout")
    return BatchOptions(topic, seconds, **chosen)


class Drafts:
    """Makes drafts for one client."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._wire_topics: dict[str, str] = {}

    def draft(
        self,
        topic: str,
        body: object,
        *,
        tag: str = "",
        keys: str | Iterable[str] = (),
        headers: Mapping[str, str] | None = None,
        order_by: str | None = None,
        delay: Duration | None = None,
        deliver_at: datetime | None = None,
        priority: int | None = None,
        compress: Compress = True,
        codec: Codec = to_json,
        unique_id: str = "",
        **unknown: object,
    ) -> Draft:
        """A message as it will be sent; Misuse for one that no broker would take. `unique_id`: of a
        message that has one already.
        """
        if unknown:
            check_keywords(unknown, KEYWORDS, "a send")
        draft = self.plain(topic, Outgoing(body, tag, keys, headers, order_by), codec, unique_id)
        if delay is not None or deliver_at is not None:
            set_delivery(
                draft.properties,
                delay_ms=None if delay is None else round(seconds_of(delay, "delay") * 1000),
                deliver_ms=None if deliver_at is None else wall_ms_of(deliver_at),
            )
        if priority is not None:
            set_priority(draft.properties, priority)
        if compress and len(draft.body) >= COMPRESS_FROM_BYTES:
            draft.compress(compression_of(compress))
        check_body_size(draft.body, self._session.options.max_message_bytes)
        return draft

    def plain(
        self, topic: str, message: Outgoing, codec: Codec = to_json, unique_id: str = ""
    ) -> Draft:
        """A message of a batch: without delay, not compressed."""
        body = body_bytes(message.body, codec)
        properties = properties_of(message.tag, message.keys, message.headers, message.order_by)
        namespace = self._session.options.namespace
        set_identity(properties, unique_id or self._session.new_id(), namespace)
        return Draft(self.wire_topic(topic), body, properties, order_by=message.order_by)

    def wire_topic(self, topic: str) -> str:
        """The name of a topic on the wire."""
        name = self._wire_topics.get(topic)
        if name is None:
            check_topic(topic)
            name = with_namespace(self._session.options.namespace, topic)
            self._wire_topics[topic] = name
        return name


def wall_ms_of(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise Misuse(
            f"{moment} has no time zone", hint="say which: datetime.now(UTC), or .astimezone()"
        )
    return round(moment.timestamp() * 1000)


@lru_cache
def compression_of(compress: Compress) -> CompressionType:
    if compress is True:
        return CompressionType.ZLIB
    try:
        return CompressionType[str(compress).upper()]
    except KeyError:
        raise Misuse(
            f"no compression is called {compress!r}", hint='True, False, "zlib", "lz4" or "zstd"'
        ) from None
