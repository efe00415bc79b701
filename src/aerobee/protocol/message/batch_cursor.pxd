import cython

from aerobee.protocol.primitives.machine cimport byte, load_i16, load_i32

cdef class BatchCursor:
    cdef readonly Py_ssize_t body_size
    cdef readonly Py_ssize_t body_start
    cdef readonly int flag
    cdef readonly Py_ssize_t next_position
    cdef readonly Py_ssize_t properties_size
    cdef readonly Py_ssize_t properties_start

    cpdef void rewind(self) noexcept

    @cython.locals(
        position=Py_ssize_t, left=Py_ssize_t, size=Py_ssize_t, body_size=Py_ssize_t,
        properties_start=Py_ssize_t, properties_size=Py_ssize_t,
    )
    cdef int advance(self, const byte* memory, Py_ssize_t end) noexcept
