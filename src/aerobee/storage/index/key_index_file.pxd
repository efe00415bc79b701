import cython

from aerobee.protocol.primitives.machine cimport (
    address, byte, load_i32, load_i64, load_u32, same_bytes, store_i32, store_i64, store_u32,
    zero_bytes,
)

cdef extern from *:
    """
    #ifdef __GNUC__
    #define aerobee_prefetch(memory, position) __builtin_prefetch((memory) + (position), 1)
    #else
    #define aerobee_prefetch(memory, position) ((void)0)
    #endif
    """
    void prefetch "aerobee_prefetch"(const byte* memory, Py_ssize_t position) noexcept nogil

cdef Py_ssize_t _HEADER_BYTES
cdef Py_ssize_t _SLOT_BYTES
cdef Py_ssize_t _UNIT_BYTES
cdef unsigned int _SIGN_BIT
cdef long long _SECONDS_MAX
cdef Py_ssize_t _STEP_BYTES
cdef long long _TIME_MAX
cdef Py_ssize_t _ZERO_BYTES
cdef byte* _ZEROS

cpdef unsigned int index_hash(unsigned int text_hash) noexcept
cdef long long _bounded(long long time_ms) noexcept

cdef class KeyIndexFile:
    cdef byte* _memory
    cdef Py_ssize_t _reserved
    cdef int _room
    cdef unsigned int _slots
    cdef Py_ssize_t _units_start
    cdef object _view
    cdef readonly long long begin_offset
    cdef readonly long long begin_timestamp
    cdef readonly object disk_file
    cdef readonly long long end_offset
    cdef readonly long long end_timestamp
    cdef public bint is_dirty
    cdef readonly int next_unit
    cdef readonly int slots_used
    cdef readonly int units

    cpdef void prime(self, long long end_timestamp, long long end_offset) noexcept
    cpdef bint is_full(self) noexcept

    @cython.locals(
        unit=int, memory="byte*", slot_at=Py_ssize_t, previous=int, is_used=int, seconds=int,
        elapsed="long long", unit_at=Py_ssize_t,
    )
    cpdef bint put(self, unsigned int key_hash, long long log_offset, long long store_timestamp) except? 0

    @cython.locals(end=Py_ssize_t)
    cdef void _make_room(self, int unit) except *

    cdef void expect(self, unsigned int key_hash) noexcept

    @cython.locals(
        base="long long", highest="long long", lowest="long long", memory="byte*",
        last_offset="long long", unit=int, above=int, unit_at=Py_ssize_t, seconds=int,
        offset="long long", found=list,
    )
    cpdef list find(self, unsigned int key_hash, long long begin_ms, long long end_ms, Py_ssize_t limit)

    cpdef long long unit_offset(self, int unit) except? -1
    @cython.locals(seconds="long long")
    cpdef long long unit_timestamp(self, int unit) except? -1
    cpdef void rebuild_to(self, int unit_count, long long end_timestamp) except *
    cdef int _check_unit(self, int unit) except -1

    @cython.locals(
        memory="byte*", last_offset="long long", unit=int, unit_at=Py_ssize_t,
        key_hash="unsigned int", offset="long long", slot_at=Py_ssize_t, previous=int,
    )
    cdef int _chain_units(self, int unit_count) noexcept

    @cython.locals(position=Py_ssize_t, end=Py_ssize_t, data_end=Py_ssize_t, size=Py_ssize_t)
    cdef void _zero_units_from(self, int unit) except *
