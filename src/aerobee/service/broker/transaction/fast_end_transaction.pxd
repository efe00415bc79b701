import cython

from aerobee.protocol.send.end_transaction_header cimport EndTransactionReader
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.text.json_machine cimport parse_decimal
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, copy_bytes, same_bytes
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.send.send_machine cimport memory_part
from aerobee.service.access.fast_gate cimport FastGate
from aerobee.service.broker.transaction.open_halves cimport Half, OpenHalves
from aerobee.storage.appender cimport Appender
from aerobee.storage.files.mapped_file cimport MappedFile
from aerobee.storage.read.hot_records cimport HotRecords

cdef bytes _HALF_TOPIC

@cython.final
cdef class FastEndTransaction:
    cdef Appender _appender
    cdef bytes _born_host
    cdef MessageDraft _draft
    cdef dict _entries
    cdef FastGate _gate
    cdef Py_ssize_t _group_size
    cdef Py_ssize_t _group_start
    cdef OpenHalves _halves
    cdef EndTransactionReader _header
    cdef int _queue_id
    cdef HotRecords _records
    cdef bytes _topic
    cdef Py_ssize_t _topic_size
    cdef Py_ssize_t _topic_start
    cdef readonly long long ended
    cdef readonly list over
    cdef readonly long long stored

    @cython.locals(header=EndTransactionReader, half=Half, found=MappedFile, file=MappedFile, record=Record, gate=FastGate)
    cpdef bint take(self, FrameReader frames, long long wall_ms) except? -1

    cpdef list take_over(self)

    cdef void _end(self, Half half) except *

    @cython.locals(topic=bytes)
    cdef bint _take_topic(self, const byte* memory) except? -1

    @cython.locals(memory="byte*", draft=MessageDraft, born_size=Py_ssize_t)
    cdef bint _commit(self, MappedFile file, Record record, long long wall_ms) except? -1

    @cython.locals(
        position=Py_ssize_t, end=Py_ssize_t, size=Py_ssize_t, seen=int, start=Py_ssize_t,
        value=Py_ssize_t, kind=int,
    )
    cdef bint _take_properties(self, const byte* memory, Record record) noexcept

    @cython.locals(queue_id="long long")
    cdef bint _note(self, int kind, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

@cython.locals(size=Py_ssize_t, byte=int)
cdef int _kind_of(const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept
