from aerobee.protocol.primitives.machine cimport address, byte, copy_bytes
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class WriteThrough:
    cdef MappedFile _file
    cdef Py_ssize_t _filled
    cdef Py_ssize_t _position
    cdef Py_ssize_t _room
    cdef object _view
    cdef byte* memory

    cdef void begin(self, MappedFile file, Py_ssize_t position)
    cdef Py_ssize_t place(self, Py_ssize_t size) except -1
    cdef void end(self) except *
    cdef void pass_on(self, MappedFile file, Py_ssize_t position, object data) except *
    cdef void _write(self) except *
