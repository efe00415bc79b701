"""Properties that the broker adds: region, cluster and trace switch to messages, also to answers.

A consumer reads the cluster from a request that it replies to; clients trace by the region.
"""

from collections.abc import Mapping, Sequence

from aerobee.errors import MessageTooLarge, StorageError
from aerobee.model.properties import (
    CLUSTER,
    MESSAGE_REGION,
    TRACE_SWITCH,
    UNIQUE_KEY,
    encode_properties,
)
from aerobee.ports.clock import Now
from aerobee.ports.service import Peer
from aerobee.service.broker.log_access.store_refusals import message_too_large, refused_by_store
from aerobee.service.broker.send.unique_ids import UniqueIds
from aerobee.service.request import Answer


class SendStamp:
    def __init__(
        self,
        region: str,
        is_traced: bool,
        cluster: str,
        store_host: bytes,
        address: Peer,
        body_bytes_max: int,
    ) -> None:
        traced = "true" if is_traced else "false"
        self._on_answer = {MESSAGE_REGION: region, TRACE_SWITCH: traced}
        self._on_message = {**self._on_answer, CLUSTER: cluster}
        self._id_head = store_host.hex().upper()
        self._ids = UniqueIds(address.host, address.port)
        self._body_bytes_max = body_bytes_max

    def properties_text(self) -> bytes:
        """The properties that every message gets, encoded as they are stored."""
        return encode_properties(self._on_message)

    def on_message(self, properties: dict[str, str], now: Now) -> None:
        properties.update(self._on_message)
        if not properties.get(UNIQUE_KEY):
            properties[UNIQUE_KEY] = self._ids.next(now)

    def on_answer(self, fields: Mapping[str, str]) -> dict[str, str]:
        return {**self._on_answer, **fields}

    def on_refusal(self, answer: Answer) -> Answer:
        return answer._replace(fields=self.on_answer(answer.fields or {}))

    def on_storage_error(self, error: StorageError) -> Answer:
        """The answer for a message that the store refused."""
        if isinstance(error, MessageTooLarge):
            return self.on_too_large()
        return self.on_refusal(refused_by_store(error))

    def on_too_large(self) -> Answer:
        return self.on_refusal(message_too_large(self._body_bytes_max))

    def message_ids(self, log_offsets: Sequence[int]) -> str:
        """The ids of records, joined as clients expect those of a batch."""
        return ",".join(f"{self._id_head}{offset:016X}" for offset in log_offsets)
