import cython

from aerobee.protocol.primitives.machine cimport byte, load_i32, load_i64, store_i32, store_i64
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class UnitFields:
    cdef int delayed_ms
    cdef long long enqueue_ms
    cdef long long log_offset
    cdef int magic
    cdef long long previous
    cdef int record_size
    cdef int topic_hash

cdef class TimerLog:
    cdef object _directory
    cdef object _disk
    cdef long long _file_bytes
    cdef FileSequence _files
    cdef bint _names_changed
    cdef MappedFile _newest
    cdef long long _synced_to
    cdef public long long end

    @cython.locals(file=MappedFile, place=Py_ssize_t, memory="byte*", magic=int)
    cdef bint look(self, long long position, UnitFields unit) except -1

    @cython.locals(left="long long")
    cpdef long long next_position(self) except -1

    @cython.locals(position="long long", file=MappedFile, place=Py_ssize_t, memory="byte*")
    cpdef long long append(self, long long previous, int magic, long long enqueue_ms, int delayed_ms, long long log_offset, int record_size, int topic_hash) except -1

    cpdef void pass_over(self) except *

    @cython.locals(file=MappedFile)
    cdef MappedFile _file_at(self, long long position)

    @cython.locals(file=MappedFile, position=Py_ssize_t)
    cdef void _end_file(self, long long next_file) except *
