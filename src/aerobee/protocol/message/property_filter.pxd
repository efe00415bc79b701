import cython

from aerobee.protocol.primitives.java_numbers cimport JavaNumber, order_of_reals, order_of_wholes
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, same_bytes
from aerobee.protocol.primitives.search_machine cimport find_byte

cdef int _FALSE
cdef int _TRUE
cdef int _UNKNOWN
cdef int _FAULT
cdef int _NULL
cdef int _TEXT
cdef int _INT32
cdef int _INT64
cdef int _REAL
cdef int _TRUTH
cdef int _PROPERTY
cdef int _OUTCOME
cdef int _FAULTY
cdef int _EQUAL
cdef int _LESS
cdef int _LESS_OR_EQUAL
cdef int _MORE
cdef int _STARTS_WITH
cdef int _ENDS_WITH
cdef int _NO_ORDER

cdef class Condition

cdef class Operand:
    cdef Condition condition
    cdef bytes data
    cdef const byte* data_memory
    cdef long long integer
    cdef int kind
    cdef Py_ssize_t name_size
    cdef double real
    cdef Py_ssize_t size
    cdef Py_ssize_t start
    cdef bint was_missing

    @cython.locals(truth=int)
    cdef int load(self, const byte* memory) except -1

    cdef const byte* memory_of(self, const byte* memory) noexcept

cdef class Condition:
    cdef int truth(self, const byte* memory) except -1

cdef class Known(Condition):
    cdef int _truth

    cdef int truth(self, const byte* memory) except -1

cdef class AllOf(Condition):
    cdef list _parts

    @cython.locals(found=int, truth=int, part=Condition)
    cdef int truth(self, const byte* memory) except -1

cdef class AnyOf(Condition):
    cdef list _parts

    @cython.locals(found=int, truth=int, part=Condition)
    cdef int truth(self, const byte* memory) except -1

cdef class Not(Condition):
    cdef Condition _part

    @cython.locals(truth=int)
    cdef int truth(self, const byte* memory) except -1

cdef class IsNull(Condition):
    cdef Operand _operand

    @cython.locals(kind=int)
    cdef int truth(self, const byte* memory) except -1

cdef class Bare(Condition):
    cdef Operand _operand

    cdef int truth(self, const byte* memory) except -1

cdef class OneOf(Condition):
    cdef bint _is_negated
    cdef Operand _operand
    cdef frozenset _texts

    @cython.locals(operand=Operand, is_in=bint)
    cdef int truth(self, const byte* memory) except -1

cdef class Search(Condition):
    cdef int _how
    cdef bint _is_negated
    cdef Operand _operand
    cdef bytes _text
    cdef const byte* _text_memory
    cdef Py_ssize_t _text_size

    @cython.locals(operand=Operand, kind=int, place="const byte*", start=Py_ssize_t, spare=Py_ssize_t, is_found=bint)
    cdef int truth(self, const byte* memory) except -1

cdef class Comparison(Condition):
    cdef Operand _left
    cdef JavaNumber _number
    cdef int _operator
    cdef Operand _right
    cdef bint has_failed
    cdef str source

    @cython.locals(left=int, right=int, order=int)
    cdef int truth(self, const byte* memory) except -1

    cdef bint _is_meant(self, int order) noexcept

    @cython.locals(left=Operand, right=Operand)
    cdef bint _is_same_text(self, const byte* memory) noexcept

    @cython.locals(real=double)
    cdef int _order_of_texts(self, const byte* memory) except -2

    cdef int _order_of_truths(self, const byte* memory, int left, int right) except -2

    @cython.locals(operand=Operand, text=bytes)
    cdef int _is_true_text(self, const byte* memory) except -1

    @cython.locals(
        type_=int, text=Operand, whole="long long", real=double, other_whole="long long", other_real=double,
    )
    cdef int _order_of_numbers(self, const byte* memory, int left, int right) except -2

    @cython.locals(start=Py_ssize_t)
    cdef bint _read_real(self, Operand operand, const byte* memory) except -1

cdef class PropertyFilter:
    cdef list _comparisons
    cdef Condition _condition
    cdef list _properties
    cdef readonly str expression
    cdef readonly long long faults
    cdef readonly bint has_news
    cdef readonly Py_ssize_t text_max
    cdef readonly Py_ssize_t units_max

    @cython.locals(truth=int)
    cdef bint matches(self, const byte* memory, Py_ssize_t start, Py_ssize_t size) except -1

    cpdef bint matches_text(self, bytes text) except -1

    @cython.locals(operand=Operand, mark=Py_ssize_t, piece_end=Py_ssize_t)
    cdef void _find(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) except *

    @cython.locals(operand=Operand, comparison=Comparison, news=list)
    cpdef list take_news(self, set told)
