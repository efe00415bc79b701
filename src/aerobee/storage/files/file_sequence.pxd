import cython

from aerobee.storage.files.mapped_file cimport MappedFile

cdef class FileSequence:
    cdef readonly object directory
    cdef readonly object disk
    cdef readonly Py_ssize_t file_size
    cdef readonly list files
    cdef readonly bint is_sparse
    cdef public bint names_changed

    @cython.locals(count=Py_ssize_t, index=Py_ssize_t, file=MappedFile)
    cpdef MappedFile find(self, long long offset)

    @cython.locals(file=MappedFile)
    cpdef long long first_offset(self) except? -1

    @cython.locals(file=MappedFile)
    cpdef long long end_offset(self) except? -1
