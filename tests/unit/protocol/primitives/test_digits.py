"""Of the Python original: the compiled one is reached through the answers that it writes."""

import base64

import pytest

from tests.pure import pure

digits = pure("aerobee.protocol.primitives.digits")


@pytest.mark.parametrize(
    "value", [0, 1, 9, 10, 11, 99, 100, 12345, 2**31 - 1, -(2**31), -1, 2**63 - 1, -(2**63) + 1]
)
def test_a_number_is_written_as_people_write_it(value: int) -> None:
    memory = memoryview(bytearray(b"#" * 30))
    end = digits.put_decimal(memory, 3, value)
    assert bytes(memory) == b"###" + str(value).encode() + b"#" * (30 - end)


@pytest.mark.parametrize("value", [0, 15, 16, 0xDEADBEEF, 2**63 - 1])
def test_a_hexadecimal_has_sixteen_capital_digits(value: int) -> None:
    memory = memoryview(bytearray(20))
    assert digits.put_hex(memory, 2, value) == 18
    assert bytes(memory[2:18]) == f"{value:016X}".encode()


@pytest.mark.parametrize("size", range(10))
def test_bytes_become_the_base64_of_urls_with_its_padding(size: int) -> None:
    data = bytes((255 - 37 * number) % 256 for number in range(size))
    memory = memoryview(bytearray(b"#" * 20))
    end = digits.put_base64(memory, 2, memoryview(data + b"more"), size)
    assert bytes(memory) == b"##" + base64.urlsafe_b64encode(data) + b"#" * (20 - end)
