import cython

from aerobee.pipeline.arrow.message_columns cimport MessageColumns
from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, bytes_at, same_bytes
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.message.record_check cimport RecordCheck

cdef int _FULL
cdef int _ENDED
cdef int _SPECIAL
cdef int _WRONG
cdef int _SOUND
cdef int _TORN
cdef int _UNSOUND
cdef int _SPECIAL_FLAGS

@cython.final
cdef class LogTableWalk:
    cdef RecordCheck _check
    cdef MessageColumns _columns
    cdef bint _is_chosen
    cdef Record _record
    cdef long long _time_end
    cdef long long _time_start
    cdef byte* _topic
    cdef bytes _topic_bytes
    cdef Py_ssize_t _topic_size
    cdef frozenset _topics
    cdef readonly int finding
    cdef readonly Py_ssize_t position
    cdef readonly Py_ssize_t record_size
    cdef readonly long long store_timestamp

    @cython.locals(memory="byte*", limit=Py_ssize_t, check=RecordCheck, record=Record, columns=MessageColumns)
    cpdef int take(self, object view, Py_ssize_t position, Py_ssize_t end, long long base, long long file_end) except -1

    @cython.locals(record=Record, end=Py_ssize_t)
    cdef bint _is_unfinished(self, const byte* memory) noexcept

    @cython.locals(record=Record, size=Py_ssize_t)
    cdef bint _is_wanted(self, const byte* memory) except -1

    @cython.locals(memory="byte*", limit=Py_ssize_t, check=RecordCheck, at=Py_ssize_t)
    cpdef Py_ssize_t find(self, object view, Py_ssize_t position, long long base, long long log_end) except -2
