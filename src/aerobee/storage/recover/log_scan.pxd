import cython

from aerobee.protocol.primitives.machine cimport byte
from aerobee.protocol.message.record cimport Record
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class LogScan:
    cdef bint _needs_crc
    cdef Record _record
    cdef bint _skips_checksums
    cdef readonly long long count
    cdef readonly bint is_all_crc
    cdef readonly long long last_timestamp
    cdef readonly Py_ssize_t position

    @cython.locals(record=Record, memory="byte*", found=int)
    cpdef int run(self, MappedFile file, Py_ssize_t position) except -1

    @cython.locals(start=Py_ssize_t, index=Py_ssize_t)
    cdef bint _is_topic_torn(self, const byte* memory) noexcept
