from aerobee.service.broker.send.fast_send cimport FastSend
from aerobee.service.in_place.fast_desk cimport FastDesk

cdef class FastInnerDesk(FastDesk):
    cdef object _acks
    cdef object _checks
    cdef FastSend _fast_send
    cdef object _gate
    cdef bint _is_later
    cdef object _limits
    cdef object _may_take
    cdef object _note
    cdef object _now
    cdef dict _packed
    cdef long long _wall_ms
