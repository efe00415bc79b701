from aerobee.protocol.primitives.machine cimport address, byte

cdef class MappedFile:
    cdef readonly object disk_file
    cdef readonly long long first_offset
    cdef byte* memory
    cdef readonly Py_ssize_t room
    cdef readonly Py_ssize_t size
    cdef readonly object view

    cpdef long long end_offset(self)
    cpdef object slice(self, Py_ssize_t position, Py_ssize_t size)
