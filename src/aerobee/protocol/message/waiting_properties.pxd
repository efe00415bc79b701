import cython

from aerobee.protocol.primitives.machine cimport address, byte, same_bytes
from aerobee.protocol.message.record cimport ends_in_crc
from aerobee.protocol.primitives.search_machine cimport find_byte

cdef Py_ssize_t _CRC_PROPERTY_BYTES
cdef int _QUEUE_DIGITS_MAX
cdef int _TIME_DIGITS_MAX
cdef byte* _REAL_TOPIC
cdef byte* _REAL_QUEUE_ID
cdef byte* _UNIQUE_KEY
cdef byte* _OUT_MS
cdef byte* _DELAY_MS
cdef byte* _DELAY_SECONDS
cdef byte* _DELETE_KEY

@cython.final
cdef class WaitingProperties:
    cdef readonly Py_ssize_t delete_size
    cdef readonly Py_ssize_t delete_start
    cdef readonly bint is_delayed
    cdef readonly Py_ssize_t key_size
    cdef readonly Py_ssize_t key_start
    cdef readonly long long out_ms
    cdef readonly int queue_id
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t topic_size
    cdef readonly Py_ssize_t topic_start

    @cython.locals(at=Py_ssize_t, end=Py_ssize_t, piece_end=Py_ssize_t, value=Py_ssize_t)
    cdef void read(self, const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept

    cpdef void read_from(self, object text) except *

    @cython.locals(size=Py_ssize_t)
    cdef void _note(self, const byte* memory, Py_ssize_t at, Py_ssize_t value, Py_ssize_t end) noexcept

@cython.locals(value="long long", index=Py_ssize_t, digit=int)
cdef long long number_at(const byte* memory, Py_ssize_t start, Py_ssize_t end, int digits_max) noexcept
