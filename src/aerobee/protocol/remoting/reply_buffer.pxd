from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, bytes_at, copy_bytes

cdef class ReplyBuffer:
    cdef Py_ssize_t _capacity
    cdef object _view
    cdef byte* memory
    cdef public Py_ssize_t position

    cpdef void make_room(self, Py_ssize_t size) except *
    cpdef void append(self, bytes data) except *
    cpdef bytes take(self)
