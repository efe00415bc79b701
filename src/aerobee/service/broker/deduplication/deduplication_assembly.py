"""Puts de-duplication together: the table of known producers, and its two files.

The epochs are restored last: they may be of producers that nothing else names yet.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.service.broker.deduplication.finish_round_handlers import FinishRoundHandlers
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.service.broker.deduplication.open_producer_handlers import OpenProducerHandlers
from aerobee.service.broker.deduplication.producer_epochs import ProducerEpochs
from aerobee.service.broker.deduplication.round_completion import RoundCompletion
from aerobee.service.broker.deduplication.sequences_file import SequencesFile
from aerobee.service.broker.request_table import Row
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store


class DeduplicationAssembly(NamedTuple):
    known: KnownProducers
    epochs: ProducerEpochs
    sequences: SequencesFile
    round_completion: RoundCompletion

    def rows(self, queues_of: Callable[[str], int]) -> list[Row]:
        """The rows of the request table. `queues_of`: topic → the number of its queues."""
        return [
            *OpenProducerHandlers(self.known, self.epochs, queues_of).rows(),
            *FinishRoundHandlers(self.known, self.round_completion).rows(),
        ]


def open_deduplication(
    epochs_file: ConfigFile,
    sequences_file: ConfigFile,
    worker: DiskWorker,
    store: Store,
    now: Now,
) -> DeduplicationAssembly:
    """CorruptFile: the file of epochs is damaged."""
    known = KnownProducers()
    epochs = ProducerEpochs(epochs_file, worker, known)
    sequences = SequencesFile(sequences_file, worker, store, known)
    epochs.restore(now.wall_ms)
    return DeduplicationAssembly(known, epochs, sequences, RoundCompletion(known, epochs, store))
