# cython: language_level=3
"""The C twins, callable from Python: of json_bytes.py and send_field_names.py for test_twins.py, of
big_endian.py and crc32.py for test_machine_parity.py, of hmac_sha1.py for test_hmac_parity.py."""

from aerobee.protocol.primitives cimport hmac_machine, machine
from aerobee.protocol.send cimport send_machine
from aerobee.protocol.text cimport json_machine
from aerobee.protocol.primitives.machine cimport address


def plain_end(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.plain_end(address(memory), position, end)


def name_end(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.name_end(address(memory), position, end)


def copy_plain(target, Py_ssize_t target_position, Py_ssize_t target_end, memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.copy_plain(
        address(target), target_position, target_end, address(memory), position, end
    )


def is_utf8(memory, Py_ssize_t position, Py_ssize_t end):
    return bool(json_machine.is_utf8(address(memory), position, end))


def text_at(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.text_at(address(memory), position, end)


def hex_digit(int byte):
    return json_machine.hex_digit(byte)


def escaped_unit(memory, Py_ssize_t position):
    return json_machine.escaped_unit(address(memory), position)


def put_character(target, Py_ssize_t position, int unit):
    return json_machine.put_character(address(target), position, unit)


def number_end(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.number_end(address(memory), position, end)


def is_bare_integer(memory, Py_ssize_t position, Py_ssize_t end):
    return bool(json_machine.is_bare_integer(address(memory), position, end))


def parse_decimal(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.parse_decimal(address(memory), position, end)


def bare_int32(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.bare_int32(address(memory), position, end)


def no_number():
    return json_machine.NO_NUMBER


def top_name(memory, Py_ssize_t position, Py_ssize_t size):
    return send_machine.top_name(address(memory), position, size)


def long_name(memory, Py_ssize_t position, Py_ssize_t size):
    return send_machine.long_name(address(memory), position, size)


def short_name(memory, Py_ssize_t position, Py_ssize_t size):
    return send_machine.short_name(address(memory), position, size)


def load_i16(memory, Py_ssize_t position):
    return machine.load_i16(address(memory), position)


def load_i32(memory, Py_ssize_t position):
    return machine.load_i32(address(memory), position)


def load_u32(memory, Py_ssize_t position):
    return machine.load_u32(address(memory), position)


def load_i64(memory, Py_ssize_t position):
    return machine.load_i64(address(memory), position)


def store_i16(memory, Py_ssize_t position, short value):
    machine.store_i16(address(memory), position, value)


def store_i32(memory, Py_ssize_t position, int value):
    machine.store_i32(address(memory), position, value)


def store_u32(memory, Py_ssize_t position, unsigned int value):
    machine.store_u32(address(memory), position, value)


def store_i64(memory, Py_ssize_t position, long long value):
    machine.store_i64(address(memory), position, value)


def copy_bytes(target, Py_ssize_t target_position, source, Py_ssize_t source_position, Py_ssize_t size):
    machine.copy_bytes(address(target), target_position, address(source), source_position, size)


def zero_bytes(memory, Py_ssize_t position, Py_ssize_t size):
    machine.zero_bytes(address(memory), position, size)


def same_bytes(left, Py_ssize_t left_position, right, Py_ssize_t right_position, Py_ssize_t size):
    return bool(
        machine.same_bytes(address(left), left_position, address(right), right_position, size)
    )


def bytes_at(memory, Py_ssize_t position, Py_ssize_t size):
    return machine.bytes_at(address(memory), position, size)


def bytes_at_address_of(bytes data, Py_ssize_t position, Py_ssize_t size):
    return machine.bytes_at(machine.bytes_address(data), position, size)


def crc32(memory, Py_ssize_t position, Py_ssize_t size, unsigned int start):
    return machine.crc32(address(memory), position, size, start)


def prepare_key(prepared, bytes key, Py_ssize_t size):
    hmac_machine.prepare_key(address(prepared), machine.bytes_address(key), size)


def put_hmac(target, prepared, text, Py_ssize_t text_size, body, Py_ssize_t body_start, Py_ssize_t body_size):
    hmac_machine.put_hmac(
        address(target), address(prepared), address(text), text_size, address(body), body_start, body_size
    )


def is_same_text(known, said, Py_ssize_t position):
    return bool(hmac_machine.is_same_text(address(known), address(said), position))


def choose_sha1(int kind):
    hmac_machine.choose_sha1(kind)
