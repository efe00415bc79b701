import cython

from aerobee.protocol.grpc.ack_message_reader cimport AckMessageReader
from aerobee.protocol.grpc.send_message_reader cimport SendMessageReader
from aerobee.protocol.http2.answer_frames cimport AnswerFrames
from aerobee.protocol.http2.connection cimport Http2Connection
from aerobee.protocol.http2.header_shape cimport HeaderShape
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.primitives.machine cimport byte
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer
from aerobee.service.in_place.acknowledged_calls cimport AcknowledgedCalls, AcknowledgedRun
from aerobee.service.in_place.fast_desk cimport FastDesk

cdef Py_ssize_t _ANSWER_BYTES_MAX
cdef Py_ssize_t _PREFIX_BYTES
cdef long long _ORDERLY

@cython.final
cdef class ShapeOwner:
    cdef object channel
    cdef object client
    cdef str client_id
    cdef bint is_ack
    cdef long long turn

@cython.final
cdef class CallsInPlace:
    cdef ReplyBuffer _ack_output
    cdef AckMessageReader _acks
    cdef AnswerFrames _around
    cdef AcknowledgedCalls _calls
    cdef object _clients
    cdef FastDesk _fast
    cdef object _find_topic
    cdef object _now
    cdef object _outbox
    cdef ReplyBuffer _output
    cdef object _renewals
    cdef AcknowledgedRun _run
    cdef SendMessageReader _sends
    cdef bytes _topic
    cdef long long _topic_turn
    cdef long long _turn
    cdef long long _wall_ms
    cdef readonly object paths
    cdef readonly long long taken

    @cython.locals(fast=FastDesk)
    cpdef void take_all(self, Http2Connection http2, object connection, object now) except *

    @cython.locals(owner=ShapeOwner, shape=HeaderShape)
    cdef bint _take(self, Http2Connection http2, object connection, FastDesk fast) except -1

    @cython.locals(owner=ShapeOwner)
    cdef ShapeOwner _owner_of(self, HeaderShape shape, object connection)

    @cython.locals(reader=SendMessageReader, draft=MessageDraft, queue_offset="long long", size=Py_ssize_t)
    cdef bint _take_send(self, Http2Connection http2, ShapeOwner owner, FastDesk fast) except -1
    cdef void _put(self, ReplyBuffer output, Http2Connection http2, const byte* memory, Py_ssize_t start, Py_ssize_t size) except *

    @cython.locals(reader=AckMessageReader, calls=AcknowledgedCalls, run=AcknowledgedRun, offset="long long", size=Py_ssize_t)
    cdef bint _take_ack(self, Http2Connection http2, object connection, ShapeOwner owner, FastDesk fast) except -1

    @cython.locals(reader=AckMessageReader)
    cdef bint _belongs(self, AcknowledgedRun run, ShapeOwner owner) noexcept

    @cython.locals(reader=AckMessageReader, run=AcknowledgedRun)
    cdef AcknowledgedRun _run_of(self, AcknowledgedCalls calls, ShapeOwner owner, FastDesk fast)

    @cython.locals(reader=AckMessageReader, run=AcknowledgedRun)
    cdef AcknowledgedRun _make_run(self, AcknowledgedCalls calls, ShapeOwner owner, FastDesk fast)
    cdef bint _take_renewal(self, AcknowledgedRun run, long long offset) except -1

    @cython.locals(calls=AcknowledgedCalls, run=AcknowledgedRun, runs=list)
    cdef void _finish(self, Http2Connection http2, FastDesk fast) except *
