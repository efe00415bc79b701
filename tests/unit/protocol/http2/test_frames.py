from aerobee.protocol.http2.frames import (
    DATA,
    ErrorCode,
    frame,
    goaway_frame,
    reset_frame,
    settings_frame,
    window_frame,
)


def test_a_frame_has_size_type_flags_and_stream_before_its_payload() -> None:
    assert frame(DATA, 1, 0x1234, b"abc").hex() == "000003" + "00" + "01" + "00001234" + "616263"


def test_the_frames_of_a_server_have_the_bytes_of_the_standard() -> None:
    assert settings_frame([(4, 65_535)]).hex() == "000006040000000000" + "00040000ffff"
    assert window_frame(3, 1).hex() == "000004080000000003" + "00000001"
    assert reset_frame(5, ErrorCode.CANCEL).hex() == "000004030000000005" + "00000008"
    assert goaway_frame(7, ErrorCode.NO_ERROR, "x").hex() == (
        "000009070000000000" + "00000007" + "00000000" + "78"
    )
