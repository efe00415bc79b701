import cython

from aerobee.protocol.message.batch_cursor cimport BatchCursor
from aerobee.protocol.primitives.machine cimport address, byte, copy_bytes, load_i32
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.message.record cimport RecordWriter, write_filler
from aerobee.storage.commit.write_through cimport WriteThrough
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class CommitLog:
    cdef BatchCursor _batch
    cdef MappedFile _file
    cdef object _files
    cdef byte* _memory
    cdef Py_ssize_t _position
    cdef Py_ssize_t _record_bytes_max
    cdef WriteThrough _through
    cdef RecordWriter _writer
    cdef readonly bint is_large
    cdef readonly int last_count
    cdef readonly long long last_timestamp
    cdef readonly FileSequence sequence

    @cython.locals(file=MappedFile)
    cpdef void start_at(self, long long end_offset, long long last_timestamp) except *

    cdef void _use(self, MappedFile file) except *

    cpdef long long end_offset(self)
    cpdef long long min_offset(self) except? -1
    cpdef bint is_half_full(self)

    @cython.locals(size=Py_ssize_t, at=Py_ssize_t, memory="byte*", log_offset="long long", stamp="long long")
    cpdef long long append(self, MessageDraft draft, long long queue_offset, long long wall_ms) except -1

    cdef Py_ssize_t _begin(self, Py_ssize_t size)

    @cython.locals(total=Py_ssize_t, first_offset="long long", batch=BatchCursor, size=Py_ssize_t, at=Py_ssize_t, memory="byte*", count=int)
    cdef long long _append_batch(self, MessageDraft draft, long long queue_offset) except -1

    @cython.locals(batch=BatchCursor, total=Py_ssize_t, count=int, found=int, size=Py_ssize_t)
    cdef Py_ssize_t _measure_batch(self, MessageDraft draft) except -1

    cdef void _check_size(self, Py_ssize_t size) except *

    @cython.locals(file=MappedFile)
    cdef void _roll(self) except *

    cpdef void append_raw(self, object data, Py_ssize_t start, Py_ssize_t size, long long last_timestamp) except *

    @cython.locals(file=MappedFile)
    cpdef void append_raw_filler(self, object data, Py_ssize_t start, Py_ssize_t size) except *

    cdef void _put_raw(self, object data, Py_ssize_t start, Py_ssize_t size, Py_ssize_t size_max) except *

    @cython.locals(file=MappedFile, position=Py_ssize_t, _=int)
    cpdef list record_offsets(self, long long first_offset, int count)
