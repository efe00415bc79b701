import cython

from aerobee.protocol.message.batch_cursor cimport BatchCursor
from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, bytes_at, same_bytes

cdef int _END
cdef Py_ssize_t _COUNT_MAX
cdef Py_ssize_t _HEAD_SIZE
cdef long long _NUMBER_MAX

cdef class MarkedBatch:
    cdef BatchCursor _cursor
    cdef byte* _expected
    cdef object _expected_view
    cdef readonly str text

    @cython.locals(
        memory="const byte*", expected="byte*", end=Py_ssize_t, cursor=BatchCursor, count=Py_ssize_t,
        size=Py_ssize_t, at=Py_ssize_t, found=int, start=Py_ssize_t,
    )
    cpdef Py_ssize_t read(self, bytes body) except -1
