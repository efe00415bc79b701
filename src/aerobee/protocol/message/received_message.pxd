import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, same_bytes
from aerobee.protocol.message.record cimport Record

cdef class ReceivedMessage:
    cdef bytes _body
    cdef bytes _born_host
    cdef dict _properties
    cdef bytes _store_host
    cdef bytes _text
    cdef readonly long long born_timestamp
    cdef readonly int flag
    cdef readonly object holder
    cdef public bint is_settled
    cdef readonly long long log_offset
    cdef readonly long long offset
    cdef readonly object queue
    cdef readonly int reconsume_times
    cdef readonly Py_ssize_t size
    cdef readonly long long store_timestamp
    cdef readonly int sys_flag
    cdef readonly str topic

    cdef void _expand(self) except *

cdef class MessageReader:
    cdef bytes _born_host
    cdef bint _is_retry
    cdef object _kind
    cdef str _prefix
    cdef dict _queues
    cdef Record _record
    cdef bytes _store_host
    cdef object _tags
    cdef str _topic
    cdef bytes _topic_bytes
    cdef public long long offset_delta

    @cython.locals(
        messages=list, memory="const byte*", end=Py_ssize_t, position=Py_ssize_t, record=Record,
        found=int, message=ReceivedMessage, is_any=bint,
    )
    cpdef list read(self, bytes data, object queue, object holder)

    @cython.locals(record=Record, at=Py_ssize_t, size=Py_ssize_t)
    cdef void _fill(self, ReceivedMessage message, const byte* memory) except *

    cdef object _queue_of(self, object any_queue)

    cdef void _see_topic(self, bytes topic) except *

    cdef str _first_topic(self, ReceivedMessage message)

    @cython.locals(message=ReceivedMessage, messages=list)
    cdef list _split(self, ReceivedMessage batch)
