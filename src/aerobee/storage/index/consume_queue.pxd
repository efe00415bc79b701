import cython

from aerobee.protocol.primitives.java_hash cimport text_hash
from aerobee.protocol.primitives.machine cimport (
    byte, bytes_address, load_i32, load_i64, store_i32, store_i64,
)
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class ConsumeQueue:
    cdef MappedFile _file
    cdef long long _synced_to
    cdef readonly long long born_at
    cdef public bint is_dirty
    cdef public bint is_leaving
    cdef public bint is_touched
    cdef readonly long long log_end
    cdef readonly long long max_offset
    cdef readonly long long min_offset
    cdef public long long new_bytes
    cdef public long long new_units
    cdef public long long next_offset
    cdef readonly int queue_id
    cdef readonly FileSequence sequence
    cdef readonly bytes topic
    cdef readonly unsigned int topic_hash

    cpdef MappedFile find(self, long long queue_offset)

    @cython.locals(file=MappedFile, position=Py_ssize_t, memory="byte*")
    cpdef tuple unit(self, long long queue_offset)

    @cython.locals(low="long long", high="long long", middle="long long")
    cpdef long long first_at(self, long long log_offset) except? -1

    @cython.locals(file=MappedFile, position=Py_ssize_t, size=int)
    cdef bint _is_before(self, long long queue_offset, long long log_offset) except? 0

    @cython.locals(file=MappedFile, position=Py_ssize_t, memory="byte*")
    cpdef bint append(self, long long queue_offset, long long log_offset, int size, long long tag_code) except? 0

    @cython.locals(end="long long", file=MappedFile)
    cdef MappedFile _open_end(self)

    @cython.locals(file=MappedFile, position=Py_ssize_t, given_out="long long")
    cdef bint _make_room(self, long long queue_offset) except? 0

    @cython.locals(
        low="long long", high="long long", middle="long long", file_units="long long",
        stride="long long",
    )
    cdef long long _first_unwritten(self) except? -1

    @cython.locals(file=MappedFile)
    cdef bint _is_written(self, long long queue_offset) except? 0

    @cython.locals(old_end="long long")
    cpdef void truncate_to(self, long long log_offset, bint is_torn) except *

    @cython.locals(end="long long")
    cdef void _end_at(self, long long queue_offset) except *
