import cython

from aerobee.protocol.primitives.machine cimport address, byte, load_i32, load_u32, store_u32
from aerobee.protocol.message.record_check cimport RecordCheck
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class RecordWalk:
    cdef RecordCheck _check
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t last_position
    cdef readonly long long last_timestamp
    cdef readonly Py_ssize_t position

    @cython.locals(check=RecordCheck, memory="byte*", base="long long", file_end="long long", found=int)
    cpdef int run(self, MappedFile file, Py_ssize_t position, Py_ssize_t end) except -1

cdef class RecordOffsets:
    cdef long long _first_offset
    cdef byte* _memory
    cdef object _view
    cdef readonly Py_ssize_t count

    @cython.locals(position=Py_ssize_t, index=Py_ssize_t)
    cdef void _fill(self, MappedFile file) except *
