import cython

from aerobee.protocol.consume.success_answer cimport SuccessAnswer
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.remoting.number_template cimport NumberTemplate
from aerobee.protocol.consume.pull_answer cimport matches
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer
from aerobee.service.access.fast_gate cimport FastGate
from aerobee.storage.index.consume_queue cimport ConsumeQueue
from aerobee.storage.index.consume_queues cimport ConsumeQueues

cdef long long _INT32_MAX
cdef long long _INT64_MAX

@cython.final
cdef class AckGrant:
    cdef object basis
    cdef str broker_name
    cdef long long checked_at
    cdef long long epoch
    cdef str group
    cdef int hidden_place
    cdef int offset_place
    cdef int opaque_place
    cdef int place_offset_place
    cdef int place_queue_place
    cdef int pop_time_place
    cdef int queue_place
    cdef long long queues
    cdef int revive_place
    cdef int start_place
    cdef NumberTemplate template
    cdef str topic
    cdef bytes topic_bytes

@cython.final
cdef class AckRun:
    cdef AckGrant grant
    cdef long long hidden_ms
    cdef readonly list offsets
    cdef readonly list opaques
    cdef long long pop_time
    cdef long long queue_id
    cdef readonly long long revive_queue
    cdef long long start_offset

    @cython.locals(grant=AckGrant)
    cpdef tuple key(self)
    cpdef long long revive_time(self) noexcept

@cython.final
cdef class FastAck:
    cdef SuccessAnswer _answer
    cdef tuple _candidate
    cdef long long _candidate_epoch
    cdef long long _checks
    cdef FastGate _gate
    cdef dict _grants
    cdef AckRun _last
    cdef ConsumeQueues _queues
    cdef long long _revive_queues
    cdef dict _runs
    cdef object _topics

    cpdef void recheck(self) noexcept

    @cython.locals(taken=int, grants=list, header=bytes, is_ack=bint)
    cpdef int take_all(self, object channel, FrameReader frames) except -1

    @cython.locals(grant=AckGrant)
    cdef bint _take(self, list grants, FrameReader frames) except -1

    cdef bint _is_admitted(self, FrameReader frames) except -1

    cdef bint _holds(self, AckGrant grant) except -1

    @cython.locals(
        template=NumberTemplate, queue_id="long long", offset="long long",
        start_offset="long long", pop_time="long long", hidden_ms="long long",
        revive_queue="long long", opaque="long long", place_queue="long long",
        found=ConsumeQueue, queue=ConsumeQueue, run=AckRun,
    )
    cdef bint _gather(self, AckGrant grant) except -1

    @cython.locals(names=tuple, numbers=tuple, run=AckRun)
    cdef AckRun _run(self, AckGrant grant, long long queue_id, long long start_offset, long long pop_time, long long hidden_ms, long long revive_queue)

    cpdef list take_runs(self)

    @cython.locals(answer=SuccessAnswer, opaque=int)
    cpdef void answer(self, AckRun run, ReplyBuffer output) except *
