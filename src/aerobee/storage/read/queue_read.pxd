import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address, same_bytes
from aerobee.protocol.message.property_filter cimport PropertyFilter
from aerobee.protocol.message.record cimport Record
from aerobee.storage.files.mapped_file cimport MappedFile
from aerobee.storage.index.consume_queue cimport ConsumeQueue

cdef int _FOUND
cdef bytes _LIGHT_TOPIC
cdef int _NO_MATCHED_MESSAGE
cdef Py_ssize_t _STRETCH_BYTES_MAX

cdef class QueueRead:
    cdef readonly Py_ssize_t count
    cdef readonly bint is_cold
    cdef readonly long long max_offset
    cdef readonly long long min_offset
    cdef readonly long long next_offset
    cdef ConsumeQueue queue
    cdef list ranges
    cdef readonly Py_ssize_t size
    cdef readonly list slices
    cdef readonly int status

    @cython.locals(
        queue=ConsumeQueue, record=Record, file=MappedFile, memory="byte*", position=Py_ssize_t,
        size=Py_ssize_t, queue_offset="long long", end=Py_ssize_t, log_offset="long long",
    )
    cpdef void verify(self, long long crc_from) except *

    @cython.locals(
        ranges=list, queue=ConsumeQueue, record=Record, file=MappedFile, position=Py_ssize_t, size=Py_ssize_t,
        queue_offset="long long", end=Py_ssize_t, looked_at=Py_ssize_t, start="long long",
    )
    cpdef void choose(self, PropertyFilter chosen, Py_ssize_t count_max, Py_ssize_t bytes_max) except *

    @cython.locals(position=Py_ssize_t)
    cdef void add(self, MappedFile file, long long start, long long end, long long queue_offset) except *

    cdef void check_old(self, long long crc_from) except *

    @cython.locals(ranges=list, file=MappedFile, start=Py_ssize_t, end=Py_ssize_t, size=Py_ssize_t)
    cdef bint _is_at_hand(self) except? 0

cdef bint is_at(ConsumeQueue queue, long long queue_offset, const byte* memory, Record record) except? 0
