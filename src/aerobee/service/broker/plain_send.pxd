import cython

from aerobee.protocol.frame cimport FrameReader
from aerobee.protocol.machine cimport byte, bytes_address, copy_bytes, same_bytes
from aerobee.protocol.message_draft cimport MessageDraft
from aerobee.protocol.reply_buffer cimport ReplyBuffer
from aerobee.protocol.send_answer cimport SendAnswer
from aerobee.protocol.send_header cimport SendHeader
from aerobee.service.broker.topic_entry cimport TopicEntry
from aerobee.storage.appender cimport Appender

@cython.final
cdef class PlainSend:
    cdef SendAnswer _answer
    cdef Appender _appender
    cdef MessageDraft _draft
    cdef dict _entries
    cdef SendHeader _header
    cdef Py_ssize_t _id_size
    cdef Py_ssize_t _id_start
    cdef bytes _suffix
    cdef readonly long long answered
    cdef readonly long long taken

    cpdef bint take_all(self, FrameReader frames, ReplyBuffer output, bytes born_host, long long wall_ms) except? -1

    @cython.locals(header=SendHeader, draft=MessageDraft, entry=TopicEntry, log_offset="long long")
    cdef bint _take(self, FrameReader frames, ReplyBuffer output, long long wall_ms) except? -1

    @cython.locals(answer=SendAnswer, count=int, offset="long long")
    cdef void _write_answer(self, bint is_binary, ReplyBuffer output, long long log_offset) except *

    @cython.locals(memory="const byte*", end=Py_ssize_t, position=Py_ssize_t, start=Py_ssize_t, size=Py_ssize_t, value=Py_ssize_t)
    cdef bint _scan_properties(self, MessageDraft draft) noexcept

    @cython.locals(index=Py_ssize_t, byte=int)
    cdef bint _is_plain_id(self, const byte* memory) noexcept

    @cython.locals(size=Py_ssize_t, suffix_size=Py_ssize_t)
    cdef bint _add_suffix(self, MessageDraft draft) noexcept

@cython.locals(byte=int, size=Py_ssize_t)
cdef bint _is_special(const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept
