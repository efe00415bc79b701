"""De-duplication: sends with a producer mark are stored once, however often they are repeated
(docs/formats/deduplication.md).

seen_sequences         sequences of one producer that are in one queue, and their offsets
known_producers        the table of producers: epochs, stored sequences, limits
finished_rounds        rounds that are stored completely: one entry per write instead of its marks
round_completion       marks a round finished, and drops its producer marks when that is safe
log_replay             reads producer marks from the log at a start
producer_epochs        `config/producerEpochs.json`: epochs, saved before they are given out
sequences_file         `config/producerSequences.json`: sequences, saved after the log
open_producer_handlers, finish_round_handlers   OPEN_PRODUCER, FINISH_ROUND
"""
