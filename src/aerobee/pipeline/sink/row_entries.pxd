import cython

from aerobee.pipeline.arrow.column_machine cimport is_ascii_at
from aerobee.pipeline.sink.column_readers cimport NumberColumn, TextColumn
from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.primitives.java_hash cimport signed32, text_hash
from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, bytes_at, copy_bytes, same_bytes, store_i16, store_i32, zero_bytes,
)
from aerobee.protocol.primitives.search_machine cimport find_byte

cdef int _ENDED
cdef int _FULL
cdef int _SPECIAL
cdef int _WRONG
cdef int _NO_VALUE
cdef int _NO_QUEUE
cdef int _SEPARATOR
cdef int _NO_TEXT
cdef int _TOO_LONG
cdef int _UNSOUND
cdef Py_ssize_t _MISSING
cdef Py_ssize_t _ENTRY_BYTES
cdef Py_ssize_t _PROPERTIES_MAX
cdef Py_ssize_t _NAMES_BYTES
cdef Py_ssize_t _MARK_BYTES_MAX
cdef int _PIPE
cdef bytes _FOLLOWER_HEAD
cdef Py_ssize_t _FOLLOWER_HEAD_SIZE
cdef bytes _KEYS_HEAD
cdef bytes _TAGS_HEAD
cdef bytes _ORDER_HEAD

cdef class QueueLane:
    cdef Py_ssize_t _capacity
    cdef bytes _head
    cdef bytes _tail
    cdef object _view
    cdef readonly Py_ssize_t count
    cdef byte* memory
    cdef readonly long long sequence
    cdef readonly Py_ssize_t size

    @cython.locals(needed=Py_ssize_t, capacity=Py_ssize_t)
    cdef void make_room(self, Py_ssize_t size) except *

    cpdef bytes body(self)

    @cython.locals(name_size=Py_ssize_t)
    cdef Py_ssize_t put_property(self, Py_ssize_t at, bytes name, const byte* source, Py_ssize_t start, Py_ssize_t size) noexcept

    @cython.locals(head_size=Py_ssize_t, tail_size=Py_ssize_t)
    cdef Py_ssize_t put_mark(self, Py_ssize_t at) noexcept

@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _size_at(TextColumn column, Py_ssize_t row) noexcept

cdef class RowEncoder:
    cdef Py_ssize_t _bytes_max
    cdef list _dropped
    cdef Py_ssize_t _rows_max
    cdef Py_ssize_t _stripe_rows
    cdef Py_ssize_t _stripe_start
    cdef long long _unkeyed
    cdef readonly int fault
    cdef public TextColumn key
    cdef readonly Py_ssize_t lane
    cdef readonly list lanes
    cdef public TextColumn ordering_key
    cdef readonly Py_ssize_t position
    cdef public TextColumn properties
    cdef public NumberColumn queue
    cdef readonly Py_ssize_t rows
    cdef public TextColumn tags
    cdef public NumberColumn times
    cdef readonly TextColumn value

    @cython.locals(column=TextColumn, numbers=NumberColumn)
    cpdef void begin(self, TextColumn value) except *

    @cython.locals(times=NumberColumn, row=Py_ssize_t, index=Py_ssize_t, came_to=int)
    cpdef int take(self) except -1

    cpdef void skip(self)
    cdef void _count(self, Py_ssize_t row) noexcept
    cdef bint _is_keyed(self, Py_ssize_t row) noexcept

    @cython.locals(count=Py_ssize_t, queue=NumberColumn, chosen="long long", keys=TextColumn, code="long long")
    cdef Py_ssize_t _choose(self, Py_ssize_t row) except -2

    @cython.locals(
        value=TextColumn, room=Py_ssize_t, memory="byte*", start=Py_ssize_t,
        text_at=Py_ssize_t, at=Py_ssize_t,
    )
    cdef int _encode(self, QueueLane lane, Py_ssize_t row) except -1

    @cython.locals(
        value=Py_ssize_t, properties=Py_ssize_t, key=Py_ssize_t, tags=Py_ssize_t, keys=Py_ssize_t,
        texts=Py_ssize_t,
    )
    cdef Py_ssize_t _room_for(self, Py_ssize_t row) except -2

    @cython.locals(properties=TextColumn, key=TextColumn, tags=TextColumn, keys=TextColumn)
    cdef Py_ssize_t _put_texts(self, QueueLane lane, Py_ssize_t at, Py_ssize_t row) except -2

    @cython.locals(memory="const byte*", start=Py_ssize_t, end=Py_ssize_t, text=bytes)
    cdef bint _is_clean(self, TextColumn column, bint is_tag) except -1

    @cython.locals(
        memory="const byte*", start=Py_ssize_t, end=Py_ssize_t, value_end=Py_ssize_t,
        name_end=Py_ssize_t, name_size=Py_ssize_t, size=Py_ssize_t, is_whole=bint,
    )
    cdef Py_ssize_t _put_own(self, QueueLane lane, Py_ssize_t at, TextColumn column) except -2

    @cython.locals(names=bytes, at=Py_ssize_t)
    cdef bint _is_dropped(self, const byte* memory, Py_ssize_t start, Py_ssize_t size) except -1
