import cython

from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, load_i64
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.message.record_check cimport RecordCheck

cdef int _SOUND
cdef int _FILLER
cdef int _TORN
cdef int _MISPLACED
cdef int _INCOMPLETE
cdef int _CROSSING
cdef int _NO_QUEUE
cdef Py_ssize_t _FILLER_BYTES
cdef Py_ssize_t _RECORD_BYTES_MIN
cdef Py_ssize_t _TOPIC_BYTES_MAX

cdef class RawWalk:
    cdef const byte* _allowed
    cdef RecordCheck _check
    cdef int _queue_id_max
    cdef bytes _topic_bytes
    cdef readonly bint is_all_crc
    cdef readonly long long last_timestamp
    cdef readonly Py_ssize_t position
    cdef readonly Py_ssize_t size

    @cython.locals(check=RecordCheck, memory="byte*", end=Py_ssize_t, found=int)
    cpdef int run(self, object data, Py_ssize_t position, long long base, long long file_end) except -1

    @cython.locals(position=Py_ssize_t, left=Py_ssize_t)
    cdef int _explain(self, int found, const byte* memory, Py_ssize_t end, long long base, long long file_end) noexcept

    @cython.locals(record=Record, index=Py_ssize_t)
    cdef bint _has_queue(self, const byte* memory) noexcept
