"""The compiled wire modules against their uncompiled twins, on the same bytes in one process."""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from tests.header_cases import ACCEPTED, EXCESSIVE, REFUSED
from tests.pure import pure
from tests.wire import Wire, binary_header, frame
from tests.wire_strategies import (
    chunkings,
    edited,
    framed_again,
    header_values,
    json_headers,
    send_frames,
)

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.send.send_header"), reason="nothing is compiled"
)

COMPILED = Wire(import_module)
TWIN = Wire(pure)
BOTH = (COMPILED, TWIN)

FRAMES = st.builds(frame, st.binary(max_size=60), st.binary(max_size=200), st.integers(0, 3))


def test_one_side_is_compiled_and_the_other_is_not() -> None:
    for name in ("frame", "json_scan", "header_json", "header_binary", "send_header"):
        assert getattr(COMPILED, name).is_compiled()
        assert not getattr(TWIN, name).is_compiled()


@given(st.data(), st.lists(FRAMES, max_size=5), st.binary(max_size=30))
def test_frames_and_failures_are_the_same(
    data: st.DataObject, frames: list[bytes], tail: bytes
) -> None:
    chunks = data.draw(chunkings(b"".join(frames) + tail))
    limits = data.draw(st.sampled_from([(100, 30), (400, 60)]))
    assert COMPILED.frames(chunks, limits) == TWIN.frames(chunks, limits)


CASES = REFUSED | {name: case[0] for name, case in (ACCEPTED | EXCESSIVE).items()}


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_judged_the_same(name: str) -> None:
    data = CASES[name]
    judged = [wire.header(wire.json_scan.scan_json_header, data) for wire in BOTH]
    assert judged[0] == judged[1]
    assert TWIN.header(TWIN.header_json.parse_json_header, data) == judged[0]


@given(edited(st.sampled_from([text for text, *_ in EXCESSIVE.values() if len(text) < 50_000])))
def test_what_is_too_large_is_judged_the_same_by_all_three_readers(data: bytes) -> None:
    expected = TWIN.header(TWIN.json_scan.scan_json_header, data)
    assert TWIN.header(TWIN.header_json.parse_json_header, data) == expected
    assert COMPILED.header(COMPILED.json_scan.scan_json_header, data) == expected


@given(edited(json_headers()))
def test_json_headers_are_judged_the_same_by_all_three_readers(data: bytes) -> None:
    expected = TWIN.header(TWIN.json_scan.scan_json_header, data)
    assert TWIN.header(TWIN.header_json.parse_json_header, data) == expected
    assert COMPILED.header(COMPILED.json_scan.scan_json_header, data) == expected


@given(header_values())
def test_headers_are_written_the_same(values: dict[str, Any]) -> None:
    as_json = [wire.header_json.encode_json_header(wire.command(values)) for wire in BOTH]
    assert as_json[0] == as_json[1]
    fits = values | {"code": values["code"] % 32768, "version": values["version"] % 32768}
    as_binary = [wire.header_binary.encode_binary_header(wire.command(fits)) for wire in BOTH]
    assert as_binary[0] == as_binary[1]


@given(
    edited(
        st.builds(
            binary_header,
            st.integers(-(2**15), 2**15 - 1),
            st.dictionaries(st.text(max_size=9), st.text(max_size=30), max_size=5),
            language=st.integers(-128, 127),
            remark=st.binary(max_size=5),
        )
    )
)
def test_binary_headers_are_judged_the_same(data: bytes) -> None:
    judged = [wire.header(wire.header_binary.decode_binary_header, data) for wire in BOTH]
    assert judged[0] == judged[1]


@given(st.lists(edited(send_frames()).map(framed_again), min_size=1, max_size=4))
def test_sends_are_scanned_the_same(frames: list[bytes]) -> None:
    assert COMPILED.scans(frames) == TWIN.scans(frames)


@given(send_frames())
def test_sends_are_taken_the_same(data: bytes) -> None:
    assert COMPILED.taken(data) == TWIN.taken(data)


@given(st.binary(max_size=70), st.integers(0, 40))
def test_strings_of_any_length_end_at_the_same_byte(content: bytes, shift: int) -> None:
    """The C twins look at sixteen bytes at a time: every alignment and every rest."""
    text = b"x" * shift + content + b'"'
    data = b'{"remark":"' + text + b"}" + b"tail" * 5
    for end in (len(data), len(data) - 20):
        judged = []
        for wire in BOTH:
            header = wire.command_header.CommandHeader()
            try:
                wire.json_scan.scan_json_header(memoryview(data), 0, end, header)
                judged.append(header.remark)
            except wire.protocol_error as error:
                judged.append(str(error))
        assert judged[0] == judged[1]


@pytest.mark.parametrize("size", [*range(40), 100, 32764, 32767, 32768])
def test_properties_of_any_size_are_copied_the_same(size: int) -> None:
    for piece in (b"p", rb"\u0001", b"q" * 15 + rb"\u8ba2", "é".encode()):
        text = (piece * (size // len(piece) + 1))[: size - size % len(piece)]
        header = (
            b'{"code":310,"extFields":{"b":"T","e":"1","f":"0","g":"1","h":"0","i":"'
            + text
            + b'"},"opaque":5}'
        )
        assert COMPILED.scans([frame(header)] * 2) == TWIN.scans([frame(header)] * 2)
