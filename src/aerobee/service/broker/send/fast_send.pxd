import cython

from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.primitives.machine cimport byte, bytes_address, copy_bytes, same_bytes
from aerobee.protocol.text.json_machine cimport parse_decimal
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer
from aerobee.protocol.send.send_answer_writer cimport SendAnswerWriter
from aerobee.protocol.send.send_header cimport SendHeader
from aerobee.service.access.fast_gate cimport FastGate
from aerobee.service.broker.send.send_diversion cimport SendDiversion
from aerobee.service.broker.state.topic_entry cimport TopicEntry
from aerobee.service.broker.transaction.fast_end_transaction cimport FastEndTransaction
from aerobee.storage.appender cimport Appender

@cython.final
cdef class FastSend:
    cdef SendAnswerWriter _answer
    cdef Appender _appender
    cdef bytes _broker
    cdef SendDiversion _diversion
    cdef Py_ssize_t _body_bytes_max
    cdef MessageDraft _draft
    cdef FastEndTransaction _ends
    cdef dict _entries
    cdef FastGate _gate
    cdef SendHeader _header
    cdef Py_ssize_t _id_size
    cdef Py_ssize_t _id_start
    cdef int _kind
    cdef bytes _suffix
    cdef Py_ssize_t _value_end
    cdef Py_ssize_t _value_start
    cdef readonly long long answered
    cdef readonly long long taken

    cpdef void divert(self, SendDiversion diversion, FastEndTransaction ends, str broker) except *

    @cython.locals(wall_ms="long long")
    cpdef bint take_all(self, FrameReader frames, ReplyBuffer output, bytes born_host, object now) except? -1

    @cython.locals(header=SendHeader, draft=MessageDraft, entry=TopicEntry, queue_id=int, log_offset="long long", gate=FastGate)
    cdef bint _take(self, FrameReader frames, ReplyBuffer output, long long wall_ms, object now) except? -1

    cdef bint _prepare(self, MessageDraft draft, TopicEntry entry) noexcept

    @cython.locals(entry=TopicEntry)
    cpdef long long store_normal(self, MessageDraft draft, long long wall_ms) except *

    @cython.locals(start=Py_ssize_t, size=Py_ssize_t, priority="long long")
    cdef bint _rank(self, MessageDraft draft, int write_queues) noexcept

    @cython.locals(diversion=SendDiversion)
    cdef bint _divert(self, MessageDraft draft, object now) except? -1

    @cython.locals(diversion=SendDiversion)
    cdef void _note_half(self) except *

    @cython.locals(diversion=SendDiversion, memory="const byte*", index=Py_ssize_t)
    cdef void _begin_handle(self, bytes topic) except *

    @cython.locals(answer=SendAnswerWriter, count=int, offset="long long")
    cdef void _write_answer(self, bint is_binary, ReplyBuffer output, long long log_offset, int queue_id) except *

    @cython.locals(
        memory="const byte*", end=Py_ssize_t, position=Py_ssize_t, start=Py_ssize_t, size=Py_ssize_t, value=Py_ssize_t,
        kind=int,
    )
    cdef bint _scan_properties(self, MessageDraft draft) noexcept

    @cython.locals(index=Py_ssize_t, byte=int)
    cdef bint _is_plain_id(self, const byte* memory) noexcept

    @cython.locals(size=Py_ssize_t, suffix_size=Py_ssize_t)
    cdef bint _add_suffix(self, MessageDraft draft) noexcept

@cython.locals(byte=int, size=Py_ssize_t)
cdef int _kind_of(const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept
@cython.locals(memory="const byte*", end=Py_ssize_t, position=Py_ssize_t, start=Py_ssize_t, size=Py_ssize_t)
cdef bint _has_sharding_key(MessageDraft draft) noexcept
cdef int _kind_of_t(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept
