"""Headers come back as they were written, in both forms; all readers judge any bytes alike."""

import json
from importlib import import_module
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.wire import Wire
from tests.wire_strategies import (
    chunkings,
    edited,
    framed_again,
    header_values,
    json_headers,
    send_frames,
)

WIRE = Wire(import_module)
SCAN = WIRE.json_scan.scan_json_header
PARSE = WIRE.header_json.parse_json_header


@given(header_values())
def test_a_json_header_comes_back(values: dict[str, Any]) -> None:
    written = WIRE.header_json.encode_json_header(WIRE.command(values))
    for read in (SCAN, PARSE):
        assert WIRE.header(read, written) == values | {"serialize_type": 0}


@given(header_values())
def test_a_json_header_is_what_any_json_reader_reads(values: dict[str, Any]) -> None:
    said = json.loads(WIRE.header_json.encode_json_header(WIRE.command(values)))
    assert said.pop("extFields", {}) == values["ext_fields"]
    assert said.pop("remark", "") == values["remark"]
    assert said == {
        "code": values["code"],
        "flag": values["flag"],
        "language": values["language"],
        "opaque": values["opaque"],
        "serializeTypeCurrentRPC": "JSON",
        "version": values["version"],
    }


@given(header_values(), st.integers(-(2**15), 2**15 - 1), st.integers(-(2**15), 2**15 - 1))
def test_a_binary_header_comes_back(values: dict[str, Any], code: int, version: int) -> None:
    values |= {"code": code, "version": version}
    written = WIRE.header_binary.encode_binary_header(WIRE.command(values))
    found = WIRE.header(WIRE.header_binary.decode_binary_header, written)
    assert found == values | {"serialize_type": 1}


@given(edited(json_headers()))
def test_the_two_json_readers_judge_alike(data: bytes) -> None:
    found = WIRE.header(SCAN, data)
    assert WIRE.header(PARSE, data) == found
    if found is not None and "excess" not in found:
        written = WIRE.header_json.encode_json_header(WIRE.command(found))
        assert WIRE.header(SCAN, written) == found


@given(edited(send_frames()).map(framed_again))
def test_what_the_scan_of_sends_reads_the_general_codec_reads_the_same(data: bytes) -> None:
    values = WIRE.scans([data])[0]
    if values is not None:
        assert WIRE.taken(data) == values


@given(st.data(), st.lists(send_frames(), min_size=1, max_size=4))
def test_sends_are_scanned_alike_whatever_was_scanned_before(
    data: st.DataObject, frames: list[bytes]
) -> None:
    order = data.draw(st.lists(st.sampled_from(frames), min_size=1, max_size=8))
    near = [framed_again(data.draw(edited(st.just(one)))) for one in order]
    stream = [one for pair in zip(order, near, strict=True) for one in pair]
    assert WIRE.scans(stream) == [WIRE.scans([one])[0] for one in stream]


@given(st.data(), st.lists(send_frames(), min_size=1, max_size=4))
def test_sends_are_scanned_alike_out_of_every_chunking(
    data: st.DataObject, frames: list[bytes]
) -> None:
    """A frame across chunks lies in another memory than one within."""
    reader = WIRE.frame.FrameReader()
    header = WIRE.send_header.SendHeader()
    draft = WIRE.message_draft.MessageDraft()
    found = []
    for chunk in data.draw(chunkings(b"".join(frames))):
        reader.receive(chunk)
        while reader.advance():
            found.append(header.scan(reader, draft) and draft.properties_text())
    values = [WIRE.scans([one])[0] for one in frames]
    assert found == [value is not None and value["properties"] for value in values]
