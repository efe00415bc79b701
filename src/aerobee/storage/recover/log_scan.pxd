import cython

from aerobee.protocol.primitives.machine cimport byte
from aerobee.protocol.message.record_check cimport RecordCheck
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class LogScan:
    cdef RecordCheck _check
    cdef bint _needs_crc
    cdef bint _skips_checksums
    cdef readonly long long count
    cdef readonly bint is_all_crc
    cdef readonly long long last_timestamp
    cdef readonly Py_ssize_t position

    @cython.locals(
        check=RecordCheck, memory="byte*", found=int, has_crc=bint,
        base="long long", file_end="long long",
    )
    cpdef int run(self, MappedFile file, Py_ssize_t position) except -1
