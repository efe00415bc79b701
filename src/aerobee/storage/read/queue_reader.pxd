import cython

from aerobee.protocol.primitives.machine cimport copy_bytes, load_i32, load_i64
from aerobee.protocol.message.property_filter cimport PropertyFilter
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile
from aerobee.storage.index.consume_queue cimport ConsumeQueue
from aerobee.storage.read.queue_read cimport QueueRead

cdef int _FOUND
cdef int _MESSAGE_WAS_REMOVING
cdef int _NO_MATCHED_MESSAGE
cdef int _NO_MESSAGE_IN_QUEUE
cdef int _OFFSET_OVERFLOW_BADLY
cdef int _OFFSET_OVERFLOW_ONE
cdef int _OFFSET_TOO_SMALL

cdef class QueueReader:
    cdef PropertyFilter _barren_filter
    cdef long long _barren_from
    cdef ConsumeQueue _barren_queue
    cdef long long _barren_to
    cdef FileSequence _log
    cdef long long _looked_at
    cdef Record _record
    cdef public long long crc_from
    cdef public long long dispatched_to
    cdef public long long hot_from
    cdef readonly long long next_offset
    cdef public long long readable_to

    @cython.locals(status=int, result=QueueRead, first=tuple)
    cpdef QueueRead read(self, ConsumeQueue queue, long long offset, Py_ssize_t count_max, Py_ssize_t bytes_max, object tag_codes, PropertyFilter chosen=*)

    @cython.locals(count=Py_ssize_t)
    cpdef Py_ssize_t copy(self, ConsumeQueue queue, long long offset, Py_ssize_t count_max, Py_ssize_t bytes_max, object tag_codes, ReplyBuffer output, PropertyFilter chosen=*) except -1

    @cython.locals(
        start=Py_ssize_t, end="long long", first="long long", units=MappedFile, file=MappedFile, count=Py_ssize_t,
        position=Py_ssize_t, log_offset="long long", size=int,
    )
    cpdef Py_ssize_t copy_hot(self, ConsumeQueue queue, long long offset, Py_ssize_t count_max, Py_ssize_t bytes_max, object tag_codes, ReplyBuffer output, PropertyFilter chosen=*) except -1

    @cython.locals(result=QueueRead, file=MappedFile, position=Py_ssize_t, size=Py_ssize_t)
    cdef Py_ssize_t _copy_old(self, ConsumeQueue queue, long long offset, Py_ssize_t count_max, Py_ssize_t bytes_max, object tag_codes, ReplyBuffer output) except -1

    @cython.locals(units=MappedFile)
    cpdef bint is_old_at(self, ConsumeQueue queue, long long offset) except -1

    @cython.locals(file=MappedFile)
    cdef bint _is_chosen(self, PropertyFilter chosen, ConsumeQueue queue, long long offset, long long log_offset, int size) except -1

    @cython.locals(record=Record)
    cdef bint _passes(self, PropertyFilter chosen, ConsumeQueue queue, long long offset, MappedFile file, long long log_offset) except -1

    @cython.locals(position="long long")
    cdef bint _is_hot(self, MappedFile file, long long offset, long long log_offset, int size) noexcept

    cdef int _misfit(self, ConsumeQueue queue, long long offset) noexcept

    @cython.locals(next_offset="long long")
    cdef QueueRead _without_messages(self, ConsumeQueue queue, long long offset, int status)

    @cython.locals(
        end="long long", units=MappedFile, run_file=MappedFile, run_start="long long",
        run_end="long long", run_first="long long", position=Py_ssize_t, log_offset="long long", size=int,
    )
    cdef void _collect(self, ConsumeQueue queue, long long offset, Py_ssize_t count_max, Py_ssize_t bytes_max, object tag_codes, PropertyFilter chosen, QueueRead result) except *

    @cython.locals(position=Py_ssize_t)
    cdef void _check_unit(self, ConsumeQueue queue, MappedFile file, long long offset, long long log_offset, int size) except *
