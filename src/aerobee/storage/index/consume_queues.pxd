import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, same_bytes
from aerobee.storage.index.consume_queue cimport ConsumeQueue

cdef class ConsumeQueues:
    cdef object _born_at
    cdef dict _by_topic
    cdef Py_ssize_t _count
    cdef Py_ssize_t _count_max
    cdef object _directory
    cdef object _disk
    cdef object _file_units
    cdef ConsumeQueue _last
    cdef object _leaving

    cpdef long long born_at(self, bytes topic) except? -1

    @cython.locals(queues=dict)
    cpdef ConsumeQueue find(self, bytes topic, int queue_id)

    @cython.locals(last=ConsumeQueue, queue=ConsumeQueue)
    cpdef ConsumeQueue find_or_make(self, bytes topic, int queue_id)

    @cython.locals(last=ConsumeQueue, queue=ConsumeQueue, topic=bytes)
    cdef ConsumeQueue at(self, const byte* memory, Py_ssize_t position, Py_ssize_t size, int queue_id)
