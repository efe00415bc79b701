from aerobee.ports.service import Peer


def test_an_address_with_colons_is_written_in_brackets() -> None:
    assert str(Peer("10.0.0.7", 5)) == "10.0.0.7:5"
    assert str(Peer("::1", 5)) == "[::1]:5"
