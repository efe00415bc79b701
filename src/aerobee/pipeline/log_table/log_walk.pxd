import cython

from aerobee.pipeline.arrow.message_columns cimport MessageColumns
from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, bytes_at, load_i32, load_i64, same_bytes
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.primitives.search_machine cimport find_byte

cdef int _FULL
cdef int _ENDED
cdef int _SPECIAL
cdef int _WRONG
cdef int _WHOLE
cdef int _TORN
cdef int _MISPLACED
cdef int _UNSOUND
cdef int _SPECIAL_FLAGS
cdef int _MAGIC_V1
cdef int _MAGIC_V2
cdef int _MAGIC_BYTE
cdef int _RECORD_BYTES_MIN

@cython.final
cdef class LogTableWalk:
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

    @cython.locals(memory="byte*", limit=Py_ssize_t, record=Record, columns=MessageColumns)
    cpdef int take(self, object view, Py_ssize_t position, Py_ssize_t end, long long base) except -1

    @cython.locals(record=Record, end=Py_ssize_t)
    cdef bint _is_sound(self, const byte* memory) noexcept

    @cython.locals(record=Record, size=Py_ssize_t)
    cdef bint _is_wanted(self, const byte* memory) except -1

    @cython.locals(memory="byte*", limit=Py_ssize_t, record=Record, at=Py_ssize_t, last=Py_ssize_t, magic=int)
    cpdef Py_ssize_t find(self, object view, Py_ssize_t position, long long base, long long log_end) except -2
