# cython: language_level=3
"""The C twins of json_bytes.py and send_name.py, callable from Python for test_twins.py."""

from aerobee.protocol cimport json_machine, send_machine
from aerobee.protocol.machine cimport address


def plain_end(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.plain_end(address(memory), position, end)


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


def parse_decimal(memory, Py_ssize_t position, Py_ssize_t end):
    return json_machine.parse_decimal(address(memory), position, end)


def no_number():
    return json_machine.NO_NUMBER


def top_name(memory, Py_ssize_t position, Py_ssize_t size):
    return send_machine.top_name(address(memory), position, size)


def long_name(memory, Py_ssize_t position, Py_ssize_t size):
    return send_machine.long_name(address(memory), position, size)


def short_name(memory, Py_ssize_t position, Py_ssize_t size):
    return send_machine.short_name(address(memory), position, size)
