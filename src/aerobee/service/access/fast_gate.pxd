import cython

from aerobee.protocol.remoting.signed_header cimport SignedHeader, SigningKey
from aerobee.service.access.request_stamps cimport StampSession

cdef long long _AGE_MS_MAX

@cython.final
cdef class KnownUser:
    cdef SigningKey key
    cdef readonly object name
    cdef public StampSession session
    cdef readonly set topics
    cdef public long long trusted_until_ms

@cython.final
cdef class FastGate:
    cdef object _accounts
    cdef long long _count
    cdef SignedHeader _header
    cdef dict _known
    cdef long long _now_ms
    cdef long long _stamp_ms
    cdef object _stamps
    cdef long long _trust_ms
    cdef KnownUser _user
    cdef list _users
    cdef long long _wall_ms
    cdef readonly long long epoch

    cpdef bint begin(self, object channel, object now) except -1

    @cython.locals(header=SignedHeader, user=KnownUser)
    cpdef bint admits(self, object frames) except -1

    @cython.locals(user=KnownUser)
    cpdef void took(self) noexcept

    @cython.locals(user=KnownUser)
    cpdef bint may_send(self, bytes topic) except -1

    @cython.locals(users=list, user=KnownUser)
    cdef KnownUser _find(self)

    @cython.locals(
        session=StampSession, header=SignedHeader, wall_ms="long long", count="long long",
        age_ms="long long",
    )
    cdef bint _is_new(self, KnownUser user) except -1
