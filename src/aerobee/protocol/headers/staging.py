"""Header fields of STAGE_BATCH and PUBLISH_STAGED, which are ours, and of their answers.

The body of STAGE_BATCH is the batch, that of PUBLISH_STAGED the log offsets of a round's batches.
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
