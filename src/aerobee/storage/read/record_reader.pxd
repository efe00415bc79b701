import cython

from aerobee.protocol.message.record cimport Record
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile

cdef class RecordReader:
    cdef FileSequence _log
    cdef Record _record
    cdef public long long crc_from
    cdef public object index
    cdef public long long readable_to

    @cython.locals(file=MappedFile, position=Py_ssize_t)
    cdef MappedFile find(self, long long log_offset, Record record)
