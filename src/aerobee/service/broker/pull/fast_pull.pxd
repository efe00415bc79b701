import cython

from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.remoting.number_template cimport NumberTemplate
from aerobee.protocol.message.property_filter cimport PropertyFilter
from aerobee.protocol.consume.pull_answer cimport PullAnswer, matches
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer
from aerobee.service.access.fast_gate cimport FastGate
from aerobee.storage.index.consume_queue cimport ConsumeQueue
from aerobee.storage.index.consume_queues cimport ConsumeQueues
from aerobee.storage.read.queue_reader cimport QueueReader

cdef Py_ssize_t _OUTPUT_BYTES_MAX

@cython.final
cdef class PullGrant:
    cdef tuple basis
    cdef long long checked_at
    cdef PropertyFilter chosen
    cdef int commit_place
    cdef bint commits
    cdef Py_ssize_t count_max
    cdef long long epoch
    cdef object flow
    cdef str group
    cdef int group_sys_flag
    cdef int offset_place
    cdef int opaque_place
    cdef int queue_place
    cdef long long queues
    cdef object tag_codes
    cdef NumberTemplate template
    cdef str topic
    cdef bytes topic_bytes
    cdef int topic_sys_flag

@cython.final
cdef class FastPull:
    cdef PullAnswer _answer
    cdef object _basis
    cdef object _bytes_max
    cdef Py_ssize_t _bytes_now
    cdef tuple _candidate
    cdef long long _candidate_epoch
    cdef long long _checks
    cdef object _flow_of
    cdef FastGate _gate
    cdef dict _grants
    cdef object _offsets
    cdef ConsumeQueues _queues
    cdef QueueReader _reader
    cdef readonly long long answered

    cpdef void recheck(self) noexcept

    @cython.locals(taken=int)
    cpdef int take_all(self, object channel, FrameReader frames, ReplyBuffer output) except -1

    @cython.locals(grants=list, grant=PullGrant, header=bytes)
    cdef bint _take(self, object channel, FrameReader frames, ReplyBuffer output) except -1

    cdef bint _is_admitted(self, FrameReader frames) except -1

    cdef bint _holds(self, PullGrant grant) except -1

    @cython.locals(
        template=NumberTemplate, queue_id="long long", opaque="long long", found=ConsumeQueue,
        queue=ConsumeQueue, answer=PullAnswer, start=Py_ssize_t, count=Py_ssize_t,
        next_offset="long long", commit="long long",
    )
    cdef bint _serve(self, PullGrant grant, ReplyBuffer output) except -1
