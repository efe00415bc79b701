"""Staging: batches are stored in the log and published together as one round
(docs/formats/staging.md).

staged_batch      a batch in the log that is in no queue of its topic yet
round_publishing  decides and publishes a round, and finishes it after any stop
staging_handlers  STAGE_BATCH, PUBLISH_STAGED
"""
