"""The body of GET_BROKER_EPOCH_CACHE: the masters' terms in the log of a broker with a controller.

    {"brokerId":1,"brokerName":"broker-a","clusterName":"c",
     "epochList":[{"endOffset":510,"epoch":1,"startOffset":0}],"maxOffset":510}

The end of the last term is the end of the log, whatever the entry says.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact


class EpochEntry(NamedTuple):
    """A term of one master."""

    epoch: int
    start_offset: int
    end_offset: int


class EpochCache(NamedTuple):
    cluster: str
    broker_name: str
    broker_id: int
    epochs: Sequence[EpochEntry]
    end_offset: int


def encode_epoch_cache(cache: EpochCache) -> bytes:
    return write_compact(
        {
            "brokerId": cache.broker_id,
            "brokerName": cache.broker_name,
            "clusterName": cache.cluster,
            "epochList": [
                {"endOffset": one.end_offset, "epoch": one.epoch, "startOffset": one.start_offset}
                for one in cache.epochs
            ],
            "maxOffset": cache.end_offset,
        }
    )


def decode_epoch_cache(body: bytes) -> EpochCache:
    members = Members(parse(body), "the terms of masters")
    rows = [Members(row, "a term") for row in members.array("epochList")]
    end_offset = members.int64("maxOffset", 0)
    epochs = [
        EpochEntry(
            row.int32("epoch", 0), row.int64("startOffset", 0), row.int64("endOffset", end_offset)
        )
        for row in rows
    ]
    if epochs:
        epochs[-1] = epochs[-1]._replace(end_offset=end_offset)
    return EpochCache(
        members.text("clusterName", ""),
        members.text("brokerName", ""),
        members.int64("brokerId", 0),
        epochs,
        end_offset,
    )
