from aerobee.service.broker.replication.metadata.state_files import (
    DELETED_TOPICS,
    READ_ORDER,
    STATE_FILES,
    WRITE_ORDER,
    state_path,
)


def test_every_file_lies_in_the_store() -> None:
    assert state_path("store", "stagedRounds.json") == "store/config/stagedRounds.json"
    assert state_path("store", DELETED_TOPICS) == "store/deleted_topics"
    assert set(READ_ORDER) | {DELETED_TOPICS} == STATE_FILES


def test_a_finished_round_is_known_by_its_epoch_or_by_its_sequences_in_any_mixture() -> None:
    sequences, epochs = "producerSequences.json", "producerEpochs.json"
    assert READ_ORDER.index(sequences) < READ_ORDER.index(epochs)
    assert WRITE_ORDER.index(epochs) < WRITE_ORDER.index(sequences)
    assert set(WRITE_ORDER) == set(READ_ORDER)
