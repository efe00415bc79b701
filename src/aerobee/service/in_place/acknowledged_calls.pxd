import cython

from aerobee.protocol.http2.connection cimport Http2Connection

@cython.final
cdef class AcknowledgedRun:
    cdef object _answer
    cdef AcknowledgedCalls _calls
    cdef bytes broker_name
    cdef readonly object client
    cdef bytes group
    cdef readonly str group_name
    cdef long long invisible_ms
    cdef bint may_be_renewed
    cdef long long offset_max
    cdef long long offset_min
    cdef readonly list offsets
    cdef long long pop_time
    cdef long long queue_id
    cdef readonly list renewals
    cdef long long revive_queue
    cdef long long start_offset
    cdef readonly list starts
    cdef bytes topic
    cdef readonly str topic_name

@cython.final
cdef class AcknowledgedCalls:
    cdef object _connection
    cdef bytes _data
    cdef Http2Connection _http2
    cdef object _outbox
    cdef object _renewals
    cdef Py_ssize_t answer_bytes_max
    cdef bytes answers
    cdef Py_ssize_t count
    cdef Py_ssize_t data_bytes
    cdef Py_ssize_t left
    cdef dict runs
