import cython

from aerobee.protocol.message.record cimport Record
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile
from aerobee.storage.read.queue_reader cimport QueueReader

@cython.final
cdef class HotRecords:
    cdef FileSequence _log
    cdef QueueReader _reader
    cdef readonly MappedFile file
    cdef readonly Record record

    @cython.locals(file=MappedFile)
    cpdef bint find(self, long long log_offset) except? -1
