import cython

cdef class TlsLayer:
    cdef object _incoming
    cdef object _inner
    cdef bint _is_buffered
    cdef bint _is_ending
    cdef bint _is_open
    cdef bint _is_over
    cdef bint _is_paused
    cdef object _left
    cdef object _object
    cdef object _outgoing
    cdef object _owner
    cdef object _transport
    cdef public object deadline

    cpdef void data_received(self, object data) except *
    cdef void _end(self, object error) except *

    @cython.locals(size=Py_ssize_t, position=Py_ssize_t, plain=list)
    cdef void _take(self, object data) except *
    cdef void _keep(self, object view, Py_ssize_t position) except *
    cdef void _decrypt(self, list plain) except *
    cdef void _fill(self) except *
    cdef void _shake(self) except *
    cdef void _break(self, object error) except *
    cdef void _bid_farewell(self) except *
    cpdef void go_on(self) except *

    @cython.locals(size=Py_ssize_t, position=Py_ssize_t, pieces=list)
    cpdef void write(self, object data) except *
    cdef void _flush(self) except *
    cpdef void close(self) except *
    cpdef void abort(self) except *
