"""The fields of STAGE_BATCH and PUBLISH_STAGED, which are ours, and of their answers.

The batch itself is the body of the one, the places of a round's batches that of the other.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


@dataclass(frozen=True, slots=True)
class StageBatchHeader:
    write_id: str
    round_id: Int64
    topic: str
    queue_id: Int32


@dataclass(frozen=True, slots=True)
class StagedBatchHeader:
    place: Int64
    """Its log offset: what PUBLISH_STAGED is told."""


@dataclass(frozen=True, slots=True)
class PublishStagedHeader:
    write_id: str
    round_id: Int64
