import cython

from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.storage.commit.commit_log cimport CommitLog
from aerobee.storage.index.consume_queue cimport ConsumeQueue
from aerobee.storage.index.consume_queues cimport ConsumeQueues

cdef class Appender:
    cdef CommitLog _log
    cdef ConsumeQueues _queues
    cdef readonly int count
    cdef readonly long long queue_offset
    cdef public object refusal

    @cython.locals(queue=ConsumeQueue, log_offset="long long")
    cpdef long long append(self, MessageDraft draft, long long wall_ms) except -1
    cpdef long long born_at(self, bytes topic) except? -1
    cpdef list record_offsets(self, long long log_offset)
