import cython

from aerobee.client.core.identity cimport UniqueIds
from aerobee.client.api.receipt cimport Receipt
from aerobee.net.line cimport Line
from aerobee.net.waiter cimport Waiter
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.primitives.java_hash cimport tag_code
from aerobee.protocol.send.send_frame_template cimport SendFrameTemplate
from aerobee.protocol.send.send_answer_reader cimport SendAnswerReader

cdef long long _BORN_MIN
cdef long long _BORN_END
cdef Py_ssize_t _COPIED_BYTES_MAX
cdef Py_ssize_t _COPIED_EACH_BYTES_MAX

cdef class SendWaiter(Waiter):
    cdef SendAnswerReader _said
    cdef readonly object message_id
    cdef readonly object queue

    @cython.locals(said=SendAnswerReader)
    cpdef bint take(self, FrameReader frames) except? -1
    cpdef void end(self, object command) except *
    cdef object _receipt(self, int code, bytes ids, long long offset)

@cython.final
cdef class FastQueue:
    cdef readonly object address
    cdef readonly SendFrameTemplate batches
    cdef Line line
    cdef readonly object queue
    cdef readonly SendFrameTemplate singles

@cython.final
cdef class FastSend:
    cdef Py_ssize_t _bytes_max
    cdef Py_ssize_t _count
    cdef object _find_line
    cdef UniqueIds _ids
    cdef object _loop
    cdef object _moment
    cdef long long _month_ms
    cdef double _now
    cdef list _queues
    cdef SendAnswerReader _said
    cdef Py_ssize_t _turn
    cdef long long _wall_ms

    cpdef SendWaiter send(self, bytes body, bytes properties, double seconds)

    cpdef SendWaiter send_in_order(self, bytes key, bytes body, bytes properties, double seconds)

    @cython.locals(code="long long")
    cpdef Py_ssize_t place_for(self, bytes key) except? -1

    @cython.locals(place=Py_ssize_t, found=FastQueue)
    cpdef object find_place(self, object queue)

    @cython.locals(line=Line, message_id=bytes, opaque=int)
    cdef SendWaiter _send(self, FastQueue queue, bytes body, bytes properties, double seconds)

    @cython.locals(is_next=bint, queue=FastQueue, line=Line, template=SendFrameTemplate, ids=UniqueIds, count=Py_ssize_t, size=Py_ssize_t, opaque=int, properties=bytes, elapsed="long long", made=list, index=Py_ssize_t, own=bytes, message_id=bytes)
    cpdef SendWaiter send_batch(self, Py_ssize_t place, list bodies, list texts, bytes text, double seconds)

    cdef FastQueue _next(self)

    @cython.locals(found=FastQueue, line=Line)
    cdef FastQueue _at(self, Py_ssize_t place)

    @cython.locals(waiter=SendWaiter)
    cdef SendWaiter _sent(self, Line line, int opaque, object queue, object message_id, double seconds)
