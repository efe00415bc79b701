import cython

from aerobee.protocol.primitives.machine cimport address, byte, load_i32, load_i64
from aerobee.protocol.primitives.search_machine cimport find_byte
from aerobee.protocol.message.record cimport Record

cdef int _SOUND
cdef int _FILLER
cdef int _TORN
cdef int _MISPLACED
cdef int _UNSOUND
cdef int _WRONG_FILLER
cdef int _BODY_CRC
cdef int _RECORD_CRC
cdef int _MAGIC_V1
cdef int _MAGIC_V2
cdef int _MAGIC_BYTE
cdef int _RECORD_BYTES_MIN

@cython.final
cdef class RecordCheck:
    cdef readonly int finding
    cdef readonly bint has_crc
    cdef readonly Record record

    @cython.locals(found=int, vouched=int)
    cdef int judge(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, long long base, long long file_end, bint needs_crc) noexcept

    @cython.locals(found=int)
    cdef int judge_place(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, long long base, long long file_end) noexcept

    @cython.locals(start=Py_ssize_t, index=Py_ssize_t)
    cdef bint _is_topic_torn(self, const byte* memory) noexcept

    @cython.locals(at=Py_ssize_t, last=Py_ssize_t)
    cdef Py_ssize_t find_next(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, long long base, long long end_offset, bint needs_crc) noexcept

    @cython.locals(magic=int, size=Py_ssize_t)
    cdef bint _may_begin(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, long long base, long long end_offset, bint needs_crc) noexcept
