import cython

from aerobee.protocol.primitives.machine cimport address, byte, bytes_at, copy_bytes, store_u32

@cython.final
cdef class AnswerFrames:
    cdef Py_ssize_t _data_at
    cdef Py_ssize_t _end_at
    cdef byte* _head
    cdef object _head_view
    cdef Py_ssize_t _size
    cdef readonly Py_ssize_t bytes_around

    @cython.locals(head="byte*")
    cpdef bytes before(self, unsigned int stream, unsigned int size)
    cpdef bytes behind(self, unsigned int stream)

    @cython.locals(head="byte*")
    cdef Py_ssize_t write(self, byte* memory, Py_ssize_t position, unsigned int stream, const byte* source, Py_ssize_t at, Py_ssize_t size) noexcept
